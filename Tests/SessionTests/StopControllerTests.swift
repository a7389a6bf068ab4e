import Basics
import Foundation
import JobModel
import Support
import Testing

@testable import Session

struct StopControllerTests {
  private let clock: ManualOperationClock
  private let feed: FakeFeed
  private let controller: StopController
  private let abandoned = Lock<[Int32]>([])
  private let left = Lock<[Int32]>([])
  private let written = Lock(0)
  /// How often output was discarded; nil without a full terminal.
  private let discarded = Lock<Int?>(nil)
  /// Whether what is written later was dropped too, the last time that output was discarded.
  private let isForGood = Lock(false)
  /// Whether a write waits for its reader.
  private let isBlocked = Lock(true)
  /// Whether the queues that write come round.
  private let isIdle = Lock(false)
  /// The statuses with which the session was to leave a run that has not ended.
  private let unfinished = Lock<[Int32]>([])

  init() {
    clock = ManualOperationClock()
    feed = FakeFeed(clock: clock)
    controller = StopController(feed, clock: clock) { [abandoned] end in abandoned.withLock { $0.append(end.status) } }
  }

  private func begin(jobs: Int = 1) {
    if jobs > 0 { feed.begin(jobs) }
    for id in 0..<jobs { state(id, .executing) }
    let early = controller.begin(
      StopController.Session(
        whenIdle: { [isIdle] body in if isIdle.withLock({ $0 }) { body() } },
        written: { [written] in written.withLock { $0 } },
        isBlocked: { [isBlocked] in isBlocked.withLock { $0 } },
        discard: { [discarded, isForGood] forGood in
          isForGood.withLock { $0 = forGood }
          return discarded.withLock { discarded in discarded.map { discarded = $0 + 1 } != nil }
        },
        leave: { [unfinished] status in unfinished.withLock { $0.append(status) } }))
    for cause in early { receive(cause) }
  }

  private func receive(_ cause: StopSequence.Cause) {
    for case .leave(let status) in controller.receive(cause) { left.withLock { $0.append(status) } }
  }

  private func state(_ id: Int, _ state: JobState) { feed.post(.jobState(JobID(id), state, attempt: 1, pid: nil)) }

  /// States the end of the stopped run, and waits until the controller has seen it.
  private func end(exit: Int32) {
    feed.post(.stopRequested(.terminate, by: .signal))
    state(0, .cancelled(by: .signal))
    #expect(eventually { feed.commands.contains(.finish(signal: controller.signal)) })
    var summary = RunSummary()
    summary.exit = exit
    feed.post(.runFinished(summary))
    #expect(eventually { controller.status == exit })
  }

  /// A run that SIGTERM ends, in a session whose queues come round.
  private func endWithIdleQueues() {
    isIdle.withLock { $0 = true }
    begin()
    receive(.terminate)
    end(exit: 143)
  }

  private var statuses: [Int32] { abandoned.withLock { $0 } }

  @Test func theActionsAreKnownBeforeTheRunGetsTheCommands() {
    begin()
    var earlier: [JobCommand]?
    let actions = controller.receive(.terminate) { actions in
      earlier = feed.commands
      #expect(actions.count == 2)
    }
    #expect(earlier == [] && feed.commands == [.stop(.terminate, by: .signal)])
    #expect(actions.count == 2)
  }

  @Test func theCommandsAreSentByTheCallerItself() {
    begin()
    receive(.interrupt)
    receive(.interrupt)
    #expect(feed.commands == [.stop(.terminate, by: .signal), .stop(.kill, by: .signal)])
    #expect(controller.signal == 2)
  }

  @Test(arguments: [StopSequence.Cause.terminate, .hangup])
  func aRunThatHasEndedIsAbandonedWhereTheSessionDoesNotLeave(_ cause: StopSequence.Cause) {
    begin()
    receive(cause)
    end(exit: 143)
    clock.advance(by: StopController.patience)
    #expect(statuses == [])
    clock.advance(by: StopController.lastPatience)
    #expect(statuses == [143])
  }

  @Test func aSessionWhoseQueuesComeRoundIsAbandonedLast() {
    endWithIdleQueues()
    clock.advance(by: StopController.longestPatience - .milliseconds(1))
    #expect(statuses == [])
    // It goes on writing, for example its reports.
    written.withLock { $0 += 1 }
    clock.advance(by: StopController.longestPatience)
    #expect(statuses == [])
    clock.advance(by: .milliseconds(1))
    #expect(statuses == [143])
  }

  @Test func aSessionThatHasLeftIsNotAbandoned() {
    endWithIdleQueues()
    clock.advance(by: .seconds(5))
    #expect(statuses == [])
    // Not even where they no longer do, once it has left.
    isIdle.withLock { $0 = false }
    controller.close()
    clock.advance(by: .seconds(60))
    #expect(statuses == [])
    #expect(feed.readers == 0)
  }

  @Test func anOutputThatTakesBytesIsWaitedFor() {
    begin()
    receive(.terminate)
    end(exit: 143)
    for _ in 1...20 {
      written.withLock { $0 += 1 }
      clock.advance(by: StopController.patience)
    }
    #expect(statuses == [])
    clock.advance(by: .seconds(3))
    #expect(statuses == [143])
  }

  @Test func drawingDoesNotKeepARunInWhichNothingHappens() {
    begin()
    isIdle.withLock { $0 = true }
    receive(.terminate)
    // Its jobs have no grace.
    clock.advance(by: StopController.patience)
    for _ in 1...9 {
      written.withLock { $0 += 1 }
      clock.advance(by: .seconds(1))
    }
    #expect(unfinished.withLock(\.self) == [])
    written.withLock { $0 += 1 }
    clock.advance(by: .seconds(1))
    #expect(unfinished.withLock(\.self) == [143])
    clock.advance(by: StopController.leavingPatience - .milliseconds(1))
    #expect(statuses == [])
    clock.advance(by: .milliseconds(1))
    #expect(statuses == [143])
  }

  /// A run with a job of a cluster, whose controller is down from before or from after the grace.
  @Test(arguments: [true, false]) func aClusterThatDoesNotAnswerIsLeftAfterTheGrace(isDownBefore: Bool) {
    isIdle.withLock { $0 = true }
    let job = Job(name: "a", work: .shell(ShellWork(.script("x"), cluster: ClusterRequest())))
    feed.begin([job])
    begin(jobs: 0)
    feed.post(.jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "n1")))
    state(0, .executing)
    if isDownBefore { feed.post(.clusterChanged(fault: "no answer")) }
    receive(.terminate)
    clock.advance(by: ShellWork.Stop().grace + StopController.patience - .milliseconds(1))
    #expect(unfinished.withLock(\.self) == [])
    clock.advance(by: .milliseconds(1))
    #expect(unfinished.withLock(\.isEmpty) == !isDownBefore)
    if !isDownBefore { feed.post(.clusterChanged(fault: "no answer")) }
    #expect(eventually { unfinished.withLock(\.first) == 143 })
    controller.close()
    clock.advance(by: .seconds(60))
    #expect(statuses == [])
  }

  @Test func aRunThatDoesNotEndIsAbandonedAfterTheGrace() {
    begin()
    receive(.terminate)
    clock.advance(by: StopController.patience)
    #expect(statuses == [])
    clock.advance(by: StopController.patience)
    #expect(statuses == [143])
  }

  @Test func aRunWhoseQueueIsBlockedIsAbandonedToo() {
    begin()
    receive(.terminate)
    feed.whileBlocked {
      let isAbandoned = eventually {
        clock.advance(by: StopController.patience)
        return statuses == [143]
      }
      #expect(isAbandoned)
    }
  }

  @Test func theGraceOfWhatExecutesIsWaitedFor() {
    let work = ShellWork(.script("x"), stop: ShellWork.Stop(signal: 15, grace: .seconds(30)))
    feed.post(.runStarted(RunStart(id: "1", name: "t", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 1)))
    feed.post(.jobAdded(JobID(0), Job(name: "a", work: .shell(work))))
    begin(jobs: 0)
    state(0, .executing)
    receive(.terminate)
    clock.advance(by: .seconds(30))
    #expect(statuses == [] && controller.status == nil)
    clock.advance(by: .seconds(5))
    #expect(statuses == [143])
  }

  @Test func theJobsOfFinallyAreWaitedForAndKilledAtLast() {
    feed.post(.runStarted(RunStart(id: "1", name: "t", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 2)))
    feed.post(.jobAdded(JobID(0), Job(name: "a", work: .shell(ShellWork(.script("x"))))))
    feed.post(.jobAdded(JobID(1), Job(name: "clean", work: .shell(ShellWork(.script("x"))), finally: .always)))
    begin(jobs: 0)
    state(0, .executing)
    receive(.terminate)
    state(0, .cancelled(by: .signal))
    state(1, .executing)
    clock.advance(by: .seconds(30))
    #expect(controller.status == nil && feed.commands == [.stop(.terminate, by: .signal)])
    clock.advance(by: StopController.finalPatience)
    #expect(eventually { controller.status == 143 })
    #expect(feed.commands.last == .stop(.kill, by: .signal))
    #expect(
      eventually {
        clock.advance(by: StopController.patience)
        return statuses.first == 143
      })
  }

  @Test func theStatusOfARunThatHasEndedStays() {
    begin()
    receive(.terminate)
    end(exit: 1)
    // The grace of what executed is over later.
    for _ in 1...3 { clock.advance(by: StopController.patience) }
    #expect(statuses == [1] && controller.status == 1)
  }

  @Test func outputThatNobodyReadsIsDiscardedFromTheSignalOn() {
    discarded.withLock { $0 = 0 }
    begin()
    receive(.terminate)
    clock.advance(by: StopController.patience)
    let count = { discarded.withLock { $0 ?? 0 } }
    #expect(count() == 1)
    clock.advance(by: .milliseconds(100))
    #expect(count() > 10)
    // The reader is back, and the queues come round.
    discarded.withLock { $0 = nil }
    isIdle.withLock { $0 = true }
    clock.advance(by: StopController.patience)
    discarded.withLock { $0 = 0 }
    clock.advance(by: .seconds(5))
    #expect(count() == 0)
    #expect(statuses == [])
  }

  @Test func aSessionThatIsBusyWithoutAWriteIsNotAbandonedForItsReader() {
    isBlocked.withLock { $0 = false }
    begin()
    receive(.terminate)
    end(exit: 143)
    clock.advance(by: StopController.longestPatience - .milliseconds(1))
    #expect(statuses == [])
    clock.advance(by: .milliseconds(1))
    #expect(statuses == [143])
  }

  @Test func aBusySessionWhoseOutputWasDiscardedIsNotAbandoned() {
    discarded.withLock { $0 = 0 }
    isBlocked.withLock { $0 = false }
    begin()
    receive(.terminate)
    end(exit: 143)
    clock.advance(by: .seconds(5))
    #expect(discarded.withLock { $0 ?? 0 } > 0)
    #expect(statuses == [])
  }

  @Test func outputThatNobodyReadsForLongerIsDiscardedForGood() {
    discarded.withLock { $0 = 0 }
    begin()
    receive(.terminate)
    clock.advance(by: StopController.patience)
    #expect(discarded.withLock { $0 } == 1)
    clock.advance(by: StopController.lastPatience - .milliseconds(1))
    #expect(!isForGood.withLock { $0 })
    clock.advance(by: .milliseconds(1))
    #expect(isForGood.withLock { $0 })
  }

  @Test func aReaderThatWasGoneIsNotWaitedForAsLongAgain() {
    discarded.withLock { $0 = 0 }
    begin()
    receive(.terminate)
    clock.advance(by: StopController.patience)
    // The queues come round, and are held up by the terminal once more.
    discarded.withLock { $0 = nil }
    isIdle.withLock { $0 = true }
    clock.advance(by: StopController.lastPatience * 2)
    discarded.withLock { $0 = 0 }
    isIdle.withLock { $0 = false }
    clock.advance(by: StopController.nextPatience * 2)
    #expect(discarded.withLock { $0 } == 1)
    #expect(statuses == [])
  }

  @Test func oneInterruptWaitsForTheReaderForEver() {
    begin()
    receive(.interrupt)
    receive(.interrupt)
    clock.advance(by: .seconds(3600))
    #expect(statuses == [])
    receive(.interrupt)
    #expect(left.withLock { $0 } == [130])
    clock.advance(by: StopController.patience + StopController.lastPatience)
    #expect(statuses == [130])
  }

  @Test func theInterruptThatClosedADashboardCounts() {
    begin()
    controller.countInterrupt()
    receive(.interrupt)
    #expect(left.withLock { $0 } == [])
    receive(.interrupt)
    #expect(left.withLock { $0 } == [130])
  }

  @Test func aCauseBeforeTheBeginningIsHandledThen() {
    receive(.terminate)
    #expect(feed.commands == [])
    begin()
    #expect(feed.commands.first == .stop(.terminate, by: .signal))
    #expect(controller.signal == 15)
  }

  @Test func aScreenThatCannotBeOpenedIsAbandoned() {
    receive(.terminate)
    clock.advance(by: StopController.patience)
    #expect(statuses == [143])
  }

  @Test func withoutAReaderTheSessionHas1200Milliseconds() {
    begin()
    receive(.terminate)
    end(exit: 143)
    clock.advance(by: .milliseconds(1199))
    #expect(statuses == [])
    clock.advance(by: .milliseconds(1))
    #expect(statuses == [143])
  }

  @Test func aRunThatIsOverBeforeTheSignalHasItsStatusAtOnce() {
    feed.begin(1)
    state(0, .succeeded(upToDate: false))
    var summary = RunSummary()
    summary.exit = 1
    feed.post(.runFinished(summary))
    begin(jobs: 0)
    receive(.terminate)
    #expect(controller.status == 1)
  }

  @Test func theJobsOfFinallyHaveAMinuteAfterTheGrace() {
    feed.post(.runStarted(RunStart(id: "1", name: "t", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 2)))
    feed.post(.jobAdded(JobID(0), Job(name: "a", work: .simulate(SimulatedWork()))))
    feed.post(.jobAdded(JobID(1), Job(name: "clean", work: .simulate(SimulatedWork()), finally: .always)))
    begin(jobs: 0)
    state(0, .executing)
    receive(.terminate)
    clock.advance(by: .milliseconds(60_799))
    #expect(feed.commands == [.stop(.terminate, by: .signal)])
    #expect(controller.status == nil)
    clock.advance(by: .milliseconds(1))
    #expect(feed.commands == [.stop(.terminate, by: .signal), .stop(.kill, by: .signal)])
    #expect(controller.status == 143)
  }

  @Test func aRunThatBeginsInTimeIsNotGivenUp() {
    receive(.terminate)
    begin()
    clock.advance(by: StopController.patience)
    #expect(statuses == [])
  }

  @Test func aSessionThatWasClosedBeforeItsRunIsNotGivenUp() {
    receive(.terminate)
    controller.close()
    clock.advance(by: .seconds(60))
    #expect(statuses == [])
  }

  @Test func withoutAStatusTheSecondDiscardIsForGood() {
    discarded.withLock { $0 = 0 }
    let work = ShellWork(.script("x"), stop: ShellWork.Stop(signal: 15, grace: .seconds(30)))
    feed.begin([Job(name: "a", work: .shell(work))])
    begin(jobs: 0)
    state(0, .executing)
    receive(.terminate)
    clock.advance(by: StopController.patience + StopController.lastPatience - .milliseconds(1))
    #expect(!isForGood.withLock { $0 })
    clock.advance(by: .milliseconds(1))
    #expect(isForGood.withLock { $0 } && controller.status == nil)
  }

  @Test func withAStatusTheFirstDiscardIsForGood() {
    discarded.withLock { $0 = 0 }
    begin()
    receive(.terminate)
    end(exit: 143)
    clock.advance(by: StopController.patience)
    #expect(discarded.withLock { $0 } == 1)
    #expect(isForGood.withLock { $0 })
  }
}
