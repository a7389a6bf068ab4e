import JobModel
import Testing

@testable import Session
@testable import opdash

/// What `opdash each` prints of its jobs.
@Suite @MainActor struct RawOutputTests {
  private let world = ProgramWorld()

  @Test func eachPrintsWhatTheJobsPrintWhereStandardOutputIsNoTerminal() async {
    world.obey()
    world.perform("each echo a")
    world.feed.begin(1)
    world.state(.executing)
    world.feed.post(.jobLog(JobID(0), attempt: 1, LogLine(.stdout, "a line")))
    world.feed.post(.jobLog(JobID(0), attempt: 1, LogLine(.stderr, "a fault")))
    world.state(.failed(JobFailure(.exit(2), "exit 2"), allowed: false))
    #expect(await world.ends(with: 1))
    #expect(world.output.text == "a line\n")
    #expect(world.errors.text.contains("a fault\n"))
    #expect(world.errors.text.contains("! job0  failed: exit 2"))
  }

  @Test(arguments: ["--ui plain", "--output lines"]) func eachPrintsPlainLinesOnRequest(_ option: String) async {
    world.obey()
    world.perform("each \(option) echo a")
    world.feed.begin(1)
    world.state(.succeeded(upToDate: false))
    #expect(await world.ends(with: 0))
    #expect(world.output.text.contains("+ job0"))
  }

  @Test func eachShowsTheDashboardOnATerminalUnlessItsOutputIsWanted() async {
    world.performOnTerminal("each echo a")
    #expect(world.view != nil)
    for option in ["--order", "--output raw", "--order --ui plain"] {
      let other = ProgramWorld()
      (other.environment.inputIsTerminal, other.environment.outputIsTerminal) = (true, true)
      other.environment.variables["TERM"] = "xterm"
      other.perform("each \(option) echo a")
      #expect(other.view == nil && other.graph != nil, "\(option)")
    }
  }
}
