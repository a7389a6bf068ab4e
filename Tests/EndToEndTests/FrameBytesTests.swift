import Foundation
import Support
import Testing

/// How much is written for how little.
@Suite struct FrameBytesTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var columns: Int
    var rows: Int
    var isASCII: Bool
    var testDescription: String { "\(columns)x\(rows)\(isASCII ? " in ASCII" : "")" }
  }

  private static let cases = [(80, 24), (120, 40)].flatMap { columns, rows in
    [false, true].map { Case(columns: columns, rows: rows, isASCII: $0) }
  }

  /// All that a report changes in the job's row beside the bar's cell is in it: per cent, time left, steps; in colour.
  @Test(arguments: cases) func aStepOfABarWritesLittle(_ item: Case) throws {
    let pty = try Pty(
      [Built.product("dashboard-probe"), "steps"] + (item.isASCII ? ["--ascii"] : []),
      environment: ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"].merging(FaultHandling.environment) { $1 },
      columns: item.columns, rows: item.rows)
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    var terminal = VirtualTerminal(columns: item.columns, rows: item.rows)
    var frames = 0
    var sizes: [Int] = []
    var text = pty.text[...]
    while let mark = text.range(of: "\u{1B}]2;frame \(frames + 1)\u{1B}\\") {
      let frame = text[..<mark.lowerBound]
      let before = terminal
      terminal.feed(frame.utf8)
      frames += 1
      // The others show that a second has gone by.
      if frames.isMultiple(of: 2) {
        let changed = terminal.screen.indices.filter { terminal.screen[$0] != before.screen[$0] }
        #expect(changed.contains { row(of: "job-1", in: terminal) == $0 }, "\(terminal.text)")
        // Now and then the run's share changes too, the timeline below, or a number gets another digit; and where the bar
        // ends near its per cent, ncurses writes the cells between again.
        #expect(frame.utf8.count < 112, "\(frame.utf8.count): \(frame.debugDescription)")
        sizes.append(frame.utf8.count)
      }
      text = text[mark.upperBound...]
    }
    #expect(frames == 24)
    #expect(sizes.sorted()[sizes.count / 2] < 80, "\(sizes)")
    #expect(terminal.faults == [])
  }

  private func row(of job: String, in terminal: VirtualTerminal) -> Int? {
    terminal.screen.indices.first { terminal.line($0).dropFirst(3).hasPrefix("\(job) ") }
  }
}
