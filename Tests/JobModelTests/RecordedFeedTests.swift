import Basics
import Dispatch
import JobModel
import Support
import Testing

@Suite struct RecordedFeedTests {
  private let clock = ManualOperationClock()
  private let queue = DispatchQueue(label: "test")
  /// The number of events at the first instant.
  private static let first = [JobEvent].everyField.count { $0.time == .zero }

  /// The events that a subscriber has received.
  private final class Received: Sendable {
    private let state = Lock<[JobEvent]>([])
    var events: [JobEvent] { state.withLock { $0 } }
    func append(_ events: [JobEvent]) { state.withLock { $0 += events } }
  }

  private func begin(_ feed: RecordedFeed) -> (Received, JobSubscription) {
    let received = Received()
    let subscription = feed.subscribe(on: queue) { received.append($0) }
    feed.start()
    return (received, subscription)
  }

  private static func end(of events: [JobEvent]) -> JobEvent {
    JobEvent(seq: events.count, time: events.last?.time ?? .zero, fact: .runFinished(RunSummary(of: events.folded)))
  }

  @Test func eventsComeAtTheirInstantsTimesTheSpeed() {
    let events = [JobEvent].everyField
    let feed = RecordedFeed(events, speed: 4, clock: clock)
    let (received, subscription) = begin(feed)
    #expect(eventually { received.events.count == Self.first && !clock.due.isEmpty })
    clock.advance(by: .milliseconds(500))
    #expect(eventually { received.events == events.filter { $0.time <= .seconds(2) } })
    #expect(feed.elapsed == .seconds(2))
    clock.advance(by: .seconds(24_000))
    #expect(eventually { received.events == events.dropLast() })
    clock.advance(by: .seconds(1_000))
    #expect(eventually { received.events == events })
    #expect(feed.elapsed == .seconds(100_000))
    #expect(clock.due.isEmpty)
    #expect(feed.snapshot == events.folded)
    withExtendedLifetime(subscription) {}
  }

  @Test func aRecordingWithoutAnEndGetsOneAfterItsLastEvent() {
    let events = Array([JobEvent].everyField.dropLast())
    let feed = RecordedFeed(events, clock: clock)
    let (received, subscription) = begin(feed)
    #expect(eventually { !clock.due.isEmpty })
    clock.advance(by: .seconds(3))
    #expect(eventually { received.events == events + [Self.end(of: events)] })
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: [false, true]) func aRecordingThatBeginsLateEndsWhenItIsAskedTo(isEmpty: Bool) {
    let late = [JobEvent].everyField.map { JobEvent(seq: $0.seq, time: $0.time + .seconds(3600), fact: $0.fact) }
    let feed = RecordedFeed(isEmpty ? [] : late, clock: clock)
    let (received, subscription) = begin(feed)
    feed.send(.finish(signal: nil))
    #expect(eventually { feed.snapshot.summary != nil && clock.due.isEmpty })
    #expect(eventually { received.events.count == 2 })
    #expect(received.events.map(\.seq) == [0, 1])
    #expect(isEmpty || received.events.first?.fact == late.first?.fact)
    withExtendedLifetime(subscription) {}
  }

  @Test func chunksArePlayedAsOne() {
    let events = [JobEvent].everyField
    let rest = Lock(events[...])
    let feed = RecordedFeed(clock: clock) {
      rest.withLock { rest in
        defer { rest = rest.dropFirst(7) }
        return rest.isEmpty ? nil : Array(rest.prefix(7))
      }
    }
    let (received, subscription) = begin(feed)
    #expect(eventually { !clock.due.isEmpty })
    clock.advance(by: .seconds(100_001))
    #expect(eventually { received.events == events })
    withExtendedLifetime(subscription) {}
  }

  @Test func stopAndFinishEndTheRunAndOtherCommandsDoNothing() {
    for (command, signal) in [(JobCommand.stop(.kill, by: .person), nil), (.finish(signal: 15), Int32(15))] {
      let events = [JobEvent].everyField
      let feed = RecordedFeed(events, clock: clock)
      let (received, subscription) = begin(feed)
      #expect(eventually { received.events.count == Self.first })
      feed.send(.cancel([JobID(0)], by: .person))
      feed.send(.setSlots(9))
      feed.send(command)
      #expect(eventually { received.events.count == Self.first + 1 })
      let summary = RunSummary(of: Array(events[..<Self.first]).folded, signal: signal)
      #expect(received.events.last?.fact == .runFinished(summary))
      clock.advance(by: .seconds(100_000))
      #expect(feed.elapsed == .zero)
      #expect(received.events.count == Self.first + 1)
      withExtendedLifetime(subscription) {}
    }
  }

  /// A start, and another event after some milliseconds.
  private func pair(_ milliseconds: Int) -> [JobEvent] {
    Array([JobEvent].everyField.prefix(1)) + [
      JobEvent(seq: 1, time: .milliseconds(milliseconds), fact: .slotsChanged(3))
    ]
  }

  @Test func eventsCloseTogetherAreAwaitedForTenMilliseconds() {
    for (milliseconds, due) in [(1, 10), (10, 10), (11, 11)] {
      let clock = ManualOperationClock()
      let feed = RecordedFeed(pair(milliseconds), clock: clock)
      let (_, subscription) = begin(feed)
      #expect(eventually { !clock.due.isEmpty })
      #expect(clock.due == [.milliseconds(due)])
      withExtendedLifetime((feed, subscription)) {}
    }
  }

  @Test func betweenTwoEventsTheTimeOfARecordingGoesOnAtItsSpeed() {
    let feed = RecordedFeed(pair(60), speed: 2, clock: clock)
    #expect(feed.elapsed == .zero)
    let (_, subscription) = begin(feed)
    #expect(eventually { !clock.due.isEmpty })
    #expect(clock.due == [.milliseconds(30)])
    clock.advance(by: .milliseconds(20))
    #expect(feed.elapsed == .milliseconds(40))
    withExtendedLifetime(subscription) {}
  }
}
