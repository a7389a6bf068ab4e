import Foundation

/// Random keys, mouse reports, pasted text, halves of sequences and sizes, the same for the same seed.
package struct FuzzInput {
  package enum Item {
    case bytes([UInt8])
    case size(columns: Int, rows: Int)
  }

  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  private static let keys: [[UInt8]] = {
    var keys = Array("xXpPrRcUlLwfnNyYTvVEZmI?/<>[]-+=jkgG abc:!state123450eioy").map { Array(String($0).utf8) }
    for name in ["A", "B", "C", "D", "H", "F", "Z"] {
      keys += ["\u{1B}[\(name)", "\u{1B}O\(name)"].map { Array($0.utf8) }
    }
    for number in [1, 2, 3, 4, 5, 6, 11, 12, 15, 17, 18, 19, 20, 23, 24] {
      keys.append(Array("\u{1B}[\(number)~".utf8))
    }
    for name in ["P", "Q", "R", "S", "M"] { keys.append(Array("\u{1B}O\(name)".utf8)) }
    // All controls but those that are signals, and more Enters and escapes than others.
    keys += (0..<32).filter { ![3, 26, 28].contains($0) }.map { [UInt8($0)] }
    return keys + [[0x0D], [0x0D], [0x1B], [0x1B], [0x7F]]
  }()

  private static let halves = [
    "\u{1B}", "\u{1B}[", "\u{1B}O", "\u{1B}[1;", "\u{1B}[<", "\u{1B}[<0;", "\u{1B}[M", "\u{1B}]0;", "\u{1B}P",
    "\u{1B}[?", "\u{1B}[200",
  ].map { Array($0.utf8) }

  private static let texts = ["名", "é", "👍", "ß", "\u{202E}", "e\u{301}", "한", "\u{FFFD}", "\u{9B}", "✓"].map {
    Array($0.utf8)
  }

  package mutating func number(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((value ^ value >> 31) % UInt64(max(1, bound)))
  }

  private mutating func pick(_ choices: [[UInt8]]) -> [UInt8] { choices[number(choices.count)] }

  /// `resizes` lets the window change too, once in two hundred.
  package mutating func next(resizes: Bool) -> Item {
    if resizes, number(200) == 0 { return size() }
    // Seldom: the question that follows is answered sooner or later.
    if number(10_000) == 0 { return .bytes(Array("q".utf8)) }
    switch number(100) {
    case 0..<60: return .bytes(pick(Self.keys))
    case 60..<78: return .bytes(mouse())
    case 78..<82: return .bytes(brokenMouse())
    case 82..<85: return .bytes(paste())
    case 85..<89: return .bytes(pick(Self.halves))
    case 89..<92: return .bytes((0..<number(6) + 1).map { _ in byte() })
    default: return .bytes(pick(Self.texts))
    }
  }

  package mutating func size() -> Item {
    switch number(5) {
    case 0: .size(columns: 1 + number(30), rows: 1 + number(6))
    case 1: .size(columns: 1 + number(300), rows: 1 + number(100))
    case 2: .size(columns: 120, rows: 40)
    default: .size(columns: 30 + number(120), rows: 5 + number(50))
    }
  }

  /// Any but `q` and the three that the terminal makes signals of.
  private mutating func byte() -> UInt8 {
    let byte = UInt8(number(256))
    return [3, 26, 28, UInt8(ascii: "q")].contains(byte) ? 0x20 : byte
  }

  private mutating func mouse() -> [UInt8] {
    let buttons = [0, 0, 0, 1, 2, 32, 64, 64, 65, 65, 66, 4, 16]
    let (x, y) = (1 + number(320), 1 + number(110))
    return Array("\u{1B}[<\(buttons[number(buttons.count)]);\(x);\(y)\(number(3) == 0 ? "m" : "M")".utf8)
  }

  private mutating func brokenMouse() -> [UInt8] {
    let reports = [
      "\u{1B}[<0;0;0M", "\u{1B}[<0;99999999999999999999;1M", "\u{1B}[<-1;2;3M", "\u{1B}[<0;1M", "\u{1B}[<;;M",
      "\u{1B}[<0;1;2;3;4M",
      "\u{1B}[<a;1;2M", "\u{1B}[M !", "\u{1B}[<64;1;1", "\u{1B}[32;5;5M", "\u{1B}[M\u{FF}\u{FF}\u{FF}",
      "\u{1B}[<0;65536;65536m",
    ]
    return Array(reports[number(reports.count)].utf8)
  }

  private mutating func paste() -> [UInt8] {
    var text: [UInt8] = []
    for _ in 0..<number(40) { text += number(4) == 0 ? pick(Self.texts) : [byte()] }
    // Now and then the end never comes.
    return Array("\u{1B}[200~".utf8) + text + (number(20) == 0 ? [] : Array("\u{1B}[201~".utf8))
  }
}

/// A program on a terminal that is given random input; what its screen shows is held against a full repaint again and again.
package final class TerminalFuzz {
  package struct Outcome {
    package var inputs = 0
    package var repaints = 0
    /// How often the program was started: it ends when the keys happen to quit it.
    package var starts = 0
    package var bytes = 0
    package var faults: [String] = []
  }

  private let start: (_ columns: Int, _ rows: Int) throws -> Pty
  /// Stops a run that has been detached from its terminal.
  private let stop: (_ run: String) throws -> Void
  /// Stands in the first row of every screen that is large enough.
  private let header: String
  private var input: FuzzInput
  private var outcome = Outcome()
  private var pty: Pty
  private var terminal = VirtualTerminal(columns: 80, rows: 24)
  /// The end of what the program has written.
  private var newest: ArraySlice<UInt8> = []

  package init(
    seed: UInt64, header: String, start: @escaping (_ columns: Int, _ rows: Int) throws -> Pty,
    stop: @escaping (_ run: String) throws -> Void
  ) throws {
    self.start = start
    self.stop = stop
    self.header = header
    input = FuzzInput(seed: seed)
    pty = try start(80, 24)
    try begin()
  }

  /// Sends so many inputs, looks at the screen after each `stretch` of them, and quits; ends at the first fault.
  package func run(inputs: Int, stretch: Int, told: (Outcome) -> Void = { _ in }) throws -> Outcome {
    while outcome.inputs < inputs, outcome.faults.isEmpty {
      // In every other stretch the window is left alone, so that each sequence can be held against its size.
      let resizes = input.number(2) == 0
      if resizes { resize(input.size()) }
      if resizes, !isOver { fit() }
      play(min(stretch, inputs - outcome.inputs), resizes: resizes)
      if !isOver { resizes ? fit() : settle() }
      if !resizes, let fault = terminal.faults.first { fail("the screen was sent: \(fault)") }
      terminal.forgive()
      if isOver {
        try checkEnd()
        if outcome.faults.isEmpty, outcome.inputs < inputs { try restart() }
      }
      told(outcome)
    }
    if outcome.faults.isEmpty, !isOver { try quit() }
    return outcome
  }

  private var isOver: Bool { pty.ending != nil }

  private func restart() throws {
    pty = try start(80, 24)
    terminal = VirtualTerminal(columns: 80, rows: 24)
    try begin()
  }

  private func begin() throws {
    outcome.starts += 1
    // What is copied is a job's: a display that is frozen before there is one would stay without.
    guard eventually({ pump() && terminal.modes.contains(1049) && terminal.line(0).contains(header) }), isRead() else {
      throw ChildProcess.Failure(description: "no dashboard:\n\(terminal.text)")
    }
  }

  @discardableResult
  private func pump() -> Bool {
    let bytes = pty.take()
    newest = (newest + bytes).suffix(600)
    outcome.bytes += bytes.count
    terminal.feed(bytes)
    return true
  }

  /// Types so many inputs as fast as they are taken.
  private func play(_ count: Int, resizes: Bool) {
    var bytes: [UInt8] = []
    for _ in 0..<count {
      outcome.inputs += 1
      switch input.next(resizes: resizes) {
      case .bytes(let more): bytes += more
      case .size(let columns, let rows):
        type(bytes)
        bytes = []
        resize(.size(columns: columns, rows: rows))
      }
      if bytes.count > 512 {
        type(bytes)
        bytes = []
      }
      if isOver { return }
    }
    type(bytes)
  }

  private func type(_ bytes: [UInt8]) {
    var rest = bytes[...]
    let end = Date(timeIntervalSinceNow: Patience.seconds)
    while !rest.isEmpty, !isOver, outcome.faults.isEmpty {
      rest = rest.dropFirst(pty.offer(rest))
      pump()
      if !rest.isEmpty { _ = pty.waitForOutput(within: 0.002) }
      if Date() > end { fail("it takes no input") }
    }
  }

  private func resize(_ item: FuzzInput.Item) {
    guard case .size(let columns, let rows) = item else { return }
    pump()
    terminal.resize(columns: columns, rows: rows)
    pty.resize(columns: columns, rows: rows)
  }

  /// Waits until nothing has been written for a moment, if that comes.
  private func calm(_ moment: Double) {
    let end = Date(timeIntervalSinceNow: 5)
    repeat { pump() } while Date() < end && !isOver && pty.waitForOutput(within: moment)
  }

  /// Looks for a moment whether `condition` comes to hold, before a key is typed again.
  private func watch(_ moment: Double, for condition: () -> Bool) -> Bool {
    let end = Date(timeIntervalSinceNow: moment)
    repeat {
      _ = pty.waitForOutput(within: 0.01)
      pump()
      if condition() { return true }
    } while Date() < end
    return false
  }

  /// Waits until the screen is one of the newest size, of which a signal tells that keys may overtake.
  private func fit() {
    guard isRead() else { return isOver ? () : fail("no answer to a key:\n\(terminal.text)") }
    let isFit = eventually { !repaint() || fault(of: terminal) == nil }
    if !isFit, let fault = fault(of: terminal) { fail(fault) }
  }

  /// Has all painted anew; false if it is not, or if the program ends meanwhile.
  private func repaint() -> Bool {
    let before = terminal.clearings
    type([0x0C])
    guard eventually({ pump() && (terminal.clearings > before || isOver) }) else {
      fail("not painted anew:\n\(terminal.text)")
      return false
    }
    return isShown()
  }

  /// Waits until the screen shows all that was typed before; false if the program ends meanwhile.
  ///
  /// The key of the mouse is answered at once, and keys and frames have one order; but what a key changes is drawn up to 8 ms
  /// after it. So all keys have been read when the first of these answers comes, the frame is written after the second at the
  /// latest, and before the third. The fourth gives the mouse back.
  private func isShown() -> Bool {
    for _ in 0..<4 {
      _ = poll(nil, 0, 20)
      let before = terminal.mouseChanges
      type(Array("m".utf8))
      guard eventually({ pump() && (terminal.mouseChanges > before || isOver) }) else {
        fail("no answer to the key of the mouse:\n\(terminal.text)")
        return false
      }
    }
    return !isOver
  }

  /// Ends what is half typed and what is asked, has the display freeze, and holds it against one that is painted anew.
  ///
  /// The rows of the banner, which counts events, and of the newest answer, which goes by itself, are left out.
  private func settle() {
    guard isRead() else { return isOver ? () : fail("no answer to a key:\n\(terminal.text)") }
    let isLarge = terminal.columns >= 30 && terminal.rows >= 5
    // A run that is being stopped moves on whatever is asked.
    guard isShown(), !isLarge || freeze() else { return }
    let before = terminal
    guard repaint() else { return }
    outcome.repaints += 1
    for row in terminal.screen.indices.dropLast() where terminal.screen[row] != before.screen[row] {
      if [before, terminal].contains(where: { $0.line(row).contains(Self.frozen) }) { continue }
      return fail(
        """
        row \(row) of \(terminal.columns)x\(terminal.rows) is another one when it is painted anew:
        \(before.text)
        painted anew:
        \(terminal.text)
        and it was sent: \(before.faults)
        """)
    }
    if let fault = fault(of: terminal) { fail(fault) }
    if isLarge { type(Array("Z".utf8)) }
  }

  /// Whether all that was typed has been read: the program has answered one more key.
  ///
  /// Whatever is asked or half typed takes that key for itself; then an escape may help, which is one only if nothing follows
  /// it for a moment: each try gives a slow program more time than the one before.
  private func isRead() -> Bool {
    // What was typed may have that key too. All of it has been dealt with when a later escape has been read.
    for _ in 0..<2 {
      type([0x1B])
      guard eventually({ pump() && (pty.waiting == 0 || isOver) }) else { return false }
    }
    let before = terminal.copies
    let end = Date(timeIntervalSinceNow: Patience.seconds)
    var moment = 0.06
    // In the list there is a job to copy from; another view may have an event without one.
    var copy = "y"
    while Date() < end, !isOver {
      type(Array("\u{1B}[201~\u{1B}".utf8))
      calm(moment)
      type(Array(copy.utf8))
      copy = "1y"
      if watch(8 * moment, for: { terminal.copies > before || isOver }) { return !isOver }
      moment *= 1.25
    }
    return false
  }

  /// Has the display freeze; false if it does not.
  private func freeze() -> Bool {
    // The first key may end a freeze.
    for _ in 0..<2 {
      type(Array("Z".utf8))
      guard isShown() else { return false }
      if isFrozen { return true }
    }
    return false
  }

  private static let frozen = "FROZEN at"

  private var isFrozen: Bool { (0..<min(4, terminal.rows)).contains { terminal.line($0).contains(Self.frozen) } }

  private func fault(of terminal: VirtualTerminal) -> String? {
    if terminal.columns < 30 || terminal.rows < 5 {
      return "needs 30 x 5".hasPrefix(terminal.line(0)) ? nil : "a small window shows:\n\(terminal.text)"
    }
    guard terminal.columns >= 60, terminal.rows >= 10 else { return nil }
    let isWhole = terminal.line(0).contains(header) && !terminal.line(terminal.rows - 1).isEmpty
    return isWhole ? nil : "a screen without header or bottom line:\n\(terminal.text)"
  }

  private func quit() throws {
    let ended = eventually {
      type(Array("\u{1B}".utf8))
      calm(0.06)
      type(Array("qq".utf8))
      return watch(0.5) { isOver }
    }
    if ended { try checkEnd() } else { fail("it can't be quit:\n\(terminal.text)") }
  }

  /// What a shell must find: the terminal as it was.
  private func checkEnd() throws {
    pump()
    if let left = String(decoding: newest, as: UTF8.self).firstMatch(of: /opdash attach (\S+) shows it again/) {
      try stop(String(left.output.1))
    }
    guard case .exited(let status) = pty.ending, [0, 1, 3].contains(status) else {
      return fail("it ended with \(String(describing: pty.ending)):\n\(terminal.text)")
    }
    if pty.modeNumbers != pty.initialModeNumbers { fail("the terminal's modes are not the shell's") }
    let left = terminal.modes.intersection([1, 1000, 1002, 1003, 1006, 1049, 2004])
    if !left.isEmpty { fail("modes left on: \(left.sorted())") }
    if !terminal.modes.contains(25) || terminal.hasKeypad { fail("the cursor or the keypad is not the shell's") }
    if terminal.keptTitles != 0 { fail("titles kept: \(terminal.keptTitles)") }
  }

  private func fail(_ what: String) {
    let output = String(reflecting: String(decoding: newest, as: UTF8.self))
    outcome.faults.append("after \(outcome.inputs) inputs: \(what)\nthe newest output: \(output)")
  }
}
