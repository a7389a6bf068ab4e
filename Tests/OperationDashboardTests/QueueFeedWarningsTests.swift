import Dispatch
import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import OperationDashboard

/// An operation that keeps its state itself, and announces its end when it is told to.
private final class Naive: Operation, @unchecked Sendable {
  // Safe: behind the lock, and constant.
  private let isDone = Lock(false)
  private let hasStarted = Lock(false)
  private let endsAtStart: Bool

  init(_ name: String, endsAtStart: Bool) {
    self.endsAtStart = endsAtStart
    super.init()
    self.name = name
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { hasStarted.withLock { $0 } && !isFinished }
  override var isFinished: Bool { isDone.withLock(\.self) }

  override func start() {
    hasStarted.withLock { $0 = true }
    if endsAtStart { announce() }
  }

  func setDone() { isDone.withLock { $0 = true } }

  func announce() {
    willChangeValue(forKey: "isFinished")
    setDone()
    didChangeValue(forKey: "isFinished")
  }
}

/// Counts how often its dependencies are read.
private final class Counting: BlockOperation, @unchecked Sendable {
  // Safe: behind a lock.
  let reads = Lock(0)

  override var dependencies: [Operation] {
    reads.withLock { $0 += 1 }
    return super.dependencies
  }
}

/// Holds its slot while it waits.
private final class Waiter: AsyncOperation, @unchecked Sendable {
  // Safe: constant.
  private let part: AsyncOperation

  init(_ name: String, for part: AsyncOperation) {
    self.part = part
    super.init()
    self.name = name
  }

  override func main() {
    part.waitUntilFinished()
    finish()
  }
}

/// A program's own kind of operation, which ends when it is told to.
private final class Import: AsyncOperation, @unchecked Sendable {
  // Safe: no state of its own.
  override func main() {}
  override func didCancel() { finish() }
}

/// Each mistake in real code, in Foundation's own queue.
struct QueueFeedWarningsTests {
  private let clock = ManualOperationClock()
  private let watch: Watch

  init() {
    watch = Watch(clock: clock)
    watch.feed.start()
  }

  private func warning(_ kind: RunWarning.Kind) -> RunWarning? { watch.run.warnings.first { $0.kind == kind } }

  /// The warnings about jobs of the queue: what other tests free, or the main queue waits for, is about none.
  private var own: [RunWarning] { watch.run.warnings.filter { !$0.jobs.isEmpty } }

  private func names(_ warning: RunWarning?) -> [String] { warning?.jobs.map { watch.run[$0].job.name } ?? [] }

  /// Moves the clock on until the warning comes.
  private func comes(_ kind: RunWarning.Kind) -> Bool {
    eventually {
      clock.advance(by: .milliseconds(100))
      return warning(kind) != nil
    }
  }

  /// Moves the clock on until the warning is over.
  private func goes(_ kind: RunWarning.Kind) -> Bool {
    eventually {
      clock.advance(by: .milliseconds(100))
      return warning(kind) == nil
    }
  }

  /// Moves the clock on until all has ended.
  private func completes() -> Bool {
    eventually {
      clock.advance(by: .milliseconds(100))
      return !watch.run.jobs.isEmpty && watch.run.isComplete
    }
  }

  // MARK: Time

  @Test func cancelledAndStillExecuting() {
    let deaf = Manual("deaf", endsWhenCancelled: false)
    watch.queue.addOperation(deaf)
    #expect(watch.eventually { $0.counts.executing == 1 })
    deaf.cancel()
    #expect(comes(.cancelledExecuting))
    #expect(names(warning(.cancelledExecuting)) == ["deaf"])
    #expect(warning(.cancelledExecuting)?.evidence.hasPrefix("cancelled by the program 10.0s ago") == true)
    deaf.finish()
    #expect(completes() && own.isEmpty)
  }

  @Test func slowerThanItsClassAndSilent() {
    for number in 1...5 {
      let quick = Import()
      watch.queue.addOperation(quick)
      #expect(watch.eventually { $0.counts.executing == 1 })
      clock.advance(by: .seconds(1))
      quick.finish()
      #expect(watch.eventually { $0.counts.succeeded == number })
    }
    let slow = Import()
    watch.queue.addOperation(slow)
    #expect(comes(.slowAndSilent))
    #expect(names(warning(.slowAndSilent)) == ["Import 6"])
    clock.advance(by: .seconds(1))
    slow.log("here I am")
    #expect(goes(.slowAndSilent))
    slow.finish()
    #expect(completes())
  }

  @Test func suspendedWhileOperationsAreReady() {
    watch.queue.isSuspended = true
    watch.queue.addOperation(Giving("ready", .success(1)))
    #expect(comes(.queueSuspended))
    watch.queue.isSuspended = false
    #expect(completes() && own.isEmpty)
  }

  @Test func aLongLineBehindOneOperation() {
    watch.queue.maxConcurrentOperationCount = 1
    let giant = Manual("giant")
    watch.queue.addOperation(giant)
    for number in 1...10 { watch.queue.addOperation(Giving("small \(number)", .success(1))) }
    #expect(comes(.longLine))
    #expect(names(warning(.longLine)) == ["giant"])
    giant.finish()
    #expect(completes() && own.isEmpty)
  }

  // MARK: Dependencies

  @Test(arguments: [false, true]) func aDependencyInNoQueue(isOurs: Bool) {
    let parse = Manual("parse")
    let schema = isOurs ? Giving("schema", .success(1)) : BlockOperation {}
    schema.name = "schema"
    parse.addDependency(schema)
    watch.queue.addOperation(parse)
    #expect(comes(.dependencyInNoQueue))
    #expect(warning(.dependencyInNoQueue)?.evidence == "waits for schema, which is in no queue")
    #expect(names(warning(.dependencyInNoQueue)) == ["parse"])
    watch.queue.addOperation(schema)
    #expect(goes(.dependencyInNoQueue))
    #expect(eventually { parse.isExecuting })
    parse.finish()
    #expect(completes())
  }

  @Test func aDependencyInAnotherQueueIsNone() {
    let elsewhere = OperationQueue()
    let (parse, schema, door) = (Manual("parse"), Manual("schema"), Door())
    let foreign = door.block("foreign")
    for dependency in [schema, foreign] { parse.addDependency(dependency) }
    elsewhere.addOperations([schema, foreign], waitUntilFinished: false)
    watch.queue.addOperation(parse)
    #expect(
      eventually {
        clock.advance(by: .milliseconds(100))
        return watch.run.jobs.count == 1
      })
    for _ in 0..<200 { clock.advance(by: .milliseconds(100)) }
    #expect(watch.run.jobs.count == 1 && own.isEmpty)
    door.open()
    schema.finish()
    #expect(eventually { parse.isExecuting })
    parse.finish()
    #expect(completes())
  }

  @Test func aCycleOfForeignOperations() {
    let (chicken, egg) = (BlockOperation {}, BlockOperation {})
    (chicken.name, egg.name) = ("chicken", "egg")
    chicken.addDependency(egg)
    egg.addDependency(chicken)
    for operation in [chicken, egg] { watch.queue.addOperation(operation) }
    #expect(comes(.dependencyCycle))
    #expect(Set(names(warning(.dependencyCycle))) == ["chicken", "egg"])
    #expect(own.count == 1)
    #expect(
      ["chicken waits for egg waits for chicken", "egg waits for chicken waits for egg"].contains(
        warning(.dependencyCycle)?.evidence))
    chicken.cancel()
    #expect(completes() && own.isEmpty)
  }

  @Test func aLongChainIsWalkedOnceByACheck() {
    let chain = (0..<400).map { _ in Counting() }
    for (operation, next) in zip(chain, chain.dropFirst()) { operation.addDependency(next) }
    let (chicken, egg) = (BlockOperation {}, BlockOperation {})
    chicken.addDependency(egg)
    egg.addDependency(chicken)
    watch.queue.isSuspended = true
    for operation in chain + [chicken, egg] { watch.queue.addOperation(operation) }
    #expect(comes(.dependencyCycle))
    let reads = chain.reduce(0) { $0 + $1.reads.withLock(\.self) }
    #expect(reads < 20 * chain.count, "\(reads)")
    chicken.cancel()
    watch.queue.isSuspended = false
    #expect(completes())
  }

  @Test func aCycleThatASecondCallOfAddCloses() throws {
    let (chicken, egg) = (BlockOperation {}, BlockOperation {})
    (chicken.name, egg.name) = ("chicken", "egg")
    chicken.addDependency(egg)
    egg.addDependency(chicken)
    try watch.feed.add([chicken])
    try watch.feed.add([egg])
    #expect(comes(.dependencyCycle))
    #expect(Set(names(warning(.dependencyCycle))) == ["chicken", "egg"])
    chicken.cancel()
    #expect(completes() && own.isEmpty)
  }

  @Test func aDependencyWhoseEndIsNotAnnounced() throws {
    let (naive, after) = (Naive("naive", endsAtStart: true), BlockOperation {})
    after.name = "after"
    after.addDependency(naive)
    naive.setDone()
    try watch.feed.add([naive, after])
    #expect(comes(.finishUnannounced))
    #expect(names(warning(.finishUnannounced)) == ["after"])
    naive.announce()
    #expect(completes() && own.isEmpty)
  }

  // MARK: Slots

  @Test func everySlotIsHeldByAWait() {
    let parts = [Manual("part 1"), Manual("part 2")]
    let (first, second) = (BlockOperation { parts[0].waitUntilFinished() }, Waiter("second", for: parts[1]))
    first.name = "first"
    watch.queue.addOperations([first, second] + parts, waitUntilFinished: false)
    #expect(comes(.slotsHeld))
    #expect(names(warning(.slotsHeld)).contains("second"))
    #expect(warning(.slotsHeld)?.evidence.hasPrefix("2 of 2 slots held by waits for part ") == true)
    watch.queue.maxConcurrentOperationCount = 4
    #expect(eventually { parts.allSatisfy(\.isExecuting) })
    for part in parts { part.finish() }
    #expect(goes(.slotsHeld))
    #expect(completes())
  }

  // Asynchronous, because tasks need the threads that a test would block.
  @Test func theOnlySlotIsHeldByATaskThatAwaits() async {
    watch.queue.maxConcurrentOperationCount = 1
    let part = Giving("part", .success(1))
    let task = TaskOperation { try await part.value }
    task.name = "task"
    watch.queue.addOperation(task)
    #expect(await soon { task.awaitedOperations.contains { $0 === part } })
    watch.queue.addOperation(part)
    let comes = await soon {
      clock.advance(by: .milliseconds(100))
      return warning(.slotsHeld) != nil
    }
    #expect(comes && names(warning(.slotsHeld)) == ["task"])
    watch.queue.maxConcurrentOperationCount = 2
    #expect(await soon { task.isFinished })
  }

  @Test func theWidthOfAGroupIsHeldByAWait() {
    let part = Manual("part")
    let group = GroupOperation(width: 1, [Waiter("waiter", for: part), part])
    watch.queue.addOperation(group)
    #expect(comes(.slotsHeld))
    #expect(names(warning(.slotsHeld)) == ["waiter"])
    group.width = 2
    #expect(eventually { part.isExecuting })
    part.finish()
    #expect(completes())
  }

  @Test func oneWaitOfTwoSlotsIsNoWarning() {
    let part = Manual("part")
    watch.queue.addOperations([Waiter("waiter", for: part), part], waitUntilFinished: false)
    #expect(eventually { part.isExecuting })
    for _ in 0..<100 { clock.advance(by: .milliseconds(100)) }
    #expect(own.isEmpty)
    part.finish()
    #expect(completes())
  }

  // MARK: Ends

  @Test func finishedBeforeTheStart() {
    let (hold, early) = (Manual("hold"), Manual("early"))
    early.addDependency(hold)
    watch.queue.addOperations([hold, early], waitUntilFinished: false)
    #expect(
      eventually {
        clock.advance(by: .milliseconds(100))
        return watch.run.jobs.count == 2 && watch.run.counts.executing == 1
      })
    early.finish()
    hold.finish()
    #expect(comes(.finishedUnexecuted))
    #expect(names(warning(.finishedUnexecuted)) == ["early"])
    #expect(completes())
  }

  @Test(arguments: [false, true]) func aForeignOneThatIsFinishedBeforeItsStart(isWrapped: Bool) throws {
    watch.queue.isSuspended = true
    let naive = Naive("naive", endsAtStart: true)
    if isWrapped { try watch.feed.add([naive]) } else { watch.queue.addOperation(naive) }
    #expect(
      eventually {
        clock.advance(by: .milliseconds(100))
        return watch.run.jobs.count == 1
      })
    naive.setDone()
    if isWrapped { watch.queue.isSuspended = false }
    #expect(comes(.finishedUnexecuted))
    watch.queue.isSuspended = false
    #expect(completes())
  }

  @Test(arguments: [false, true]) func anEndThatIsNotAnnounced(isWrapped: Bool) throws {
    let naive = Naive("naive", endsAtStart: false)
    if isWrapped { try watch.feed.add([naive]) } else { watch.queue.addOperation(naive) }
    #expect(
      eventually {
        clock.advance(by: .milliseconds(100))
        return watch.run.counts.executing == 1
      })
    naive.setDone()
    #expect(comes(.finishUnannounced))
    #expect(names(warning(.finishUnannounced)) == ["naive"])
    naive.announce()
    #expect(completes() && own.isEmpty)
  }

  @Test func anOperationThatIsFreedWhileItExecutes() {
    do { Manual("lost").start() }
    #expect(comes(.releasedUnfinished))
    #expect(warning(.releasedUnfinished)?.evidence.hasSuffix("was freed while it executed") == true)
  }

  // MARK: The UI queue

  @Test func theUIQueueIsBusyWhileHandlersWait() {
    let gate = DispatchSemaphore(value: 0)
    let isBlocked = Lock(false)
    DispatchQueue.main.async {
      isBlocked.withLock { $0 = true }
      gate.wait()
    }
    #expect(eventually { isBlocked.withLock(\.self) })
    let fetch = Manual("fetch")
    let token = fetch.observe(\.progress, on: .main) { _, _ in }
    watch.queue.addOperation(fetch)
    #expect(watch.eventually { $0.counts.executing == 1 })
    fetch.report(completed: 1, total: 2)
    for _ in 0..<32 { clock.advance(by: .milliseconds(100)) }
    gate.signal()
    #expect(watch.eventually { _ in warning(.uiQueueBusy) != nil })
    #expect(names(warning(.uiQueueBusy)) == ["fetch"])
    withExtendedLifetime(token) { fetch.finish() }
    #expect(completes())
  }

  // MARK: Exclusion

  @Test func twoCategoriesTakenInOppositeOrders() {
    let children = [Giving("chop", .success(1)), Giving("dry", .success(1))]
    let groups = children.map { GroupOperation(width: 1, [$0]) }
    (groups[0].name, groups[1].name) = ("dinner", "laundry")
    for (place, categories) in [("stove", "sink"), ("sink", "stove")].enumerated() {
      groups[place].addCondition(.mutuallyExclusive(ExclusionCategory("test \(categories.0)")))
      children[place].addCondition(.mutuallyExclusive(ExclusionCategory("test \(categories.1)")))
    }
    groups[1].addDependency(groups[0])
    watch.queue.addOperations(groups, waitUntilFinished: false)
    #expect(comes(.exclusionOrder))
    #expect(
      warning(.exclusionOrder)?.evidence
        == "takes 'test stove' inside 'test sink', and another operation takes 'test sink' inside 'test stove'")
    #expect(completes())
  }

  // MARK: All

  @Test func silencedWarningsAreNotGiven() {
    watch.feed.silence([.cancelledExecuting])
    let deaf = Manual("deaf", endsWhenCancelled: false)
    watch.queue.addOperation(deaf)
    #expect(watch.eventually { $0.counts.executing == 1 })
    deaf.cancel()
    for _ in 0..<200 { clock.advance(by: .milliseconds(100)) }
    #expect(own.isEmpty)
    deaf.finish()
    #expect(completes())
  }

  @Test func theOptionHasAnOwnNameForEachWarning() {
    #expect(QueueWarning.allCases.map(\.rawValue) == RunWarning.Kind.allCases.map(\.rawValue))
    #expect(QueueWarning.allCases.map(\.kind) == RunWarning.Kind.allCases)
  }

  @Test func nothingIsDueAtRest() {
    let rig = Watch(of: DelegatedOperationQueue(), clock: clock)
    rig.feed.start()
    rig.queue.addOperation(Giving("short", .success(1)))
    #expect(rig.completes())
    clock.advance(by: .seconds(30))
    rig.feed.stream.queue.sync { #expect(rig.feed.nextWake == nil && rig.feed.stream.warnings.next == nil) }
  }

  @Test func anOrdinaryHourRaisesNone() {
    for round in 1...120 {
      let fetch = Manual("fetch \(round)")
      let parse = Manual("parse \(round)")
      let note = BlockOperation {}
      parse.addDependency(fetch)
      note.addDependency(parse)
      watch.queue.addOperations([fetch, parse, note], waitUntilFinished: false)
      for operation in [fetch, parse] {
        #expect(
          eventually {
            clock.advance(by: .milliseconds(100))
            return operation.isExecuting && watch.run.counts.executing == 1
          })
        for step in 1...2 {
          clock.advance(by: .seconds(7))
          operation.report(completed: Int64(step), total: 3)
        }
        if round.isMultiple(of: 10) { operation.cancel() } else { operation.finish() }
      }
      #expect(completes())
    }
    let raised = watch.events.compactMap { if case .warningRaised(let warning) = $0.fact { warning } else { nil } }
    // What was freed or waited elsewhere in the process is about no job of this queue.
    #expect(raised.filter { !$0.jobs.isEmpty } == [])
    #expect(clock.now >= .seconds(3300))
  }
}
