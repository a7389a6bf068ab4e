import Dispatch
import Foundation
import Operations
import Support
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The code of the articles and of the README, word for word, in something that runs it. `DocumentationTests` compares.

nonisolated final class Countdown: AsyncOperation, @unchecked Sendable {
  private let time: Duration
  private let clock: any OperationClock
  init(_ time: Duration, clock: any OperationClock = .system) {
    self.time = time
    self.clock = clock
  }

  override func main() {
    _ = clock.schedule(after: time) { self.finish() }
  }
}

nonisolated final class Listening: AsyncOperation, @unchecked Sendable {
  // Safe: set in main, which returns before didCancel is called.
  private var source: (any DispatchSourceTimer)?

  override func main() {
    let source = DispatchSource.makeTimerSource()
    source.setEventHandler { self.report(completed: self.progress.completed + 1) }
    source.setCancelHandler { self.finish() }
    source.schedule(deadline: .now(), repeating: .milliseconds(100))
    source.activate()
    self.source = source
  }

  override func didCancel() { source?.cancel() }
}

nonisolated final class Shout: ResultOperation<String>, InputReceiving, @unchecked Sendable {
  // Safe: given before main is called, and not changed after.
  private var text = ""

  func receive(_ input: String) { text = input }
  override func main() { finish(.success(text.uppercased())) }
}

nonisolated final class Counting: AsyncOperation, @unchecked Sendable {
  override func main() {
    for number in 1...10 { report(completed: Int64(number), total: 10) }
    finish()
  }
}

final class Screen: @unchecked Sendable {
  // Safe: checked to be used on the main queue alone.
  @UIState private var lines: [String] = []

  func show(_ line: String) {
    UIQueue.check()
    lines.append(line)
  }
}

@MainActor final class Gauge {
  private var tokens: [ObservationToken] = []
  private(set) var fraction = 0.0

  func follow(_ operation: AsyncOperation) {
    tokens.append(
      operation.observe(\.progress) { [weak self] _, change in
        MainActor.assumeIsolated { self?.fraction = change.newValue.fraction ?? 0 }
      })
  }
}

/// Runs the examples of the articles, and checks their claims.
@Suite struct SnippetTests {
  private let queue = OperationQueue()

  private func measure(_ file: String) async throws -> Int { file.utf8.count }

  @Test func theOverviewRuns() async throws {
    let said = Said()
    func print(_ size: Int) { said.append(size) }
    let queue = OperationQueue()
    let size = TaskOperation { try await measure("report.pdf") }
    queue.addOperation(size)
    print(try await size.value)
    #expect(said.last == "10")
  }

  @Test func anOperationFinishesWhenItSaysSo() {
    let clock = ManualOperationClock()
    let countdown = Countdown(.seconds(10), clock: clock)
    queue.addOperation(countdown)
    #expect(eventually { clock.due.count == 1 })
    #expect(countdown.isExecuting)
    clock.advance(by: .seconds(10))
    #expect(eventually { countdown.isFinished })

    let early = Countdown(.seconds(60))
    early.finish()
    early.finish()
    queue.addOperation(early)
    #expect(eventually { early.isFinished })
  }

  @Test func whatDependsOnACancelledOperationGoesOn() {
    let first = Countdown(.seconds(60))
    let second = ClosureOperation { "went on" }
    second.addDependency(first)
    first.cancel()
    queue.addOperations([first, second])
    #expect(eventually { second.success == "went on" })
  }

  @Test func aReasonIsToldAndATaskIsCancelled() async {
    let listening = Listening()
    listening.cancel(with: URLError(.networkConnectionLost))
    queue.addOperation(listening)
    #expect(eventually { listening.failure is URLError })

    let other = Listening()
    queue.addOperation(other)
    #expect(eventually { other.progress.completed > 0 })
    other.cancel()
    #expect(eventually { other.isFinished })

    let patience = TaskOperation {
      try await Task.sleep(for: .seconds(3600))
      return "slept well"
    }
    queue.addOperation(patience)
    patience.cancel()
    #expect(await soon { patience.isFinished })
    #expect(patience.failure is CancellationError)
  }

  @Test func dependenciesWaitAndACycleIsRefused() {
    let create = ClosureOperation { "content" }
    let enrich = ClosureOperation { 42 }
    enrich.addDependency(create)
    queue.addOperations([create, enrich])
    #expect(eventually { enrich.isFinished })
    #expect(create.isFinished)

    let said = Said()
    @Sendable func print(_ error: any Error) { said.append(error) }
    let chicken = ClosureOperation { "chicken" }
    chicken.name = "chicken"
    let egg = ClosureOperation { "egg" }
    egg.name = "egg"
    egg.addDependency(chicken)
    do {
      try chicken.addDependencyOrThrow(egg)
    } catch {
      print(error)  // … chicken -> egg -> chicken
    }
    #expect(said.last?.hasSuffix("chicken -> egg -> chicken") == true)
  }

  @Test func aValueIsPassedOn() {
    let whisper = ClosureOperation { "hello" }
    let shout = Shout()
    shout.takeInput(from: whisper)
    queue.addOperations([shout, whisper])
    #expect(eventually { shout.success == "HELLO" })
  }

  private struct Printer: Sendable {
    let sheets: Int
    func hasPaper() async throws -> Bool { sheets > 0 }
    func hasInk() async throws -> Bool { true }
  }

  @Test(arguments: [0, 1])
  func aConditionThatDoesNotHoldIsNamed(sheets: Int) async {
    let printer = Printer(sheets: sheets)
    let upload = ClosureOperation { "uploaded" }
    upload.addCondition(.noFailedDependencies)
    upload.addCondition(.mutuallyExclusive("the one printer"))
    upload.addCondition(OperationCondition("there is paper") { _ in try await printer.hasPaper() })
    upload.addCondition(
      .together(
        OperationCondition("there is ink") { _ in try await printer.hasInk() },
        OperationCondition("there is paper") { _ in try await printer.hasPaper() }))
    queue.addOperation(upload)
    #expect(await soon { upload.isFinished })
    #expect((upload.failure as? OperationError)?.condition == (sheets == 0 ? "there is paper" : nil))
  }

  final class Login: Sendable {
    private let state = Lock(false)

    func logIn() { state.withLock { $0 = true } }
    var isValid: Bool { state.withLock { $0 } }
  }

  @Test func aConditionLogsInFirst() async {
    let session = Login()
    let upload = ClosureOperation { "uploaded" }
    upload.addCondition(
      OperationCondition("logged in", after: { _ in ClosureOperation { session.logIn() } }) { _ in session.isValid })
    queue.addOperation(upload)
    #expect(await soon { upload.isFinished })
    #expect(upload.failure == nil)
  }

  @Test func aDependencyQueueTakesALongChain() throws {
    let dependencyQueue = DependencyQueue(feeding: queue)
    var operations: [AsyncOperation] = []
    for number in 0..<1000 {
      let operation = ClosureOperation { number }
      if let last = operations.last { operation.addDependency(last) }
      operations.append(operation)
    }
    try dependencyQueue.add(operations)
    #expect(eventually { dependencyQueue.unfinishedCount == 0 })
    #expect(operations.allSatisfy { $0.isFinished })
  }

  @Test func widthAndPriorityDecide() {
    let line = OperationQueue()
    line.maxConcurrentOperationCount = 1
    let urgent = ClosureOperation { "first" }
    urgent.queuePriority = .veryHigh
    let pages = (1...20).map { page in ClosureOperation { page } }
    let book = GroupOperation(width: 4, onChildFailure: .cancelOthers, pages)
    line.addOperation(book)
    line.addOperation(urgent)
    #expect(eventually { book.isFinished && urgent.isFinished })
    #expect(pages.allSatisfy { $0.isFinished })
  }

  @Test func theQueueThatWasAskedForAnswers() async {
    let background = DispatchQueue(label: "background")
    let stored = Said()
    @Sendable func show(_ result: Result<String, any Error>) {}
    @Sendable func store(_ result: Result<String, any Error>) { stored.append(result) }
    let fetch = ClosureOperation { "page" }
    fetch.result { result in show(result) }
    fetch.result(on: background) { result in store(result) }
    queue.addOperation(fetch)
    var states: [AsyncOperation.State] = []
    for await change in fetch.changes(\.state, options: .initial) {
      states.append(change.newValue)
    }
    #expect(states.last == .finished)
    #expect(eventually { stored.last?.contains("page") == true })
  }

  @Test func observersAreToldInOrder() {
    let watching = DispatchQueue(label: "watching")
    let said = Said()
    @Sendable func print(_ values: Any...) { said.append(values) }
    let counting = Counting()
    let token = counting.observe(\.progress, on: watching, options: .initial) { operation, change in
      print(operation.state, change.newValue.fraction ?? 0)
    }
    let life = counting.events(on: watching) { event, time, _ in
      if case .ended(let failure) = event { print(time, failure ?? "ended well") }
    }
    queue.addOperation(counting)
    #expect(eventually { said.last?.contains("ended well") == true })
    #expect(said.count == 12)
    withExtendedLifetime((token, life)) {}
  }

  @MainActor @Test func anObserverKeepsItsTokens() async throws {
    let gauge = Gauge()
    let counting = Counting()
    gauge.follow(counting)
    queue.addOperation(counting)
    #expect(await soon { gauge.fraction == 1 })
  }
}

/// The output of an example.
final class Said: Sendable {
  private let lines = Lock<[String]>([])
  func append(_ value: Any) { lines.withLock { $0.append("\(value)") } }
  var last: String? { lines.withLock(\.last) }
  var count: Int { lines.withLock(\.count) }
}

extension ResultOperation {
  /// The value of a success.
  var success: Success? { outcome.flatMap { try? $0.get() } }
}
