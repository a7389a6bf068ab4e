import Foundation
import Support
import Testing

@testable import Operations

@Suite struct OperationEventsTests {
  struct Fault: Error {}

  let own = DispatchQueue(label: "observers")
  let queue = OperationQueue()

  /// Of the observations of a test.
  let tokens = Journal<ObservationToken>()

  func observed(_ operation: AsyncOperation) -> Journal<String> {
    let journal = Journal<String>()
    tokens.add(
      operation.events([.attached, .starting, .produced, .cancelled, .ended], on: own) { event, _, _ in
        journal.add(Self.words(event))
      })
    // Another sees the same, and changes nothing for the first.
    tokens.add(operation.events(on: own) { _, _, _ in })
    return journal
  }

  static func words(_ event: OperationEvent) -> String {
    switch event {
    case .attached: "attach"
    case .starting: "will execute"
    case .produced(let other): "produce \(other.name ?? "")"
    case .cancelled: "cancel"
    case .executed: "did execute"
    case .ended(let failure): "finish\(failure.map { " \($0)" } ?? "")"
    case .begun: "begun"
    case .launched(let pid): "launched \(pid)"
    case .progress(let progress): "\(progress.completed) of \(progress.total ?? 0)"
    case .lines(let lines): lines.map(\.text).joined(separator: ", ")
    case .stopped(let signal): "stopped by \(signal)"
    case .continued: "continued"
    case .placed(let place): "placed \(place)"
    }
  }

  @Test func anObserverIsToldTheWholeLifeInOrder() {
    let operation = ManualOperation()
    let journal = observed(operation)
    queue.addOperation(operation)
    #expect(eventually { operation.isExecuting })
    operation.finish()
    #expect(eventually { journal.entries == ["attach", "will execute", "did execute", "finish"] })
  }

  @Test func aDependencyQueueAttachesWhatItIsGiven() throws {
    let dependencyQueue = DependencyQueue(feeding: queue)
    let first = ManualOperation()
    let operation = ManualOperation()
    operation.addDependency(first)
    let journal = observed(operation)
    try dependencyQueue.add([first, operation])
    // Long before it is ready.
    #expect(eventually { journal.entries == ["attach"] })
    #expect(eventually { first.isExecuting })
    first.finish()
    #expect(eventually { operation.isExecuting })
    operation.cancel()
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(eventually { journal.count == 5 })
    #expect(journal.entries == ["attach", "will execute", "cancel", "did execute", "finish CancellationError()"])
  }

  @Test func whatNeverExecutesOnlyFinishes() {
    let operation = ManualOperation()
    let journal = observed(operation)
    operation.cancel(with: Fault())
    queue.addOperation(operation)
    #expect(eventually { journal.count == 3 })
    #expect(journal.entries == ["cancel", "attach", "finish Fault()"])
  }

  @Test func eventsEndWithTheirToken() {
    let operation = ManualOperation()
    let journal = Journal<String>()
    var token: ObservationToken? = operation.events([.starting, .ended], on: own) { event, _, _ in
      journal.add(Self.words(event))
    }
    operation.start()
    own.sync {}
    #expect(eventually { journal.entries == ["will execute"] })
    token?.cancel()
    token = nil
    operation.finish()
    own.sync {}
    #expect(journal.count == 1)
  }

  @Test func eventsComeOnTheMainQueueByDefault() async {
    let operation = ManualOperation()
    operation.start()
    operation.finish(with: Fault())
    let late = ManualOperation()
    // Held here: the observation ends with its token.
    let token = Lock<ObservationToken?>(nil)
    let failure = await withCheckedContinuation { continuation in
      let new = late.events { event, _, _ in
        dispatchPrecondition(condition: .onQueue(.main))
        if case .ended(let failure) = event { continuation.resume(returning: failure is Fault) }
      }
      token.withLock { $0 = new }
      late.start()
      late.finish(with: Fault())
    }
    #expect(failure)
  }

  @Test func whateverRacesEachObserverSeesOneLifeInOrder() {
    let orders: [String: Int] = ["attach": 0, "will execute": 1, "cancel": 2, "did execute": 3, "finish": 4]
    for _ in 0..<1000 {
      let operation = ManualOperation()
      let journal = observed(operation)
      race([
        { self.queue.addOperation(operation) }, { operation.cancel() }, { operation.finish() }, { operation.cancel() },
      ])
      #expect(eventually { journal.entries.last?.hasPrefix("finish") == true })
      let entries = journal.entries.map { $0.hasPrefix("finish") ? "finish" : $0 }
      #expect(Set(entries).count == entries.count)
      let fixed = entries.filter { $0 != "cancel" }.compactMap { orders[$0] }
      #expect(fixed == fixed.sorted(), "\(entries)")
      #expect(entries.contains("will execute") == entries.contains("did execute"))
    }
  }

  private struct Place: OperationPlacement {}

  @Test func everyEventComesInTheOrderInWhichItWasPosted() {
    let operation = ManualOperation()
    let journal = Journal<String>()
    let token = operation.events(on: own) { event, _, _ in journal.add(Self.words(event)) }
    operation.start()
    operation.post(.launched(pid: 7))
    operation.report(completed: 1, total: 2)
    operation.log("a")
    operation.post(.stopped(signal: 19))
    operation.post(.continued)
    operation.post(.placed(Place()))
    operation.log([OperationLogLine(text: "b"), OperationLogLine(text: "c")])
    operation.finish()
    // After the end nothing is posted.
    operation.post(.continued)
    let all = [
      "will execute", "begun", "launched 7", "1 of 2", "a", "stopped by 19", "continued", "placed Place()", "b, c",
      "did execute", "finish",
    ]
    #expect(eventually { journal.count >= all.count })
    own.sync {}
    #expect(journal.entries == all)
    withExtendedLifetime(token) {}
  }

  private static let chosen: [(OperationEvent.Kinds, [String])] = [
    (.starting, ["will execute"]), (.begun, ["begun"]), (.progress, ["1 of 0"]), (.lines, ["a"]),
    (.launched, ["launched 7"]), (.cancelled, ["cancel"]), (.ended, ["did execute", "finish CancellationError()"]),
    (.placed, []), ([.begun, .lines], ["begun", "a"]),
  ]

  @Test(arguments: chosen)
  func onlyTheChosenKindsCome(_ kinds: OperationEvent.Kinds, _ expected: [String]) {
    let operation = ManualOperation()
    let journal = Journal<String>()
    let token = operation.events(kinds, on: own) { event, _, _ in journal.add(Self.words(event)) }
    operation.start()
    operation.post(.launched(pid: 7))
    operation.report(completed: 1)
    operation.log("a")
    operation.cancel()
    operation.finish()
    #expect(eventually { operation.isFinished })
    own.sync {}
    #expect(eventually { journal.entries == expected })
    withExtendedLifetime(token) {}
  }

  // MARK: Produced operations

  @Test func aProducedOperationEntersTheSameQueue() {
    let produced = ManualOperation("produced")
    let seen = Journal<OperationQueue?>()
    let operation = ClosureOperation { operation in
      operation.produce(produced)
      operation.finish()
    }
    let journal = observed(operation)
    let next = ClosureOperation { operation in
      seen.add(OperationQueue.current)
      operation.finish()
    }
    next.addDependency(produced)
    queue.addOperations([operation, next], waitUntilFinished: false)
    #expect(eventually { produced.isExecuting })
    #expect(queue.operations.contains(produced))
    produced.finish()
    queue.waitUntilAllOperationsAreFinished()
    #expect(eventually { journal.entries == ["attach", "will execute", "produce produced", "did execute", "finish"] })
  }

  @Test func laterToo() throws {
    final class Nobody: OperationQueueDelegate {}
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let inDependencyQueue = ManualOperation()
    let inQueue = ManualOperation()
    // A plain queue is known no more once `main` has returned.
    let queue = DelegatedOperationQueue(delegate: Nobody())
    try dependencyQueue.add(inDependencyQueue)
    queue.addOperation(inQueue)
    for (producer, home) in [(inDependencyQueue, dependencyQueue.queue), (inQueue, queue)] {
      #expect(eventually { producer.state == .executing })
      let produced = ManualOperation()
      producer.produce(produced)
      #expect(home.operations.contains(produced))
      #expect(eventually { produced.isExecuting })
      produced.finish()
      producer.finish()
    }
    dependencyQueue.waitUntilAllOperationsAreFinished()
    queue.waitUntilAllOperationsAreFinished()
  }
}
