import Basics
import CTerminal
import Dispatch
import Foundation
import JobModel
import NcursesTerminal
import Screen

/// A terminal that shows scrolling lines and, below them, a block of rows that is redrawn in place.
///
/// Between two writes the hidden cursor is on the first cell of the block, so that erasing from the cursor removes the
/// block and nothing else, even after a resize. Any thread may call everything but `suspend`.
package final class InlineStream: Sendable {
  private struct State {
    var isOpen = false
    /// Whether another program has the terminal: nothing is written.
    var isSuspended = false
    /// Lines for the next write.
    var pending: [UInt8] = []
    /// The number of lines that were dropped from `pending`.
    var dropped = 0
    /// Called after a suspension.
    var whenBack: (@Sendable () -> Void)?
    /// The rows of the block on the screen; nil if unknown.
    var shown: [String]?
    var size: Size?
    var modes: termios?
  }

  package let options: ViewOptions
  private let features: TerminalFeatures
  private let output: Output
  private let descriptor: Int32
  private let state = Lock(State())

  package init(_ output: Output, descriptor: Int32 = STDOUT_FILENO, options: ViewOptions) {
    self.output = output
    self.descriptor = descriptor
    self.options = options
    features = TerminalFeatures(term: options.variables["TERM"] ?? "", environment: options.variables)
  }

  /// The size of the terminal, or 80 x 24 if it is unknown.
  package var size: Size {
    state.withLock { state in
      if let size = state.size { return size }
      let size = Size(ofTerminal: descriptor)
      state.size = size
      return size
    }
  }

  /// Whether the block must be redrawn even if unchanged, after a resize or a suspension.
  package var isStale: Bool { state.withLock { $0.isOpen && !$0.isSuspended && $0.shown == nil } }

  /// The number of bytes of lines that are kept while another program has the terminal.
  private static let pendingLimit = 1 << 20

  /// `whenBack` is called when a suspension is over.
  package func open(whenBack: @escaping @Sendable () -> Void = {}) {
    state.withLock { state in
      state.whenBack = whenBack
      enter(&state)
    }
  }

  /// Adds lines, each with its line feed, to the next write.
  package func append(_ bytes: [UInt8]) {
    state.withLock { state in
      state.pending += bytes
      guard state.isSuspended, state.pending.count > Self.pendingLimit else { return }
      let half = state.pending.count - Self.pendingLimit / 2
      let end = state.pending[half...].firstIndex(of: 0x0A).map { $0 + 1 } ?? state.pending.count
      state.dropped += state.pending[..<end].count { $0 == 0x0A }
      state.pending.removeFirst(end)
    }
  }

  /// Writes the pending lines, and the block below them if it has changed.
  package func draw(_ rows: [String]) {
    state.withLock { state in
      guard state.isOpen, !state.isSuspended, !state.pending.isEmpty || state.shown != rows else { return }
      guard !terminal_is_taken(descriptor) else { return retreat(&state) }
      var text = "\r"
      if !state.pending.isEmpty || state.shown?.count != rows.count { text += ControlSequences.eraseBelow }
      text += String(decoding: takePending(&state), as: UTF8.self)
      text += rows.map { $0 + ControlSequences.eraseRest }.joined(separator: "\r\n")
      text += "\r" + (rows.count > 1 ? ControlSequences.up(rows.count - 1) : "")
      write(features.speaksXterm ? ControlSequences.updateBegin + text + ControlSequences.updateEnd : text)
      state.shown = rows
    }
  }

  /// Has the block redrawn, in a window that may have another size.
  package func invalidate() {
    state.withLock { state in
      state.size = nil
      state.shown = nil
    }
  }

  /// Announces the end of the run as the settings say.
  package func notify(_ text: String) {
    let bytes = ControlSequences.notice(options.settings.notice ?? .none, text, features)
    if !bytes.isEmpty { state.withLock { if $0.isOpen { write(bytes) } } }
  }

  /// Removes the block and leaves the lines; further calls do nothing.
  package func close() {
    state.withLock { state in
      leave(&state)
      state.isOpen = false
      let lines = takePending(&state)
      if !lines.isEmpty { output.write(lines) }
    }
  }

  /// Returns the terminal to the shell and stops the process; redraws when the process has the terminal again.
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
    state.shown = nil
    guard !terminal_is_taken(descriptor) else { return retreat(&state) }
    state.isSuspended = false
    var shell = termios()
    if isForeground, tcgetattr(descriptor, &shell) == 0 {
      state.modes = shell
      // A crash, or output that was discarded, may have ended in the middle of a draw.
      var bytes = features.speaksXterm ? ControlSequences.updateEnd : ""
      bytes += ControlSequences.plainStyle + ControlSequences.eraseBelow + ControlSequences.cursorOn
      let undo = Array(bytes.utf8)
      // Before anything is changed: a signal may come at any time.
      _ = terminal_guard_arm(descriptor, &shell, undo, undo.count)
      var modes = shell
      // Typed characters would appear in the block.
      modes.c_lflag &= ~tcflag_t(ECHO | ECHONL)
      tcsetattr(descriptor, TCSANOW, &modes)
    }
    write(ControlSequences.cursorOff)
  }

  /// Keeps the lines until the shell gives the terminal back.
  private func retreat(_ state: inout State) {
    state.isSuspended = true
    terminal_guard_disarm()
    DispatchQueue.main.async { [self] in
      Foreground.wait(for: descriptor, while: { self.state.withLock { $0.isOpen && $0.isSuspended } }) {
        let whenBack = self.state.withLock { state in
          self.enter(&state)
          state.size = nil
          return state.whenBack
        }
        whenBack?()
      }
    }
  }

  private func takePending(_ state: inout State) -> [UInt8] {
    defer { (state.pending, state.dropped) = ([], 0) }
    guard state.dropped > 0 else { return state.pending }
    let note = "opdash: \(state.dropped) lines were dropped in the background; the logs have them\n"
    return Array(note.utf8) + state.pending
  }

  private func leave(_ state: inout State) {
    guard state.isOpen, !state.isSuspended else { return }
    write("\r" + ControlSequences.eraseBelow + ControlSequences.cursorOn)
    state.shown = nil
    if var modes = state.modes, isForeground { tcsetattr(descriptor, TCSANOW, &modes) }
    state.modes = nil
    terminal_guard_disarm()
  }

  /// A background process would be stopped for changing the terminal's modes.
  private var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

  private func write(_ text: String) { output.write(Array(text.utf8)) }
}
