import Dispatch
import JobModel
import Operations
import Support
import Testing

@testable import JobEngine

/// A source that does what the test says.
private final class FakeSource: FactStream.Source, @unchecked Sendable {
  // Safe: the variables are touched on the stream's queue only.
  let stream: FactStream
  var nextWake: Duration?
  var burst = Int.max
  var isBusy = false
  /// The instants of the facts that would have been stated at each wake.
  var wakes: [Duration] = []
  var ends = 0

  init(_ stream: FactStream) {
    self.stream = stream
    stream.source = self
  }

  func wake() {
    wakes.append(stream.journal.now)
    nextWake = nil
  }

  func didEnd() { ends += 1 }
  func send(_ command: JobCommand) {}
}

/// A stream with a subscriber on the stream's own queue, so that nothing is to be waited for.
private final class Rig: Sendable {
  let clock = ManualOperationClock()
  let stream: FactStream
  let source: FakeSource
  private let heard = Lock<[JobEvent]>([])
  private let subscription = Lock<JobSubscription?>(nil)

  init(pace: MailboxPace = MailboxPace(interval: .seconds(0))) {
    stream = FactStream(label: "test.facts", pace: pace, clock: clock)
    source = FakeSource(stream)
    let new = source.subscribe(on: stream.queue) { [heard] events in heard.withLock { $0 += events } }
    subscription.withLock { $0 = new }
  }

  /// Calls `body` on the stream's queue, and lets what follows from it happen.
  func perform(_ body: (FactStream, FakeSource) -> Void) {
    stream.queue.sync { body(stream, source) }
    settle()
  }

  /// Each delivery puts the next one behind it in the queue.
  func settle() { for _ in 0..<4 { stream.queue.sync {} } }

  func advance(by duration: Duration) {
    clock.advance(by: duration)
    settle()
  }

  var events: [JobEvent] { heard.withLock(\.self) }
  var progress: [Int64] {
    events.compactMap { if case .jobProgress(_, let progress) = $0.fact { progress.done } else { nil } }
  }
  var ends: [RunSummary] {
    events.compactMap { if case .runFinished(let summary) = $0.fact { summary } else { nil } }
  }

  /// Begins the run, with a job.
  func begin() {
    perform { stream, _ in
      stream.begin()
      stream.state(.jobAdded(JobID(0), Job(name: "a", work: .simulate(SimulatedWork()))))
    }
  }

  func report(_ done: Int64) {
    perform { stream, _ in
      stream.dateByClock()
      stream.report(JobProgress(done: done, total: 9, unit: .steps), of: JobID(0))
    }
  }

  /// Has each line of an operation become a fact of the time at which it was logged.
  func observe(_ operation: AsyncOperation) -> ObservationToken {
    operation.events(.lines, on: stream.queue) { [stream] event, time, _ in
      guard case .lines(let lines) = event else { return }
      stream.date(time)
      for line in lines { stream.state(.programLog(LogLine(.stdout, line.text))) }
    }
  }
}

@Suite struct FactStreamTests {
  private let rig = Rig()

  // MARK: Time

  @Test func timeBeginsWithTheRun() {
    rig.clock.advance(by: .seconds(5))
    #expect(rig.stream.elapsed == .zero)
    rig.perform { stream, _ in
      stream.dateByClock()
      stream.state(.drainChanged(true))
      stream.begin()
    }
    #expect(rig.stream.elapsed == .zero)
    rig.clock.advance(by: .seconds(2))
    #expect(rig.stream.elapsed == .seconds(2) && rig.source.elapsed == .seconds(2))
    rig.perform { stream, _ in
      stream.dateByClock()
      stream.state(.drainChanged(false))
    }
    #expect(rig.events.map(\.time) == [.zero, .seconds(2)])
  }

  @Test func aFactHasTheTimeOfTheChangeNotOfItsDelivery() {
    let operation = ClosureOperation<Void> {}
    let token = rig.observe(operation)
    rig.perform { stream, _ in stream.begin() }
    rig.stream.queue.suspend()
    operation.log("a")
    rig.clock.advance(by: .seconds(1))
    operation.log("b")
    rig.clock.advance(by: .seconds(4))
    rig.stream.queue.resume()
    rig.settle()
    #expect(rig.events.map(\.time) == [.zero, .seconds(1)])
    token.cancel()
  }

  // MARK: Progress

  @Test func ofProgressTheNewestIsStatedEveryTenthOfASecond() {
    rig.begin()
    rig.report(1)
    rig.advance(by: .milliseconds(60))
    rig.report(2)
    rig.report(3)
    #expect(rig.progress == [1])
    #expect(rig.clock.due == [.milliseconds(100)])
    rig.advance(by: .milliseconds(39))
    #expect(rig.progress == [1])
    rig.advance(by: .milliseconds(1))
    #expect(rig.progress == [1, 3])
    #expect(rig.events.last?.time == .milliseconds(100))
    #expect(rig.clock.due == [])
  }

  @Test func theEndOfAnAttemptStatesWhatIsHeldBackAndForgetsIt() {
    rig.begin()
    rig.report(1)
    rig.report(2)
    rig.perform { stream, _ in stream.flushProgress(of: JobID(0)) }
    #expect(rig.progress == [1, 2] && rig.clock.due == [])
    rig.perform { stream, _ in stream.flushProgress(of: JobID(0)) }
    // Of the next attempt.
    rig.report(3)
    #expect(rig.progress == [1, 2, 3])
  }

  // MARK: Alarms

  @Test func oneTimerServesTheEarliestOfWhatWaits() {
    rig.clock.advance(by: .seconds(10))
    rig.begin()
    rig.perform { stream, source in
      source.nextWake = .seconds(5)
      stream.setNeedsDelivery()
    }
    #expect(rig.clock.due == [.seconds(15)])
    rig.perform { stream, source in
      source.nextWake = .milliseconds(50)
      stream.setNeedsDelivery()
    }
    #expect(rig.clock.due == [.milliseconds(10_050)])
    rig.report(1)
    rig.report(2)
    #expect(rig.clock.due == [.milliseconds(10_050)])
    rig.advance(by: .milliseconds(50))
    #expect(rig.source.wakes == [.milliseconds(50)])
    #expect(rig.clock.due == [.milliseconds(10_100)])
    rig.advance(by: .milliseconds(50))
    #expect(rig.progress == [1, 2] && rig.clock.due == [])
  }

  @Test func aTimeThatIsNoLongerAwaitedHasNoTimer() {
    rig.perform { stream, source in
      stream.begin()
      source.nextWake = .seconds(5)
      stream.setNeedsDelivery()
    }
    rig.perform { stream, source in
      source.nextWake = nil
      stream.setNeedsDelivery()
    }
    #expect(rig.clock.due == [])
  }

  // MARK: The end

  @Test func theEndWaitsWhileTheSourceIsBusy() {
    rig.perform { stream, source in
      source.isBusy = true
      stream.finish(signal: nil)
    }
    #expect(rig.ends == [] && !rig.stream.queue.sync { rig.stream.isOver })
    rig.perform { stream, source in
      source.isBusy = false
      stream.setNeedsDelivery()
    }
    #expect(rig.ends.map(\.exit) == [0])
    #expect(rig.stream.queue.sync { rig.stream.isOver } && rig.source.ends == 1)
  }

  @Test func aRunDoesNotEndUnasked() {
    rig.perform { stream, _ in stream.state(.drainChanged(true)) }
    #expect(rig.ends == [] && rig.source.ends == 0)
  }

  @Test(arguments: [(2, 15, 130), (nil, 15, 143), (15, nil, 143), (nil, nil, 0)] as [(Int32?, Int32?, Int32)])
  func theFirstSignalHasEndedTheRun(first: Int32?, second: Int32?, exit: Int32) {
    rig.perform { stream, source in
      source.isBusy = true
      stream.finish(signal: first)
      stream.finish(signal: second)
      source.isBusy = false
    }
    #expect(rig.ends.map(\.exit) == [exit])
  }

  @Test func nothingFollowsTheEnd() {
    rig.perform { stream, source in
      stream.begin()
      source.nextWake = .seconds(5)
      stream.setNeedsDelivery()
    }
    #expect(rig.clock.due == [.seconds(5)])
    rig.perform { stream, _ in stream.finish(signal: nil) }
    #expect(rig.clock.due == [])
    rig.perform { stream, _ in stream.finish(signal: 2) }
    // A subscription delivers what is due.
    let late = rig.source.subscribe(on: rig.stream.queue) { _ in Issue.record("an event after the end") }
    rig.settle()
    #expect(late.snapshot.summary?.exit == 0)
    #expect(rig.ends.count == 1 && rig.source.ends == 1)
    late.cancel()
  }

  // MARK: Subscribers

  /// A fact may be stated just before a subscription and be due for delivery after it: it is in the snapshot, and no event.
  @Test func eventsGoOnWhereTheSnapshotEnds() {
    let gaps = (0..<300).filter { round in
      let heard = Lock<[JobEvent]>([])
      // Before or after the subscription.
      rig.stream.queue.async { [rig] in rig.stream.state(.slotsChanged(round + 1)) }
      let subscription = rig.source.subscribe(on: rig.stream.queue) { events in heard.withLock { $0 += events } }
      rig.perform { stream, _ in stream.state(.drainChanged(round % 2 == 0)) }
      subscription.cancel()
      let numbers = heard.withLock { $0.map(\.seq) }
      let next = subscription.snapshot.nextSeq
      return numbers.isEmpty || numbers != Array(next..<(next + numbers.count))
    }
    #expect(gaps == [])
  }

  @Test func aSettledRunHasWhatWasObservedBefore() {
    let rig = Rig(pace: MailboxPace(interval: .seconds(3600)))
    let operation = ClosureOperation<Void> {}
    let token = rig.observe(operation)
    for number in 1...3 {
      operation.log("\(number)")
      #expect(rig.source.settled().nextSeq == number)
    }
    token.cancel()
  }

  @Test func aSourceMayLetNoChangeWait() {
    let rig = Rig(pace: MailboxPace(interval: .seconds(3600)))
    let operation = ClosureOperation<Void> {}
    let token = rig.observe(operation)
    rig.perform { stream, source in
      source.burst = 1
      stream.setNeedsDelivery()
    }
    for number in 1...3 {
      operation.log("\(number)")
      #expect(eventually { rig.source.run.nextSeq == number })
    }
    token.cancel()
  }

  @Test(arguments: [(8191, true), (8192, false)])
  func outputIsHeldBackWhileAReaderIs8192EventsBehind(count: Int, isHandledAtOnce: Bool) {
    let slow = DispatchQueue(label: "test.slow")
    slow.suspend()
    let subscription = rig.source.subscribe(on: slow) { _ in }
    rig.perform { stream, _ in for number in 1...count { stream.state(.slotsChanged(number)) } }
    let operation = ClosureOperation<Void> {}
    let token = operation.events(.lines, on: rig.stream.queue) { [rig] _, _, receipt in
      rig.stream.holdOutput(receipt)
      rig.stream.setNeedsDelivery()
    }
    let isHandled = Lock(false)
    operation.log([OperationLogLine(text: "a")]) { isHandled.withLock { $0 = true } }
    rig.settle()
    #expect(isHandled.withLock(\.self) == isHandledAtOnce)
    slow.resume()
    #expect(eventually { isHandled.withLock(\.self) })
    subscription.cancel()
    token.cancel()
  }
}
