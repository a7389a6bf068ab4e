import Basics
import Dispatch
import JobModel
import Support
import Testing

@Suite struct JobFeedTests {
  // MARK: Slots

  @Test func slotsAreChangedFromTheirNumberAndOneStays() {
    var recorder = Recorder([job("a"), job("b"), job("c")], slots: 3)
    #expect([1, -1, -2, -3, -9].map { recorder.run.slots(changedBy: $0) } == [4, 2, 1, 1, 1])
    for id in 0..<2 { recorder.move(id, to: .executing) }
    #expect(recorder.run.slots(changedBy: 1) == 4)
  }

  @Test func withoutALimitSlotsAreChangedFromWhatExecutes() {
    var recorder = Recorder([job("a"), job("b"), job("c")], slots: Run.unlimited)
    #expect(recorder.run.slots(changedBy: 1) == 1 && recorder.run.slots(changedBy: -1) == 1)
    for id in 0..<3 { recorder.move(id, to: .executing) }
    #expect(recorder.run.slots(changedBy: 1) == 4 && recorder.run.slots(changedBy: -1) == 2)
  }

  // MARK: Subscriptions

  @Test func aSubscriptionEndsWhenItIsCancelledOrReleased() {
    let ends = Lock(0)
    func subscribe() -> JobSubscription { JobSubscription(snapshot: Run()) { ends.withLock { $0 += 1 } } }
    let subscription = subscribe()
    #expect(ends.withLock { $0 } == 0)
    subscription.cancel()
    #expect(ends.withLock { $0 } == 1)
    var other: JobSubscription? = subscribe()
    #expect(other?.snapshot.nextSeq == 0)
    other = nil
    #expect(ends.withLock { $0 } == 2)
    withExtendedLifetime(subscription) {}
  }

  @Test func aSnapshotIsTheRunAndLeavesNoReader() {
    let feed = FakeFeed()
    feed.begin(2)
    #expect(feed.snapshot == feed.run && feed.snapshot.jobs.count == 2)
    #expect(feed.readers == 0)
  }

  @Test func onlyARecordingIsPlayedAgain() {
    #expect(!FakeFeed().isReplay)
    let recorded = RecordedFeed([JobEvent].everyField, clock: ManualOperationClock())
    #expect(recorded.isReplay && recorded.elapsed == .zero && recorded.snapshot.nextSeq == 0)
  }
}
