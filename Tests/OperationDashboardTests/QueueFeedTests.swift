import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations
import Support
import Testing

@testable import OperationDashboard

struct QueueFeedTests {
  // MARK: Ours

  @Test func oneOfOursIsSeenWhole() throws {
    let watch = Watch()
    let fetch = Manual("fetch")
    let parse = Manual("parse")
    parse.addDependency(fetch)
    try watch.feed.add([fetch, parse])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("fetch") == .executing })
    #expect(watch.state("parse") == .waiting)
    #expect(watch.record("parse")?.job.needs == [JobNeed(JobID(0), when: .finished)])
    fetch.report(completed: 3, total: 4)
    fetch.log("three of four\nand a second line")
    #expect(watch.eventually { _ in watch.record("fetch")?.log.count == 2 && watch.record("fetch")?.progress != nil })
    #expect(watch.record("fetch")?.progress == JobProgress(done: 3, total: 4, unit: .steps))
    #expect(watch.record("fetch")?.log[1].line == LogLine(.stdout, "and a second line"))
    fetch.finish()
    #expect(watch.eventually { _ in watch.state("parse") == .executing })
    parse.finish()
    #expect(watch.completes())
    #expect(watch.path("fetch") == ["ready", "executing", "succeeded"])
    #expect(watch.path("parse") == ["ready", "executing", "succeeded"])
    #expect(watch.record("parse")?.job.work == .operation(OperationWork(className: "Manual", visibility: .whole)))
    #expect(watch.record("parse")?.job.work.kind == "operation")
  }

  @Test func theErrorThatOneEndsWithIsTheReasonOfItsFailure() throws {
    let watch = Watch()
    try watch.feed.add([
      Giving("bad", .failure(Trouble(description: "the disk is full\nand more"))), Giving("good", .success(1)),
      Giving("status", .failure(TransferError(.http(503), "HTTP 503"))),
    ])
    watch.feed.start()
    #expect(watch.completes())
    #expect(watch.state("bad") == .failed(JobFailure(.error, "the disk is full"), allowed: false))
    #expect(watch.state("status") == .failed(JobFailure(.http(503), "HTTP 503"), allowed: false))
    #expect(watch.state("good") == .succeeded(upToDate: false))
  }

  @Test(arguments: [false, true]) func whatNeverRanBecauseOfAFailureIsSkipped(_ isShownAfterwards: Bool) throws {
    let watch = Watch()
    let fetch = Giving("fetch", .failure(Trouble(description: "no")))
    let parse = fetch.map { $0 }
    let gather = [parse].collected()
    let (after, own) = (Manual("after"), Manual("own"))
    for operation in [after, own] { operation.addDependency(fetch) }
    after.addCondition(.noFailedDependencies)
    own.addCondition(.not(.not(.noFailedDependencies)))
    (parse.name, gather.name) = ("parse", "gather")
    let all: [AsyncOperation] = [fetch, parse, gather, after, own]
    if !isShownAfterwards { watch.feed.start() }
    try watch.feed.add(all)
    #expect(eventually { all.allSatisfy { $0.isFinished } })
    if isShownAfterwards { watch.feed.start() }
    #expect(watch.completes())
    #expect(watch.state("fetch") == .failed(JobFailure(.error, "no"), allowed: false))
    let skipped = JobState.skipped(because: .job(watch.id("fetch")))
    #expect(["parse", "gather", "after"].allSatisfy { watch.state($0) == skipped })
    #expect(watch.run.counts.failed == 2 && watch.run.counts.skipped == 3)
  }

  @Test func linesThatAreNotKeptUntilTheStartAreCounted() throws {
    let watch = Watch()
    let early = Manual("early")
    try watch.feed.add([early])
    #expect(eventually { early.isExecuting })
    let (lines, isDelivered) = ((0..<100_050).map { OperationLogLine(text: "\($0)") }, Lock(false))
    early.log(lines)
    watch.feed.stream.deliveries.deliverNow { isDelivered.withLock { $0 = true } }
    #expect(eventually { isDelivered.withLock { $0 } })
    watch.feed.start()
    early.finish()
    #expect(watch.completes())
    let told = watch.events.compactMap { event -> LogLine? in
      if case .jobLog(_, _, let line) = event.fact { line } else { nil }
    }
    #expect(told.last?.stream == .note)
    #expect(told.last?.text == "left out \(lines.count - told.count + 1) lines: too many at once")
  }

  @Test func aFeedThatIsNeverStartedSaysThatItIsFull() throws {
    let watch = Watch()
    let isFull = Lock(false)
    watch.feed.stream.queue.sync {
      watch.feed.earlyLimit = 6
      watch.feed.whenFull = { isFull.withLock { $0 = true } }
    }
    try watch.feed.add([Giving("a", .success(1))])
    #expect(eventually { watch.feed.dependencyQueue.unfinishedCount == 0 })
    _ = watch.feed.settled()
    #expect(!isFull.withLock { $0 })
    try watch.feed.add([Giving("b", .success(1)), Giving("c", .success(1))])
    #expect(eventually { isFull.withLock { $0 } })
  }

  @Test(arguments: [false, true]) func onlyADashboardThatIsNotShownRests(isShown: Bool) {
    let observed = ObservedQueue(OperationQueue(), name: nil, silenced: [])
    if isShown { _ = observed.beginDashboard() }
    observed.rest(unlessShown: true)
    #expect(observed.isResting == !isShown)
  }

  @Test func aChainOfFailuresIsSaidInShortLines() throws {
    let watch = Watch()
    var chain: [AsyncOperation] = [Giving("first", .failure(Trouble(description: "the disk is full")))]
    for number in 1...2000 {
      let next = Giving("step \(number)", .success(1))
      next.addDependency(chain[number - 1])
      next.addCondition(.noFailedDependencies)
      chain.append(next)
    }
    try watch.feed.add(chain)
    watch.feed.start()
    #expect(watch.completes())
    let text = chain.last?.failure.map(JobFailure.line)
    #expect(text?.hasSuffix("first, 2000 steps away, failed: the disk is full") == true)
  }

  @Test func aCancelWithAnErrorIsAFailureWithItsReason() throws {
    let watch = Watch()
    let (blocker, slow, waiting) = (Manual("blocker"), Manual("slow"), Manual("waiting"))
    waiting.addDependency(blocker)
    slow.setTimeout(.milliseconds(1))
    try watch.feed.add([blocker, slow, waiting])
    watch.feed.start()
    waiting.cancel(with: Trouble(description: "no longer wanted"))
    #expect(watch.eventually { $0.counts.failed == 2 })
    #expect(watch.state("waiting") == .failed(JobFailure(.error, "no longer wanted"), allowed: false))
    guard case .failed(let failure, _)? = watch.state("slow") else {
      Issue.record("not failed: \(String(describing: watch.state("slow")))")
      return
    }
    #expect(failure.cause == .timedOut)
    blocker.finish()
    #expect(watch.completes())
  }

  @Test func whatHappenedBeforeTheRunIsToldInIt() throws {
    let watch = Watch()
    let early = Manual("early")
    try watch.feed.add([early])
    #expect(eventually { early.isExecuting })
    early.log("said early")
    early.finish()
    #expect(watch.events.isEmpty)
    watch.feed.start()
    #expect(watch.completes())
    #expect(watch.path("early") == ["ready", "executing", "succeeded"])
    #expect(watch.record("early")?.log.count == 1)
    #expect(watch.run.start?.jobs == 1)
  }

  private func watchOfOneThatExecutes() throws -> (Watch, Manual) {
    let watch = Watch()
    let first = Manual("first")
    try watch.feed.add([first])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    return (watch, first)
  }

  @Test func whatIsAddedLaterIsStatedLater() throws {
    let (watch, first) = try watchOfOneThatExecutes()
    let second = Manual("second")
    second.addDependency(first)
    try watch.feed.add([second])
    #expect(watch.eventually { $0.jobs.count == 2 })
    #expect(watch.run.start?.jobs == 1)
    #expect(watch.record("second")?.unmetNeeds == 1)
    #expect(watch.record("first")?.dependents == [JobID(1)])
    first.finish()
    second.finish()
    #expect(watch.completes())
    #expect(watch.record("second")?.unmetNeeds == 0)
  }

  @Test func progressFromBeforeTheRunIsToldInIt() throws {
    let watch = Watch()
    let (ended, executing, silent) = (Manual("ended"), Manual("executing"), Manual("silent"))
    try watch.feed.add([ended])
    #expect(eventually { ended.isExecuting })
    ended.report(completed: 3, total: 4)
    ended.finish()
    try watch.feed.add([executing, silent])
    #expect(eventually { executing.isExecuting && silent.isExecuting })
    executing.report(completed: 1, total: 2)
    watch.feed.settled()
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 2 && $0.counts.succeeded == 1 })
    #expect(watch.record("ended")?.progress == JobProgress(done: 3, total: 4, unit: .steps))
    #expect(watch.eventually { _ in watch.record("executing")?.progress?.done == 1 })
    #expect(watch.record("silent")?.progress == nil)
    executing.finish()
    silent.finish()
    #expect(watch.completes())
  }

  @Test func aRunThatIsStartedTwiceBeginsOnce() throws {
    let watch = Watch()
    watch.feed.start()
    watch.feed.start()
    #expect(watch.eventually { $0.start != nil })
    try watch.feed.add([Giving("done", .success(1))])
    #expect(watch.completes())
    #expect(watch.events.count { if case .runStarted = $0.fact { true } else { false } } == 1)
  }

  @Test func theRunHasTheNameOfTheQueueUnlessItIsGivenOne() {
    let queue = OperationQueue()
    let program = ProcessInfo.processInfo.processName
    #expect(QueueFeed(observing: queue).name == program)
    queue.name = ""
    #expect(QueueFeed(observing: queue).name == program)
    queue.name = "downloads"
    #expect(QueueFeed(observing: queue).name == "downloads")
    #expect(QueueFeed(observing: queue, name: "mine").name == "mine")
  }

  @Test func anOperationThatHasFinishedIsLetGoOf() throws {
    let watch = Watch()
    weak var gone: Manual?
    watch.feed.start()
    do {
      let manual = Manual("manual")
      gone = manual
      try watch.feed.add([manual])
      #expect(watch.eventually { $0.counts.executing == 1 })
      manual.finish()
    }
    #expect(watch.completes())
    #expect(eventually { gone == nil })
  }

  @Test func aLineIsCutWhereItIsTooLongForTheLog() throws {
    let (watch, manual) = try watchOfOneThatExecutes()
    manual.log(String(repeating: "a", count: 4096))
    manual.log(String(repeating: "b", count: 4097))
    manual.log([OperationLogLine(text: "after a gap", lost: 1)])
    #expect(watch.eventually { _ in watch.record("first")?.log.count == 4 })
    let log = try #require(watch.record("first")?.log)
    #expect(log[0].line == LogLine(.stdout, String(repeating: "a", count: 4096)))
    #expect(log[1].line == LogLine(.stdout, String(repeating: "b", count: 4096), isCut: true))
    #expect(log[2].line.stream == .note && log[2].line.text == "left out 1 line: too many at once")
    #expect(log[3].line == LogLine(.stdout, "after a gap"))
    manual.finish()
    #expect(watch.completes())
  }

  @Test func anOperationThatHadNothingToDoIsToldApart() throws {
    let folder = try TemporaryFolder()
    try Data("mine".utf8).write(to: folder.file("file"))
    let url = try #require(URL(string: "http://127.0.0.1:1/file"))
    let download = DownloadOperation(from: url, to: folder.file("file"), existing: .skip)
    download.name = "download"
    let watch = Watch()
    try watch.feed.add([download])
    watch.feed.start()
    #expect(watch.completes())
    #expect(watch.state("download") == .succeeded(upToDate: true))
  }

  @Test func aNameIsOneLineAndWithoutOneItIsTheClass() throws {
    let watch = Watch { $0.isSuspended = true }
    try watch.feed.add([Manual("two\nlines"), Manual("")])
    watch.feed.start()
    #expect(watch.eventually { $0.jobs.count == 2 })
    #expect(watch.run.jobs.map(\.job.name) == ["two lines", "Manual"])
    watch.feed.send(.stop(.terminate, by: .person))
    watch.feed.send(.setDraining(false))
    #expect(watch.completes())
  }

  @Test func outputIsHeldBackWhileAReaderIsFarBehind() throws {
    let watch = Watch()
    let operation = Manual("a")
    try watch.feed.add([operation])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    let slow = DispatchQueue(label: "opdash.tests.slow")
    slow.suspend()
    let subscription = watch.feed.subscribe(on: slow) { _ in }
    let handled = Lock(0)
    for number in 1...20 {
      operation.log((1...1_000).map { OperationLogLine(text: "\(number).\($0)") }) { handled.withLock { $0 += 1 } }
      #expect(watch.eventually { $0.nextSeq > number * 1_000 })
    }
    operation.log([OperationLogLine(text: "last")]) { handled.withLock { $0 += 1 } }
    #expect(watch.eventually { $0.nextSeq > 20_001 })
    // A command is obeyed after what was observed before it.
    watch.feed.send(.setSlots(3))
    #expect(watch.eventually { $0.slots == 3 })
    #expect(handled.withLock(\.self) < 21)
    slow.resume()
    #expect(eventually { handled.withLock(\.self) == 21 })
    subscription.cancel()
    operation.finish()
    #expect(watch.completes())
  }

  @Test func twoOfOneNameCanBeToldApart() throws {
    let watch = Watch()
    let nameless = [BlockOperation {}, BlockOperation {}]
    try watch.feed.add([Manual("a"), Manual("a")] + nameless)
    watch.feed.start()
    #expect(watch.eventually { $0.jobs.count == 4 })
    #expect(watch.run.jobs.map(\.job.name) == ["a", "a 2", "BlockOperation", "BlockOperation 2"])
    watch.feed.send(.stop(.terminate, by: .person))
    #expect(watch.completes())
  }

  @Test func aNumberThatAnotherHasInItsNameIsLeftOut() throws {
    let watch = Watch { $0.isSuspended = true }
    try watch.feed.add(["fetch 2", "fetch", "fetch", "a", "a", "a 2", " \t", "\u{3000}\n"].map { Manual($0) })
    watch.feed.start()
    #expect(watch.eventually { $0.jobs.count == 8 })
    #expect(
      watch.run.jobs.map(\.job.name)
        == ["fetch 2", "fetch", "fetch 3", "a", "a 2", "a 2 2", "Manual", "Manual 2"])
    watch.feed.send(.stop(.terminate, by: .person))
    watch.feed.send(.setDraining(false))
    #expect(watch.completes())
  }

  @Test func whatHasEndedIsNotAddedAgain() throws {
    let (watch, first) = try watchOfOneThatExecutes()
    let (second, foreign) = (Manual("second"), BlockOperation {})
    try watch.feed.add([second, foreign])
    #expect(watch.eventually { $0.counts.executing == 2 })
    second.finish()
    #expect(watch.eventually { $0.counts.succeeded == 2 })
    #expect(watch.feed.settled().jobs.count == 3)
    try watch.feed.add([second, foreign, first])
    #expect(watch.feed.settled().jobs.count == 3)
    first.finish()
    #expect(watch.completes())
  }

  // MARK: Anybody's

  @Test func theStartAndTheEndOfAnybodysAreSeenThroughItsWrapper() throws {
    let watch = Watch()
    let door = Door()
    let foreign = door.block("foreign")
    let after = Manual("after")
    after.addDependency(foreign)
    try watch.feed.add([foreign, after])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("foreign") == .executing })
    // The wrapper, whose state is shown, starts it.
    #expect(eventually { foreign.isExecuting })
    #expect(watch.state("after") == .waiting)
    door.open()
    #expect(watch.eventually { _ in watch.state("after") == .executing })
    #expect(watch.state("foreign") == .succeeded(upToDate: false))
    after.finish()
    #expect(watch.completes())
    #expect(watch.record("foreign")?.job.work.kind == "foreign")
    #expect(
      watch.record("foreign")?.job.work == .operation(OperationWork(className: "BlockOperation", visibility: .wrapped)))
  }

  @Test func anybodysWaitsForWhatItDependsOn() throws {
    let watch = Watch(width: 8)
    let order = Lock<[String]>([])
    let ours = Manual("ours")
    let blocks = (0..<200).map { number in BlockOperation { order.withLock { $0.append("\(number)") } } }
    // In a chain, every other one through one of ours.
    for (number, block) in blocks.enumerated() {
      if number == 0 { block.addDependency(ours) } else { block.addDependency(blocks[number - 1]) }
    }
    try watch.feed.add(blocks.reversed() + [ours])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    ours.finish()
    #expect(watch.completes())
    #expect(order.withLock { $0 } == (0..<200).map { "\($0)" })
    #expect(watch.run.counts.succeeded == 201)
  }

  @Test func anAsynchronousOneOfAnybodysEndsWhenItSaysSo() throws {
    let watch = Watch()
    let foreign = TutorialOperation()
    try watch.feed.add([foreign])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    foreign.end()
    #expect(watch.completes())
    #expect(watch.path("TutorialOperation") == ["ready", "executing", "succeeded"])
  }

  @Test func aCancelledOneOfAnybodysEndsForThoseThatDependOnIt() throws {
    let watch = Watch(width: 1)
    let blocker = Manual("blocker")
    let ran = Lock(false)
    let doomed = BlockOperation { ran.withLock { $0 = true } }
    doomed.name = "doomed"
    let after = BlockOperation {}
    after.name = "after"
    after.addDependency(doomed)
    try watch.feed.add([blocker, doomed, after])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 && $0.jobs.count == 3 })
    watch.feed.send(.cancel([watch.id("doomed")], by: .person))
    #expect(watch.eventually { _ in watch.state("doomed") == .cancelled(by: .person) })
    blocker.finish()
    #expect(watch.completes())
    #expect(eventually { doomed.isFinished && doomed.isCancelled })
    #expect(!ran.withLock { $0 })
    #expect(watch.state("after") == .succeeded(upToDate: false))
  }

  @Test func aWrappedOneWaitsWithoutASlotForALateDependency() throws {
    let watch = Watch(width: 1) { $0.isSuspended = true }
    let (first, last) = (BlockOperation {}, BlockOperation {})
    try watch.feed.add([last, first])
    last.addDependency(first)
    watch.feed.start()
    watch.queue.isSuspended = false
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 2)
  }

  @Test func aWrappedOneWaitsWithoutASlotForItsOwnReadiness() throws {
    let watch = Watch(width: 1)
    let gated = Gated()
    try watch.feed.add([gated, BlockOperation { gated.isOpen.withLock { $0 = true } }])
    watch.feed.start()
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 2)
  }

  private final class Gated: Operation, @unchecked Sendable {
    // Safe: constant, and locked.
    let isOpen = Lock(false)
    override var isReady: Bool { super.isReady && isOpen.withLock { $0 } }
  }

  @Test func aWrappedOneThatTheProgramCancelsStopsWaiting() throws {
    let watch = Watch()
    let (blocker, doomed, after) = (Manual("blocker"), BlockOperation {}, BlockOperation {})
    (doomed.name, after.name) = ("doomed", "after")
    doomed.addDependency(blocker)
    after.addDependency(doomed)
    try watch.feed.add([blocker, doomed, after])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 && $0.jobs.count == 3 })
    doomed.cancel()
    #expect(watch.eventually { _ in watch.state("after") == .succeeded(upToDate: false) })
    #expect(watch.state("doomed") == .cancelled(by: .program))
    blocker.finish()
    #expect(watch.completes())
  }

  @Test func aWrappedOneHasThePriorityThatTheProgramSets() throws {
    let watch = Watch(width: 1)
    let (blocker, order) = (Manual("blocker"), Lock<[Int]>([]))
    let blocks = (1...4).map { number in BlockOperation { order.withLock { $0.append(number) } } }
    for (block, number) in zip(blocks, 1...4) { block.name = "\(number)" }
    try watch.feed.add([blocker] + blocks)
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    blocks[3].queuePriority = .veryHigh
    blocks[0].queuePriority = .veryLow
    #expect(watch.eventually { _ in watch.record("4")?.job.priority == .veryHigh })
    #expect(watch.eventually { _ in watch.record("1")?.job.priority == .veryLow })
    blocker.finish()
    #expect(watch.completes())
    #expect(order.withLock { $0 } == [4, 2, 3, 1])
  }

  @Test func thePriorityThatAPersonWantsIsStatedAtOnce() throws {
    let watch = Watch(width: 1)
    let (blocker, slow) = (Manual("blocker"), SlowlyPrioritized())
    slow.name = "slow"
    try watch.feed.add([blocker, slow])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 && $0.jobs.count == 2 })
    let id = watch.id("slow")
    // The program's change is followed while a person's is on its way.
    try watch.feed.stream.queue.sync {
      slow.queuePriority = .low
      watch.feed.follow(try #require(watch.feed.members[id.index]))
      watch.feed.obey(.setPriority([id], .veryHigh))
    }
    #expect(watch.run[id].job.priority == .veryHigh)
    slow.gate.signal()
    watch.feed.calling.sync {}
    #expect(slow.queuePriority == .veryHigh)
    // The program's own call comes later.
    slow.queuePriority = .low
    #expect(watch.eventually { $0[id].job.priority == .low })
    let count = watch.events.count { if case .priorityChanged = $0.fact { true } else { false } }
    #expect(count == 2)
    blocker.finish()
    #expect(watch.completes())
  }

  @Test func operationsOfAnybodysInACircleAreRefusedWithThePath() {
    let watch = Watch()
    let left = BlockOperation {}
    let right = BlockOperation {}
    left.name = "left"
    right.name = "right"
    left.addDependency(right)
    right.addDependency(left)
    let cycle = #expect(throws: OperationError.self) { try watch.feed.add([left, right]) }
    #expect(cycle?.names.first == cycle?.names.last)
    #expect(Set(cycle?.names ?? []) == ["left", "right"])
    left.removeDependency(right)
  }

  // MARK: By another door

  @Test func whatIsInTheQueueAlreadyIsShown() throws {
    let door = Door()
    let (ours, foreign, next) = (Manual("ours"), door.block("foreign"), BlockOperation {})
    next.name = "next"
    next.addDependency(foreign)
    let watch = Watch { $0.addOperations([ours, foreign, next], waitUntilFinished: false) }
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("ours") == .executing })
    #expect(watch.record("foreign")?.job.work.kind == "foreign")
    #expect(watch.record("next")?.job.needs == [JobNeed(watch.id("foreign"), when: .finished)])
    door.open()
    ours.finish()
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 3)
  }

  @Test func whatEntersByAnotherDoorIsFoundWhenSomethingHappens() throws {
    let (watch, known) = try watchOfOneThatExecutes()
    let stranger = Manual("stranger")
    let door = Door()
    watch.queue.addOperation(stranger)
    watch.queue.addOperation(door.block("block"))
    watch.queue.maxConcurrentOperationCount = 3
    known.finish()
    #expect(watch.eventually { $0.jobs.count == 3 && $0.slots == 3 })
    #expect(watch.eventually { _ in watch.state("stranger") == .executing })
    stranger.finish()
    door.open()
    #expect(watch.completes())
  }

  @Test func aForeignOneInTheQueueStandsAsItIsFound() throws {
    let door = Door()
    let (executing, ready, waits) = (door.block("executing"), BlockOperation {}, BlockOperation {})
    ready.name = "ready"
    waits.name = "waits"
    waits.addDependency(executing)
    let watch = Watch(width: 1) { queue in
      queue.addOperations([executing, ready, waits], waitUntilFinished: false)
      _ = Support.eventually { executing.isExecuting }
    }
    watch.feed.start()
    #expect(watch.eventually { $0.jobs.count == 3 && $0.counts.executing == 1 })
    #expect(watch.state("executing") == .executing)
    #expect(watch.record("executing")?.attempt?.number == 1)
    #expect(watch.state("ready") == .ready(for: .slot))
    #expect(watch.state("waits") == .waiting)
    door.open()
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 3)
  }

  @Test func aChangeOfTheQueueIsSeenAFiftiethOfASecondAfterAnother() throws {
    let clock = ManualOperationClock()
    let watch = Watch(clock: clock)
    let known = Manual("known")
    try watch.feed.add([known])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    #expect(eventually { clock.due == [.milliseconds(20)] })
    watch.queue.maxConcurrentOperationCount = 7
    watch.queue.isSuspended = true
    clock.advance(by: .milliseconds(19))
    #expect(watch.run.slots == 2 && !watch.run.isDraining)
    clock.advance(by: .milliseconds(1))
    #expect(watch.eventually { $0.slots == 7 && $0.isDraining })
    known.finish()
    #expect(watch.completes())
  }

  @Test func aFeedThatIsClosedSeesNoFurtherOperation() throws {
    let watch = Watch(of: DelegatedOperationQueue())
    watch.feed.start()
    #expect(watch.eventually { $0.start != nil })
    #expect(watch.feed.close().jobs.isEmpty)
    let late = Giving("late", .success(1))
    watch.queue.addOperation(late)
    #expect(eventually { late.isFinished })
    #expect(watch.feed.settled().jobs.isEmpty)
  }

  // MARK: Commands

  @Test func aCommandHasItsTime() throws {
    let clock = ManualOperationClock()
    let watch = Watch(of: DelegatedOperationQueue(), clock: clock)
    watch.feed.start()
    #expect(watch.eventually { $0.start != nil })
    clock.advance(by: .seconds(3))
    watch.feed.send(.setSlots(4))
    #expect(watch.eventually { $0.slots == 4 })
    #expect(watch.events.last?.time == .seconds(3))
  }

  @Test func aQueueHasAtLeastOneSlot() throws {
    let watch = Watch(width: 2)
    watch.feed.start()
    watch.feed.send(.changeSlots(by: 3))
    #expect(watch.eventually { $0.slots == 5 })
    #expect(watch.queue.maxConcurrentOperationCount == 5)
    watch.feed.send(.setSlots(0))
    #expect(watch.eventually { $0.slots == 1 })
    #expect(watch.queue.maxConcurrentOperationCount == 1)
  }

  @Test func thePriorityOfWhatExecutesStays() throws {
    let (watch, first) = try watchOfOneThatExecutes()
    watch.feed.send(.setPriority([JobID(0)], .veryHigh))
    watch.feed.send(.setSlots(6))
    #expect(watch.eventually { $0.slots == 6 })
    #expect(!watch.events.contains { if case .priorityChanged = $0.fact { true } else { false } })
    watch.feed.calling.sync {}
    #expect(first.queuePriority == .normal)
    first.finish()
    #expect(watch.completes())
  }

  @Test func aCancelByTheProgramIsARequestOfItsOwn() throws {
    let watch = Watch()
    let manual = Manual("manual", endsWhenCancelled: false)
    try watch.feed.add([manual])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    manual.cancel()
    let isProgram: (JobEvent) -> Bool = {
      if case .cancelRequested(JobID(0), by: .program, kill: false) = $0.fact { true } else { false }
    }
    #expect(eventually { watch.events.contains(where: isProgram) })
    watch.feed.send(.cancel([JobID(0)], by: .person))
    manual.finish()
    #expect(watch.completes())
    #expect(watch.events.count { if case .cancelRequested = $0.fact { true } else { false } } == 1)
  }

  @Test func aForeignOneThatWaitsInTheQueueIsCancelledAtOnce() throws {
    let block = BlockOperation {}
    block.name = "block"
    let watch = Watch { queue in
      queue.isSuspended = true
      queue.addOperation(block)
    }
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("block") == .ready(for: .slot) })
    watch.feed.send(.cancel([JobID(0)], by: .person))
    #expect(watch.eventually { _ in watch.state("block") == .cancelled(by: .person) })
    watch.queue.isSuspended = false
    #expect(eventually { block.isFinished && block.isCancelled })
    watch.feed.settled()
    #expect(watch.path("block") == ["ready", "cancelled"])
  }

  @Test func aForeignOneThatStartsBeforeItsCancellationIsNotCancelled() throws {
    /// Holds up the calls of the feed until the test opens it.
    final class Slow: AsyncOperation, ControllableOperation, @unchecked Sendable {
      // Safe: a constant.
      let door = DispatchSemaphore(value: 0)

      override func main() { finish() }
      func pause() { door.wait() }
      func resume() {}
      func kill() {}
    }

    let slow = Slow()
    slow.name = "slow"
    let block = BlockOperation {}
    block.name = "block"
    let watch = Watch { queue in
      queue.isSuspended = true
      queue.addOperations([slow, block], waitUntilFinished: false)
    }
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("block") == .ready(for: .slot) })
    watch.feed.send(.pause([watch.id("slow")]))
    watch.feed.send(.cancel([watch.id("block")], by: .person))
    watch.queue.isSuspended = false
    #expect(eventually { block.isFinished })
    slow.door.signal()
    #expect(watch.completes())
    #expect(watch.state("block") == .succeeded(upToDate: false))
  }

  @Test func aCancelReachesWhatExecutesAndWhatWaits() throws {
    let watch = Watch(width: 1)
    let (executing, waiting, after) = (Manual("executing"), Manual("waiting"), Manual("after"))
    after.addDependency(waiting)
    try watch.feed.add([executing, waiting, after])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("executing") == .executing })
    watch.feed.send(.cancel([watch.id("executing"), watch.id("waiting")], by: .person))
    #expect(watch.eventually { _ in watch.state("after") == .executing })
    #expect(watch.state("executing") == .cancelled(by: .person))
    #expect(watch.state("waiting") == .cancelled(by: .person))
    #expect(watch.path("waiting") == ["ready", "cancelled"])
    // Cancelled by the program itself, and it says so.
    after.cancel()
    #expect(watch.completes())
    #expect(watch.state("after") == .cancelled(by: .program))
  }

  @Test func whatWaitsIsCancelledBeforeTheEndOfWhatExecutesCanStartIt() throws {
    /// Ends when it is cancelled, and then lets the queue start another in its place.
    final class Leaving: AsyncOperation, @unchecked Sendable {
      // Safe: constant.
      private let next: Manual

      init(_ next: Manual) {
        self.next = next
        super.init()
        name = "executing"
      }

      override func main() {}
      override func cancel() {
        super.cancel()
        _ = Support.eventually { next.isCancelled || next.isExecuting }
      }
      override func didCancel() { finish() }
    }
    let watch = Watch(width: 1)
    let waiting = Manual("waiting")
    try watch.feed.add([Leaving(waiting), waiting])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("executing") == .executing })
    watch.feed.send(.cancel([watch.id("executing"), watch.id("waiting")], by: .person))
    #expect(watch.completes())
    #expect(watch.path("waiting") == ["ready", "cancelled"])
  }

  @Test func aSecondCancelOfTheSameOperationIsNoSecondRequest() throws {
    let watch = Watch(width: 1)
    let executing = Manual("executing", endsWhenCancelled: false)
    try watch.feed.add([executing])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("executing") == .executing })
    for _ in 1...2 { watch.feed.send(.cancel([watch.id("executing")], by: .person)) }
    #expect(eventually { executing.isCancelled })
    executing.finish()
    #expect(watch.completes())
    #expect(watch.events.count { if case .cancelRequested = $0.fact { true } else { false } } == 1)
  }

  @Test func aQueueWithoutALimitHasTheNumberThatStandsForThat() {
    #expect(QueueFeed.slots(OperationQueue.defaultMaxConcurrentOperationCount) == Run.unlimited)
    #expect(QueueFeed.slots(3) == 3)
  }

  @Test func priorityWidthAndSuspensionAreTheQueuesOwn() throws {
    let watch = Watch(width: 1) { $0.isSuspended = true }
    let all = [Manual("a"), Manual("b"), Manual("c"), Manual("d"), Manual("e")]
    try watch.feed.add(all)
    watch.feed.start()
    #expect(watch.eventually { $0.jobs.count == 5 && $0.isDraining })
    watch.feed.send(.setPriority([watch.id("e")], .veryHigh))
    watch.feed.send(.setSlots(2))
    #expect(watch.eventually { $0.slots == 2 && $0[JobID(4)].job.priority == .veryHigh })
    #expect(watch.queue.maxConcurrentOperationCount == 2)
    #expect(eventually { all[4].queuePriority == .veryHigh })
    // The value can be read before the setter has told the queue.
    watch.feed.calling.sync {}
    watch.feed.send(.setDraining(false))
    #expect(watch.eventually { $0.counts.executing == 2 && !$0.isDraining })
    #expect(!watch.queue.isSuspended)
    #expect(watch.state("e") == .executing)
    for operation in all { operation.finish() }
    #expect(watch.completes())
  }

  @Test func aRunThatEndsByCancellingSeesItsOperationsCancelled() throws {
    for _ in 0..<50 {
      let watch = Watch(width: 1)
      try watch.feed.add([Manual("executes"), Manual("waits"), BlockOperation {}])
      watch.feed.send(.stop(.terminate, by: .signal))
      watch.feed.start()
      watch.feed.send(.finish(signal: nil))
      #expect(watch.eventually { $0.summary != nil })
      #expect(watch.run.counts.done == 3)
      #expect(watch.run.summary?.left == 0)
    }
  }

  @Test func aStopCancelsAllAndWhatComesAfterIt() throws {
    let watch = Watch(width: 1)
    let door = Door()
    try watch.feed.add([Manual("executing"), Manual("waiting"), door.block("block")])
    watch.feed.start()
    #expect(watch.eventually { $0.counts.executing == 1 })
    watch.feed.send(.stop(.terminate, by: .signal))
    #expect(watch.eventually { $0.stopping != nil && $0.counts.active == 0 })
    watch.feed.send(.stop(.terminate, by: .signal))
    #expect(watch.run.counts.cancelled == 3)
    try watch.feed.add([Manual("late")])
    #expect(watch.eventually { $0.counts.cancelled == 4 })
    watch.feed.send(.finish(signal: 2))
    #expect(watch.eventually { $0.summary?.exit == 130 })
    #expect(watch.events.count { if case .stopRequested = $0.fact { true } else { false } } == 1)
  }

  @Test func whatCanPauseIsHeldAndGoesOn() throws {
    let watch = Watch(width: 1)
    let (first, second) = (Pausing("first"), Pausing("second"))
    try watch.feed.add([first, second])
    watch.feed.start()
    #expect(watch.eventually { _ in watch.state("first") == .executing })
    watch.feed.send(.pause([JobID(0), JobID(1)]))
    #expect(watch.eventually { $0.counts.paused == 2 })
    #expect(watch.state("first") == .paused(started: true))
    #expect(watch.state("second") == .paused(started: false))
    #expect(eventually { first.isPaused && second.isPaused })
    watch.feed.send(.resume([JobID(0), JobID(1)]))
    #expect(watch.eventually { _ in watch.state("first") == .executing && watch.state("second") == .ready(for: .slot) })
    #expect(eventually { !first.isPaused && !second.isPaused })
    first.finish()
    second.finish()
    #expect(watch.completes())
  }

  // MARK: Scale and ends

  @Test func tenThousandInAChainOfBothKindsComeToTheirEnd() throws {
    let watch = Watch(width: 4)
    var all: [Operation] = []
    for number in 0..<10_000 {
      let operation: Operation = number % 2 == 0 ? Giving("\(number)", .success(number)) : BlockOperation {}
      if let last = all.last, number % 10 != 0 { operation.addDependency(last) }
      all.append(operation)
    }
    try watch.feed.add(all)
    watch.feed.start()
    #expect(watch.completes())
    #expect(watch.run.counts.succeeded == 10_000)
  }

  @Test func aFeedThatIsLetGoOfLeavesNothingBehind() throws {
    weak var feed: QueueFeed?
    weak var operation: Manual?
    let queue = OperationQueue()
    do {
      let mine = QueueFeed(observing: queue)
      let manual = Manual("manual")
      (feed, operation) = (mine, manual)
      try mine.add([manual])
      mine.start()
      #expect(eventually { mine.run.counts.executing == 1 })
    }
    #expect(eventually { feed == nil })
    operation?.finish()
    #expect(eventually { operation == nil })
  }
}

/// As tutorials write it: its own state, posted to the queue.
private final class TutorialOperation: Operation, @unchecked Sendable {
  // Safe: behind the lock.
  private let state = Lock((isExecuting: false, isFinished: false))

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { state.withLock { $0.isExecuting } }
  override var isFinished: Bool { state.withLock { $0.isFinished } }

  override func start() {
    state.withLock { $0.isExecuting = true }
    didChangeValue(forKey: "isExecuting")
  }

  func end() {
    state.withLock { $0 = (false, true) }
    didChangeValue(forKey: "isFinished")
  }
}

/// Takes a high priority only when the test lets it.
private final class SlowlyPrioritized: Operation, @unchecked Sendable {
  // Safe: a constant.
  let gate = DispatchSemaphore(value: 0)

  override var queuePriority: QueuePriority {
    get { super.queuePriority }
    set {
      if newValue == .veryHigh { gate.wait() }
      super.queuePriority = newValue
    }
  }
}

private final class Pausing: AsyncOperation, ControllableOperation, @unchecked Sendable {
  // Safe: behind the lock.
  private let paused = Lock(false)

  var isPaused: Bool { paused.withLock { $0 } }

  init(_ name: String) {
    super.init()
    self.name = name
  }

  override func main() {}
  override func didCancel() { finish() }
  func pause() { paused.withLock { $0 = true } }
  func resume() { paused.withLock { $0 = false } }
}
