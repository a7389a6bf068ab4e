import Foundation
import JobModel
import OperationDashboard
import Operations

/// Works until `end()`, whatever happens meanwhile.
private class Stubborn: AsyncOperation, @unchecked Sendable {
  // Safe: no state of its own.
  init(_ name: String) {
    super.init()
    self.name = name
  }

  override func main() {}
  func end() { finish() }
}

/// A delivery that takes a moment, or hangs.
private final class Parcel: Stubborn, @unchecked Sendable {
  // Safe: constant.
  private let hangs: Bool

  init(_ number: Int, hangs: Bool) {
    self.hangs = hangs
    super.init("parcel-\(number)")
  }

  override func main() {
    if !hangs { DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(150)) { self.finish() } }
  }
}

/// Holds its slot while it waits for another operation of its queue.
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

/// Keeps its state itself, and does not announce its end.
private final class Silent: Operation, @unchecked Sendable {
  private enum State { case waiting, executing, finished }
  // Safe: behind the lock.
  private let current = Lock(State.waiting)

  init(_ name: String) {
    super.init()
    self.name = name
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { current.withLock(\.self) == .executing }
  override var isFinished: Bool { current.withLock(\.self) == .finished }

  override func start() {
    current.withLock { $0 = .executing }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1500)) {
      self.current.withLock { $0 = .finished }
    }
  }

  /// The notification that `start` forgets.
  func announce() {
    guard isFinished else { return }
    willChangeValue(forKey: "isFinished")
    didChangeValue(forKey: "isFinished")
  }
}

/// The mistakes, each made with real code, and the end of each.
private final class StuckStage: Sendable {
  let queue: OperationQueue
  private let diary = Diary()
  private let fetch = Stubborn("fetch")
  private let lastParcel = Parcel(6, hangs: true)
  private let giant = Stubborn("giant")
  private let scan = Silent("scan")
  private let (chicken, egg) = (BlockOperation {}, BlockOperation {})
  private let schema = BlockOperation {}
  private let parse: Stint
  private let download: Stint
  private let token = Lock<ObservationToken?>(nil)
  /// Executes in another queue until all is over.
  private let curtain = Stubborn("curtain")
  private let elsewhere = OperationQueue()
  private let director = DispatchQueue(label: "opdash.stuck")

  init(_ queue: OperationQueue) {
    self.queue = queue
    parse = Stint("parse", lasts: .milliseconds(300), diary: diary)
    download = Stint("download", lasts: .seconds(4), steps: 40, diary: diary)
    (chicken.name, egg.name, schema.name) = ("chicken", "egg", "schema")
  }

  private func at(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
    director.asyncAfter(deadline: .now() + seconds, execute: body)
  }

  private func stint(_ name: String, _ length: Duration = .milliseconds(200)) -> Stint {
    Stint(name, lasts: length, diary: diary)
  }

  func begin() {
    diary.begin()
    let epilogue = stint("epilogue")
    epilogue.addDependency(curtain)
    epilogue.completionBlock = { self.freeAll() }
    elsewhere.addOperation(curtain)
    queue.addOperation(epilogue)
    beginOperations()
    beginGroups()
    // The main queue is asked while it is busy, because operations begin and end meanwhile.
    at(1.2) { DispatchQueue.main.async { Thread.sleep(forTimeInterval: 2.4) } }
    at(1) { Stubborn("lost").start() }
    at(10) { self.holdSlots() }
    at(13) { self.queue.maxConcurrentOperationCount = 4 }
    at(14) { self.suspend() }
    at(18) { self.queue.isSuspended = false }
    at(19) { self.makeLine() }
    at(25) { self.freeAll() }
  }

  private func beginOperations() {
    let label = stint("label")
    label.addDependency(fetch)
    // Before its start: it never executes.
    label.finish()
    parse.addDependency(schema)
    chicken.addDependency(egg)
    egg.addDependency(chicken)
    let parcels = (1...5).map { Parcel($0, hangs: false) } + [lastParcel]
    for (parcel, next) in zip(parcels, parcels.dropFirst()) { next.addDependency(parcel) }
    token.withLock { $0 = download.observe(\.progress, on: .main) { _, _ in } }
    for operation in [fetch, label, parse, chicken, egg, scan, download] as [Operation] {
      queue.addOperation(operation)
    }
    at(0.3) { self.fetch.cancel() }
    at(1.3) { for parcel in parcels { self.queue.addOperation(parcel) } }
    at(5) { self.fetch.end() }
    at(7) { self.lastParcel.end() }
    at(9) { self.freeFirst() }
  }

  /// Two groups that take two tools in opposite orders; they would wait for each other if they ran at once.
  private func beginGroups() {
    let chop = stint("chop")
    let dry = stint("dry")
    let dinner = GroupOperation(width: 1, [chop])
    let laundry = GroupOperation(width: 1, [dry])
    (dinner.name, laundry.name) = ("dinner", "laundry")
    dinner.addCondition(.mutuallyExclusive("stove"))
    chop.addCondition(.mutuallyExclusive("sink"))
    laundry.addCondition(.mutuallyExclusive("sink"))
    dry.addCondition(.mutuallyExclusive("stove"))
    laundry.addDependency(dinner)
    for group in [dinner, laundry] { queue.addOperation(group) }
  }

  private func holdSlots() {
    queue.maxConcurrentOperationCount = 2
    let parts = ["left-part", "right-part"].map { stint($0) }
    let waiters = zip(["left", "right"], parts).map { Waiter($0, for: $1) }
    for operation in waiters + parts as [Operation] { queue.addOperation(operation) }
  }

  private func suspend() {
    queue.isSuspended = true
    for number in 1...3 { queue.addOperation(stint("later-\(number)")) }
  }

  private func makeLine() {
    queue.maxConcurrentOperationCount = 1
    queue.addOperation(giant)
    for number in 1...6 { queue.addOperation(stint("small-\(number)", .milliseconds(100))) }
  }

  private func freeFirst() {
    scan.announce()
    // Foundation does not look again at an operation that has lost a dependency.
    chicken.cancel()
    parse.removeDependency(schema)
  }

  /// Ends whatever stands still yet, also after a person has cancelled everything.
  private func freeAll() {
    freeFirst()
    for operation in [fetch, lastParcel, giant, curtain] { operation.end() }
    queue.isSuspended = false
    if queue.maxConcurrentOperationCount < 4 { queue.maxConcurrentOperationCount = 4 }
  }
}

/// Every mistake that the dashboard warns of, made with real code.
enum Stuck {
  /// Shorter than usual, so that the scenario is.
  private static var patience: WarningWatch.Patience {
    var patience = WarningWatch.Patience()
    (patience.cancellation, patience.silence, patience.suspension) = (.seconds(2), .seconds(2), .seconds(2))
    (patience.line, patience.lineLength, patience.standstill) = (.seconds(4), 5, .milliseconds(800))
    return patience
  }

  static func perform() throws -> Performance {
    let queue = Performance.queue("stuck", width: 6)
    let feed = QueueFeed(observing: queue, patience: patience)
    let stage = StuckStage(queue)
    let found = Lock<[(warning: RunWarning, job: String?)]>([])
    let subscription = feed.subscribe(on: DispatchQueue(label: "opdash.stuck.found")) { [weak feed] events in
      for case .warningRaised(let warning) in events.map(\.fact) {
        let name = warning.jobs.first.flatMap { feed?.run[$0].job.name }
        found.withLock { $0.append((warning, name)) }
      }
    }
    return Performance(feed, whenStarted: stage.begin) { _ in
      withExtendedLifetime(subscription) {}
      let found = found.withLock(\.self)
      let kinds = Set(found.map(\.warning.kind))
      return ["stuck: \(kinds.count) of \(RunWarning.Kind.allCases.count) kinds of mistakes were found:"]
        + RunWarning.Kind.allCases.compactMap { kind in
          guard let (warning, job) = found.first(where: { $0.warning.kind == kind }) else { return nil }
          return "  \(kind.rawValue): \(job.map { $0 + ": " } ?? "")\(warning.evidence)"
        }
    }
  }
}
