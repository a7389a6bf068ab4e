import Foundation
import Support
import Testing

@testable import Operations

@Suite struct OperationObservationTests {
  typealias State = AsyncOperation.State
  let queue = DispatchQueue(label: "observers")

  /// Comes back once all that was on its way to the queue has been delivered.
  func settle() { for _ in 0..<3 { queue.sync {} } }

  @Test func everyChangeOfStateIsToldInOrderWithOldAndNew() {
    let operation = ManualOperation()
    let journal = Journal<[State?]>()
    let token = operation.observe(\.state, on: queue) { operation, change in
      dispatchPrecondition(condition: .onQueue(queue))
      _ = operation.mainCount  // The handler knows the operation's own type.
      journal.add([change.oldValue, change.newValue])
    }
    operation.start()
    operation.finish()
    settle()
    #expect(journal.entries == [[.ready, .executing], [.executing, .finished]])
    token.cancel()
  }

  /// Delays the posting of an event, which reads the time.
  final class Gate: OperationClock {
    let isReached = DispatchSemaphore(value: 0)
    let isOpen = DispatchSemaphore(value: 0)

    var now: Duration {
      // For the operation and for the test.
      for _ in 0..<2 { isReached.signal() }
      isOpen.wait()
      return .zero
    }

    func schedule(
      after duration: Duration, on queue: DispatchQueue?, _ body: @escaping @Sendable () -> Void
    ) -> any OperationTimer {
      preconditionFailure("no timer is set")
    }
  }

  @Test func theNextOperationStartsAfterTheEndOfTheOneBeforeIsPosted() {
    let gate = Gate()
    let first = ClosureOperation { operation in
      // Not a thread of Dispatch, which has one for each processor, and this is one of them.
      Thread.detachNewThread { operation.finish() }
      // Returns while another thread posts the end.
      gate.isReached.wait()
    }
    let delivery = DeliveryQueue(attachedTo: queue, pace: MailboxPace(interval: .seconds(0)), clock: gate)
    let token = first.events(.ended, on: queue) { _, _, _ in }
    let second = ManualOperation()
    let operations = OperationQueue()
    operations.maxConcurrentOperationCount = 1
    operations.addOperations([first, second], waitUntilFinished: false)
    gate.isReached.wait()
    #expect(stays { !second.isExecuting })
    gate.isOpen.signal()
    #expect(eventually { second.isExecuting })
    second.finish()
    withExtendedLifetime((delivery, token)) {}
  }

  @Test func aStatusTellsStateProgressAndCancellationInTheirOrder() {
    let operation = ManualOperation()
    let journal = Journal<String>()
    let token = operation.observe(\.status, on: queue) { _, change in
      dispatchPrecondition(condition: .onQueue(queue))
      let status = change.newValue
      journal.add("\(status.state) \(status.progress.completed)\(status.isCancelled ? " cancelled" : "")")
    }
    operation.start()
    operation.report(completed: 1, total: 2)
    operation.cancel()
    settle()
    #expect(
      journal.entries == ["executing 0", "executing 1", "executing 1 cancelled", "finished 1 cancelled"])
    token.cancel()
  }

  @Test func theInitialValueComesFirstWhenItIsAskedFor() {
    let operation = ManualOperation()
    let journal = Journal<[State?]>()
    let token = operation.observe(\.state, on: queue, options: .initial) { _, change in
      journal.add([change.oldValue, change.newValue])
    }
    operation.start()
    settle()
    #expect(journal.entries == [[nil, .ready], [.ready, .executing]])
    token.cancel()
  }

  @Test func anObserverThatComesAfterTheEndHearsTheInitialValueAlone() {
    let operation = ManualOperation()
    operation.start()
    operation.finish()
    let journal = Journal<State>()
    let asking = operation.observe(\.state, on: queue, options: .initial) { _, change in journal.add(change.newValue) }
    let silent = operation.observe(\.state, on: queue) { _, change in journal.add(change.newValue) }
    operation.cancel()
    settle()
    #expect(journal.entries == [.finished])
    asking.cancel()
    silent.cancel()
  }

  @Test func eachPropertyIsToldOfItsOwnChangesAlone() {
    let operation = ManualOperation()
    let journal = Journal<String>()
    var tokens: [ObservationToken] = []
    let names: [(KeyPath<ObservableProperties, ObservableProperty<Bool>>, String)] = [
      (\.isReady, "ready"), (\.isExecuting, "executing"), (\.isFinished, "finished"), (\.isCancelled, "cancelled"),
    ]
    for (path, name) in names {
      tokens.append(operation.observe(path, on: queue) { _, change in journal.add("\(name) \(change.newValue)") })
    }
    tokens.append(operation.observe(\.progress, on: queue) { _, change in journal.add("\(change.newValue.completed)") })
    operation.start()
    operation.report(completed: 1, total: 2)
    operation.report(completed: 1, total: 2)
    operation.cancel()
    operation.report(completed: 2, total: 2)
    settle()
    #expect(
      journal.entries == ["executing true", "1", "cancelled true", "executing false", "finished true"])
    #expect(operation.progress == OperationProgress(completed: 1, total: 2))
    #expect(operation.progress.fraction == 0.5)
    withExtendedLifetime(tokens) {}
  }

  @Test func nothingIsToldOnceTheTokenIsCancelledOnTheDeliveryQueue() {
    let operation = ManualOperation()
    let journal = Journal<State>()
    let token = operation.observe(\.state, on: queue) { _, change in journal.add(change.newValue) }
    queue.sync {
      // The change is on its way when the token is cancelled.
      operation.start()
      token.cancel()
    }
    operation.finish()
    settle()
    #expect(journal.entries == [])
  }

  @Test func anObservationEndsWithItsOwner() {
    final class Owner { var token: ObservationToken? }
    let operation = ManualOperation()
    let journal = Journal<State>()
    do {
      let owner = Owner()
      owner.token = operation.observe(\.state, on: queue) { _, change in journal.add(change.newValue) }
      operation.start()
      settle()
    }
    operation.finish()
    settle()
    #expect(journal.entries == [.executing])
  }

  @Test func aHandlerMayCancelItsOwnToken() {
    final class Owner: Sendable { let token = Lock<ObservationToken?>(nil) }
    let operation = ManualOperation()
    let owner = Owner()
    let journal = Journal<State>()
    let token = operation.observe(\.state, on: queue) { _, change in
      journal.add(change.newValue)
      owner.token.withLock { $0 }?.cancel()
    }
    owner.token.withLock { $0 = token }
    queue.sync {
      operation.start()
      operation.finish()
    }
    settle()
    #expect(journal.entries == [.executing])
  }

  @Test func whatIsOnItsWayIsDeliveredThoughTheOperationIsGone() {
    let journal = Journal<State>()
    let token = queue.sync {
      let operation = ManualOperation()
      let token = operation.observe(\.state, on: queue) { _, change in journal.add(change.newValue) }
      operation.start()
      operation.finish()
      return token
    }
    settle()
    #expect(journal.entries == [.executing, .finished])
    token.cancel()
  }

  @Test func neitherTokenNorHandlerKeepsAFinishedOperation() {
    weak var gone: ManualOperation?
    var token: ObservationToken?
    do {
      let operation = ManualOperation()
      gone = operation
      // The handler holds the operation that holds the handler, until the end.
      token = operation.observe(\.state, on: queue) { [operation] _, _ in _ = operation.state }
      operation.start()
      operation.finish()
    }
    token?.cancel()
    token = nil
    settle()
    #expect(eventually { gone == nil })
  }

  @Test func afterTheEndATokenKeepsTheHandlerNoLonger() {
    weak var gone: ManualOperation?
    let token: ObservationToken
    do {
      let operation = ManualOperation()
      gone = operation
      token = operation.observe(\.state, on: queue) { [operation] _, _ in _ = operation.state }
      operation.start()
      operation.finish()
    }
    settle()
    #expect(eventually { gone == nil })
    token.cancel()
  }

  @Test func aCancelAfterTheEndStopsWhatIsOnItsWay() {
    let operation = ManualOperation()
    let journal = Journal<State>()
    let token = operation.observe(\.state, on: queue) { _, change in journal.add(change.newValue) }
    queue.sync {
      operation.start()
      operation.finish()
      token.cancel()
    }
    settle()
    #expect(journal.entries == [])
  }

  @Test func whatIsReadyBecomesPendingWithADependency() {
    let (operation, dependency) = (ManualOperation(), ManualOperation())
    let journal = Journal<State>()
    let token = operation.observe(\.state, on: queue, options: .initial) { _, change in journal.add(change.newValue) }
    operation.addDependency(dependency)
    settle()
    #expect(journal.entries == [.ready, .pending])
    token.cancel()
  }

  @Test func changesOfManyOperationsKeepTheirOrderOnOneQueue() {
    let journal = Journal<String>()
    let first = ManualOperation("a")
    let second = ManualOperation("b")
    let tokens = [first, second].map { operation in
      operation.observe(\.state, on: queue) { operation, change in
        journal.add("\(operation.name ?? "") \(change.newValue)")
      }
    }
    queue.sync {
      second.start()
      first.start()
      first.finish()
      second.finish()
    }
    settle()
    #expect(journal.entries == ["b executing", "a executing", "a finished", "b finished"])
    withExtendedLifetime(tokens) {}
  }

  @Test func aConcurrentQueueKeepsTheOrderToo() {
    let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let operation = ManualOperation()
    let journal = Journal<Int64>()
    let token = operation.observe(\.progress, on: concurrent) { _, change in journal.add(change.newValue.completed) }
    operation.start()
    for step in 1...5000 { operation.report(completed: Int64(step)) }
    #expect(eventually { journal.count == 5000 })
    #expect(journal.entries == (1...5000).map { Int64($0) })
    token.cancel()
  }

  @Test func tenThousandChangesCostFewDeliveries() {
    let operations = (0..<5000).map { _ in ManualOperation() }
    let journal = Journal<State>()
    let tokens = operations.map { $0.observe(\.state, on: queue) { _, change in journal.add(change.newValue) } }
    let order = Journal<Int>()
    queue.sync {
      for operation in operations {
        operation.start()
        operation.finish()
      }
      // Had each change its own call, this would come last.
      queue.async { order.add(journal.count) }
    }
    queue.async { order.add(journal.count) }
    settle()
    #expect(order.entries == [10000, 10000])
    withExtendedLifetime(tokens) {}
  }

  @Test func observersThatComeAndGoWhileItMovesMissNothing() {
    for _ in 0..<500 {
      let operation = ManualOperation()
      let seen = Journal<State>()
      race([
        { operation.start() }, { operation.cancel() },
        {
          for _ in 0..<5 { operation.observe(\.state, on: queue) { _, _ in }.cancel() }
        },
        {
          let token = operation.observe(\.state, on: queue, options: .initial) { _, change in seen.add(change.newValue)
          }
          _ = eventually { seen.entries.last == .finished }
          token.cancel()
        },
      ])
      // From wherever it began to the end, without a gap, a repetition or a step back.
      let order = State.allCases
      let steps = seen.entries.compactMap { order.firstIndex(of: $0) }
      #expect(seen.entries.last == .finished)
      #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 < $1 }, "\(seen.entries)")
    }
  }

  @Test func theMainQueueIsTheDefault() async {
    let operation = ManualOperation()
    let token = Lock<ObservationToken?>(nil)
    await withCheckedContinuation { continuation in
      let observation = operation.observe(\.isFinished) { _, _ in
        dispatchPrecondition(condition: .onQueue(.main))
        continuation.resume()
      }
      token.withLock { $0 = observation }
      operation.start()
      operation.finish()
    }
    token.withLock { $0 }?.cancel()
  }

  @Test func aGlobalQueueCanBeAskedFor() {
    let operation = ManualOperation()
    let journal = Journal<Bool>()
    let token = operation.observe(\.isFinished, on: .global()) { _, change in journal.add(change.newValue) }
    operation.start()
    operation.finish()
    #expect(eventually { journal.entries == [true] })
    token.cancel()
  }

  @Test func progressCanBeReportedFromAnyThread() {
    let operation = ManualOperation()
    operation.start()
    race(
      (0..<8).map { number in { for step in 0..<500 { operation.report(completed: Int64(step), total: Int64(number)) } }
      })
    #expect(operation.progress.completed == 499)
    operation.finish()
    operation.report(completed: 7)
    #expect(operation.progress.completed == 499)
  }
}
