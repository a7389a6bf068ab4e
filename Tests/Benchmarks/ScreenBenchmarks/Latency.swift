import Foundation
import Support

/// How long a key takes to the screen that shows what it did.
///
/// The keys move the cursor, and what is waited for is the name of the cursor's job over its log: nothing else changes it.
struct Latency {
  let command: [String]

  func measure(samples: Int) throws {
    let (columns, rows) = (120, 40)
    let pty = try Pty(command, environment: ProcessInfo.processInfo.environment, columns: columns, rows: rows)
    var terminal = VirtualTerminal(columns: columns, rows: rows)
    func read() { terminal.feed(pty.take()) }
    func rest(_ seconds: Double) {
      let end = Date(timeIntervalSinceNow: seconds)
      while case let left = end.timeIntervalSinceNow, left > 0 {
        _ = pty.waitForOutput(within: left)
        read()
      }
    }
    let isBusy = eventually {
      read()
      return Self.number(after: "slots ", in: terminal.line(0)) ?? 0 > 100 && Self.job(terminal) != nil
    }
    guard isBusy else { fail("no busy dashboard:\n\(terminal.text)") }
    rest(2)
    pty.send("j")
    rest(0.5)

    var random = FuzzInput(seed: 20_261_121)
    var taken: [Double] = []
    let (began, before) = (Self.now, Self.done(terminal))
    while taken.count < samples {
      rest(0.020 + Double(random.number(50)) / 1000)
      guard pty.ending == nil, let job = Self.job(terminal) else { fail("the dashboard has gone:\n\(terminal.text)") }
      let keys =
        Self.row(terminal).map { $0 < 60 ? ["j", "\u{1B}[6~"] : ["j", "k", "\u{1B}[5~", "\u{1B}[6~"] } ?? ["j"]
      let key = keys[random.number(keys.count)]
      let pressed = Self.now
      pty.send(key)
      while Self.job(terminal) == job {
        guard pty.waitForOutput(within: 5) else { fail("no answer to \(key.debugDescription):\n\(terminal.text)") }
        read()
        if Self.now - pressed > 5 { fail("\(key.debugDescription) is without effect:\n\(terminal.text)") }
      }
      taken.append(Self.now - pressed)
    }
    let ended = Double(Self.done(terminal) - before)
    print("jobs a second\t\(ended / (Self.now - began))")
    pty.send("qq")
    if pty.end() == nil { kill(pty.child.pid, SIGKILL) }
    taken.sort()
    print("samples\t\(taken.count)\np50\t\(taken[taken.count / 2])\np99\t\(taken[taken.count * 99 / 100])")
    print("longest\t\(taken[taken.count - 1])")
  }

  private static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

  /// The cursor's job, as the line over its log has it.
  private static func job(_ terminal: VirtualTerminal) -> Substring? {
    for row in stride(from: terminal.rows - 1, through: 0, by: -1) {
      let line = terminal.line(row)
      guard let start = line.range(of: " log: ") else { continue }
      return line[start.upperBound...].prefix { $0 != " " }
    }
    return nil
  }

  /// How many jobs have ended, as in `1200 of 100000 done`.
  private static func done(_ terminal: VirtualTerminal) -> Int {
    let line = terminal.line(0)
    guard let end = line.range(of: " of ")?.lowerBound else { return 0 }
    return Int(String(line[..<end].reversed().prefix(while: \.isNumber).reversed())) ?? 0
  }

  /// The place of the cursor's job, as in `sorted by attention  4/38`.
  private static func row(_ terminal: VirtualTerminal) -> Int? {
    for row in 0..<terminal.rows {
      if let place = number(after: "sorted by attention  ", in: terminal.line(row)) { return place }
    }
    return nil
  }

  private static func number(after word: String, in line: String) -> Int? {
    line.range(of: word).flatMap { Int(line[$0.upperBound...].prefix(while: \.isNumber)) }
  }
}
