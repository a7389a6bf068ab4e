import Dispatch
import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import OperationDashboard

/// Operations that enter the observed queue by another way than the dashboard.
struct QueueEntryTests {
  /// The kinds of queue that a program may have.
  enum Kind: CaseIterable, Sendable {
    case plain
    case delegated

    func queue() -> OperationQueue {
      switch self {
      case .plain: OperationQueue()
      case .delegated: DelegatedOperationQueue()
      }
    }
  }

  private func dashboard(_ queue: OperationQueue) -> Dashboard {
    var options = Dashboard.Options()
    options.interface = .quiet
    options.handlesSignals = false
    return Dashboard(observing: queue, options: options)
  }

  // MARK: The end of the run

  @Test(arguments: Kind.allCases)
  func whatEnteredTheQueueBeforeTheRunIsWaitedForAndCounted(kind: Kind) async throws {
    let queue = kind.queue()
    let dashboard = dashboard(queue)
    let door = Door()
    let ours = Manual("ours")
    queue.add([ours, door.block("foreign")])
    let task = Task { try await dashboard.run() }
    #expect(await soon { ours.isExecuting && dashboard.isShown })
    // The run is begun in one turn of the main queue.
    await MainActor.run {}
    ours.finish()
    door.open()
    let summary = Dashboard.Summary(succeeded: 2, failed: 0, cancelled: 0, skipped: 0, left: 0, exitStatus: 0)
    #expect(try await task.value == summary)
    #expect(queue.operationCount == 0)
  }

  @Test(arguments: Kind.allCases)
  func whatEntersTheQueueDuringTheRunIsWaitedForAndCounted(kind: Kind) async throws {
    let queue = kind.queue()
    let dashboard = dashboard(queue)
    let (first, second, door) = (Manual("first"), Manual("second"), Door())
    dashboard.add(first)
    let task = Task { try await dashboard.run() }
    #expect(await soon { first.isExecuting && dashboard.isShown })
    let third = door.block("third")
    queue.add([second, third])
    first.finish()
    #expect(await soon { second.isExecuting && third.isExecuting })
    second.finish()
    // A foreign operation in a plain queue is seen if it lasts until the next look.
    #expect(await soon { dashboard.observed.beginDashboard().run.jobs.count == 3 })
    door.open()
    #expect(try await task.value.succeeded == 3)
  }

  @Test(arguments: Kind.allCases)
  func aShortOneOfOursThatEntersTheQueueIsCounted(kind: Kind) async throws {
    let queue = kind.queue()
    let dashboard = dashboard(queue)
    let long = Manual("long")
    dashboard.add(long)
    let task = Task { try await dashboard.run() }
    #expect(await soon { long.isExecuting && dashboard.isShown })
    let short = (0..<10).map { Giving("short \($0)", .success($0)) }
    for operation in short { queue.addOperation(operation) }
    #expect(await soon { short.allSatisfy(\.isFinished) })
    long.finish()
    #expect(try await task.value.succeeded == 11)
  }

  @Test(arguments: Kind.allCases)
  func aChainInWhichEachOperationAddsTheNextIsOneRun(kind: Kind) async throws {
    /// Adds the next before it ends.
    final class Link: AsyncOperation, @unchecked Sendable {
      // Safe: constants.
      private let queue: OperationQueue
      private let left: Int

      init(_ queue: OperationQueue, _ left: Int) {
        (self.queue, self.left) = (queue, left)
        super.init()
      }

      override func main() {
        if left > 0 { queue.addOperation(Link(queue, left - 1)) }
        finish()
      }
    }
    let queue = kind.queue()
    let dashboard = dashboard(queue)
    queue.addOperation(Link(queue, 500))
    #expect(try await dashboard.run().succeeded == 501)
  }

  @Test func whatWaitsInADependencyQueueOfTheProgramIsWaitedForAndCounted() async throws {
    let queue = OperationQueue()
    let dashboard = dashboard(queue)
    let dependencyQueue = DependencyQueue(feeding: queue)
    let chain = (0..<200).map { Giving("\($0)", .success($0)) }
    for (number, operation) in chain.enumerated().dropFirst() { operation.addDependency(chain[number - 1]) }
    try dependencyQueue.add(chain)
    #expect(try await dashboard.run().succeeded == 200)
  }

  @Test func aStopCountsWhatIsInTheQueueAsLeft() async throws {
    let queue = OperationQueue()
    let dashboard = dashboard(queue)
    let (first, door) = (Manual("first"), Door())
    dashboard.add(first)
    let task = Task { try await dashboard.run() }
    #expect(await soon { first.isExecuting && dashboard.isShown })
    queue.addOperation(door.block("foreign"))
    dashboard.stop()
    #expect(try await task.value.left == 2)
    first.finish()
    door.open()
  }

  // MARK: What is seen when

  @Test func aDelegatedQueueTellsOfEachEntryAndIsNotLookedAt() throws {
    let clock = ManualOperationClock()
    let queue = DelegatedOperationQueue()
    let watch = Watch(of: queue, clock: clock)
    watch.feed.start()
    let (ours, door) = (Manual("ours"), Door())
    queue.addOperation(ours)
    #expect(watch.eventually { $0.jobs.count == 1 && $0.counts.executing == 1 })
    queue.addOperations([door.block("foreign")], waitUntilFinished: false)
    #expect(watch.eventually { $0.jobs.count == 2 })
    queue.addOperation {}
    #expect(watch.eventually { $0.jobs.count == 3 })
    ours.finish()
    door.open()
    #expect(watch.completes())
    // Nothing is looked for at rest.
    clock.advance(by: .seconds(10))
    #expect(eventually { clock.due.isEmpty })
  }

  @Test func oneOfOursIsSeenWholeFromItsStartInAPlainQueue() throws {
    let clock = ManualOperationClock()
    let watch = Watch(clock: clock)
    watch.feed.start()
    let talking = Talking("talking")
    watch.queue.addOperation(talking)
    #expect(watch.completes())
    #expect(watch.path("talking") == ["executing", "succeeded"])
    #expect(watch.record("talking")?.log.count == 1)
    #expect(watch.record("talking")?.progress?.done == 1)
  }

  /// Advances to the end of the looks that changes have asked for; returns the time until the next, longer after a slow
  /// look.
  private func intervalAfterALook(_ clock: ManualOperationClock, _ watch: Watch) -> Duration {
    clock.advance(by: .seconds(1))
    _ = watch.run
    guard let next = clock.due.first else { return .zero }
    clock.advance(by: next - clock.now)
    _ = watch.run
    return (clock.due.first ?? clock.now) - clock.now
  }

  @Test func aForeignOperationInAPlainQueueIsFoundAQuarterOfASecondLater() throws {
    let clock = ManualOperationClock()
    let watch = Watch(clock: clock)
    let known = Manual("known")
    try watch.feed.add([known])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    let interval = intervalAfterALook(clock, watch)
    #expect(interval >= .milliseconds(250))
    let door = Door()
    let block = door.block("block")
    watch.queue.addOperation(block)
    #expect(eventually { block.isExecuting })
    clock.advance(by: interval - .milliseconds(1))
    #expect(watch.run.jobs.count == 1)
    clock.advance(by: .milliseconds(1))
    #expect(watch.eventually { $0.jobs.count == 2 && $0.counts.executing == 2 })
    known.finish()
    door.open()
    #expect(watch.completes())
  }

  @Test func aPlainQueueAtRestIsLookedAtOnceASecond() throws {
    let clock = ManualOperationClock()
    let watch = Watch(clock: clock)
    watch.feed.start()
    #expect(watch.eventually { $0.start != nil })
    let interval = intervalAfterALook(clock, watch)
    #expect(interval >= .seconds(1))
    let door = Door()
    watch.queue.addOperation(door.block("block"))
    clock.advance(by: interval - .milliseconds(1))
    #expect(watch.run.jobs.isEmpty)
    clock.advance(by: .milliseconds(1))
    #expect(watch.eventually { $0.jobs.count == 1 })
    door.open()
    #expect(watch.completes())
  }

  @Test func anOperationThatIsAddedTwiceIsOneJob() throws {
    let queue = DelegatedOperationQueue()
    let watch = Watch(of: queue)
    let (ours, foreign) = (Manual("ours"), BlockOperation {})
    try watch.feed.add([ours, foreign])
    try watch.feed.add([ours])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    ours.finish()
    #expect(watch.completes())
    #expect(watch.run.jobs.count == 2)
  }

  @Test func anOperationOfAnotherQueueIsNotSeen() throws {
    let watch = Watch()
    watch.feed.start()
    let other = OperationQueue()
    let (elsewhere, here) = (Giving("elsewhere", .success(1)), Giving("here", .success(1)))
    other.addOperation(elsewhere)
    #expect(eventually { elsewhere.isFinished })
    watch.queue.addOperation(here)
    #expect(watch.eventually { $0.counts.succeeded == 1 })
    #expect(watch.run.jobs.map(\.job.name) == ["here"])
  }

  @Test func aFeedThatIsClosedHasNoTimer() throws {
    let clock = ManualOperationClock()
    let watch = Watch(clock: clock)
    let known = Manual("known")
    try watch.feed.add([known])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    #expect(watch.feed.close().counts.all == 1)
    #expect(eventually { clock.due.isEmpty })
    known.finish()
  }
}

/// Logs a line, reports progress and ends.
private final class Talking: AsyncOperation, @unchecked Sendable {
  // Safe: it has no state of its own.
  init(_ name: String) {
    super.init()
    self.name = name
  }

  override func main() {
    log("a line")
    report(completed: 1, total: 2)
    finish()
  }
}
