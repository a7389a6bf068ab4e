import Dispatch

/// Hands elements to one receiver on its queue, in order, with at most one call on its way or under way.
///
/// Any thread may post. However many elements come while a call is on its way, it has them all; what comes while one is
/// under way goes into the next. So the order holds on a concurrent queue too.
package final class Mailbox<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var isScheduled = false
    var isClosed = false
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Lock(State())
  private let queue: DispatchQueue
  private let receive: @Sendable ([Element]) -> Void

  package init(on queue: DispatchQueue, _ receive: @escaping @Sendable ([Element]) -> Void) {
    self.queue = queue
    self.receive = receive
  }

  package func post(_ element: Element) { post(contentsOf: CollectionOfOne(element)) }

  package func post(contentsOf elements: some Sequence<Element>) {
    let mustSchedule = state.withLock { state in
      guard !state.isClosed else { return false }
      state.elements.append(contentsOf: elements)
      guard !state.isScheduled, !state.elements.isEmpty else { return false }
      state.isScheduled = true
      return true
    }
    if mustSchedule { queue.async { self.drain() } }
  }

  /// How many elements wait for the receiver.
  package var count: Int { state.withLock { $0.elements.count } }

  /// Calls `body` once fewer than `limit` elements wait: at once on this thread, or on the queue after a delivery.
  package func whenBelow(_ limit: Int, _ body: @escaping @Sendable () -> Void) {
    let now = state.withLock { state in
      if state.isClosed || state.elements.count < limit { return true }
      state.waiting.append(body)
      return false
    }
    if now { body() }
  }

  /// Nothing is delivered after a close on the receiver's queue; elsewhere, a call that has begun may still be under way.
  package func close() {
    let waiting = state.withLock { state in
      state.isClosed = true
      state.elements = []
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
  }

  private func drain() {
    let (elements, waiting, isClosed) = state.withLock { state in
      defer {
        state.elements = []
        state.waiting = []
      }
      return (state.elements, state.waiting, state.isClosed)
    }
    if !isClosed { receive(elements) }
    for body in waiting { body() }
    let mustSchedule = state.withLock { state in
      state.isScheduled = !state.elements.isEmpty
      return state.isScheduled
    }
    // Through the queue again rather than at once, so that a busy mailbox does not keep the queue to itself.
    if mustSchedule { queue.async { self.drain() } }
  }
}
