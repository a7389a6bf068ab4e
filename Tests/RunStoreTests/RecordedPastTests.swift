import Foundation
import JobModel
import RunStore
import Support
import Testing

/// The same past from the events that were noted and from the record.
struct RecordedPastTests {
  private let folder: TemporaryFolder
  private var state: String { folder.file("state").path() }
  private let feed = FakeFeed()
  private let events: [JobEvent]

  init() throws {
    folder = try TemporaryFolder()
    let recorder = RunRecorder(
      folder: folder.file("state").path(),
      origin: RunOrigin(command: "run", directory: "/", slots: 1, onFailure: "keep-going"))
    recorder.start(feed)
    feed.begin(9)
    for job in (0..<9).map({ JobID($0) }) {
      feed.post(.jobState(job, .executing, attempt: 1, pid: nil), at: .seconds(job.index))
      feed.post(.jobState(job, .succeeded(upToDate: false), attempt: 1, pid: nil), at: .seconds(job.index + 1))
    }
    #expect(recorder.flush(within: .patience))
    let store = try RunStore(folder: folder.file("state").path())
    events = try store.events(of: try store.run(named: "last"))
    #expect(events.count == feed.run.nextSeq)
  }

  private func run(_ past: RecordedPast, at time: Duration) async -> Run? {
    await withCheckedContinuation { continuation in past.find(time) { continuation.resume(returning: $0) } }
  }

  private func expected(at time: Duration) -> Run {
    events.filter { $0.time <= time }.reduce(into: Run()) { $0.apply($1) }
  }

  @Test(arguments: [1000, 15]) func aRunThatGoesOnHasItsPastWhereverItsEventsAre(limit: Int) async {
    let past = RecordedPast(folder: state, noteLimit: limit) { "1" }
    past.note(Array(events.prefix(12)))
    past.note(Array(events.dropFirst(12)))
    for time in [Duration.seconds(3), .milliseconds(5500), .seconds(60), .zero] {
      #expect(await run(past, at: time) == expected(at: time))
    }
  }

  @Test func notedEventsNeedNoRecord() async {
    let past = RecordedPast(folder: "/dev/null/none", noteLimit: 15) { "1" }
    past.note(Array(events.prefix(12)))
    #expect(await run(past, at: .milliseconds(500)) == expected(at: .milliseconds(500)))
    // Once it was asked for, no limit holds.
    past.note(Array(events.dropFirst(12)))
    #expect(await run(past, at: .seconds(7)) == expected(at: .seconds(7)))
  }

  @Test func eventsThatWereNotedTooLateAreRead() async {
    let past = RecordedPast(folder: state) { "1" }
    past.note(Array(events.dropFirst(3)))
    #expect(await run(past, at: .seconds(4)) == expected(at: .seconds(4)))
    let lost = RecordedPast(folder: "/dev/null/none") { "1" }
    lost.note(Array(events.dropFirst(3)))
    #expect(await run(lost, at: .seconds(4)) == nil)
  }

  @Test func aRunThatHasEndedNeedsNoNotes() async {
    let past = RecordedPast(events)
    past.note(Array(events.dropFirst(3)))
    #expect(await run(past, at: .seconds(4)) == expected(at: .seconds(4)))
  }

  @Test(arguments: [(12, true), (11, false)]) func asManyEventsAsTheLimitAreNoted(limit: Int, isNoted: Bool) async {
    // There is no record to read.
    let past = RecordedPast(folder: "/dev/null/none", noteLimit: limit) { "1" }
    past.note([])
    for piece in [events.prefix(5), events.prefix(12).dropFirst(5)] { past.note(Array(piece)) }
    let run = await run(past, at: .seconds(1))
    if isNoted {
      #expect(run == events.prefix(12).filter { $0.time <= .seconds(1) }.reduce(into: Run()) { $0.apply($1) })
    } else {
      #expect(run == nil)
    }
  }
}
