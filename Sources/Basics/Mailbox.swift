import Dispatch

/// Delivers elements to one receiver on its queue, in order, with at most one call enqueued or executing.
///
/// Any thread may post. An enqueued call delivers all elements that are posted until it executes; elements that are posted
/// while it executes go into the next one. So the order holds on a concurrent queue too.
///
/// A mailbox with a pace collects elements: each call wakes a thread, and a dozen elements in one call cost hardly more
/// than one.
@usableFromInline package final class Mailbox<Element: Sendable>: Sendable {
  @usableFromInline struct State {
    @usableFromInline var elements: [Element] = []
    @usableFromInline var hasUrgent = false
    @usableFromInline var call = Call.none
    /// Stays set when its call is overtaken, and serves the next elements: setting a timer costs more than a call.
    @usableFromInline var isTimerSet = false
    /// The beginning of the current interval; the time of the newest call, where the pace has no prompt elements.
    @usableFromInline var began: DispatchTime?
    /// How many elements have been delivered in the interval.
    @usableFromInline var delivered = 0
    @usableFromInline var floodEnd: DispatchTime?
    @usableFromInline var isFlooded = false
    /// The storage that the last call has emptied, to be filled again.
    @usableFromInline var spare: [Element] = []
    @usableFromInline var isClosed = false
    @usableFromInline var waiting: [@Sendable () -> Void] = []
    /// The burst of the pace, unless it was changed.
    @usableFromInline var burst: Int

    @inlinable init(burst: Int) { self.burst = burst }
  }

  @usableFromInline enum Call {
    case none
    case enqueued
    case executing
  }

  @usableFromInline enum Order {
    case call
    case timer(DispatchTime)
  }

  @usableFromInline let state: LockedPlace<State>
  @usableFromInline let queue: DispatchQueue
  @usableFromInline let pace: MailboxPace?
  @usableFromInline let receive: @Sendable ([Element]) -> Void

  @inlinable package init(
    on queue: DispatchQueue, pace: MailboxPace? = nil, _ receive: @escaping @Sendable ([Element]) -> Void
  ) {
    self.queue = queue
    self.pace = pace
    state = LockedPlace(State(burst: pace?.burst ?? 1))
    self.receive = receive
  }

  /// An urgent element does not wait for the pace, and neither do the elements before it.
  @inlinable package func post(_ element: Element, isUrgent: Bool = false) { post(isUrgent: isUrgent) { element } }

  /// Posts the element that the closure returns; calls the closure under the lock, which saves a copy.
  @inlinable package func post(isUrgent: Bool = false, making element: () -> Element) {
    add(isUrgent) { $0.append(element()) }
  }

  @inlinable package func post(contentsOf elements: some Sequence<Element>, isUrgent: Bool = false) {
    add(isUrgent) { $0.append(contentsOf: elements) }
  }

  @inlinable func add(_ isUrgent: Bool, _ append: (inout [Element]) -> Void) {
    let order = state.withLock { state -> Order? in
      guard !state.isClosed else { return nil }
      append(&state.elements)
      if isUrgent { state.hasUrgent = true }
      return nextOrder(&state)
    }
    if let order { give(order) }
  }

  /// How many elements wait for the receiver.
  @inlinable package var count: Int { state.withLock { $0.elements.count } }

  /// Calls `body` under the lock with the elements that wait for the receiver.
  package func withElements<Value>(_ body: ([Element]) -> Value) -> Value { state.withLock { body($0.elements) } }

  /// Calls `body` once fewer than `limit` elements wait: at once on this thread, or on the queue after a delivery.
  @inlinable package func whenBelow(_ limit: Int, _ body: @escaping @Sendable () -> Void) {
    let now = state.withLock { state in
      if state.isClosed || state.elements.count < limit { return true }
      state.waiting.append(body)
      return false
    }
    if now { body() }
  }

  /// Nothing is delivered after a close on the receiver's queue; elsewhere, a call that has begun may still be executing.
  @inlinable package func close() {
    // Freed outside the lock: the end of an element may have consequences.
    let (elements, waiting) = state.withLock { state in
      state.isClosed = true
      defer { (state.elements, state.waiting) = ([], []) }
      return (state.elements, state.waiting)
    }
    for body in waiting { body() }
    withExtendedLifetime(elements) {}
  }

  /// Changes the pace's burst.
  @inlinable package func setBurst(_ count: Int) {
    let order = state.withLock { state in
      state.burst = count
      return nextOrder(&state)
    }
    if let order { give(order) }
  }

  /// Lets the elements that wait for the pace wait no longer; calls `body` on the queue after all that were posted before.
  ///
  /// On a concurrent queue a call with the last of these may still be executing.
  @inlinable package func deliverNow(_ body: @escaping @Sendable () -> Void = {}) {
    let (order, isEmpty) = state.withLock { state -> (Order?, Bool) in
      guard !state.elements.isEmpty else { return (nil, true) }
      state.hasUrgent = true
      state.waiting.append(body)
      return (nextOrder(&state), false)
    }
    if let order { give(order) }
    if isEmpty { queue.async(execute: body) }
  }

  /// The call or timer that the elements need and that is not enqueued yet.
  @inlinable func nextOrder(_ state: inout State) -> Order? {
    guard case .none = state.call, !state.elements.isEmpty else { return nil }
    // The clock is read only where nothing else decides.
    guard let pace, let began = state.began, !state.hasUrgent, state.elements.count < state.burst else {
      return call(&state)
    }
    let isPrompt = !state.isFlooded && state.delivered + state.elements.count <= pace.prompt
    let end = began + pace.interval
    if isPrompt || !state.isTimerSet && end <= .now() { return call(&state) }
    guard !state.isTimerSet else { return nil }
    state.isTimerSet = true
    return .timer(end)
  }

  @inlinable func call(_ state: inout State) -> Order {
    state.call = .enqueued
    return .call
  }

  /// Counts the elements that are being delivered, under the lock.
  @inlinable func count(_ state: inout State, _ pace: MailboxPace) {
    let now = DispatchTime.now()
    if let began = state.began, pace.prompt > 0, now < began + pace.interval {
      state.delivered += state.elements.count
      return
    }
    if state.delivered > pace.prompt { state.floodEnd = now + pace.flood }
    state.isFlooded = state.floodEnd.map { now < $0 } ?? false
    state.began = now
    state.delivered = state.elements.count
  }

  @inlinable func give(_ order: Order) {
    switch order {
    case .call: queue.async { self.call() }
    case .timer(let time): queue.asyncAfter(deadline: time) { self.timerFired() }
    }
  }

  @inlinable func timerFired() {
    let isDue = state.withLock { state in
      state.isTimerSet = false
      guard case .none = state.call, !state.elements.isEmpty else { return false }
      state.call = .enqueued
      return true
    }
    if isDue { call() }
  }

  @inlinable func call() {
    var taken = state.withLock { state in
      state.call = .executing
      state.hasUrgent = false
      if let pace { count(&state, pace) }
      var elements: [Element] = []
      swap(&elements, &state.spare)
      swap(&elements, &state.elements)
      return (elements: elements, waiting: exchange(&state.waiting, with: []), isClosed: state.isClosed)
    }
    if !taken.isClosed { receive(taken.elements) }
    for body in taken.waiting { body() }
    let isWorthKeeping = taken.elements.capacity <= Self.largestSpare
    taken.elements.removeAll(keepingCapacity: isWorthKeeping)
    // Enqueued again rather than called, so that a busy mailbox does not keep the queue to itself.
    let order = state.withLock { state in
      state.call = .none
      if isWorthKeeping { swap(&state.spare, &taken.elements) }
      return nextOrder(&state)
    }
    if let order { give(order) }
  }

  @inlinable static var largestSpare: Int { 4096 }
}

/// When a mailbox may call its receiver.
@usableFromInline package struct MailboxPace: Sendable {
  /// The least time between two calls, with two exceptions.
  @usableFromInline var interval: DispatchTimeInterval
  /// Elements do not wait once there are so many.
  @usableFromInline var burst: Int
  /// At most `prompt` elements per interval are delivered at once, unless there is a flood; the rest wait for its end.
  @usableFromInline var prompt: Int
  /// How long a flood lasts after an interval with more elements than `prompt`.
  @usableFromInline var flood: DispatchTimeInterval

  package init(
    interval: DispatchTimeInterval, burst: Int = .max, prompt: Int = 0, flood: DispatchTimeInterval = .seconds(0)
  ) {
    self.interval = interval
    self.burst = burst
    self.prompt = prompt
    self.flood = flood
  }

  /// Sixty calls a second; a few elements are delivered at once.
  package static var frames: MailboxPace {
    MailboxPace(interval: .microseconds(16_667), prompt: 16, flood: .milliseconds(500))
  }
}
