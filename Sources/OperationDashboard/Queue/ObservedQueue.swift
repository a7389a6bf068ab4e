import Dispatch
import Foundation
import JobModel
import Operations
import Remote

/// The program's queue for its dashboard and for attached ones, with a feed only while one of them watches.
///
/// The dashboard watches from its making until its end. Once the queue is served and the dashboard does not show it, each
/// time that a program attaches itself a new feed begins with the operations that are in the queue then.
final class ObservedQueue: JobFeed, Sendable {
  let queue: OperationQueue
  let name: String
  private let silenced: Set<RunWarning.Kind>
  private let dependencyQueue: DependencyQueue
  private let state: Lock<Watching>
  /// The queue for calls of the program's own code.
  private let calling = DispatchQueue(label: "opdash.queue.stop", qos: .userInitiated)

  private struct Watching {
    /// Nil without a watcher.
    var feed: QueueFeed?
    /// Whether the dashboard of this program watches.
    var hasDashboard = true
    /// Whether the dashboard of this program is shown.
    var isShown = false
    /// How many subscriptions of attached programs there are.
    var viewers = 0
    /// The factories of unfinished operations, for the watchers that come.
    var factories: [ObjectIdentifier: QueueMember.Factory] = [:]
  }

  init(_ queue: OperationQueue, name: String?, silenced: Set<RunWarning.Kind>) {
    self.queue = queue
    self.silenced = silenced
    self.name = name ?? QueueFeed.name(of: queue)
    dependencyQueue = DependencyQueue(feeding: queue)
    state = Lock(Watching())
    let first = makeFeed(continuing: false)
    state.withLock { $0.feed = first }
  }

  private func makeFeed(
    continuing: Bool, factories: [ObjectIdentifier: QueueMember.Factory] = [:]
  ) -> QueueFeed {
    let feed = QueueFeed(
      of: dependencyQueue, name: name, warnings: WarningWatch(silenced: silenced), factories: factories,
      continuing: continuing)
    feed.stream.queue.async { feed.whenFull = { [weak self] in self?.rest(unlessShown: true) } }
    return feed
  }

  /// The feed that watches now, or another one; only one thread makes one.
  private func watch(continuing: Bool, _ change: (inout Watching) -> Void) -> QueueFeed {
    state.withLock { state in
      change(&state)
      if let feed = state.feed { return feed }
      let feed = makeFeed(continuing: continuing, factories: state.factories)
      state.feed = feed
      return feed
    }
  }

  // MARK: Additions

  /// As `QueueFeed.add`; without a watcher it keeps no reference to the operations.
  func add(_ operations: [Operation]) throws(OperationError) {
    if let feed = state.withLock(\.feed), try feed.add(operations) { return }
    try enqueue(operations)
  }

  func add(
    _ first: Operation, retrying make: @escaping @Sendable (Int) -> Operation
  ) throws(OperationError) {
    let factory = keep(make, of: first)
    if let feed = state.withLock(\.feed), try feed.add(first, retrying: factory) { return }
    try enqueue([first])
  }

  /// Keeps the factory of an operation, and of each one that it makes later, until that has finished; returns it as it is
  /// to be called.
  private func keep(_ make: @escaping QueueMember.Factory, of operation: Operation) -> QueueMember.Factory {
    let factory: QueueMember.Factory = { [weak self] number in
      let next = make(number)
      _ = self?.keep(make, of: next)
      return next
    }
    let id = ObjectIdentifier(operation)
    state.withLock { $0.factories[id] = factory }
    operation.whenEnded { [weak self] _, _ in self?.state.withLock { $0.factories[id] = nil } }
    return factory
  }

  private func enqueue(_ operations: [Operation]) throws(OperationError) {
    var registry = QueueRegistry()
    let new = operations.filter { !$0.isFinished && !$0.isExecuting && !DependencyQueue.holds($0) }
    try registry.wrap(new)
    try dependencyQueue.add(registry.enqueued(new))
  }

  func cancelAllOperations() {
    dependencyQueue.cancelAllOperations()
    queue.cancelAllOperations()
  }

  // MARK: The dashboard of this program

  /// The feed of the dashboard, which shows the queue from now on.
  func beginDashboard() -> QueueFeed { watch(continuing: false) { ($0.hasDashboard, $0.isShown) = (true, true) } }

  /// Returns the run as the dashboard leaves it; attached programs keep watching one that has not ended.
  func endDashboard() -> Run {
    let (feed, isWatched) = state.withLock { state in
      state.hasDashboard = false
      // A run that has ended has no later operations: the next to attach itself begins another.
      let isWatched = state.viewers > 0 && state.feed?.isOver == false
      defer { if !isWatched { state.feed = nil } }
      return (state.feed, isWatched)
    }
    return isWatched ? feed?.settled() ?? Run() : feed?.close() ?? Run()
  }

  /// Whether the queue is unwatched.
  var isResting: Bool { state.withLock { $0.feed == nil } }

  /// Stops watching until a program attaches itself or the dashboard is shown.
  func rest(unlessShown: Bool = false) {
    let feed = state.withLock { state in
      guard !unlessShown || !state.isShown else { return nil as QueueFeed? }
      (state.hasDashboard, state.isShown) = (false, false)
      guard state.viewers == 0 else { return nil as QueueFeed? }
      return state.feed.take()
    }
    _ = feed?.close()
  }

  // MARK: Attached programs

  func subscribe(
    on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void
  ) -> JobSubscription {
    let feed = watch(continuing: true) { $0.viewers += 1 }
    feed.start()
    let subscription = feed.subscribe(on: queue, receive)
    let isOver = Lock(false)
    return JobSubscription(snapshot: subscription.snapshot) { [weak self] in
      subscription.cancel()
      if !isOver.withLock({ exchange(&$0, with: true) }) { self?.leave() }
    }
  }

  private func leave() {
    let feed = state.withLock { state in
      state.viewers -= 1
      guard state.viewers == 0, !state.hasDashboard else { return nil as QueueFeed? }
      return state.feed.take()
    }
    _ = feed?.close()
  }

  var elapsed: Duration { state.withLock(\.feed)?.elapsed ?? .zero }

  /// Without a dashboard, a stop cancels the operations that are in the queue; without a watcher, other commands have no
  /// effect.
  func send(_ command: JobCommand) {
    let (feed, hasDashboard) = state.withLock { ($0.feed, $0.hasDashboard) }
    guard !hasDashboard, case .stop(_, let canceller) = command else {
      feed?.send(command)
      return
    }
    let cancel: @Sendable () -> Void = { [self] in calling.async { self.cancelAllOperations() } }
    // The run of a dashboard that has closed may be over.
    if let feed { feed.endPresent(by: canceller, ifOver: cancel) } else { cancel() }
  }

  /// Completes a greeting with the counts of the queue, without making a feed.
  func describe(in greeting: inout Greeting) {
    if let feed = state.withLock(\.feed) { return greeting.read(feed.run) }
    let operations = Set((queue.operations + dependencyQueue.operations).map(ObjectIdentifier.init))
    greeting.jobs = operations.count
    greeting.executing = queue.operations.count(where: \.isExecuting)
  }
}
