import Dispatch
import JobModel
import Operations

/// Numbers the facts of a run, folds them, and hands them to whoever subscribed.
package final class EventHub: Sendable {
  private struct State {
    var run = Run()
    var mailboxes: [Int: Mailbox<JobEvent>] = [:]
    var nextSubscriber = 0
  }

  private let state = Lock(State())

  package init() {}

  /// The run as of the last fact.
  package var run: Run { state.withLock { $0.run } }

  /// All facts of one call get consecutive numbers.
  package func post(_ facts: [(fact: JobFact, time: Duration)]) {
    guard !facts.isEmpty else { return }
    state.withLock { state in
      var events: [JobEvent] = []
      events.reserveCapacity(facts.count)
      for (fact, time) in facts {
        let event = JobEvent(seq: state.run.nextSeq, time: time, fact: fact)
        state.run.apply(event)
        events.append(event)
      }
      for mailbox in state.mailboxes.values { mailbox.post(contentsOf: events) }
    }
  }

  package func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void)
    -> JobSubscription
  {
    // A call costs a thread its sleep: in a flood nobody is told more often than can be seen.
    let mailbox = Mailbox(on: queue, pace: .frames, receive)
    let (run, subscriber) = state.withLock { state in
      let subscriber = state.nextSubscriber
      state.nextSubscriber += 1
      state.mailboxes[subscriber] = mailbox
      return (state.run, subscriber)
    }
    return JobSubscription(snapshot: run) { [weak self] in
      mailbox.close()
      self?.state.withLock { $0.mailboxes[subscriber] = nil }
    }
  }

  /// Calls `body` once no subscriber is more than `limit` events behind.
  package func whenBelow(_ limit: Int, _ body: @escaping @Sendable () -> Void) {
    let mailboxes = state.withLock { Array($0.mailboxes.values) }
    guard let slow = mailboxes.first(where: { $0.count >= limit }) else { return body() }
    slow.whenBelow(limit) { self.whenBelow(limit, body) }
  }
}
