import Dispatch

/// Hands elements to one receiver on its queue, in order, with at most one call on its way or under way.
///
/// Any thread may post. However many elements come while a call is on its way, it has them all; what comes while one is
/// under way goes into the next. So the order holds on a concurrent queue too.
///
/// A mailbox with a pace lets elements wait for company: each call costs a thread its sleep, and a dozen elements in one
/// call cost hardly more than one.
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
    /// Whether a timer is on its way.
    ///
    /// It stays when its call is overtaken, and serves what comes next: setting one costs more than a call.
    var isTimerSet = false
    /// When the newest call began.
    var called: DispatchTime?
    var isClosed = false
    var waiting: [@Sendable () -> Void] = []
  }

  private enum Call {
    case none
    case due
    case underWay
  }

  private enum Order {
    case call
    case timer(DispatchTime)
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
      return nextOrder(&state)
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

  /// What has to be set going for the elements that is not on its way yet.
  private func nextOrder(_ state: inout State) -> Order? {
    guard case .none = state.call, !state.elements.isEmpty else { return nil }
    guard let time = delay(state) else {
      state.call = .due
      return .call
    }
    guard !state.isTimerSet else { return nil }
    state.isTimerSet = true
    return .timer(time)
  }

  /// When the next call may be made; nil means at once.
  private func delay(_ state: State) -> DispatchTime? {
    guard let pace, let called = state.called, !state.hasUrgent, state.elements.count < pace.burst else { return nil }
    let time = called + pace.interval
    return time > .now() ? time : nil
  }

  private func give(_ order: Order) {
    switch order {
    case .call: queue.async { self.call() }
    case .timer(let time): queue.asyncAfter(deadline: time) { self.timeHasCome() }
    }
  }

  private func timeHasCome() {
    let isDue = state.withLock { state in
      state.isTimerSet = false
      guard case .none = state.call, !state.elements.isEmpty else { return false }
      state.call = .due
      return true
    }
    if isDue { call() }
  }

  private func call() {
    let taken = state.withLock { state in
      state.call = .underWay
      state.hasUrgent = false
      if pace != nil { state.called = .now() }
      defer {
        state.elements = []
        state.waiting = []
      }
      return (elements: state.elements, waiting: state.waiting, isClosed: state.isClosed)
    }
    if !taken.isClosed { receive(taken.elements) }
    for body in taken.waiting { body() }
    // Through the queue again rather than at once, so that a busy mailbox does not keep the queue to itself.
    let order = state.withLock { state in
      state.call = .none
      return nextOrder(&state)
    }
    if let order { give(order) }
  }
}
