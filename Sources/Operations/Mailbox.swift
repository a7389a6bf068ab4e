import Dispatch

/// Hands elements to one receiver on its queue, in order, with at most one call on its way or under way.
///
/// Any thread may post. However many elements come while a call is on its way, it has them all; what comes while one is
/// under way goes into the next. So the order holds on a concurrent queue too.
///
/// A mailbox with a pace calls at most that often while few elements come: each call costs a thread its sleep, and a
/// dozen elements in one call cost hardly more than one.
package final class Mailbox<Element: Sendable>: Sendable {
  /// No call within `interval` of the one before, unless `burst` elements wait.
  package struct Pace: Sendable {
    var interval: DispatchTimeInterval
    var burst: Int

    package init(interval: DispatchTimeInterval, burst: Int) {
      self.interval = interval
      self.burst = burst
    }
  }

  private struct State {
    var elements: [Element] = []
    var hasUrgent = false
    var call = Call.none
    /// Numbers the calls, so that one that was overtaken is void.
    var number = 0
    /// When the newest call began.
    var called: DispatchTime?
    var isClosed = false
    var waiting: [@Sendable () -> Void] = []
  }

  private enum Call {
    case none
    case due(Int)
    /// Waits for the pace, and may be overtaken.
    case delayed(Int)
    case underWay
  }

  private struct Order {
    var number: Int
    /// Nil means at once.
    var time: DispatchTime?
  }

  private let state = Lock(State())
  private let queue: DispatchQueue
  private let pace: Pace?
  private let receive: @Sendable ([Element]) -> Void

  package init(
    on queue: DispatchQueue, pace: Pace? = nil, _ receive: @escaping @Sendable ([Element]) -> Void
  ) {
    self.queue = queue
    self.pace = pace
    self.receive = receive
  }

  /// What is urgent waits for no pace, and takes along what came before it.
  package func post(_ element: Element, isUrgent: Bool = false) {
    post(contentsOf: CollectionOfOne(element), isUrgent: isUrgent)
  }

  package func post(contentsOf elements: some Sequence<Element>, isUrgent: Bool = false) {
    let order = state.withLock { state -> Order? in
      guard !state.isClosed else { return nil }
      state.elements.append(contentsOf: elements)
      if isUrgent { state.hasUrgent = true }
      return nextCall(&state)
    }
    if let order { give(order) }
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

  /// The call that the elements need and that is not on its way yet.
  private func nextCall(_ state: inout State) -> Order? {
    guard !state.elements.isEmpty else { return nil }
    var time: DispatchTime?
    switch state.call {
    case .due, .underWay: return nil
    case .none, .delayed: time = delay(state)
    }
    if time != nil, case .delayed = state.call { return nil }
    state.number += 1
    state.call = time == nil ? .due(state.number) : .delayed(state.number)
    return Order(number: state.number, time: time)
  }

  /// When the next call may be made; nil means at once.
  private func delay(_ state: State) -> DispatchTime? {
    guard let pace, let called = state.called, !state.hasUrgent, state.elements.count < pace.burst else { return nil }
    let time = called + pace.interval
    return time > .now() ? time : nil
  }

  private func give(_ order: Order) {
    if let time = order.time {
      queue.asyncAfter(deadline: time) { self.call(order.number) }
    } else {
      queue.async { self.call(order.number) }
    }
  }

  private func call(_ number: Int) {
    let taken = state.withLock { state -> (elements: [Element], waiting: [@Sendable () -> Void], isClosed: Bool)? in
      switch state.call {
      case .due(number), .delayed(number): break
      default: return nil
      }
      state.call = .underWay
      state.hasUrgent = false
      if pace != nil { state.called = .now() }
      defer {
        state.elements = []
        state.waiting = []
      }
      return (state.elements, state.waiting, state.isClosed)
    }
    guard let taken else { return }
    if !taken.isClosed { receive(taken.elements) }
    for body in taken.waiting { body() }
    // Through the queue again rather than at once, so that a busy mailbox does not keep the queue to itself.
    let order = state.withLock { state in
      state.call = .none
      return nextCall(&state)
    }
    if let order { give(order) }
  }
}
