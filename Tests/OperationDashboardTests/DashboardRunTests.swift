import Foundation
import Operations
import Support
import Testing

@testable import OperationDashboard

struct DashboardRunTests {
  private var quiet: Dashboard.Options {
    var options = Dashboard.Options()
    options.interface = .quiet
    options.handlesSignals = false
    return options
  }

  @Test func itReturnsWhenAllIsDoneWithWhatThatCameTo() async throws {
    let queue = OperationQueue()
    let dashboard = Dashboard(observing: queue, options: quiet)
    dashboard.add([Giving("a", .success(1)), Giving("b", .success(2)), BlockOperation {}])
    let summary = try await dashboard.run()
    #expect(summary == Dashboard.Summary(succeeded: 3, failed: 0, cancelled: 0, skipped: 0, left: 0, exitStatus: 0))
  }

  @Test func aQueueWithNothingInItIsDone() async throws {
    let summary = try await Dashboard(observing: OperationQueue(), options: quiet).run()
    #expect(summary.exitStatus == 0)
  }

  @Test func aStopLeavesTheOperationsAlone() async throws {
    let dashboard = Dashboard(observing: OperationQueue(), options: quiet)
    let manual = Manual("manual")
    dashboard.add(manual)
    let stopper = manual.observe(\.state, on: .global(), options: .initial) { _, change in
      if change.newValue == .executing { dashboard.stop() }
    }
    let summary = try await dashboard.run()
    #expect(summary.left == 1)
    #expect(manual.isExecuting && !manual.isCancelled)
    manual.finish()
    withExtendedLifetime(stopper) {}
  }

  @Test func aStopBeforeTheRunMakesItReturnAtOnce() async throws {
    let dashboard = Dashboard(observing: OperationQueue(), options: quiet)
    let manual = Manual("manual")
    dashboard.add(manual)
    dashboard.stop()
    #expect(try await dashboard.run().left == 1)
    manual.finish()
  }

  @Test func aCancelledTaskEndsTheRunAndNotTheOperations() async throws {
    let dashboard = Dashboard(observing: OperationQueue(), options: quiet)
    let manual = Manual("manual")
    dashboard.add(manual)
    let task = Task { try await dashboard.run() }
    #expect(await soon { manual.isExecuting })
    task.cancel()
    #expect(try await task.value.succeeded == 0)
    #expect(manual.isExecuting)
    manual.finish()
  }

  @Test func oneThatStaysOpenReturnsWhenItIsStopped() async throws {
    var options = quiet
    options.keepOpen = .always
    let dashboard = Dashboard(observing: OperationQueue(), options: options)
    let done = Giving("done", .success(1))
    dashboard.add(done)
    let task = Task { try await dashboard.run() }
    #expect(await soon { done.isFinished })
    let late = Manual("late")
    dashboard.add(late)
    #expect(await soon { late.isExecuting })
    late.finish()
    #expect(await soon { late.isFinished })
    dashboard.stop()
    _ = try await task.value
  }

  @Test func anInterruptCancelsWhatRuns() async throws {
    let dashboard = Dashboard(observing: OperationQueue(), options: quiet)
    let manual = Manual("manual")
    dashboard.add(manual)
    let task = Task { try await dashboard.run() }
    #expect(await soon { manual.isExecuting && dashboard.isShown })
    dashboard.interrupt()
    let summary = try await task.value
    #expect(summary == Dashboard.Summary(succeeded: 0, failed: 0, cancelled: 1, skipped: 0, left: 0, exitStatus: 130))
  }

  @Test func anInterruptBeforeTheRunCancelsAsWell() async throws {
    let dashboard = Dashboard(observing: OperationQueue(), options: quiet)
    dashboard.add([Manual("a"), Manual("b")])
    dashboard.interrupt()
    let summary = try await dashboard.run()
    #expect(summary.cancelled == 2)
    #expect(summary.exitStatus == 3)
  }

  @Test func anInterruptAfterARunThatHasThrownCancels() async throws {
    var options = quiet
    options.interface = .terminal
    let dashboard = Dashboard(observing: OperationQueue(), options: options)
    let operations = [Manual("manual"), Manual("after")]
    operations[1].addDependency(operations[0])
    dashboard.add(operations)
    await #expect(throws: Dashboard.ScreenError.self) { try await dashboard.run() }
    dashboard.interrupt()
    #expect(await soon { operations.allSatisfy(\.isFinished) })
    #expect(operations.allSatisfy { $0.isCancelled })
  }

  @Test func anInterruptCancelsWhatAStopHasLeft() async throws {
    let dashboard = Dashboard(observing: OperationQueue(), options: quiet)
    let manual = Manual("manual")
    dashboard.add(manual)
    dashboard.stop()
    #expect(try await dashboard.run().left == 1)
    dashboard.interrupt()
    #expect(await soon { manual.isFinished })
    #expect(manual.isCancelled)
  }

  @Test func cancellingAllReachesWhatHasNotEnteredTheQueue() async throws {
    let dashboard = Dashboard(observing: OperationQueue(), options: quiet)
    let (manual, after) = (Manual("manual"), BlockOperation { Issue.record("it executed") })
    after.addDependency(manual)
    dashboard.add([manual, after])
    #expect(await soon { manual.isExecuting })
    dashboard.cancelAllOperations()
    let summary = try await dashboard.run()
    #expect(summary.cancelled == 2 && summary.exitStatus == 0)
  }

  @Test func aTerminalThatIsNotThereIsToldOf() async throws {
    var options = quiet
    options.interface = .terminal
    let dashboard = Dashboard(observing: OperationQueue(), options: options)
    await #expect(throws: (any Error).self) { try await dashboard.run() }
  }

  @Test func aDashboardThatIsNotShownKeepsNoRecords() async throws {
    var options = quiet
    options.interface = .terminal
    let dashboard = Dashboard(observing: OperationQueue(), options: options)
    #expect(!dashboard.observed.isResting)
    await #expect(throws: Dashboard.ScreenError.self) { try await dashboard.run() }
    #expect(dashboard.observed.isResting)
  }
}
