import Foundation
import JobModel
import Testing

/// When lines are written; what they hold is in `CodecTests`.
@Suite struct EventWriterTests {
  /// How many lines there are after each fact.
  private func lines(jobs: Int, _ facts: [JobFact]) -> [Int] {
    let start = RunStart(id: "r", name: "n", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: jobs)
    var (writer, bytes) = (EventWriter(), [UInt8]())
    return ([.runStarted(start)] + facts).enumerated().map { seq, fact in
      writer.append(JobEvent(seq: seq, time: .zero, fact: fact), to: &bytes)
      return bytes.count { $0 == UInt8(ascii: "\n") }
    }
  }

  private func added(_ id: Int) -> JobFact { .jobAdded(JobID(id), job("\(id)")) }

  @Test func theDeclaredJobsAreWrittenWithTheLastOfThem() {
    #expect(lines(jobs: 3, [added(0), added(1), added(2), .slotsChanged(2)]) == [1, 1, 1, 4, 5])
  }

  @Test func aLaterJobIsWrittenAtOnce() {
    #expect(lines(jobs: 1, [added(0), added(1), added(2)]) == [1, 2, 3, 4])
    #expect(lines(jobs: 0, [added(0)]) == [1, 2])
  }

  @Test func jobsThatWaitForOthersComeBeforeAnotherFact() {
    #expect(lines(jobs: 3, [added(0), added(1), .slotsChanged(2), added(2)]) == [1, 1, 1, 4, 5])
  }

  @Test func aNeedOfALaterJobHasItsNameAndItsNumber() {
    let start = RunStart(id: "r", name: "n", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 3)
    let lines = [JobEvent](facts: [
      (.zero, .runStarted(start)), (.zero, .jobAdded(JobID(0), job("a", 2))), (.zero, .jobAdded(JobID(1), job("b", 0))),
      (.zero, .jobAdded(JobID(2), job("c"))),
    ]).lines
    #expect(lines[1].contains(#""needs":[{"job":"c","when":"ok","id":2}]"#))
    #expect(lines[2].contains(#""needs":[{"job":"a","when":"ok"}]"#))
  }
}
