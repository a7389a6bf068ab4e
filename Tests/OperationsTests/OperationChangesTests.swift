import Dispatch
import Support
import Testing

@testable import Operations

@Suite struct OperationChangesTests {
  typealias State = AsyncOperation.State

  @Test func everyStateComesInOrderAndTheSequenceEndsAfterTheLast() async {
    let operation = ManualOperation()
    let changes = operation.changes(\.state, options: .initial)
    operation.start()
    operation.finish()
    var states: [State] = []
    for await change in changes {
      states.append(change.newValue)
      #expect(change.missed == 0)
    }
    #expect(states == [.ready, .executing, .finished])
  }

  @Test func aReaderThatWaitsIsWoken() async {
    let operation = ManualOperation()
    let changes = operation.changes(\.state)
    let reader = Task {
      var states: [State?] = []
      for await change in changes { states += [change.oldValue, change.newValue] }
      return states
    }
    operation.start()
    await Task.yield()
    operation.finish()
    #expect(await reader.value == [.ready, .executing, .executing, .finished])
  }

  @Test @MainActor func anActorReadsWithoutLeavingIt() async {
    let operation = ManualOperation()
    let changes = operation.changes(\.isFinished)
    DispatchQueue.global().async {
      operation.start()
      operation.finish()
    }
    var count = 0
    for await change in changes {
      MainActor.assertIsolated()
      UIQueue.check()
      count += change.newValue ? 1 : 0
    }
    #expect(count == 1)
  }

  @Test func theNewestAreKeptAndTheNextSaysHowManyWereLetGo() async {
    let operation = ManualOperation()
    let changes = operation.changes(\.progress, keeping: 3)
    operation.start()
    for step in 1...10 { operation.report(completed: Int64(step)) }
    operation.finish()
    var told: [[Int64]] = []
    for await change in changes {
      told.append([change.oldValue?.completed ?? -1, change.newValue.completed, Int64(change.missed)])
    }
    #expect(told == [[7, 8, 7], [8, 9, 0], [9, 10, 0]])
  }

  @Test(arguments: [0, 1]) func theNewestIsKeptInAnyCase(limit: Int) async {
    let operation = ManualOperation()
    let changes = operation.changes(\.progress, keeping: limit)
    operation.start()
    for step in 1...3 { operation.report(completed: Int64(step)) }
    operation.finish()
    var told: [[Int64]] = []
    for await change in changes { told.append([change.newValue.completed, Int64(change.missed)]) }
    #expect(told == [[3, 2]])
  }

  @Test func whatIsReadBetweenMakesRoomAgain() async {
    let operation = ManualOperation()
    let changes = operation.changes(\.progress, keeping: 2)
    let iterator = changes.makeAsyncIterator()
    func next() async -> [Int64]? {
      await iterator.next(isolation: nil).map { [$0.newValue.completed, Int64($0.missed)] }
    }
    operation.start()
    for step in 1...3 { operation.report(completed: Int64(step)) }
    #expect(await next() == [2, 1])
    for step in 4...5 { operation.report(completed: Int64(step)) }
    #expect(await next() == [4, 1])
    #expect(await next() == [5, 0])
    operation.finish()
    #expect(await next() == nil)
  }

  @Test func theLastStateIsToldHoweverSmallTheBuffer() async {
    let operation = ManualOperation()
    let changes = operation.changes(\.status, options: .initial, keeping: 0)
    operation.start()
    operation.cancel()
    var last: OperationStatus?
    var missed = 0
    for await change in changes {
      last = change.newValue
      missed += change.missed
    }
    #expect(last?.state == .finished && last?.isCancelled == true)
    // The value at the beginning, executing, and cancelled are gone.
    #expect(missed == 3)
  }

  @Test func ofAFinishedOperationThereIsTheInitialValueAndTheEnd() async {
    let operation = ManualOperation()
    operation.start()
    operation.finish()
    var states: [State] = []
    for await change in operation.changes(\.state, options: .initial) { states.append(change.newValue) }
    for await change in operation.changes(\.state) { states.append(change.newValue) }
    #expect(states == [.finished])
  }

  @Test func aCancelledReaderEndsAndTheOperationGoesOn() async {
    let operation = ManualOperation()
    let changes = operation.changes(\.state)
    let reader = Task {
      for await _ in changes {}
      return true
    }
    reader.cancel()
    #expect(await reader.value)
    operation.start()
    operation.finish()
    #expect(operation.isFinished)
  }

  @Test func itEndsWhenTheOperationIsFreedUnfinished() async {
    var operation: ManualOperation? = ManualOperation()
    guard let changes = operation?.changes(\.state) else { return }
    let reader = Task {
      for await _ in changes {}
      return true
    }
    operation = nil
    #expect(await reader.value)
  }

  @Test func anAbandonedSequenceLeavesNothingBehind() {
    let operation = ManualOperation()
    weak var buffer: ChangeBuffer?
    do {
      let changes = operation.changes(\.state)
      buffer = changes.buffer
      #expect(buffer != nil)
    }
    #expect(buffer == nil)
    operation.start()
    operation.finish()
  }

  @Test func aSequenceDoesNotKeepTheOperation() {
    weak var gone: ManualOperation?
    let changes = {
      let operation = ManualOperation()
      gone = operation
      return operation.changes(\.state)
    }()
    #expect(gone == nil)
    withExtendedLifetime(changes) {}
  }

  @Test func readersThatComeAndGoWhileItMovesMissNothing() async {
    for round in 0..<1000 {
      let operation = ManualOperation()
      let changes = operation.changes(\.state, options: .initial)
      async let states = {
        var states: [State] = []
        for await change in changes { states.append(change.newValue) }
        return states
      }()
      let idle = Task { for await _ in operation.changes(\.progress) {} }
      DispatchQueue.global().async { operation.start() }
      DispatchQueue.global().async { operation.cancel() }
      if round % 2 == 0 { idle.cancel() }
      let seen = await states
      // Cancelled before its start it does not execute.
      #expect(seen == (operation.mainCount == 0 ? [.ready, .finished] : [.ready, .executing, .finished]))
      await idle.value
    }
  }

  /// Of several readers each change goes to one of them, and all of them end.
  @Test func severalReadersShareTheChanges() async {
    let operation = ManualOperation()
    let changes = operation.changes(\.progress, keeping: 1000)
    operation.start()
    let count = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var count = 0
          for await _ in changes { count += 1 }
          return count
        }
      }
      for step in 1...500 { operation.report(completed: Int64(step)) }
      operation.finish()
      return await group.reduce(0, +)
    }
    #expect(count == 500)
  }
}
