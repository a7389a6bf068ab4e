import Basics
import Dispatch

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
  ///
  /// Each delivery wakes a thread: by the default pace, there is one for each frame of the screen during a flood.
  package func subscribe(
    to snapshot: Run, on queue: DispatchQueue, pace: MailboxPace? = .frames,
    _ receive: @escaping @Sendable ([JobEvent]) -> Void
  ) -> JobSubscription {
    let mailbox = Mailbox(on: queue, pace: pace, receive)
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
    guard let slow = mailbox(holding: limit) else { return body() }
    slow.whenBelow(limit) { self.whenBelow(limit, body) }
  }

  /// The mailbox of a subscriber for which at least `count` events wait; nil if there is none.
  package func mailbox(holding count: Int) -> Mailbox<JobEvent>? {
    let mailboxes = state.withLock { Array($0.mailboxes.values) }
    return mailboxes.first { $0.count >= count }
  }
}
