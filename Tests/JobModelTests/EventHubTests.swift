import Basics
import Dispatch
import Testing

@testable import JobModel

@Suite struct EventHubTests {
  private let hub = EventHub()

  private static func events(_ count: Int) -> [JobEvent] {
    (0..<count).map { JobEvent(seq: $0, time: .zero, fact: .slotsChanged($0 + 1)) }
  }

  /// A subscriber that receives nothing before `resume`.
  private final class Reader: Sendable {
    private let queue = DispatchQueue(label: "test.reader")
    private let count = Lock(0)
    private let subscription = Lock<JobSubscription?>(nil)

    init(_ hub: EventHub) {
      queue.suspend()
      let new = hub.subscribe(to: Run(), on: queue) { [count] events in count.withLock { $0 += events.count } }
      subscription.withLock { $0 = new }
    }

    /// Receives what waits; a second call, after which there is no more, is not allowed.
    func resume() {
      queue.resume()
      queue.sync {}
    }

    func cancel() { subscription.withLock(\.self)?.cancel() }

    var received: Int { count.withLock(\.self) }
  }

  /// Whether `whenBelow` has called its closure, now and later.
  private func waiting(for limit: Int) -> @Sendable () -> Bool {
    let isBelow = Lock(false)
    hub.whenBelow(limit) { isBelow.withLock { $0 = true } }
    return { !isBelow.withLock(\.self) }
  }

  @Test func oneIsBelowALimitWithOneEventLess() {
    let reader = Reader(hub)
    hub.post(Self.events(3))
    #expect(!waiting(for: 4)())
    let waits = waiting(for: 3)
    #expect(waits())
    reader.resume()
    #expect(!waits())
  }

  @Test(arguments: [true, false]) func theSlowestOfSeveralReadersDecides(isFirstSlow: Bool) {
    let readers = [Reader(hub), Reader(hub)]
    hub.post(Self.events(3))
    let waits = waiting(for: 3)
    readers[isFirstSlow ? 1 : 0].resume()
    #expect(waits())
    readers[isFirstSlow ? 0 : 1].resume()
    #expect(!waits())
  }

  @Test func withoutReadersNothingWaits() { #expect(!waiting(for: 1)()) }

  @Test func aCancelledReaderHoldsNothingUpAndReceivesNothing() {
    let reader = Reader(hub)
    hub.post(Self.events(3))
    let waits = waiting(for: 1)
    reader.cancel()
    #expect(!waits())
    hub.post(Self.events(1))
    #expect(!waiting(for: 1)())
    reader.resume()
    #expect(reader.received == 0)
  }

  @Test func aReaderReceivesWhatComesAfterItsSubscription() {
    let first = Reader(hub)
    hub.post(Self.events(2))
    let second = Reader(hub)
    hub.post(Self.events(3))
    for reader in [first, second] { reader.resume() }
    #expect(first.received == 5 && second.received == 3)
  }
}
