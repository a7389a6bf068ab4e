import Basics
import Foundation
import JobModel
import Support
import Testing

@testable import Session

@Suite struct StopSequenceTests {
  @Test func theFirstInterruptEndsTheSecondKillsTheThirdLeaves() {
    var stop = StopSequence()
    #expect(stop.signal == nil)
    #expect(stop.receive(.interrupt) == [.send(.stop(.terminate, by: .signal)), .announce(.terminate)])
    #expect(stop.receive(.interrupt) == [.send(.stop(.kill, by: .signal)), .announce(.kill)])
    #expect(stop.receive(.interrupt) == [.leave(status: 130)])
    #expect(stop.receive(.interrupt) == [.leave(status: 130)])
    #expect(stop.signal == 2)
  }

  @Test(arguments: [(StopSequence.Cause.terminate, Int32(15)), (.hangup, 1), (.outputClosed, 13)])
  func othersEndTheRunAndNeverKill(_ cause: StopSequence.Cause, _ signal: Int32) {
    var stop = StopSequence()
    #expect(stop.receive(cause) == [.send(.stop(.terminate, by: .signal)), .announce(.terminate)])
    #expect(stop.receive(cause) == [.send(.stop(.terminate, by: .signal))])
    #expect(stop.receive(.terminate) == [.send(.stop(.terminate, by: .signal))])
    #expect(stop.signal == signal)
  }

  @Test func aTermAfterAnInterruptTellsTheRunThatItHasNoUser() {
    var stop = StopSequence()
    _ = stop.receive(.interrupt)
    #expect(stop.receive(.terminate) == [.send(.stop(.terminate, by: .signal))])
    #expect(stop.receive(.interrupt) == [.send(.stop(.kill, by: .signal)), .announce(.kill)])
    #expect(stop.receive(.hangup) == [.send(.stop(.kill, by: .signal))])
    #expect(stop.signal == 2)
  }

  @Test(arguments: [(StopSequence.Cause.interrupt, Int32(0)), (.terminate, 143), (.hangup, 129)])
  func theRunOfAnotherProgramIsLeftAsItIs(_ cause: StopSequence.Cause, _ status: Int32) {
    var stop = StopSequence(leavesRun: true)
    #expect(stop.receive(cause) == [.leave(status: status)])
  }

  @Test(arguments: [(StopSequence.Cause.interrupt, Int32(130)), (.terminate, 143), (.hangup, 129)])
  func aReplayOnTheScreenIsLeftBySignals(_ cause: StopSequence.Cause, _ status: Int32) {
    var stop = StopSequence(leavesReplay: true)
    #expect(stop.receive(cause) == [.leave(status: status)])
    #expect(stop.cause == cause)
  }

  @Test func anInterruptAfterATermKillsAndTheStatusStaysThatOfTheFirst() {
    var stop = StopSequence()
    _ = stop.receive(.terminate)
    #expect(stop.receive(.interrupt) == [.send(.stop(.kill, by: .signal)), .announce(.kill)])
    #expect(stop.receive(.interrupt) == [.leave(status: 143)])
  }

  @Test func theAnswerNamesWhatStillRuns() {
    let feed = FakeFeed()
    #expect(StopText.line(.terminate, feed.run) == "opdash: stopping")
    feed.begin(8)
    for id in 0..<8 { feed.post(.jobState(JobID(id), .executing, attempt: 1, pid: nil)) }
    feed.post(.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil))
    #expect(
      StopText.line(.terminate, feed.run)
        == "opdash: stopping; still running: job1, job2, job3, job4, job5, 2 more. Ctrl-C again kills.")
    #expect(
      StopText.line(.kill, feed.run)
        == "opdash: killing job1, job2, job3, job4, job5, 2 more. Ctrl-C again leaves at once.")
    feed.post(.jobState(JobID(1), .succeeded(upToDate: false), attempt: 1, pid: nil))
    feed.post(.jobState(JobID(2), .succeeded(upToDate: false), attempt: 1, pid: nil))
    #expect(
      StopText.line(.kill, feed.run)
        == "opdash: killing job3, job4, job5, job6, job7. Ctrl-C again leaves at once.")
    let cluster = FakeFeed()
    cluster.begin([Job(name: "train", work: .shell(ShellWork(.script("x"), cluster: ClusterRequest())))])
    cluster.post(.jobState(JobID(0), .ready(for: .cluster(reason: "Resources")), attempt: 1, pid: nil))
    #expect(StopText.line(.terminate, cluster.run) == "opdash: stopping; still running: train. Ctrl-C again kills.")
    #expect(
      StopText.line(.kill, cluster.run)
        == "opdash: killing train. Ctrl-C again leaves at once, and what the cluster still has goes on there.")
  }

  @Test func theEndNamesWhatTheClusterMayStillHave() {
    let feed = FakeFeed()
    let work = JobWork.shell(ShellWork(.script("x"), cluster: ClusterRequest()))
    feed.begin((1...8).map { Job(name: "train\($0)", work: work) })
    #expect(StopText.left(feed.run) == nil)
    for id in 0..<8 {
      feed.post(.jobPlaced(JobID(id), ClusterPlace(id: "7_\(id)")))
      feed.post(.jobState(JobID(id), .executing, attempt: 1, pid: nil))
    }
    for id in 1..<3 { feed.post(.jobState(JobID(id), .cancelled(by: .signal), attempt: 1, pid: nil)) }
    #expect(
      StopText.left(feed.run)
        == "opdash: the cluster may still have train1, train4, train5, train6, train7 and 1 more; to end that: scancel 7_0 7_3 7_4 7_5 7_6 7_7"
    )
    for id in 3..<8 { feed.post(.jobState(JobID(id), .cancelled(by: .signal), attempt: 1, pid: nil)) }
    #expect(StopText.left(feed.run) == "opdash: the cluster may still have train1; to end that: scancel 7_0")
  }
}
