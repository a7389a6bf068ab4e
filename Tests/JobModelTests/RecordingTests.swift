import Foundation
import JobModel
import Testing

@Suite struct RecordingTests {
  private let events = [JobEvent](facts: [
    (.zero, .runStarted(RunStart(id: "r", name: "n", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 1))),
    (.zero, .jobAdded(JobID(0), job("a"))), (.seconds(1), .slotsChanged(2)),
  ])

  @Test func theLastLineNeedsNoLineFeed() throws {
    let recording = try Recording(Array(events.ndjson.dropLast()))
    #expect(recording.events == events && !recording.isTruncated)
    let again = try Recording(events.ndjson + [0x0A, 0x0A])
    #expect(again.events == events && !again.isTruncated)
  }

  @Test func aLineThatIsNotWholeIsLeftOutAtTheEndOnly() throws {
    let recording = try Recording(Array(events.ndjson.dropLast(2)))
    #expect(recording.events == Array(events.dropLast()) && recording.isTruncated)
    #expect(throws: EventFault(line: 3, message: "the JSON object ends before its closing brace")) {
      try Recording(Array(events.ndjson.dropLast(2)) + [0x0A])
    }
    let first = try Recording(Array(#"{"v":1,"#.utf8))
    #expect(first.events.isEmpty && first.isTruncated)
  }

  @Test func aWholeLastLineThatIsFaultyIsAFault() {
    #expect(throws: EventFault(line: 4, message: "'v' is missing")) { try Recording(events.ndjson + Array("{}".utf8)) }
  }

  @Test func aRunWithoutAllOfItsJobsIsTruncated() throws {
    let recording = try Recording(Array(events.prefix(1)).ndjson)
    #expect(recording.events.isEmpty && recording.isTruncated)
  }
}
