import Dispatch
import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import OperationDashboard

/// Children of groups, and attempts, as jobs below the job of their operation.
struct ChildJobTests {
  @Test func theChildrenOfAGroupAreJobsBelowIt() throws {
    let watch = Watch()
    let (first, second) = (Manual("first"), Manual("second"))
    second.addDependency(first)
    let group = GroupOperation(width: 2, [first, second])
    group.name = "group"
    try watch.feed.add([group])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("first") == .executing })
    #expect(watch.run.jobs.map(\.job.name) == ["group", "first", "second"])
    #expect(watch.run.jobs.map(\.job.parent) == [nil, JobID(0), JobID(0)])
    #expect(watch.record("group")?.children == [JobID(1), JobID(2)])
    #expect(watch.record("second")?.job.needs == [JobNeed(JobID(1), when: .finished)])
    #expect(watch.state("group") == .executing && watch.state("second") == .waiting)
    // The children are in no slot of the queue.
    #expect(watch.run.counts.active == 2 && watch.run.counts.usedSlots == 1)
    first.report(completed: 1, total: 2)
    first.log("a line")
    #expect(watch.eventually { _ in watch.record("first")?.progress != nil && watch.record("first")?.log.count == 1 })
    first.finish()
    #expect(watch.eventually { _ in watch.state("second") == .executing })
    second.finish()
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 3)
    #expect(watch.path("first") == ["ready", "executing", "succeeded"])
  }

  @Test func aChildThatIsAddedLaterAppearsAndIsSeenWhole() throws {
    let watch = Watch()
    let first = Manual("first")
    let group = GroupOperation(width: 3, [first])
    group.name = "group"
    try watch.feed.add([group])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.active == 2 })
    let late = Manual("late")
    try group.add(late)
    late.log("said early")
    #expect(watch.eventually { _ in watch.state("late") == .executing && watch.record("late")?.log.count == 1 })
    #expect(watch.record("late")?.job.parent == JobID(0))
    first.produce(Giving("produced", .success(1)))
    #expect(watch.eventually { _ in watch.state("produced") == .succeeded(upToDate: false) })
    #expect(watch.record("produced")?.job.parent == JobID(0))
    first.finish()
    late.finish()
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 4)
  }

  @Test func theChildrenOfAGroupThatExecutedBeforeTheDashboardAreFound() throws {
    let (child, foreign, door) = (Manual("child"), "foreign", Door())
    let group = GroupOperation(width: 2, [child, door.block(foreign)])
    group.name = "group"
    let watch = Watch { queue in
      queue.addOperation(group)
      _ = Support.eventually { child.isExecuting }
    }
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 3 })
    #expect(Set(watch.run.jobs.map(\.job.name)) == ["group", "child", "foreign"])
    #expect(watch.record("foreign")?.job.parent == watch.id("group"))
    child.finish()
    door.open()
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 3)
  }

  @Test func aGroupInAGroupIsBelowIt() throws {
    let watch = Watch()
    let leaf = Manual("leaf")
    let inner = GroupOperation([leaf])
    inner.name = "inner"
    let outer = GroupOperation([inner])
    outer.name = "outer"
    try watch.feed.add([outer])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("leaf") == .executing })
    #expect(watch.record("leaf")?.job.parent == watch.id("inner"))
    #expect(watch.record("inner")?.job.parent == watch.id("outer"))
    leaf.finish()
    #expect(watch.completes())
  }

  @Test func theKeysActOnAChild() throws {
    let watch = Watch()
    let (executing, waiting, last) = (Manual("executing"), Manual("waiting"), Manual("last"))
    let group = GroupOperation(width: 1, onChildFailure: .ignore, [executing, waiting, last])
    try watch.feed.add([group])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("executing") == .executing })
    watch.feed.send(.setPriority([watch.id("last")], .veryHigh))
    #expect(eventually { last.queuePriority == .veryHigh })
    watch.feed.send(.cancel([watch.id("waiting")], by: .person))
    #expect(watch.eventually { _ in watch.state("waiting") == .cancelled(by: .person) })
    watch.feed.send(.cancel([watch.id("executing")], by: .person))
    #expect(watch.eventually { _ in watch.state("last") == .executing })
    last.finish()
    #expect(watch.completes())
    #expect(watch.state("executing") == .cancelled(by: .person))
    #expect(watch.state("GroupOperation") == .succeeded(upToDate: false))
  }

  @Test func aGroupThatIsCancelledCancelsItsChildren() throws {
    let watch = Watch()
    let group = GroupOperation(width: 1, [Manual("executing"), Manual("waiting")])
    group.name = "group"
    try watch.feed.add([group])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("executing") == .executing })
    watch.feed.send(.cancel([JobID(0)], by: .person))
    #expect(watch.completes())
    #expect(watch.state("group") == .cancelled(by: .person))
    #expect(watch.state("executing") == .cancelled(by: .program))
    #expect(watch.state("waiting") == .cancelled(by: .program))
  }

  @Test func aFailedChildThatDoesNotFailItsGroupIsAllowedTo() throws {
    let watch = Watch()
    let failing = { Giving($0, .failure(Trouble(description: "no"))) }
    let strict = GroupOperation([failing("counted")])
    strict.name = "strict"
    let inner = GroupOperation([failing("inner child")])
    inner.name = "inner"
    let lenient = GroupOperation(onChildFailure: .ignore, [failing("ignored"), inner])
    lenient.name = "lenient"
    try watch.feed.add([strict, lenient])
    watch.feed.start()
    #expect(watch.completes())
    #expect(watch.state("counted") == .failed(JobFailure(.error, "no"), allowed: false))
    #expect(watch.state("strict") == .failed(JobFailure(.error, "counted failed: no"), allowed: false))
    #expect(watch.state("ignored") == .failed(JobFailure(.error, "no"), allowed: true))
    #expect(watch.state("inner child") == .failed(JobFailure(.error, "no"), allowed: true))
    #expect(watch.state("lenient") == .succeeded(upToDate: false))
    #expect(watch.run.counts.failed == 2)
  }

  @Test func theAttemptsOfARetryAreJobsBelowItThatMayFail() throws {
    let watch = Watch()
    let retry = RetryOperation<Int>(retries: 3, backoff: .constant(.zero)) { number in
      number < 3 ? ClosureOperation { throw Trouble(description: "attempt \(number)") } : ClosureOperation { number }
    }
    retry.name = "fetch"
    try watch.feed.add([retry])
    watch.feed.start()
    #expect(watch.completes())
    #expect(watch.run.jobs.map(\.job.name) == ["fetch", "fetch #1", "fetch #2", "fetch #3"])
    #expect(watch.run.jobs.dropFirst().allSatisfy { $0.job.parent == JobID(0) })
    #expect(watch.state("fetch #1") == .failed(JobFailure(.error, "attempt 1"), allowed: true))
    #expect(watch.state("fetch #3") == .succeeded(upToDate: false))
    #expect(watch.state("fetch") == .succeeded(upToDate: false))
    #expect(RunSummary(of: watch.run).exit == 0)
  }

  @Test func theAttemptThatExecutesBeforeTheDashboardIsFound() throws {
    let attempt = Lock<ManualResult?>(nil)
    let retry = RepeatOperation<Int>(times: 1) { _ in
      let made = ManualResult()
      attempt.withLock { $0 = made }
      return made
    }
    let watch = Watch { queue in
      queue.addOperation(retry)
      _ = Support.eventually { attempt.withLock { $0?.isExecuting == true } }
    }
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 2 })
    attempt.withLock { $0 }?.finish(.success(1))
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 2)
  }

  @Test func thousandsOfChildrenAreSeen() throws {
    let watch = Watch()
    let group = GroupOperation(width: 4, (0..<5_000).map { Giving("\($0)", .success($0)) })
    try watch.feed.add([group])
    watch.feed.start()
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 5_001)
  }
}

/// Works until it is told its result.
private final class ManualResult: ResultOperation<Int>, @unchecked Sendable {
  // Safe: it has no state of its own.
  override func main() {}
}
