import Foundation
import JobModel
import Operations
import Remote
import Support
import Testing

@testable import OperationDashboard

/// A queue that is served in a folder of its own, and the programs that attach themselves to it.
private struct Served {
  let queue = OperationQueue()
  let dashboard: Dashboard
  let service: Dashboard.Service
  private let folder: TemporaryFolder
  private let path: String

  init(width: Int = 2, _ prepare: (Dashboard) -> Void = { _ in }) throws {
    folder = try TemporaryFolder()
    path = folder.url.path() + "/live"
    queue.maxConcurrentOperationCount = width
    var options = Dashboard.Options()
    (options.name, options.interface, options.handlesSignals) = ("darkroom", .quiet, false)
    dashboard = Dashboard(observing: queue, options: options)
    prepare(dashboard)
    service = try dashboard.serve(in: [path])
  }

  var programs: [RemoteProgram] { RemoteProgram.all(in: [path]).programs }

  func attach() throws -> RemoteFeed { try RemoteFeed(#require(programs.first)) }
}

private func eventually(_ feed: RemoteFeed, _ condition: (Run) -> Bool) -> Bool {
  Support.eventually { condition(feed.snapshot) }
}

@Suite struct QueueServiceTests {
  @Test func whoAttachesSeesWhatIsInTheQueueAndWhatFollows() throws {
    let served = try Served()
    let (first, second, later) = (Manual("first"), Manual("second"), Manual("later"))
    second.addDependency(first)
    served.dashboard.add([first, second])
    let remote = try served.attach()
    #expect(eventually(remote) { $0.jobs.map(\.job.name) == ["first", "second"] && $0.jobs[0].state == .executing })
    #expect(remote.snapshot.jobs[1].job.needs.map(\.job) == [JobID(0)])
    served.dashboard.add(later)
    first.finish()
    #expect(eventually(remote) { $0.jobs.count == 3 && $0.jobs[0].state.isTerminal && $0.jobs[1].state == .executing })
    second.finish()
    later.finish()
    #expect(eventually(remote) { $0.counts.done == 3 })
    // Its program may add more.
    #expect(!remote.snapshot.isComplete && remote.snapshot.summary == nil)
  }

  @Test func nobodyObservesWhileNobodyIsAttached() throws {
    let served = try Served()
    let operation = Manual("operation")
    served.dashboard.add(operation)
    #expect(served.dashboard.observed.isResting)
    var remote: RemoteFeed? = try served.attach()
    #expect(remote?.snapshot.jobs.count == 1 && !served.dashboard.observed.isResting)
    remote = nil
    #expect(Support.eventually { served.dashboard.observed.isResting })
    operation.finish()
  }

  @Test func anInterruptCancelsWhatNobodyWatches() throws {
    let served = try Served(width: 1)
    let operations = [Manual("first"), Manual("second")]
    served.dashboard.add(operations)
    served.dashboard.interrupt()
    #expect(Support.eventually { operations.allSatisfy(\.isFinished) })
    #expect(operations.allSatisfy { $0.isCancelled } && served.dashboard.observed.isResting)
  }

  @Test func eachTimeThatSomebodyAttachesAnotherRunBegins() throws {
    let served = try Served()
    let (done, left) = (Manual("done"), Manual("left"))
    served.dashboard.add([done, left])
    var remote: RemoteFeed? = try served.attach()
    let id = remote?.snapshot.start?.id
    remote = nil
    #expect(Support.eventually { served.dashboard.observed.isResting })
    done.finish()
    #expect(Support.eventually { done.isFinished && served.queue.operationCount == 1 })
    let again = try served.attach()
    #expect(again.snapshot.jobs.map(\.job.name) == ["left"] && again.snapshot.start?.id != id)
    left.finish()
  }

  @Test func severalWatchOneRun() throws {
    let served = try Served()
    let operation = Manual("operation")
    served.dashboard.add(operation)
    let (first, second) = (try served.attach(), try served.attach())
    #expect(first.snapshot.start == second.snapshot.start)
    second.send(.cancel([JobID(0)], by: .person))
    #expect(eventually(first) { $0.jobs[0].state == .cancelled(by: .person) })
  }

  @Test func aStopCancelsWhatIsInTheQueueAndNotWhatFollows() throws {
    let served = try Served()
    let (present, later) = (Manual("present"), Manual("later"))
    served.dashboard.add(present)
    let remote = try served.attach()
    remote.send(.stop(.terminate, by: .person))
    #expect(eventually(remote) { $0.jobs[0].state.isTerminal })
    served.dashboard.add(later)
    #expect(eventually(remote) { $0.jobs.count == 2 && $0.jobs[1].state == .executing })
    #expect(present.isCancelled && !later.isCancelled)
    later.finish()
  }

  @Test func foreignOperationsAreWrappedWhoeverWatches() throws {
    let served = try Served(width: 1)
    let (gate, first) = (Manual("gate"), BlockOperation {})
    let second = BlockOperation {}
    (first.name, second.name) = ("first", "second")
    second.addDependency(first)
    first.addDependency(gate)
    served.dashboard.add([gate, first])
    // Added before: ignored.
    served.dashboard.add([first, second])
    let remote = try served.attach()
    #expect(eventually(remote) { Set($0.jobs.map(\.job.name)) == ["gate", "first", "second"] })
    let run = remote.snapshot
    for name in ["first", "second"] {
      let id = try #require(run.id(named: name))
      guard case .operation(let work) = run[id].job.work else { return #expect(Bool(false), "\(run[id].job.work)") }
      #expect(work.className == "BlockOperation" && work.visibility == .wrapped)
    }
    #expect(run.id(named: "second").map { run[$0].job.needs.map(\.job) } == run.id(named: "first").map { [$0] })
    gate.finish()
    #expect(eventually(remote) { $0.counts.succeeded == 3 })
  }

  @Test func anOperationAddedWhileNobodyWatchedIsRetried() throws {
    let served = try Served()
    let made = Lock<[Manual]>([])
    served.dashboard.add(retrying: { number in
      let operation = Manual("attempt \(number)")
      made.withLock { $0.append(operation) }
      return operation
    })
    let remote = try served.attach()
    // One that is cancelled before its start is no attempt.
    #expect(Support.eventually { made.withLock(\.self)[0].isExecuting })
    made.withLock(\.self)[0].cancel()
    #expect(eventually(remote) { $0.jobs.first?.state.isTerminal == true })
    remote.send(.retry([JobID(0)], withDependents: false))
    #expect(eventually(remote) { $0.jobs[0].state == .executing && $0.jobs[0].attempt?.number == 2 })
    made.withLock(\.self)[1].finish()
  }

  @Test func aGreetingCountsTheQueueWithoutObservingIt() throws {
    let served = try Served(width: 1)
    let operations = (0..<3).map { Manual("\($0)") }
    served.dashboard.add(operations)
    #expect(Support.eventually { operations[0].isExecuting })
    let greeting = try #require(served.programs.first).greeting
    #expect(greeting.isQueue && greeting.name == "darkroom" && greeting.jobs == 3 && greeting.executing == 1)
    #expect(greeting.identifier == "\(getpid())" && served.dashboard.observed.isResting)
    for operation in operations { operation.finish() }
  }

  @Test func twoQueuesOfAProgramHaveASocketEach() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/live"
    let dashboards = ["a", "b"].map { name in
      var options = Dashboard.Options()
      options.name = name
      return Dashboard(observing: OperationQueue(), options: options)
    }
    let services = try dashboards.map { try $0.serve(in: [path]) }
    #expect(Set(RemoteProgram.all(in: [path]).programs.map(\.greeting.name)) == ["a", "b"])
    services[0].stop()
    let third = try dashboards[0].serve(in: [path])
    withExtendedLifetime(services) {}
    #expect(RemoteProgram.all(in: [path]).programs.count == 2)
    third.stop()
    #expect(RemoteProgram.all(in: [path]).programs.map(\.greeting.name) == ["b"])
  }

  @Test func aDashboardThatRunsIsServedAsItStands() async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/live"
    var options = Dashboard.Options()
    (options.interface, options.handlesSignals) = (.quiet, false)
    let dashboard = Dashboard(observing: OperationQueue(), options: options)
    let (early, operation) = (Giving("early", .success(1)), Manual("operation"))
    dashboard.add([early, operation])
    let run = Task { try await dashboard.run() }
    #expect(await soon { dashboard.isShown && early.isFinished })
    let service = try dashboard.serve(in: [path])
    let program = try #require(RemoteProgram.all(in: [path]).programs.first)
    let remote = try RemoteFeed(program)
    #expect(remote.snapshot.jobs.map(\.job.name) == ["early", "operation"])
    operation.finish()
    #expect(try await run.value.succeeded == 2)
    #expect(await soon { remote.snapshot.summary?.succeeded == 2 })
    service.stop()
  }

  /// Stops the operations of a dashboard that has closed while a program was attached: later ones are not cancelled.
  private func stopAfterTheEnd(
    leaving: Bool, by canceller: JobState.Canceller, _ stop: (_ dashboard: Dashboard, _ remote: RemoteFeed) -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/live"
    var options = Dashboard.Options()
    (options.interface, options.handlesSignals) = (.quiet, false)
    let dashboard = Dashboard(observing: OperationQueue(), options: options)
    let operation = Manual("operation")
    dashboard.add(operation)
    let run = Task { try await dashboard.run() }
    #expect(await soon { dashboard.isShown && operation.isExecuting })
    let service = try dashboard.serve(in: [path])
    let remote = try RemoteFeed(#require(RemoteProgram.all(in: [path]).programs.first))
    if leaving { dashboard.stop() } else { operation.finish() }
    #expect(try await run.value.left == (leaving ? 1 : 0))
    let left = leaving ? operation : Manual("left")
    dashboard.add(left)
    #expect(await soon { left.isExecuting })
    #expect(dashboard.observed.isResting == !leaving)
    stop(dashboard, remote)
    #expect(await soon { left.isFinished })
    let later = Manual("later")
    dashboard.add(later)
    #expect(await soon { later.isExecuting || later.isCancelled })
    #expect(left.isCancelled && !later.isCancelled)
    if leaving { #expect(await soon { remote.snapshot.jobs[0].state == .cancelled(by: canceller) }) }
    later.finish()
    service.stop()
  }

  @Test(arguments: [true, false]) func anInterruptWhileSomebodyWatchesEndsNothingLater(leaving: Bool) async throws {
    try await stopAfterTheEnd(leaving: leaving, by: .signal) { dashboard, _ in dashboard.interrupt() }
  }

  @Test func aStopAfterTheDashboardEndsNothingLater() async throws {
    try await stopAfterTheEnd(leaving: true, by: .person) { _, remote in remote.send(.stop(.terminate, by: .person)) }
  }

  /// Its `cancel()` ends when the test lets it.
  private final class Stubborn: AsyncOperation, @unchecked Sendable {
    // Safe: constants.
    let (isAsked, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

    override func main() {}
    override func didCancel() {
      isAsked.signal()
      gate.wait()
      finish()
    }
  }

  @Test(arguments: [false, true]) func aCancelThatTakesLongHoldsUpNobody(isOver: Bool) async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/live"
    var options = Dashboard.Options()
    (options.interface, options.handlesSignals) = (.quiet, false)
    let dashboard = Dashboard(observing: OperationQueue(), options: options)
    let (first, stubborn) = (Manual("first"), Stubborn())
    dashboard.add(isOver ? [first] : [first, stubborn])
    let run = Task { try await dashboard.run() }
    #expect(await soon { dashboard.isShown && first.isExecuting })
    let service = try dashboard.serve(in: [path])
    var remote = try RemoteFeed(#require(RemoteProgram.all(in: [path]).programs.first))
    if isOver { first.finish() } else { dashboard.stop() }
    _ = try await run.value
    if isOver {
      dashboard.add(stubborn)
      remote = try RemoteFeed(#require(RemoteProgram.all(in: [path]).programs.first))
    }
    #expect(await soon { stubborn.isExecuting })
    remote.send(.stop(.terminate, by: .person))
    #expect(await soon { stubborn.isAsked.wait(timeout: .now()) == .success })
    #expect(RemoteProgram.all(in: [path]).programs.count == 1)
    stubborn.gate.signal()
    #expect(await soon { stubborn.isFinished })
    first.finish()
    service.stop()
  }

  @Test func aFolderThatOthersCanReachIsRefused() throws {
    let folder = try TemporaryFolder()
    chmod(folder.url.path(), 0o755)
    let dashboard = Dashboard(observing: OperationQueue())
    let error = #expect(throws: Dashboard.ServiceError.self) { try dashboard.serve(in: [folder.url.path()]) }
    #expect(error?.description.contains("chmod 700") == true)
  }

  @Test func anOperationAddedBeforeTheServiceIsRetriedByEachViewer() throws {
    let made = Lock<[Manual]>([])
    let served = try Served { dashboard in
      dashboard.add(retrying: { number in
        let operation = Manual("attempt \(number)", endsWhenCancelled: false)
        made.withLock { $0.append(operation) }
        return operation
      })
    }
    func last() -> Manual { made.withLock(\.self).last ?? Manual("none") }
    for number in 2...3 {
      // Each viewer has a run of its own, which begins with the operation that the last one has left.
      #expect(Support.eventually { served.dashboard.observed.isResting })
      let viewer = try served.attach()
      #expect(eventually(viewer) { $0.jobs.first?.state == .executing })
      last().cancel(with: Trouble(description: "trouble"))
      last().finish()
      #expect(eventually(viewer) { $0.jobs.first?.state.isTerminal == true })
      viewer.send(.retry([JobID(0)], withDependents: false))
      #expect(eventually(viewer) { $0.jobs[0].state == .executing && made.withLock(\.count) == number })
    }
    last().finish()
  }

  @Test func whoAttachesAfterTheEndOfARunSeesWhatFollows() async throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/live"
    var options = Dashboard.Options()
    (options.interface, options.handlesSignals) = (.quiet, false)
    let dashboard = Dashboard(observing: OperationQueue(), options: options)
    let (first, second) = (Manual("first"), Manual("second"))
    dashboard.add(first)
    let run = Task { try await dashboard.run() }
    #expect(await soon { dashboard.isShown && first.isExecuting })
    let service = try dashboard.serve(in: [path])
    let viewer = try RemoteFeed(#require(RemoteProgram.all(in: [path]).programs.first))
    let end = Lock<RemoteError?>(nil)
    viewer.whenEnded { error in end.withLock { $0 = error } }
    first.finish()
    #expect(try await run.value.succeeded == 1)
    // It has the whole run, and no part in the next one.
    #expect(await soon { end.withLock { $0 == .ended } })
    #expect(viewer.snapshot.summary?.succeeded == 1)
    dashboard.add(second)
    let later = try RemoteFeed(#require(RemoteProgram.all(in: [path]).programs.first))
    #expect(await soon { later.snapshot.jobs.map(\.job.name) == ["second"] && second.isExecuting })
    second.finish()
    #expect(await soon { later.snapshot.counts.succeeded == 1 })
    service.stop()
  }

  @Test func aRunThatHasEndedKeepsNoLaterOperation() throws {
    let watch = Watch()
    let first = Manual("first")
    try watch.feed.add([first])
    watch.feed.start()
    first.finish()
    watch.feed.send(.finish(signal: nil))
    #expect(watch.eventually { $0.summary != nil })
    weak var released: Manual?
    do {
      let later = Manual("later")
      released = later
      #expect(try !watch.feed.add([later]))
      watch.queue.addOperation(later)
      #expect(Support.eventually { later.isExecuting })
      later.finish()
    }
    #expect(Support.eventually { released == nil })
  }
}
