import Testing

@testable import Operations

@Suite struct OperationLifecycleTests {
  static let all: [OperationLifecycle.State] = {
    let bits = [false, true]
    var states: [OperationLifecycle.State] = []
    for blocked in bits {
      for cancelled in bits {
        for requested in bits {
          states.append(.pending(isBlocked: blocked, isCancelled: cancelled, isFinishRequested: requested))
        }
      }
    }
    states += bits.map { .beginning(isCancelled: $0) }
    states.append(.executing)
    states += bits.map { .cancelling(isFinishRequested: $0) }
    states.append(.cancelled)
    states += bits.map { .finished(wasCancelled: $0) }
    return states
  }()

  @Test func everyStateHasItsOwnCode() {
    let codes = Self.all.map { OperationLifecycle($0).code }
    #expect(Set(codes).count == 16)
    #expect(codes.allSatisfy { $0 < 16 })
    for state in Self.all {
      #expect(
        OperationLifecycle.isReady(code: OperationLifecycle(state).code | 0xF0) == OperationLifecycle(state).isReady)
    }
    for state in Self.all { #expect(OperationLifecycle(code: OperationLifecycle(state).code | 0x80).state == state) }
  }

  @Test func aLifeRunsFromPendingThroughMainToFinished() {
    var life = OperationLifecycle()
    #expect(life.publicState == .ready)
    #expect(life.start() == .callMain)
    #expect(life.isExecuting)
    #expect(life.mainReturned() == .ignore)
    #expect(life.finish() == .finish)
    #expect(life.isFinished && !life.isExecuting && !life.isCancelled)
  }

  @Test func cancelledBeforeItStartsItFinishesAtStartWithoutMain() {
    var life = OperationLifecycle()
    #expect(life.cancel() == .tellFoundation)
    #expect(!life.isFinished)
    #expect(life.start() == .finish)
    #expect(life.state == .finished(wasCancelled: true))
  }

  @Test func finishedBeforeItStartsItFinishesAtStartWithoutMain() {
    var life = OperationLifecycle()
    #expect(life.finish() == .ignore)
    #expect(life.finish() == .ignore)
    #expect(!life.isFinished)
    #expect(life.start() == .finish)
    #expect(life.state == .finished(wasCancelled: false))
  }

  @Test func cancelledInsideMainDidCancelWaitsForMainToReturn() {
    var life = OperationLifecycle()
    _ = life.start()
    #expect(life.cancel() == .tellFoundation)
    #expect(life.mainReturned() == .callDidCancel)
    #expect(life.didCancelReturned() == .ignore)
    #expect(life.finish() == .finish)
    #expect(life.isCancelled)
  }

  @Test func finishedInsideMainACancelledOperationIsNotToldToEnd() {
    var life = OperationLifecycle()
    _ = life.start()
    _ = life.cancel()
    #expect(life.finish() == .finish)
    #expect(life.mainReturned() == .ignore)
  }

  @Test func aFinishWaitsForDidCancelToReturn() {
    var life = OperationLifecycle(.executing)
    #expect(life.cancel() == .tellFoundationThenCallDidCancel)
    #expect(life.finish() == .ignore)
    #expect(life.finish() == .ignore)
    #expect(life.isExecuting)
    #expect(life.didCancelReturned() == .finish)
    #expect(life.state == .finished(wasCancelled: true))
  }

  @Test(arguments: all) func onlyAnOperationThatHasNotBegunIsWithdrawn(_ state: OperationLifecycle.State) {
    var life = OperationLifecycle(state)
    let action = life.withdraw()
    switch state {
    case .pending(let isBlocked, isCancelled: false, isFinishRequested: false):
      #expect(action == .tellFoundation)
      #expect(life.state == .pending(isBlocked: isBlocked, isCancelled: true, isFinishRequested: false))
    case .pending(_, isCancelled: true, _):
      #expect(action == .isCancelled)
      #expect(life.state == state)
    default:
      #expect(action == .refuse)
      #expect(life.state == state)
    }
  }

  @Test func anOperationHasBegunOnceMainHasReturned() {
    var life = OperationLifecycle()
    _ = life.start()
    #expect(!life.hasBegun)
    _ = life.mainReturned()
    #expect(life.hasBegun)
    _ = life.finish()
    #expect(life.hasBegun)
  }

  @Test(arguments: all) func aSecondCancelChangesNothing(_ state: OperationLifecycle.State) {
    var life = OperationLifecycle(state)
    _ = life.cancel()
    let once = life
    #expect(life.cancel() == .ignore)
    #expect(life == once)
  }

  @Test(arguments: [false, true]) func nothingMovesAFinishedOperation(_ wasCancelled: Bool) {
    let end = OperationLifecycle(.finished(wasCancelled: wasCancelled))
    var life = end
    #expect(life.start() == .ignore)
    #expect(life.mainReturned() == .ignore)
    #expect(life.cancel() == .ignore)
    #expect(life.finish() == .ignore)
    #expect(life.block() == .ignore)
    #expect(life.unblock() == .ignore)
    #expect(life == end)
  }

  @Test(arguments: [OperationLifecycle.State.beginning(isCancelled: false), .executing, .cancelled])
  func aSecondStartWhileItExecutesIsAFault(_ state: OperationLifecycle.State) {
    var life = OperationLifecycle(state)
    guard case .trap = life.start() else {
      Issue.record("the start went through")
      return
    }
    #expect(life.state == state)
  }

  @Test func aDependencyHoldsBackWhatHasNotBegunAndIsNotCancelled() {
    var life = OperationLifecycle()
    #expect(life.block() == .tellQueue)
    #expect(life.publicState == .pending && !life.isReady)
    #expect(life.unblock() == .tellQueue)
    #expect(life.publicState == .ready && life.isReady)
    _ = life.block()
    _ = life.cancel()
    #expect(life.isReady)
    #expect(life.unblock() == .ignore)
    var executing = OperationLifecycle(.executing)
    #expect(executing.block() == .ignore)
    #expect(executing.isReady)
  }

  /// After every input the public state has only moved forward, and a cancellation is never undone.
  @Test func noInputLeadsBack() {
    let order = AsyncOperation.State.allCases
    let inputs: [(inout OperationLifecycle) -> Void] = [
      { _ = $0.start() }, { _ = $0.cancel() }, { _ = $0.finish() }, { _ = $0.unblock() },
      { if case .beginning = $0.state { _ = $0.mainReturned() } },
      { if case .cancelling = $0.state { _ = $0.didCancelReturned() } },
    ]
    for state in Self.all {
      for input in inputs {
        let old = OperationLifecycle(state)
        var new = old
        input(&new)
        #expect((order.firstIndex(of: new.publicState) ?? -1) >= (order.firstIndex(of: old.publicState) ?? 9))
        #expect(!old.isCancelled || new.isCancelled)
      }
    }
  }
}
