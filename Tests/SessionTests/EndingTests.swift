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
  func othersEndTheRunOnceAndNeverKill(_ cause: StopSequence.Cause, _ signal: Int32) {
    var stop = StopSequence()
    #expect(stop.receive(cause) == [.send(.stop(.terminate, by: .signal)), .announce(.terminate)])
    #expect(stop.receive(cause) == [])
    #expect(stop.receive(.terminate) == [])
    #expect(stop.signal == signal)
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
    let cluster = FakeFeed()
    cluster.begin([Job(name: "train", work: .shell(ShellWork(.script("x"), cluster: ClusterTerms())))])
    cluster.post(.jobState(JobID(0), .ready(for: .cluster(reason: "Resources")), attempt: 1, pid: nil))
    #expect(StopText.line(.terminate, cluster.run) == "opdash: stopping; still running: train. Ctrl-C again kills.")
    #expect(
      StopText.line(.kill, cluster.run)
        == "opdash: killing train. Ctrl-C again leaves at once, and what the cluster still has goes on there.")
  }
}

@Suite @MainActor struct RunSessionTests {
  @Test func aSessionIsReleasedWithItsOwner() throws {
    let output = Output(STDERR_FILENO)
    let display = RunSession.Display(
      .plain, of: "g", settings: Settings(), Environment(variables: [:]), output: output, errors: output)
    let feed = FakeFeed()
    var session: RunSession? = RunSession(feed, display: display, exit: { _ in })
    weak let released = session
    try session?.begin {}
    session = nil
    #expect(released == nil)
  }

  /// `/dev/full` is Linux's; elsewhere no file fails so.
  @Test(
    .enabled(if: access("/dev/full", W_OK) == 0),
    arguments: [(0, 1), (1, 1), (3, 3), (130, 130)] as [(Int32, Int32)])
  func aTraceThatCannotBeWrittenTurnsOnlyASuccessIntoAFailure(exit: Int32, status: Int32) async throws {
    let null = try Output.file("/dev/null")
    let display = RunSession.Display(
      .quiet, of: "g", settings: Settings(), Environment(variables: [:]), output: null, errors: null,
      files: [(.trace, try Output.file("/dev/full"))])
    let feed = FakeFeed()
    let statuses = Lock<[Int32]>([])
    let session = RunSession(feed, display: display, exit: { status in statuses.withLock { $0.append(status) } })
    try session.begin {}
    feed.begin(1)
    feed.post(.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil))
    var summary = RunSummary()
    summary.exit = exit
    feed.post(.runFinished(summary))
    #expect(await soon { statuses.withLock { !$0.isEmpty } })
    #expect(statuses.withLock { $0 } == [status])
    withExtendedLifetime(session) {}
  }
}
