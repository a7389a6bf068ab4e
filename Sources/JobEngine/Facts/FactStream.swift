import Dispatch
import JobModel
import Operations

/// The facts of one source of a run (a job graph or a program's queue), from its operations' reports to the
/// subscribers.
///
/// Observations are delivered on `queue`, where the source states facts; the facts of one batch are delivered together.
/// The stream limits the rate of progress, keeps the one timer of the run and states the run's end.
package final class FactStream: @unchecked Sendable {
  // Safe: `elapsed` and `hub` are for any thread; only `queue` accesses the other variables.

  /// The feed of a run, which decides on the facts and is called on the stream's queue.
  package protocol Source: JobFeed {
    var stream: FactStream { get }
    /// When the source must be woken even if nothing happens, on the run's clock.
    var nextWake: Duration? { get }
    /// Called at `nextWake`.
    func wake()
    /// How many observed changes may wait for the pace of the deliveries; read after each batch.
    var burst: Int { get }
    /// Whether a requested end of the run must wait because an attempt is executing or a change is on its way.
    var isBusy: Bool { get }
    /// Called once, after the end was stated.
    func didEnd()
  }

  package let queue: DispatchQueue
  package let clock: any OperationClock
  package let journal = RunJournal()
  package let hub = EventHub()
  package let deliveries: DeliveryQueue
  package weak var source: (any Source)?
  /// Touched only on `queue` once the run has begun.
  package var warnings = WarningWatch()
  /// Whether the end was stated; no fact may follow.
  package private(set) var isOver = false

  private let beginning = Lock<Duration?>(nil)
  private var gate = ProgressGate<JobID, JobProgress>()
  private var alarm: (time: Duration, timer: any OperationTimer)?
  private var isDeliveryDue = false
  /// The receipt of the lines that are being delivered.
  private var heldBack: LogReceipt?
  /// How many events a subscriber may be behind before output is held back.
  private static let readersLimit = 8192
  private var end: (signal: Int32?, isAsked: Bool) = (nil, false)

  /// Creates a stream; observations on `queue` wait for `pace`, and `clock` dates them.
  package init(label: String, pace: MailboxPace = MailboxPace(interval: .seconds(0)), clock: any OperationClock) {
    queue = DispatchQueue(label: label, qos: .userInitiated)
    deliveries = DeliveryQueue(attachedTo: queue, pace: pace, clock: clock)
    self.clock = clock
    deliveries.whenDelivered { [weak self] in
      if let self, isDeliveryDue { deliver() }
    }
  }

  /// The time since the run began; zero before.
  var elapsed: Duration { beginning.withLock { $0 }.map { clock.now - $0 } ?? .zero }

  // MARK: On the queue

  /// Starts the run's clock.
  package func begin() {
    let now = clock.now
    beginning.withLock { $0 = now }
  }

  /// Dates the following facts by the clock.
  package func dateByClock() { date(clock.now) }

  /// Dates the following facts by an event of an operation.
  package func date(_ time: Duration) {
    if let beginning = beginning.withLock({ $0 }) { journal.advance(to: time - beginning) }
  }

  package func state(_ fact: JobFact) {
    journal.state(fact)
    setNeedsDelivery()
  }

  /// States the progress now or, if the last report is too recent, later.
  package func report(_ progress: JobProgress, of job: JobID) {
    if let due = gate.report(progress, of: job, now: journal.now) { journal.state(.jobProgress(job, due)) }
    setNeedsDelivery()
  }

  /// States the last progress of an attempt that ends.
  package func flushProgress(of job: JobID) {
    if let last = gate.flush(job) { state(.jobProgress(job, last)) }
  }

  /// Keeps the receipt of lines until every subscriber has caught up: their operation reads no more output meanwhile.
  package func holdOutput(_ receipt: LogReceipt?) {
    guard let receipt, receipt !== heldBack else { return }
    heldBack = receipt
    hub.whenBelow(Self.readersLimit) { withExtendedLifetime(receipt) {} }
  }

  /// States the end once the source is no longer busy; `signal` is the signal that ended the run.
  package func finish(signal: Int32?) {
    end = (end.signal ?? signal, true)
    setNeedsDelivery()
  }

  /// Requests a delivery: at the end of the batch of observed changes, or soon if the facts have another cause.
  package func setNeedsDelivery() {
    guard !isDeliveryDue, !isOver else { return }
    isDeliveryDue = true
    if deliveries.isDelivering { return }
    queue.async {
      if self.isDeliveryDue { self.deliver() }
    }
  }

  fileprivate func deliver() {
    isDeliveryDue = false
    heldBack = nil
    if !isOver {
      for fact in warnings.facts(after: journal.events, in: journal.run, now: journal.now) { journal.state(fact) }
    }
    if end.isAsked, !isOver, let source, !source.isBusy {
      journal.state(.runFinished(RunSummary(of: journal.run, signal: end.signal)))
      isOver = true
      source.didEnd()
    }
    hub.post(journal.takeEvents())
    if let source { deliveries.setBurst(source.burst) }
    setAlarm()
  }

  /// Sets the one timer for everything that waits for a time.
  private func setAlarm() {
    let time = isOver ? nil : [source?.nextWake, gate.nextWake, warnings.next].compactMap(\.self).min()
    guard time != alarm?.time else { return }
    alarm?.timer.cancel()
    alarm = time.map { time in
      (time, clock.schedule(after: time - elapsed, on: queue) { [weak self] in self?.wake() })
    }
  }

  private func wake() {
    alarm = nil
    guard !isOver else { return }
    dateByClock()
    for (job, progress) in gate.due(now: journal.now) { journal.state(.jobProgress(job, progress)) }
    source?.wake()
    deliver()
  }
}

extension FactStream.Source {
  package func subscribe(
    on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void
  ) -> JobSubscription {
    stream.queue.sync {
      stream.deliver()
      return stream.hub.subscribe(to: stream.journal.run, on: queue, receive)
    }
  }

  package var elapsed: Duration { stream.elapsed }

  /// The run as of its newest fact.
  package var run: Run { stream.queue.sync { stream.journal.run } }

  /// The run once every change that was observed before the call is stated; blocks until then.
  @discardableResult
  package func settled() -> Run {
    let done = DispatchSemaphore(value: 0)
    stream.deliveries.deliverNow { done.signal() }
    done.wait()
    return run
  }

  /// Leaves out the warnings of these kinds from now on.
  package func silence(_ kinds: Set<RunWarning.Kind>) { stream.queue.sync { stream.warnings.silenced = kinds } }

  package var nextWake: Duration? { nil }
  package func wake() {}
  package var burst: Int { .max }
}
