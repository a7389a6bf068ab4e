import JobModel
import Support
import Testing

@testable import Session
@testable import opdash

/// A run from its start to the exit status.
@Suite @MainActor struct LaunchedRunTests {
  private let world = ProgramWorld()

  @Test func aRunInPlainLinesEndsWithTheStatusOfItsJobs() async {
    world.obey()
    world.perform("run a.yml")
    #expect(world.isStarted)
    world.feed.begin(1)
    world.state(.executing)
    world.state(.failed(JobFailure(.exit(2), "exit 2"), allowed: false))
    #expect(await world.ends(with: 1))
    #expect(world.output.text.contains("! job0  failed: exit 2"))
    #expect(world.errors.text == "")
  }

  @Test func jsonGoesToStandardOutputAndQuietSpeaksOnStandardErrorOnly() async {
    for (mode, hasOutput) in [("json", true), ("quiet", false)] {
      let world = ProgramWorld()
      world.feed.onCommand { feed, command in
        if case .finish(let signal) = command { feed.post(.runFinished(RunSummary(of: feed.run, signal: signal))) }
      }
      world.perform("run a.yml --ui \(mode)")
      world.feed.begin(1)
      world.feed.post(
        .jobState(JobID(0), .failed(JobFailure(.exit(2), "exit 2"), allowed: false), attempt: 1, pid: nil))
      #expect(await soon { world.statuses == [1] })
      #expect(world.output.text.hasPrefix("{\"v\":1,\"seq\":0") == hasOutput)
      #expect(world.errors.text.hasPrefix("! job0") == !hasOutput)
    }
  }

  private func runOneJob() {
    world.obey()
    world.perform("run a.yml")
    world.feed.begin(1)
    world.state(.executing)
  }

  @Test func interruptsEndKillAndLeave() async {
    runOneJob()
    world.session?.receive(.interrupt)
    #expect(world.errors.text == "opdash: stopping; still running: job0. Ctrl-C again kills.\n")
    world.session?.receive(.interrupt)
    #expect(world.errors.text.hasSuffix("opdash: killing job0. Ctrl-C again leaves at once.\n"))
    #expect(world.feed.commands == [.stop(.terminate, by: .signal), .stop(.kill, by: .signal)])
    #expect(world.statuses.isEmpty)
    world.session?.receive(.interrupt)
    #expect(world.statuses == [130])
  }

  @Test func aTermEndsWithItsStatusOnceTheJobsAreGone() async {
    runOneJob()
    world.session?.receive(.terminate)
    #expect(world.statuses.isEmpty)
    world.state(.cancelled(by: .signal))
    #expect(await world.ends(with: 143))
  }

  @Test func aReaderThatGoesEndsTheRunAsSIGPIPEWould() async {
    world.obey()
    world.feed.onCommand { feed, command in
      if case .finish(let signal) = command { feed.post(.runFinished(RunSummary(of: feed.run, signal: signal))) }
      if case .stop(let level, let canceller) = command {
        feed.post(
          .stopRequested(level, by: canceller), .jobState(JobID(0), .cancelled(by: .signal), attempt: 1, pid: nil))
      }
    }
    world.output.replaceWithClosedPipe()
    world.perform("run a.yml")
    world.feed.begin(1)
    world.state(.executing)
    #expect(await world.ends(with: 141))
    #expect(world.errors.text == "")
  }

  @Test func theDashboardIsLeftWithASummaryOnStandardError() async {
    world.obey()
    (world.environment.inputIsTerminal, world.environment.outputIsTerminal) = (true, true)
    world.environment.variables["TERM"] = "xterm"
    world.perform("run a.yml --color never")
    world.feed.begin(1)
    world.state(.succeeded(upToDate: false))
    #expect(world.feed.commands.isEmpty)
    world.view?.whenDone?(.complete)
    #expect(await world.ends(with: 0))
    #expect(world.view?.isClosed == true)
    #expect(world.output.text == "")
    #expect(world.errors.text == "test: 1 ok in 0.0s\n")
  }

  @Test func aDashboardThatIsLeftAtOnceIsClosedFirst() {
    (world.environment.inputIsTerminal, world.environment.outputIsTerminal) = (true, true)
    world.environment.variables["TERM"] = "xterm"
    world.perform("run a.yml")
    for _ in 0..<3 { world.session?.receive(.interrupt) }
    #expect(world.view?.isClosed == true)
    #expect(world.errors.text == "")
    #expect(world.statuses == [130])
  }

  @Test func ctrlCAtARunThatIsOverLeavesWithTheStatusOfTheRun() async {
    world.obey()
    world.performOnTerminal("run a.yml")
    world.feed.begin(1)
    world.state(.failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    world.session?.receive(.interrupt)
    #expect(await world.ends(with: 1))
    #expect(world.feed.commands == [.finish(signal: nil)])
  }

  @Test func aDashboardThatIsAbandonedLeavesWorkAndSaysSo() {
    world.performOnTerminal("run a.yml")
    world.feed.begin(1)
    world.state(.executing)
    world.view?.whenDone?(.abandoned)
    #expect(world.statuses == [3])
    #expect(world.errors.text == "test: 1 not run in 0.0s\n")
  }

  @Test func aTerminalThatGoesAwayIsAHangup() async {
    world.obey()
    world.performOnTerminal("run a.yml")
    world.feed.begin(1)
    world.state(.executing)
    world.view?.whenDone?(.terminalClosed)
    #expect(world.feed.commands == [.stop(.terminate, by: .signal)])
    world.state(.cancelled(by: .signal))
    #expect(await world.ends(with: 129))
  }

  @Test func aScenarioEndsWithWhatItShowedAndCleansUp() async {
    world.obey()
    world.perform("demo tour")
    world.feed.begin(1)
    #expect(world.cleanUps == 0)
    world.state(.succeeded(upToDate: false))
    #expect(await world.ends(with: 0))
    #expect(world.output.text.hasSuffix("test: 1 ok in 0.0s\nit showed 1\n"))
    #expect(world.cleanUps == 1)
  }

  @Test func aDownloadMakesOneLine() async {
    world.obey()
    world.perform("get http://h/a")
    world.feed.begin(1)
    world.state(.executing)
    world.feed.post(.jobLog(JobID(0), attempt: 1, LogLine(.note, "GET /a 200")))
    world.feed.post(.jobProgress(JobID(0), JobProgress(done: 2048, total: 2048, unit: .bytes)))
    world.state(.succeeded(upToDate: false))
    #expect(await world.ends(with: 0))
    #expect(world.output.text.split(separator: "\n").filter { $0.contains("job0") }.count == 1)
    #expect(world.output.text.contains("+ job0  [1/1] ok in 0.0s, 2.0 KB"))
  }
}
