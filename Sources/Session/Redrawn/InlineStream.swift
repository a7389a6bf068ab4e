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
/// block and nothing else, even after a resize. A row that was made for a wider window does not wrap. The kernel divides
/// output at line feeds, so a block has none: a resize seldom divides a block. Any thread may call everything but
/// `suspend`.
package final class InlineStream: Sendable {
  private struct State {
    var isOpen = false
    /// Whether another program has the terminal: nothing is written.
    var isSuspended = false
    /// Lines for the next write.
    var pending: TerminalText = ""
    /// The number of lines that were dropped from `pending`.
    var dropped = 0
    /// The rows of the block on the screen; nil if unknown.
    var shown: [TerminalText]?
    var size: Size?
    var modes: termios?
  }

  package let options: ViewOptions
  private let features: TerminalFeatures
  private let output: Output
  private let descriptor: Int32
  private let program: ProgramOutput?
  private let state = Lock(State())
  /// Whether the program has written since the last draw; apart from the state, which is locked while it is ended.
  private let hasOutput = Lock(false)
  /// Called when something other than an event is to be drawn.
  private let whenStale = Lock<(@Sendable () -> Void)?>(nil)

  /// `program` is captured while the block is shown; its lines scroll with the others.
  package init(
    _ output: Output, descriptor: Int32 = STDOUT_FILENO, options: ViewOptions, program: ProgramOutput? = nil
  ) {
    self.output = output
    self.descriptor = program?.terminal ?? descriptor
    self.program = program
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

  /// Whether a draw is due even if the block is unchanged: after a resize or a suspension, or output of the program.
  package var isStale: Bool {
    state.withLock { $0.isOpen && !$0.isSuspended && ($0.shown == nil || hasOutput.withLock(\.self)) }
  }

  /// The number of bytes of lines that are kept while another program has the terminal.
  private static let pendingLimit = 1 << 20

  /// `whenStale` is called when a suspension is over or the program has written; it must not block.
  package func open(whenStale: @escaping @Sendable () -> Void = {}) {
    self.whenStale.withLock { $0 = whenStale }
    state.withLock { enter(&$0) }
  }

  /// Adds lines, each with its line feed, to the next write.
  package func append(_ lines: TerminalText) {
    state.withLock { state in
      state.pending += lines
      guard state.isSuspended, state.pending.text.utf8.count > Self.pendingLimit else { return }
      state.dropped += state.pending.keepLines(inLast: Self.pendingLimit / 2)
    }
  }

  /// Writes the pending lines, and the block below them if it has changed.
  package func draw(_ rows: [TerminalText]) {
    state.withLock { state in
      let hasOutput = hasOutput.withLock { exchange(&$0, with: false) }
      let hasNews = hasOutput || !state.pending.isEmpty || state.shown != rows
      guard state.isOpen, !state.isSuspended, hasNews else { return }
      guard !terminal_is_taken(descriptor) else { return retreat(&state) }
      // The program's output precedes messages about it.
      let (printed, hasMore) = (hasOutput ? program?.takeLines() : nil) ?? ([], false)
      if hasMore { noteOutput() }
      let lines = printed + takePending(&state)
      let shown = lines.isEmpty && state.shown?.count == rows.count ? state.shown : nil
      var head = shown == nil ? "\r" + ControlSequences.eraseBelow : "\r"
      let texts = rows.indices.map { shown?[$0] == rows[$0] ? "" : rows[$0].text + ControlSequences.eraseRest }
      var block = ControlSequences.wrapOff + texts.joined(separator: ControlSequences.nextRow)
      block += "\r" + ControlSequences.up(rows.count - 1) + ControlSequences.wrapOn
      if features.speaksXterm {
        head = ControlSequences.updateBegin + head
        block += ControlSequences.updateEnd
      }
      change { output.write(Array(head.utf8) + lines + Array(block.utf8)) }
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
  package func notify(_ text: TerminalText) {
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
    program?.begin { [weak self] _ in self?.noteOutput() }
    var shell = termios()
    if tcgetattr(descriptor, &shell) == 0 {
      state.modes = shell
      let undo = Array(self.undo.utf8)
      // Before anything is changed: a signal may come at any time.
      _ = terminal_guard_arm(descriptor, &shell, undo, undo.count)
      var modes = shell
      // Typed characters would appear in the block.
      modes.c_lflag &= ~tcflag_t(ECHO | ECHONL)
      change { tcsetattr(descriptor, TCSANOW, &modes) }
    }
    write(ControlSequences.cursorOff)
  }

  /// The bytes that restore the screen, also after a draw that was cut by a crash or by ^C, which discards output.
  private var undo: String {
    (features.speaksXterm ? ControlSequences.updateEnd : "") + ControlSequences.plainStyle + ControlSequences.wrapOn
      + ControlSequences.eraseBelow + ControlSequences.cursorOn
  }

  /// On a thread of the capture, or while the state is locked.
  func noteOutput() {
    if !hasOutput.withLock({ exchange(&$0, with: true) }) { whenStale.withLock { $0 }?() }
  }

  /// Keeps the lines until the shell gives the terminal back.
  private func retreat(_ state: inout State) {
    state.isSuspended = true
    terminal_guard_disarm()
    program?.end()
    DispatchQueue.main.async { [self] in
      Foreground.wait(for: descriptor, while: { self.state.withLock { $0.isOpen && $0.isSuspended } }) {
        self.state.withLock { state in
          self.enter(&state)
          state.size = nil
        }
        self.whenStale.withLock { $0 }?()
      }
    }
  }

  private func takePending(_ state: inout State) -> [UInt8] {
    defer { (state.pending, state.dropped) = ("", 0) }
    guard state.dropped > 0 else { return state.pending.bytes }
    let note: TerminalText =
      "opdash: dropped \(Format.count(state.dropped, "line")) in the background; the logs have all\n"
    return (note + state.pending).bytes
  }

  private func leave(_ state: inout State) {
    guard state.isOpen, !state.isSuspended else { return }
    change {
      write("\r" + undo)
      // A background process would be stopped for changing the terminal's modes.
      if var modes = state.modes, !terminal_is_taken(descriptor) { tcsetattr(descriptor, TCSANOW, &modes) }
      terminal_guard_disarm()
    }
    (state.shown, state.modes) = (nil, nil)
    program?.end()
  }

  private func write(_ text: String) { change { output.write(Array(text.utf8)) } }

  /// Changes the terminal, unless the process has restored it in order to end: a draw would stay unfinished.
  private func change(_ body: () -> Void) {
    terminal_change_begin()
    defer { terminal_change_end() }
    body()
  }
}
