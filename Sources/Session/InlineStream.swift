import CTerminal
import Dispatch
import Foundation
import JobModel
import NcursesTerminal
import Operations
import Screen

/// The lower end of a terminal: lines that scroll by, and below them a block that is drawn anew in its place.
///
/// Between two writes the cursor stands hidden on the block's first cell. So whatever happens to the window, erasing from
/// the cursor on removes the block and nothing else. Any thread may call it, but what is marked as the main actor's.
package final class InlineStream: Sendable {
  /// How it is drawn.
  package struct Look: Sendable {
    package var source: String
    package var traits: ScreenTraits
    package var looks: [String: Style]
    package var notice: EndNotice
    package var features: TerminalFeatures

    package init(
      source: String, traits: ScreenTraits, looks: [String: Style] = [:], notice: EndNotice = .none,
      features: TerminalFeatures
    ) {
      self.source = source
      self.traits = traits
      self.looks = looks
      self.notice = notice
      self.features = features
    }
  }

  private struct State {
    var isOpen = false
    /// The shell has the terminal.
    var isSuspended = false
    /// Lines that wait for the next write.
    var pending: [UInt8] = []
    /// The block as it stands; nil where nothing is known of it.
    var shown: [String]?
    var size: Size?
    var modes: termios?
  }

  package let look: Look
  private let output: Output
  private let descriptor: Int32
  private let state = Lock(State())

  package init(_ output: Output, descriptor: Int32 = STDOUT_FILENO, look: Look) {
    self.output = output
    self.descriptor = descriptor
    self.look = look
  }

  /// The terminal's; another after each change of its window.
  package var size: Size {
    state.withLock { state in
      if let size = state.size { return size }
      var (columns, rows): (Int32, Int32) = (0, 0)
      let isKnown = terminal_get_size(descriptor, &columns, &rows) == 0 && columns > 0 && rows > 0
      let size = isKnown ? Size(width: Int(columns), height: Int(rows)) : Size(width: 80, height: 24)
      state.size = size
      return size
    }
  }

  /// Whether it has to be drawn though nothing else has changed: the window was resized, or the program continued.
  package var isStale: Bool { state.withLock { $0.isOpen && !$0.isSuspended && $0.shown == nil } }

  package func open() { state.withLock { enter(&$0) } }

  /// Takes lines, each with its line feed, for the next write.
  package func append(_ bytes: [UInt8]) { state.withLock { $0.pending += bytes } }

  /// Writes what waits, and the block below it where that looks different.
  package func draw(_ rows: [String]) {
    state.withLock { state in
      guard state.isOpen, !state.isSuspended, !state.pending.isEmpty || state.shown != rows else { return }
      var text = "\r"
      if !state.pending.isEmpty || state.shown == nil || state.shown?.count != rows.count { text += Self.eraseBelow }
      text += String(decoding: state.pending, as: UTF8.self)
      text += rows.joined(separator: "\(Self.eraseRest)\r\n") + (rows.isEmpty ? "" : Self.eraseRest)
      text += "\r" + (rows.count > 1 ? "\u{1B}[\(rows.count - 1)A" : "")
      write(look.features.speaksXterm ? Self.begin + text + Self.end : text)
      state.pending = []
      state.shown = rows
    }
  }

  /// Has the block drawn anew, in a window that may have another size.
  package func invalidate() {
    state.withLock { state in
      state.size = nil
      state.shown = nil
    }
  }

  /// Tells the person that the run is over, as they want to be told.
  package func notify(_ text: String) {
    let bytes = ControlSequences.notice(look.notice, text, look.features)
    if !bytes.isEmpty { state.withLock { if $0.isOpen { write(bytes) } } }
  }

  /// Removes the block and leaves the lines; further calls do nothing.
  package func close() {
    state.withLock { state in
      leave(&state)
      state.isOpen = false
      if !state.pending.isEmpty { output.write(state.pending) }
      state.pending = []
    }
  }

  /// Gives the terminal to the shell until the process is continued.
  @MainActor
  package func suspend() {
    let isOpen = state.withLock { state in
      leave(&state)
      state.isSuspended = true
      return state.isOpen
    }
    guard isOpen else { return }
    terminal_stop_group()
    state.withLock { state in
      guard state.isOpen else { return }
      enter(&state)
      state.size = nil
    }
  }

  private func enter(_ state: inout State) {
    state.isOpen = true
    state.isSuspended = false
    state.shown = nil
    var shell = termios()
    if isForeground, tcgetattr(descriptor, &shell) == 0 {
      state.modes = shell
      var modes = shell
      // What is typed would stand in the block.
      modes.c_lflag &= ~tcflag_t(ECHO | ECHONL)
      tcsetattr(descriptor, TCSANOW, &modes)
      let undo = Array((Self.eraseBelow + Self.showCursor).utf8)
      _ = terminal_guard_arm(descriptor, &shell, undo, undo.count)
    }
    write(Self.hideCursor)
  }

  private func leave(_ state: inout State) {
    guard state.isOpen, !state.isSuspended else { return }
    write("\r" + Self.eraseBelow + Self.showCursor)
    state.shown = nil
    if var modes = state.modes, isForeground { tcsetattr(descriptor, TCSANOW, &modes) }
    state.modes = nil
    terminal_guard_disarm()
  }

  /// In the background the terminal's modes are the shell's, and changing them would stop us.
  private var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

  private func write(_ text: String) { output.write(Array(text.utf8)) }

  private static let eraseBelow = "\u{1B}[J"
  private static let eraseRest = "\u{1B}[K"
  private static let hideCursor = "\u{1B}[?25l"
  private static let showCursor = "\u{1B}[?25h"
  /// Synchronised output: a terminal that knows it shows nothing in between.
  private static let begin = "\u{1B}[?2026h"
  private static let end = "\u{1B}[?2026l"
}

extension InlineStream.Look {
  package init(_ view: ViewOptions) {
    self.init(
      source: view.source, traits: view.traits, looks: view.settings.looks, notice: view.settings.notice ?? .none,
      features: TerminalFeatures(term: view.variables["TERM"] ?? "", environment: view.variables))
  }
}
