import Dispatch
import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import OperationDashboard

/// Jobs whose operations a closure of the program makes.
struct RetriedJobTests {
  /// Makes operations and keeps them.
  private final class Maker: Sendable {
    private let made = Lock<[Manual]>([])

    var all: [Manual] { made.withLock { $0 } }

    func make(_ number: Int) -> Operation {
      let operation = Manual("fetch")
      made.withLock { $0.append(operation) }
      return operation
    }
  }

  private func add(_ maker: Maker, to watch: Watch) throws {
    try watch.feed.add(maker.make(1)) { maker.make($0) }
  }

  @Test func aFailedJobIsRetriedWithANewOperation() throws {
    let watch = Watch()
    let maker = Maker()
    try add(maker, to: watch)
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    #expect(watch.record("fetch")?.job.work.refusal(of: .retry) == nil)
    maker.all[0].log("first")
    maker.all[0].finish(with: Trouble(description: "the disk is full"))
    #expect(watch.eventually { $0.counts.failed == 1 && $0.isComplete })
    watch.feed.send(.retry([watch.id("fetch")], withDependents: false))
    #expect(watch.eventually { $0.counts.executing == 1 })
    #expect(!watch.run.isComplete && maker.all.count == 2)
    maker.all[1].log("second")
    maker.all[1].finish()
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 1 && watch.run.jobs.count == 1)
    #expect(watch.record("fetch")?.attempts.map(\.number) == [1, 2])
    #expect(watch.record("fetch")?.attempts.first?.failure?.reason == "the disk is full")
    let log = watch.record("fetch")?.log
    #expect(log?.count == 2 && log?[0].attempt == 1 && log?[1].attempt == 2)
    #expect(watch.path("fetch") == ["ready", "executing", "failed", "waiting", "ready", "executing", "succeeded"])
  }

  @Test func anAttemptHasThePriorityOfTheFirst() throws {
    let watch = Watch()
    let maker = Maker()
    let first = maker.make(1)
    first.queuePriority = .veryHigh
    try watch.feed.add(first) { maker.make($0) }
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    maker.all[0].finish(with: Trouble(description: "no"))
    #expect(watch.eventually { $0.counts.failed == 1 })
    watch.feed.send(.retry([JobID(0)], withDependents: false))
    #expect(watch.eventually { $0.counts.executing == 1 })
    #expect(maker.all[1].queuePriority == .veryHigh)
    maker.all[1].finish()
    #expect(watch.completes())
  }

  @Test func aJobThatWasCancelledBeforeItsStartBeginsItsFirstAttempt() throws {
    let watch = Watch(width: 1)
    let (blocker, maker) = (Manual("blocker"), Maker())
    try watch.feed.add([blocker])
    try add(maker, to: watch)
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 && $0.jobs.count == 2 })
    watch.feed.send(.cancel([watch.id("fetch")], by: .person))
    #expect(watch.eventually { _ in watch.state("fetch") == .cancelled(by: .person) })
    watch.feed.send(.retry([watch.id("fetch")], withDependents: true))
    #expect(watch.eventually { _ in watch.state("fetch") == .ready(for: .slot) })
    blocker.finish()
    #expect(watch.eventually { _ in watch.state("fetch") == .executing })
    #expect(maker.all[0].isCancelled && maker.all[1].isExecuting)
    maker.all[1].finish()
    #expect(watch.completes())
    #expect(watch.record("fetch")?.attempts.map(\.number) == [1])
  }

  @Test func anAttemptWaitsAgainAndItsDependentsDontRunAgain() throws {
    let watch = Watch()
    let (gate, maker) = (Manual("gate"), Maker())
    let first = maker.make(1)
    let after = Giving("after", .success(1))
    after.addDependency(first)
    try watch.feed.add(first) { number in
      let operation = maker.make(number)
      operation.addDependency(gate)
      return operation
    }
    try watch.feed.add([after])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    maker.all[0].finish(with: Trouble(description: "no"))
    #expect(watch.eventually { _ in watch.state("after") == .succeeded(upToDate: false) })
    watch.feed.send(.retry([watch.id("fetch")], withDependents: true))
    #expect(watch.eventually { _ in maker.all.count == 2 && watch.state("fetch") == .waiting })
    try watch.feed.add([gate])
    #expect(watch.eventually { _ in watch.state("gate") == .executing })
    gate.finish()
    #expect(watch.eventually { _ in watch.state("fetch") == .executing })
    maker.all[1].finish()
    #expect(watch.completes())
    #expect(watch.path("after") == ["ready", "executing", "succeeded"])
  }

  @Test func aForeignOperationCanBeRetriedToo() throws {
    let watch = Watch()
    let made = Lock<[BlockOperation]>([])
    let make: @Sendable (Int) -> Operation = { _ in
      let block = BlockOperation {}
      block.name = "block"
      made.withLock { $0.append(block) }
      return block
    }
    let blocker = Manual("blocker")
    let first = make(1)
    first.addDependency(blocker)
    try watch.feed.add([blocker])
    try watch.feed.add(first, retrying: make)
    watch.feed.start()
    watch.feed.send(.cancel([JobID(1)], by: .person))
    #expect(watch.eventually { $0.counts.cancelled == 1 })
    watch.feed.send(.retry([JobID(1)], withDependents: false))
    blocker.finish()
    #expect(watch.eventually { _ in watch.state("block") == .succeeded(upToDate: false) })
    #expect(watch.completes())
    #expect(made.withLock { $0.count } == 2)
    #expect(eventually { first.isFinished })
  }

  @Test func aRetryIsRefusedWithoutAWayAndWhileTheRunIsStopped() throws {
    let watch = Watch()
    let maker = Maker()
    try watch.feed.add([Giving("once", .failure(Trouble(description: "no")))])
    try add(maker, to: watch)
    watch.feed.start()
    #expect(watch.record("once")?.job.work.refusal(of: .retry) != nil)
    #expect(watch.eventually { $0.counts.failed == 1 && $0.counts.executing == 1 })
    watch.feed.send(.stop(.terminate, by: .person))
    #expect(watch.completes())
    watch.feed.send(.retry([JobID(0), JobID(1)], withDependents: false))
    watch.feed.send(.finish(signal: nil))
    #expect(watch.eventually { $0.summary != nil })
    #expect(maker.all.count == 1 && watch.run.isComplete)
  }

  @Test func aPriorityReachesAnOperationThatIsBeingMade() throws {
    let watch = Watch(width: 1)
    let (maker, mayMake, blocker) = (Maker(), DispatchSemaphore(value: 0), Manual("blocker"))
    try watch.feed.add(maker.make(1)) { number in
      mayMake.wait()
      return maker.make(number)
    }
    try watch.feed.add([blocker])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("fetch") == .executing })
    maker.all[0].finish(with: Trouble(description: "no"))
    #expect(watch.eventually { _ in watch.state("blocker") == .executing })
    watch.feed.send(.retry([watch.id("fetch")], withDependents: false))
    #expect(watch.eventually { $0.counts.waiting == 1 })
    watch.feed.send(.setPriority([watch.id("fetch")], .veryHigh))
    #expect(watch.eventually { _ in watch.record("fetch")?.job.priority == .veryHigh })
    mayMake.signal()
    #expect(watch.eventually { _ in maker.all.count == 2 && maker.all[1].queuePriority == .veryHigh })
    #expect(watch.record("fetch")?.job.priority == .veryHigh)
    blocker.finish()
    #expect(watch.eventually { _ in watch.state("fetch") == .executing })
    maker.all[1].finish()
    #expect(watch.completes())
  }

  @Test func aRetryTakesOverThePriorityThatIsOnItsWay() throws {
    let watch = Watch(width: 1)
    let (maker, blocker) = (Maker(), Manual("blocker"))
    try watch.feed.add([blocker])
    try add(maker, to: watch)
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 && $0.jobs.count == 2 })
    let (id, mayCall) = (watch.id("fetch"), DispatchSemaphore(value: 0))
    watch.feed.calling.async { mayCall.wait() }
    watch.feed.send(.setPriority([id], .high))
    #expect(watch.eventually { $0[id].job.priority == .high })
    watch.feed.send(.setPriority([id], .veryHigh))
    watch.feed.send(.cancel([id], by: .person))
    #expect(watch.eventually { $0[id].job.priority == .veryHigh })
    mayCall.signal()
    #expect(watch.eventually { $0[id].state == .cancelled(by: .person) })
    watch.feed.send(.retry([id], withDependents: false))
    #expect(watch.eventually { _ in maker.all.count == 2 && maker.all[1].queuePriority == .veryHigh })
    let priorities = watch.events.compactMap { event -> JobPriority? in
      guard case .priorityChanged(_, let priority) = event.fact else { return nil }
      return priority
    }
    #expect(priorities == [.high, .veryHigh])
    blocker.finish()
    #expect(watch.eventually { _ in watch.state("fetch") == .executing })
    maker.all[1].finish()
    #expect(watch.completes())
  }

  @Test func aCancelReachesAnOperationThatIsBeingMade() throws {
    let watch = Watch()
    let (maker, mayMake) = (Maker(), DispatchSemaphore(value: 0))
    try watch.feed.add(maker.make(1)) { number in
      mayMake.wait()
      return maker.make(number)
    }
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    maker.all[0].finish(with: Trouble(description: "no"))
    #expect(watch.completes())
    watch.feed.send(.retry([JobID(0)], withDependents: false))
    #expect(watch.eventually { $0.counts.waiting == 1 })
    watch.feed.send(.cancel([JobID(0)], by: .person))
    mayMake.signal()
    #expect(watch.eventually { $0.isComplete && $0.counts.cancelled == 1 })
    #expect(eventually { maker.all.count == 2 && maker.all[1].isFinished })
  }

  @Test func theDashboardReturnsTheFirstOperation() async throws {
    var options = Dashboard.Options()
    options.interface = .quiet
    options.handlesSignals = false
    let dashboard = Dashboard(observing: OperationQueue(), options: options)
    let plain = dashboard.add(retrying: { Giving("plain", .success(1)) })
    let numbered = dashboard.add(retrying: { Giving("numbered", .success($0)) })
    #expect(try await dashboard.run().succeeded == 2)
    #expect(try plain.outcome?.get() == 1 && numbered.outcome?.get() == 1)
  }

  @Test func aClosureThatReturnsAnOperationAgainIsAProgrammerError() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = BlockOperation {}
      let dashboard = Dashboard(observing: OperationQueue())
      dashboard.add(operation)
      dashboard.add(retrying: { operation })
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("the closure of add(retrying:) makes a new operation at each call"))
  }
}
