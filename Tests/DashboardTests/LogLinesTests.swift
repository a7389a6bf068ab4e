import JobModel
import Testing

@testable import Dashboard

extension LogLines {
  /// Lines of a job that are the events 10, 12, 14 and so on; `capacity` of them are in memory.
  static func even(_ texts: [String], capacity: Int = LogRing.capacity) -> LogLines {
    var ring = LogRing(capacity: capacity)
    for (number, text) in texts.enumerated() {
      ring.append(LogLine(.stdout, text), seq: 10 + number * 2, at: .zero, attempt: 1)
    }
    return LogLines(JobID(0), ring)
  }
}

@Suite struct LogLinesTests {
  private let three = LogLines.even(["a", "b", "c"])
  private let none = LogLines.even([])

  @Test(arguments: [(9, 0), (10, 0), (11, 1), (12, 1), (13, 2), (14, 2), (15, 3), (99, 3)])
  func anEventHasThePositionOfItsLineOrOfTheNext(_ seq: Int, _ position: Int) {
    #expect(three.position(of: seq) == position)
    #expect(none.position(of: seq) == 0)
  }

  @Test(arguments: [(0, 10), (1, 12), (2, 14), (3, 14), (99, 14)])
  func aPositionHasAnEventOrThatOfTheLastLine(_ position: Int, _ seq: Int) {
    #expect(three.seq(at: position) == seq)
    #expect(none.seq(at: position) == nil)
  }

  @Test(arguments: [(10, "a"), (12, "b"), (14, "c"), (9, nil), (11, nil), (15, nil)] as [(Int, String?)])
  func onlyAnEventOfALineHasOne(_ seq: Int, _ text: String?) {
    #expect(three.line(seq)?.entry.line.text == text)
    #expect(none.line(seq) == nil)
  }

  @Test func theFirstAndTheLastLineAreThoseInMemory() {
    #expect(three.first?.seq == 10 && three.last?.seq == 14 && three.dropped == 0 && !three.isEmpty)
    #expect(none.first == nil && none.last == nil && none.isEmpty)
    let two = LogLines.even(["a", "b", "c"], capacity: 2)
    #expect(two.count == 2 && two.total == 3 && two.dropped == 1)
    #expect(two.first?.seq == 12 && two[1].entry.line.text == "c")
  }

  @Test func aSourceIsAJobTheProgramOrMany() {
    #expect(three.source == .job(JobID(0)) && three[0].job == JobID(0) && !three.isMerged)
    var ring = LogRing()
    ring.append(LogLine(.stdout, "x"), seq: 3, at: .zero, attempt: 1)
    let program = LogLines(program: ring)
    #expect(program.source == .program && program[0].job == nil && !program.isMerged && program.count == 1)
    let scope = MergedLog.Scope(tags: [], filter: .everything)
    let merged = LogLines(MergedLog(scope, collection: 7, Run()) { _ in true })
    #expect(merged.source == .merged(7) && merged.isMerged && merged.isEmpty)
  }
}
