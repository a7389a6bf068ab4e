import Dispatch

/// Hands elements to one receiver on its queue, in order, with at most one call on its way or under way.
///
/// Any thread may post. However many elements come while a call is on its way, it has them all; what comes while one is
/// under way goes into the next. So the order holds on a concurrent queue too.
///
/// A mailbox with a pace lets elements wait for company: each call costs a thread its sleep, and a dozen elements in one
/// call cost hardly more than one.
@usableFromInline package final class Mailbox<Element: Sendable>: Sendable {
  @usableFromInline package typealias Pace = MailboxPace

  @usableFromInline struct State {
    @usableFromInline var elements: [Element] = []
    @usableFromInline var hasUrgent = false
    @usableFromInline var call = Call.none
    /// Whether a timer is on its way.
    ///
    /// It stays when its call is overtaken, and serves what comes next: setting one costs more than a call.
    @usableFromInline var isTimerSet = false
    /// When the time began within which only little is handed on; the newest call, where nothing is.
    @usableFromInline var began: DispatchTime?
    /// How much has been handed on since then.
    @usableFromInline var handedOn = 0
    /// Until when it counts as a flood.
    @usableFromInline var floodEnd: DispatchTime?
    @usableFromInline var isFlooded = false
    /// What the last call has emptied, to be filled again.
    @usableFromInline var spare: [Element] = []
    @usableFromInline var isClosed = false
    @usableFromInline var waiting: [@Sendable () -> Void] = []
    /// With fewer elements than these the pace is kept.
    @usableFromInline var burst: Int

    @inlinable init(burst: Int) { self.burst = burst }
  }

  @usableFromInline enum Call {
    case none
    case due
    case underWay
  }

  @usableFromInline enum Order {
    case call
    case timer(DispatchTime)
  }

  @usableFromInline let state: LockedPlace<State>
  @usableFromInline let queue: DispatchQueue
  @usableFromInline let pace: Pace?
  @usableFromInline let receive: @Sendable ([Element]) -> Void

  @inlinable package init(
    on queue: DispatchQueue, pace: Pace? = nil, _ receive: @escaping @Sendable ([Element]) -> Void
  ) {
    self.queue = queue
    self.pace = pace
    state = LockedPlace(State(burst: pace?.burst ?? 1))
    self.receive = receive
  }

  /// What is urgent waits for no pace, and takes along what came before it.
  @inlinable package func post(_ element: Element, isUrgent: Bool = false) { post(isUrgent: isUrgent) { element } }

  /// Posts what the closure returns, which is called under the lock: an element made there is not copied once more.
  @inlinable package func post(isUrgent: Bool = false, making element: () -> Element) {
    let order = state.withLock { state -> Order? in
      guard !state.isClosed else { return nil }
      state.elements.append(element())
      if isUrgent { state.hasUrgent = true }
      return nextOrder(&state)
    }
    if let order { give(order) }
  }

  @inlinable package func post(contentsOf elements: some Sequence<Element>, isUrgent: Bool = false) {
    let order = state.withLock { state -> Order? in
      guard !state.isClosed else { return nil }
      state.elements.append(contentsOf: elements)
      if isUrgent { state.hasUrgent = true }
      return nextOrder(&state)
    }
    if let order { give(order) }
  }

  /// How many elements wait for the receiver.
  @inlinable package var count: Int { state.withLock { $0.elements.count } }

  /// Calls `body` once fewer than `limit` elements wait: at once on this thread, or on the queue after a delivery.
  @inlinable package func whenBelow(_ limit: Int, _ body: @escaping @Sendable () -> Void) {
    let now = state.withLock { state in
      if state.isClosed || state.elements.count < limit { return true }
      state.waiting.append(body)
      return false
    }
    if now { body() }
  }

  /// Nothing is delivered after a close on the receiver's queue; elsewhere, a call that has begun may still be under way.
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
  /// On a concurrent queue the last of these may still be under way.
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

  /// What has to be set going for the elements that is not on its way yet.
  @inlinable func nextOrder(_ state: inout State) -> Order? {
    guard case .none = state.call, !state.elements.isEmpty else { return nil }
    // The clock is looked at only where nothing else decides.
    guard let pace, let began = state.began, !state.hasUrgent, state.elements.count < state.burst else {
      return call(&state)
    }
    if state.isTimerSet, state.isFlooded || state.handedOn + state.elements.count > pace.prompt { return nil }
    let end = began + pace.interval
    if end <= .now() || !state.isFlooded && state.handedOn + state.elements.count <= pace.prompt { return call(&state) }
    guard !state.isTimerSet else { return nil }
    state.isTimerSet = true
    return .timer(end)
  }

  @inlinable func call(_ state: inout State) -> Order {
    state.call = .due
    return .call
  }

  /// Keeps account of what is handed on, under the lock.
  @inlinable func count(_ state: inout State, _ pace: Pace) {
    let now = DispatchTime.now()
    if let began = state.began, pace.prompt > 0, now < began + pace.interval {
      state.handedOn += state.elements.count
      return
    }
    if state.handedOn > pace.prompt { state.floodEnd = now + pace.flood }
    state.isFlooded = state.floodEnd.map { now < $0 } ?? false
    state.began = now
    state.handedOn = state.elements.count
  }

  @inlinable func give(_ order: Order) {
    switch order {
    case .call: queue.async { self.call() }
    case .timer(let time): queue.asyncAfter(deadline: time) { self.timeHasCome() }
    }
  }

  @inlinable func timeHasCome() {
    let isDue = state.withLock { state in
      state.isTimerSet = false
      guard case .none = state.call, !state.elements.isEmpty else { return false }
      state.call = .due
      return true
    }
    if isDue { call() }
  }

  @inlinable func call() {
    var taken = state.withLock { state in
      state.call = .underWay
      state.hasUrgent = false
      if let pace { count(&state, pace) }
      var elements: [Element] = []
      swap(&elements, &state.spare)
      swap(&elements, &state.elements)
      defer { state.waiting = [] }
      return (elements: elements, waiting: state.waiting, isClosed: state.isClosed)
    }
    if !taken.isClosed { receive(taken.elements) }
    for body in taken.waiting { body() }
    let isWorthKeeping = taken.elements.capacity <= Self.largestSpare
    taken.elements.removeAll(keepingCapacity: isWorthKeeping)
    // Through the queue again rather than at once, so that a busy mailbox does not keep the queue to itself.
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
  /// No call comes within this time of the one before, with two exceptions.
  @usableFromInline var interval: DispatchTimeInterval
  /// As many elements as these do not wait.
  @usableFromInline var burst: Int
  /// No more than these in one such time do not wait, unless it is a flood.
  @usableFromInline var prompt: Int
  /// How long it counts as a flood after there were more in one such time.
  @usableFromInline var flood: DispatchTimeInterval

  package init(
    interval: DispatchTimeInterval, burst: Int = .max, prompt: Int = 0, flood: DispatchTimeInterval = .seconds(0)
  ) {
    self.interval = interval
    self.burst = burst
    self.prompt = prompt
    self.flood = flood
  }

  /// As often as anybody can see, except that what is little is told at once.
  package static var frames: MailboxPace {
    MailboxPace(interval: .microseconds(16_667), prompt: 16, flood: .milliseconds(500))
  }
}
