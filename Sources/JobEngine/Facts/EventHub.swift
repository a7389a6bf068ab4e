import Dispatch
import JobModel
import Operations

/// Passes the events of a run to its subscribers, each through its own mailbox; any thread may call it.
package final class EventHub: Sendable {
  private struct State {
    var mailboxes: [Int: Mailbox<JobEvent>] = [:]
    var nextSubscriber = 0
  }

  private let state = Lock(State())

  package init() {}

  /// Delivers the next events to each subscriber; calls must come in the order of the events.
  package func post(_ events: [JobEvent]) {
    guard !events.isEmpty else { return }
    state.withLock { state in
      for mailbox in state.mailboxes.values { mailbox.post(contentsOf: events) }
    }
  }

  /// Adds a subscriber that has `snapshot`; no event may be posted between the snapshot and this call.
  package func subscribe(
    to snapshot: Run, on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void
  ) -> JobSubscription {
    // Each delivery wakes a thread: during a flood there is one for each frame of the screen.
    let mailbox = Mailbox(on: queue, pace: .frames, receive)
    let subscriber = state.withLock { state in
      state.nextSubscriber += 1
      state.mailboxes[state.nextSubscriber] = mailbox
      return state.nextSubscriber
    }
    return JobSubscription(snapshot: snapshot) { [weak self] in
      mailbox.close()
      self?.state.withLock { $0.mailboxes[subscriber] = nil }
    }
  }

  /// Calls `body` once every subscriber has fewer than `limit` events waiting.
  package func whenBelow(_ limit: Int, _ body: @escaping @Sendable () -> Void) {
    let mailboxes = state.withLock { Array($0.mailboxes.values) }
    guard let slow = mailboxes.first(where: { $0.count >= limit }) else { return body() }
    slow.whenBelow(limit) { self.whenBelow(limit, body) }
  }
}
