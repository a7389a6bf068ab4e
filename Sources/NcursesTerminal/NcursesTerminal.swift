import Basics
import CTerminal
import Dispatch
import Foundation
import Screen

/// A terminal by ncurses; only one can be open.
///
/// ^C and ^Z stay signals, which the program handles.
@MainActor
package final class NcursesTerminal: Terminal {
  package private(set) var size: Size
  private let traits: ScreenTraits
  private let asksBackground: Bool
  private let environment: [String: String]
  private let input: Int32
  private let output: Int32
  private let program: ProgramOutput?

  private var state = State.closed
  private var features = TerminalFeatures(term: "", environment: [:])
  private var receive: (@MainActor (TerminalInput) -> Void)?
  private var sources: [any DispatchSourceProtocol] = []
  private var decoder = InputDecoder()
  private var clicks = ClickCounter()
  private var flushes = 0
  /// When the terminal was asked something that it has not answered, in nanoseconds since the machine's start.
  private var asked: UInt64?
  /// The frame on the screen; nil if unknown.
  private var shown: Frame?
  private var hasMouse = true
  private var title: TerminalText?
  private var progress: String?

  private enum State {
    case closed
    case open(CursesScreen)
    /// Another program has the terminal; nothing is written or read.
    case background(CursesScreen)
    /// The terminal is gone; nothing is restored.
    case lost(CursesScreen)
  }

  /// `asksBackground` queries the background of a terminal that may know it; the answer, if any, is input.
  ///
  /// `program` is captured while the screen is shown.
  package init(
    traits: ScreenTraits, asksBackground: Bool = false,
    environment: [String: String],
    input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO, program: ProgramOutput? = nil
  ) {
    self.traits = traits
    self.asksBackground = asksBackground
    self.environment = environment
    self.input = input
    self.output = program?.terminal ?? output
    self.program = program
    size = Size(ofTerminal: self.output)
  }

  package func open(_ receive: @escaping @MainActor (TerminalInput) -> Void) throws {
    guard case .closed = state else { return }
    let term = environment["TERM"] ?? ""
    let screen = try CursesScreen(term: term, traits: traits, input: input, output: output)
    features = TerminalFeatures(term: term, environment: environment)
    decoder = InputDecoder(sequences: KeySequences(described: screen.describedKeys()))
    self.receive = receive
    state = .open(screen)
    size = Size(ofTerminal: output)
    screen.resize(to: size)
    enter(screen)
    listen()
    if asksBackground, features.speaksXterm, !features.isScreen {
      asked = DispatchTime.now().uptimeNanoseconds
      write(ControlSequences.backgroundQuery)
    }
  }

  package func present(_ frame: Frame) {
    guard case .open(let screen) = state, frame != shown else { return }
    guard !terminal_is_taken(output) else { return retreat(screen) }
    let changed = shown.map { frame.rowsChanged(since: $0) } ?? Array(frame.rows.indices)
    change {
      screen.draw(changed, of: frame)
      screen.refresh(cursor: frame.cursor)
    }
    shown = frame
  }

  package func invalidate() {
    guard case .open(let screen) = state else { return }
    shown = nil
    screen.clear()
  }

  package func setTitle(_ title: TerminalText) {
    guard title != self.title else { return }
    self.title = title
    if case .open = state, features.speaksXterm { write(ControlSequences.title(title)) }
  }

  package func setProgress(_ percent: Int?, failed: Bool) {
    let progress = percent.map { ControlSequences.progress($0, failed: failed) }
    guard progress != self.progress else { return }
    self.progress = progress
    if case .open = state, features.hasProgress { write(progress ?? ControlSequences.progressOff) }
  }

  package func copy(_ text: TerminalText) {
    guard case .open = state, features.speaksXterm else { return }
    write(ControlSequences.copy(text, features))
    // Screen shows the end of a long sequence that is not wrapped.
    guard features.mayBeTmux, let frame = shown else { return }
    invalidate()
    present(frame)
  }

  package func setMouse(_ enabled: Bool) {
    guard enabled != hasMouse else { return }
    hasMouse = enabled
    if case .open = state, features.speaksXterm {
      write(enabled ? ControlSequences.mouseOn : ControlSequences.mouseOff)
    }
  }

  package func notify(_ notice: EndNotice, _ text: TerminalText) {
    if case .open = state { write(ControlSequences.notice(notice, text, features)) }
  }

  package func suspend() {
    switch state {
    case .open(let screen):
      leave(screen)
      terminal_stop_group()
      if terminal_is_taken(output) { return retreat(screen) }
      enter(screen)
      checkSize()
    case .background: terminal_stop_group()
    case .closed, .lost: break
    }
  }

  package func close() {
    stopListening()
    receive = nil
    switch state {
    case .closed: return
    case .lost(let screen):
      screen.leave()
      screen.close()
      program?.end()
    case .background(let screen):
      screen.close()
      program?.end()
    case .open(let screen):
      leave(screen)
      screen.close()
    }
    state = .closed
    shown = nil
  }

  /// The bytes that restore the terminal, for the guard of crashes; empty unless open.
  package var restoreBytes: [UInt8] {
    guard case .open = state else { return [] }
    var bytes = undo
    for name in ["op", "sgr0", "cnorm"] { bytes += CursesScreen.capability(name) }
    return Array((bytes + CursesScreen.capability("rmcup") + lineBelow).utf8)
  }

  /// The sequence to the line below the screen, if the terminal has no other screen to return to.
  private var lineBelow: String {
    CursesScreen.capability("rmcup").isEmpty ? CursesScreen.cursorToRow(size.height - 1) + "\r\n" : ""
  }

  // MARK: Entering and leaving

  /// Takes over the screen and shows the last frame.
  private func enter(_ screen: CursesScreen) {
    program?.begin()
    arm(screen)
    screen.clear()
    if let shown { screen.draw(shown.rows.indices, of: shown) }
    var bytes = CursesScreen.capability("smkx")
    if features.speaksXterm {
      bytes += (keepsTitle ? "" : ControlSequences.titlePush) + ControlSequences.pasteOn
      if hasMouse { bytes += ControlSequences.mouseOn }
      if let title { bytes += ControlSequences.title(title) }
    }
    if features.hasProgress, let progress { bytes += progress }
    change {
      // Curses sets the terminal's modes here, before anything is written.
      screen.refresh(cursor: shown?.cursor)
      write(bytes)
    }
  }

  private func leave(_ screen: CursesScreen) {
    takeAnswer()
    change {
      write(undo)
      screen.leave()
      write(lineBelow)
      terminal_guard_disarm()
    }
    program?.end()
  }

  /// Leaves the terminal to the program in the foreground until the shell gives it back.
  private func retreat(_ screen: CursesScreen) {
    state = .background(screen)
    stopListening()
    terminal_guard_disarm()
    Foreground.wait(
      for: output, while: { [weak self] in if case .background = self?.state { true } else { false } },
      { [weak self] in self?.comeBack(screen) })
  }

  private func comeBack(_ screen: CursesScreen) {
    state = .open(screen)
    // Stopped by SIGSTOP, it had no chance to.
    if !screen.hasLeft { leave(screen) }
    enter(screen)
    listen()
    checkSize()
    invalidate()
    receive?(.resized(size))
  }

  /// Reads a pending answer, so that the shell doesn't take it for typed text.
  ///
  /// Waits at most 0.3 s; not at all for a terminal that was asked a second ago.
  private func takeAnswer() {
    guard let asked else { return }
    let end = min(DispatchTime.now().uptimeNanoseconds + 300_000_000, asked + 1_000_000_000)
    while self.asked != nil {
      let now = DispatchTime.now().uptimeNanoseconds
      var ready = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, now < end ? Int32((end - now) / 1_000_000) + 1 : 0) > 0 else { break }
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = Foundation.read(input, &bytes, bytes.count)
      guard count > 0 else { break }
      if decoder.feed(bytes.prefix(count)).contains(.attributes) { self.asked = nil }
    }
    self.asked = nil
  }

  /// The sequences that undo `enter`, without the ones that curses sends.
  private var undo: String {
    var bytes = ""
    if features.hasProgress { bytes += ControlSequences.progressOff }
    if features.speaksXterm {
      bytes += ControlSequences.mouseOff + ControlSequences.pasteOff + (keepsTitle ? "" : ControlSequences.titlePop)
    }
    return bytes + CursesScreen.capability("rmkx")
  }

  /// Whether the terminal's description saves and restores the title with the screen, as xterm's does.
  private var keepsTitle: Bool { CursesScreen.capability("smcup").contains("\u{1B}[22;") }

  private func arm(_ screen: CursesScreen) {
    var shell = screen.shell
    let bytes = restoreBytes
    terminal_guard_arm(output, &shell, bytes, bytes.count)
  }

  // MARK: Listening

  private func listen() {
    let keyboard = DispatchSource.makeReadSource(fileDescriptor: input, queue: .main)
    keyboard.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read() } }
    let window = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .main)
    // Even if the size is the known one again: a smaller window between has lost the text outside of it.
    window.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.takeSize() } }
    // Detects a change before the source was active.
    window.setRegistrationHandler { [weak self] in MainActor.assumeIsolated { self?.checkSize() } }
    sources = [keyboard, window]
    keyboard.activate()
    window.activate()
  }

  private func stopListening() {
    for source in sources { source.cancel() }
    sources = []
  }

  private func read() {
    terminal_guard_thread()
    if case .open(let screen) = state, terminal_is_taken(output) { return retreat(screen) }
    var ready = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, 0) > 0 else { return }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Foundation.read(input, &bytes, bytes.count)
    if count > 0 {
      handle(decoder.feed(bytes.prefix(count)))
      waitForRest()
    } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
      lose()
    }
  }

  private func handle(_ decoded: [DecodedInput]) {
    for item in decoded {
      switch item {
      case .key(let key): receive?(.key(key))
      case .alt(let key): receive?(.alt(key))
      case .paste(let text): receive?(.paste(text))
      case .background(let background): if asksBackground { receive?(.background(background)) }
      case .attributes: asked = nil
      case .mouse(let event):
        let now = Duration.nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds))
        receive?(.mouse(event.action == .click ? clicks.press(x: event.x, y: event.y, at: now) : event))
      }
    }
  }

  /// Flushes the decoder when no byte follows in time: a single escape byte is a key.
  private func waitForRest() {
    flushes += 1
    guard let patience = decoder.patience else { return }
    let flush = flushes
    let short = environment["ESCDELAY"].flatMap { Int($0) }.map { min(max(0, $0), 60_000) } ?? 25
    let delay =
      switch patience {
      case .short: short
      case .medium: max(short, 100)
      case .long: max(short, 2000)
      }
    DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
      MainActor.assumeIsolated {
        guard let self, self.flushes == flush else { return }
        self.handle(self.decoder.flush())
        self.waitForRest()
      }
    }
  }

  private func checkSize() {
    if Size(ofTerminal: output) != size { takeSize() }
  }

  /// Has everything painted in the terminal's size.
  private func takeSize() {
    guard case .open(let screen) = state else { return }
    let now = Size(ofTerminal: output)
    size = now
    screen.resize(to: now)
    arm(screen)
    invalidate()
    // Later, so that `suspend` has returned before the input arrives.
    onMain { [weak self] in
      guard let self, case .open = self.state, self.size == now else { return }
      self.receive?(.resized(now))
    }
  }

  private func lose() {
    guard case .open(let screen) = state else { return }
    stopListening()
    terminal_guard_disarm()
    state = .lost(screen)
    receive?(.closed)
  }

  private func write(_ text: String) {
    var text = text
    change { _ = text.withUTF8 { terminal_write(output, $0.baseAddress, $0.count, -1) } }
  }

  /// Changes the terminal, unless the process has restored it in order to end.
  private func change(_ body: () -> Void) {
    terminal_change_begin()
    defer { terminal_change_end() }
    body()
  }
}

extension Size {
  /// The size of the terminal; 80 x 24 if it is unknown.
  package init(ofTerminal descriptor: Int32) {
    var (columns, rows): (Int32, Int32) = (0, 0)
    terminal_get_size(descriptor, &columns, &rows)
    self.init(width: Int(columns), height: Int(rows))
  }
}
