import Dashboard
import Foundation
import JobFiles
import JobModel
import Operations
import RunStore
import Screen
import Support
import Testing

@testable import Session
@testable import opdash

/// The whole program in this process, with a fake feed and pipes as outputs.
@Suite @MainActor struct ProgramTests {
  @MainActor
  private final class World {
    let feed = FakeFeed()
    var statuses: [Int32] = []
    var options: Program.RunOptions?
    var graph: JobGraph?
    var plan: RunPlan?
    var session: RunSession?
    var isStarted = false
    var cleanUps = 0
    var loaded: Result<JobGraph, Faults> = .success(
      JobGraph(name: "g", jobs: [Job(name: "job0", work: .simulate(SimulatedWork()))]))
    /// The text of the job file; nil for `loaded`.
    var text: String?
    var settings: Result<SettingsFile?, Faults> = .success(nil)
    var path: String?
    var vars: [String: String] = [:]
    /// The graph whose cluster jobs were checked, and the fault that is found.
    var checked: JobGraph?
    var clusterFault: UsageError?
    var viewOptions: ViewOptions?
    var view: FakeView?
    let output = TemporaryFile()
    let errors = TemporaryFile()
    /// What standard input has.
    let list = TemporaryFile()
    /// What is to be made of it while the run goes on.
    var arriving: ArrivingJobs?
    var environment = Environment(variables: ["HOME": "/h"], currentDirectory: "/w", processors: 7)

    func perform(_ line: String) {
      let parts = Program.Parts(
        load: { path, _, vars, warn in
          (self.path, self.vars) = (path, vars)
          guard let text = self.text else { return try self.loaded.get() }
          return try JobFile.decode(Array(text.utf8), file: path, directory: "/w", warn: warn)
        }, loadSettings: { _ in try self.settings.get() },
        makeRun: { graph, options in
          (self.graph, self.options) = (graph, options)
          return (self.feed, { self.isStarted = true }, nil)
        },
        record: { _, _ in nil },
        makeView: { _, options, _ in
          self.viewOptions = options
          let view = FakeView()
          self.view = view
          return view
        },
        openScenario: { name, _ in
          self.plan
            ?? RunPlan(
              subject: .graph(JobGraph(name: name)), source: name, closing: { ["it showed \($0.counts.succeeded)"] },
              cleanUp: { [weak self] in self?.cleanUps += 1 })
        },
        readList: { _ in "http://h/listed\n" }, arguments: list.descriptor,
        feed: { _, arriving, _, _ in
          self.arriving = arriving
          return {}
        },
        checkCluster: { graph in
          self.checked = graph
          if let fault = self.clusterFault { throw fault }
        },
        watchSignals: { session in self.session = session })
      Program(
        environment: environment, output: Output(output.descriptor), errors: Output(errors.descriptor), parts: parts,
        end: { [weak self] in self?.statuses.append($0.status) }
      ).perform(line.split(separator: " ").map(String.init))
    }
  }

  private final class FakeView: LiveView {
    nonisolated let prompt = PromptFlag()
    func closePrompt() {}
    var whenDone: (@MainActor (Departure) -> Void)?
    var isClosed = false

    func run(whenDone: @escaping @MainActor (Departure) -> Void) throws { self.whenDone = whenDone }
    func suspend() {}
    func showUnrecorded(_ reason: String) {}
    func close() { isClosed = true }
  }

  private let world = World()

  private func ends(with status: Int32) async -> Bool {
    await soon { !world.statuses.isEmpty } && world.statuses == [status]
  }

  private func obey() {
    world.feed.onCommand { feed, command in
      if case .finish(let signal) = command { feed.post(.runFinished(RunSummary(of: feed.run, signal: signal))) }
      if case .stop(let level, let canceller) = command { feed.post(.stopRequested(level, by: canceller)) }
    }
  }

  private func state(_ state: JobState) { world.feed.post(.jobState(JobID(0), state, attempt: 1, pid: nil)) }

  @Test func helpAndVersionGoToStandardOutput() {
    world.perform("--version")
    #expect(world.output.text == Version.text + "\n")
    #expect(world.errors.text == "")
    #expect(world.statuses == [0])
  }

  @Test func badUsageIsOneLineOnStandardErrorAndStatusTwo() {
    world.perform("run a.yml --slot 3")
    #expect(world.errors.text == "opdash: unknown option '--slot': did you mean '--slots'?\n")
    #expect(world.output.text == "")
    #expect(world.statuses == [2])
  }

  @Test func checkTellsFaultsOnStandardOutput() {
    world.loaded = .failure(Faults(lines: ["a.yml:1:2: one", "a.yml:3:4: two"]))
    world.perform("check dir/a.yml")
    #expect(world.output.text == "a.yml:1:2: one\na.yml:3:4: two\n")
    #expect(world.statuses == [2])
  }

  @Test func aFaultIsFollowedByItsLineAndAMark() {
    world.text = "jobs:\n  a: { rnu: ls }\n"
    world.perform("check a.yml")
    #expect(
      world.output.text
        == "a.yml:2:8: unknown key 'rnu': did you mean 'run'?\n    2 |   a: { rnu: ls }\n      |        ^~~\n")
    #expect(world.statuses == [2])
  }

  @Test func aWarningLeavesAFileGood() {
    world.text = "vars: { ver: 1 }\njobs: { a: { run: 'echo ${vre}' } }\n"
    let warning =
      "a.yml:2:25: warning: '${vre}' is left to the shell, which doesn't know it: did you mean '${ver}'?\n"
      + "    2 | jobs: { a: { run: 'echo ${vre}' } }\n      |                         ^~~~~~\n"
    world.perform("check a.yml")
    #expect(world.output.text == warning + "a.yml: 1 job, no faults, 1 warning\n")
    #expect(world.errors.text == "")
    #expect(world.statuses == [0])
    world.perform("run a.yml")
    #expect(world.errors.text.hasPrefix(warning))
    #expect(world.graph?.jobs.count == 1)
  }

  @Test func checkOfAGoodFileSaysHowManyJobs() {
    world.perform("check dir/a.yml")
    #expect(world.output.text == "a.yml: 1 job, no faults\n")
    #expect(world.statuses == [0])
  }

  @Test(arguments: [
    ("run a.yml --\u{1B}[31m", #"opdash: unknown option '--\u{1B}[31m'; see opdash run --help"#),
    ("\u{9B}2J", #"opdash: unknown command '\u{009B}2J'; see opdash --help"#),
    ("run a.yml b\ro\u{202E}b", #"opdash: a.yml has no job 'b\ro\u{202E}b'"#),
    ("get http:\u{1B}]0;x\u{7}", #"'http:\u{1B}]0;x\u{07}' is no URL to download: write http://… or https://…"#),
  ])
  func nothingInAMessageIsObeyedByATerminal(_ line: String, _ message: String) {
    world.perform(line)
    #expect(world.errors.text == message + "\n")
    #expect(world.statuses == [2])
  }

  @Test func nothingInAFaultIsObeyedByATerminal() {
    world.loaded = .failure(Faults(lines: ["\u{1B}c.yml:1:2: one\rok"]))
    world.perform("check \u{1B}c.yml")
    #expect(world.output.text == #"\u{1B}c.yml:1:2: one\rok"# + "\n")
  }

  @Test func aNewTraceIsForItsOwnerOnlyAndAnOldOneKeepsItsMode() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.file("old"))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file("old").path())
    for (name, mode) in [("new", 0o600), ("old", 0o644)] {
      world.perform("run a.yml --trace \(folder.file(name).path())")
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path())
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
  }

  @Test func aFaultyFileStartsNothing() {
    world.loaded = .failure(Faults(lines: ["a.yml:1:2: one"]))
    world.perform("run a.yml")
    #expect(world.errors.text == "a.yml:1:2: one\n")
    #expect(world.output.text == "")
    #expect(world.graph == nil)
    #expect(world.statuses == [2])
  }

  // MARK: Each

  @Test func eachMakesAJobOfEachArgument() {
    world.perform("each -j3 --on-failure stop-now echo a b")
    #expect(world.graph?.jobs.map(\.name) == ["a", "b"])
    #expect(
      world.graph?.jobs.map(\.work)
        == ["echo 'a'", "echo 'b'"].map { .shell(ShellWork(.script($0), stderr: .apart)) })
    #expect(world.options?.slots == 3 && world.options?.onFailure == .stopNow)
    #expect(world.options?.origin.command == "each")
    #expect(world.options?.isOpen == false && world.arriving == nil)
    let second = World()
    second.perform("each -n2 echo")
    #expect(second.graph?.jobs.isEmpty == true && second.options?.isOpen == true)
    #expect(second.arriving?.request == EachRequest(command: "echo", perJob: 2))
    #expect(second.options?.slots == 7 && second.options?.keepsShortLogs == false)
  }

  @Test func aRehearsalReadsTheWholeList() {
    world.list.write("x y\n\nz\n")
    world.perform("each --dry-run -j2 echo")
    #expect(world.output.text.contains("x y") && world.output.text.contains("z"))
    #expect(world.statuses == [0] && world.arriving == nil && world.graph == nil)
  }

  @Test func eachSaysWhatIsWrongWithItsArgumentsAndStartsNothing() {
    world.list.write("a\0b\n\nc\nd\0\n")
    world.perform("each --dry-run echo")
    let fault = "of standard input has a NUL byte, which no command can take: --null splits standard input there"
    #expect(world.errors.text == "opdash: line 1 \(fault)\nopdash: line 4 \(fault)\n")
    #expect(world.graph == nil)
    let others = World()
    others.environment.inputIsTerminal = true
    for line in ["each echo", "each echo \u{FFFD}", "each --order --ui json x a", "each --order --output grouped x a"] {
      others.perform(line)
    }
    #expect(
      others.errors.text == """
        opdash: opdash each needs arguments after the command, or a list of them on standard input
        opdash: '\u{FFFD}' is no UTF-8 text: give the list on standard input, where any bytes may stand
        opdash: --order prints what the commands print, and --ui json does not: leave one out
        opdash: --order and --output grouped exclude each other: leave one out

        """)
    #expect(world.statuses == [2] && others.statuses == [2, 2, 2, 2])
    #expect(others.graph == nil)
  }

  @Test func eachPrintsWhatTheJobsPrintWhereStandardOutputIsNoTerminal() async {
    obey()
    world.perform("each echo a")
    world.feed.begin(1)
    state(.executing)
    world.feed.post(.jobLog(JobID(0), attempt: 1, LogLine(.stdout, "a line")))
    world.feed.post(.jobLog(JobID(0), attempt: 1, LogLine(.stderr, "a fault")))
    state(.failed(JobFailure(.exit(2), "exit 2"), allowed: false))
    #expect(await ends(with: 1))
    #expect(world.output.text == "a line\n")
    #expect(world.errors.text.contains("a fault\n"))
    #expect(world.errors.text.contains("! job0  failed: exit 2"))
  }

  @Test(arguments: ["--ui plain", "--output lines"]) func eachPrintsPlainLinesOnRequest(_ option: String) async {
    obey()
    world.perform("each \(option) echo a")
    world.feed.begin(1)
    state(.succeeded(upToDate: false))
    #expect(await ends(with: 0))
    #expect(world.output.text.contains("+ job0"))
  }

  @Test func eachShowsTheDashboardOnATerminalUnlessItsOutputIsWanted() async {
    performOnTerminal("each echo a")
    #expect(world.view != nil)
    for option in ["--order", "--output raw", "--order --ui plain"] {
      let other = World()
      (other.environment.inputIsTerminal, other.environment.outputIsTerminal) = (true, true)
      other.environment.variables["TERM"] = "xterm"
      other.perform("each \(option) echo a")
      #expect(other.view == nil && other.graph != nil, "\(option)")
    }
  }

  // MARK: Settings

  private func own(_ change: (inout SettingsFile) -> Void) -> Result<SettingsFile?, Faults> {
    var file = SettingsFile()
    change(&file)
    return .success(file)
  }

  @Test func faultySettingsStartNothing() {
    world.settings = .failure(Faults(lines: ["c.yaml:1:2: one", "c.yaml:3:4: two"]))
    for line in ["run a.yml", "get http://a/x", "demo diamond", "keys"] { world.perform(line) }
    #expect(world.errors.text == String(repeating: "c.yaml:1:2: one\nc.yaml:3:4: two\n", count: 4))
    #expect(world.output.text == "")
    #expect(world.graph == nil)
    #expect(world.statuses == [2, 2, 2, 2])
  }

  @Test func theCommandLineOutweighsTheSettings() {
    world.settings = own { file in
      file.keys = ["quit": [.character("Q")]]
      file.colors = ["failed": Style(.indexed(208))]
      file.background = .light
      file.notify = .message
      file.usesMouse = false
      file.isASCII = true
    }
    world.environment = Environment(
      variables: ["HOME": "/h", "TERM": "xterm-256color", "LANG": "C.UTF-8"], inputIsTerminal: true,
      outputIsTerminal: true, currentDirectory: "/w")
    world.perform("run a.yml")
    #expect(world.viewOptions?.settings.keys == ["quit": [.character("Q")]])
    #expect(world.viewOptions?.settings.looks == ["failed": Style(.indexed(208))])
    #expect(world.viewOptions?.settings.notice == .message)
    #expect(world.viewOptions?.settings.hasMouse == false)
    #expect(world.viewOptions?.traits == ScreenTraits(isASCII: true, palette: .many, background: .light))
    #expect(world.viewOptions?.asksBackground == false)
    world.perform("run a.yml --notify none --background auto")
    #expect(world.viewOptions?.settings.notice == EndNotice.none)
    #expect(world.viewOptions?.traits.background == .unknown)
    #expect(world.viewOptions?.asksBackground == true)
  }

  @Test func keysPrintsEveryActionAndMarksTheChanged() {
    world.settings = own { $0.keys = ["kill": [.character("x"), .control("k")], "log": []] }
    world.perform("keys")
    let lines = world.output.text.split(separator: "\n").map(String.init)
    #expect(lines.contains("* x ^K       kill              kill now, without grace"))
    #expect(lines.contains("* F9         cancel            cancel"))
    #expect(lines.contains("* none       log               log: half, full, off"))
    #expect(lines.contains("  q F10      quit              quit; asks while jobs run"))
    #expect(lines.last == "* changed by /h/.config/opdash/config.yaml")
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(world.statuses == [0])
  }

  @Test func theCommandLineDecidesWhatExecutesTheJobs() {
    world.text = "jobs: { a: { run: ls, slurm: { cpus: 2 } }, b: { download: http://h/x } }"
    world.perform("run a.yml --on slurm")
    #expect(world.graph?.jobs.map(\.cluster) == [ClusterTerms(cpus: 2), nil])
    #expect(world.checked == world.graph)
    let second = World()
    second.text = "on: slurm\njobs: { a: { run: ls } }"
    second.perform("run a.yml --on=local")
    #expect(second.graph?.jobs.map(\.cluster) == [nil])
    let third = World()
    third.text = second.text
    third.perform("run a.yml")
    #expect(third.graph?.jobs.map(\.cluster) == [ClusterTerms()])
  }

  @Test func whatStaysOnThisMachineIsSaid() {
    world.text = "jobs: { a: ls, b: { download: http://h/x }, c: { run: ls, tty: true } }"
    world.perform("run a.yml --on slurm")
    let words = "(a terminal, a service, or other work than 'run')"
    #expect(world.errors.text.contains("opdash: stay on this machine: b, c \(words)\n"))
    #expect(world.graph != nil)
    let local = World()
    local.text = world.text
    local.perform("run a.yml --on local")
    #expect(!local.errors.text.contains("stay on this machine"))
    let all = World()
    all.text = "jobs: { b: { download: http://h/x } }"
    all.perform("run a.yml --on slurm")
    #expect(
      all.errors.text == "opdash: --on slurm: no job can leave this machine: "
        + "a cluster executes 'run' jobs, without services and 'tty: true'; leave '--on slurm' out\n")
    #expect(all.statuses == [2] && all.graph == nil)
  }

  @Test func nothingStartsWithoutTheCluster() {
    world.text = "on: slurm\njobs: { a: { run: ls } }"
    world.clusterFault = UsageError("Slurm is not on this machine")
    world.perform("run a.yml --ui plain")
    #expect(world.errors.text == "opdash: Slurm is not on this machine\n")
    #expect(world.statuses == [2])
    #expect(!world.isStarted && world.graph == nil)
  }

  @Test func theCommandLineOutweighsTheFileAndTheFileTheMachine() {
    world.perform("run a.yml")
    #expect(world.options?.slots == 7 && world.options?.onFailure == .keepGoing)
    #expect(world.options?.stateFolder == "/h/.local/state/opdash")
    world.loaded = .success(JobGraph(name: "g", slots: 3, onFailure: .stopNow))
    let second = World()
    second.loaded = world.loaded
    second.perform("run a.yml")
    #expect(second.options?.slots == 3 && second.options?.onFailure == .stopNow)
    let third = World()
    third.loaded = world.loaded
    third.perform("run a.yml -j9 --on-failure finish-running --state=s")
    #expect(third.options?.slots == 9 && third.options?.onFailure == .finishRunning)
    #expect(third.options?.stateFolder == "/w/s")
    let origin = RunOrigin(
      command: "run", words: ["run", "a.yml", "-j9", "--on-failure", "finish-running", "--state=s"], file: "/w/a.yml",
      directory: "/w", slots: 9, onFailure: "finish-running")
    #expect(third.options?.origin == origin)
  }

  @Test func aRunInPlainLinesEndsWithTheStatusOfItsJobs() async {
    obey()
    world.perform("run a.yml")
    #expect(world.isStarted)
    world.feed.begin(1)
    state(.executing)
    state(.failed(JobFailure(.exit(2), "exit 2"), allowed: false))
    #expect(await ends(with: 1))
    #expect(world.output.text.contains("! job0  failed: exit 2"))
    #expect(world.errors.text == "")
  }

  @Test func jsonGoesToStandardOutputAndQuietSpeaksOnStandardErrorOnly() async {
    for (mode, hasOutput) in [("json", true), ("quiet", false)] {
      let world = World()
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
    obey()
    world.perform("run a.yml")
    world.feed.begin(1)
    state(.executing)
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
    state(.cancelled(by: .signal))
    #expect(await ends(with: 143))
  }

  @Test func aReaderThatGoesEndsTheRunAsSIGPIPEWould() async {
    obey()
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
    state(.executing)
    #expect(await ends(with: 141))
    #expect(world.errors.text == "")
  }

  @Test func theDashboardIsLeftWithASummaryOnStandardError() async {
    obey()
    (world.environment.inputIsTerminal, world.environment.outputIsTerminal) = (true, true)
    world.environment.variables["TERM"] = "xterm"
    world.perform("run a.yml --color never")
    world.feed.begin(1)
    state(.succeeded(upToDate: false))
    #expect(world.feed.commands.isEmpty)
    world.view?.whenDone?(.complete)
    #expect(await ends(with: 0))
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

  private func performOnTerminal(_ line: String) {
    (world.environment.inputIsTerminal, world.environment.outputIsTerminal) = (true, true)
    world.environment.variables["TERM"] = "xterm"
    world.perform(line)
  }

  @Test func ctrlCAtARunThatIsOverLeavesWithTheStatusOfTheRun() async {
    obey()
    performOnTerminal("run a.yml")
    world.feed.begin(1)
    state(.failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    world.session?.receive(.interrupt)
    #expect(await ends(with: 1))
    #expect(world.feed.commands == [.finish(signal: nil)])
  }

  @Test func aDashboardThatIsAbandonedLeavesWorkAndSaysSo() {
    performOnTerminal("run a.yml")
    world.feed.begin(1)
    state(.executing)
    world.view?.whenDone?(.abandoned)
    #expect(world.statuses == [3])
    #expect(world.errors.text == "test: 1 not run in 0.0s\n")
  }

  @Test func aTerminalThatGoesAwayIsAHangup() async {
    obey()
    performOnTerminal("run a.yml")
    world.feed.begin(1)
    state(.executing)
    world.view?.whenDone?(.terminalClosed)
    #expect(world.feed.commands == [.stop(.terminate, by: .signal)])
    state(.cancelled(by: .signal))
    #expect(await ends(with: 129))
  }

  @Test func aScenarioEndsWithWhatItShowedAndCleansUp() async {
    obey()
    world.perform("demo tour")
    world.feed.begin(1)
    #expect(world.cleanUps == 0)
    state(.succeeded(upToDate: false))
    #expect(await ends(with: 0))
    #expect(world.output.text.hasSuffix("test: 1 ok in 0.0s\nit showed 1\n"))
    #expect(world.cleanUps == 1)
  }

  @Test func aScenarioThatCannotBeginCleansUpToo() {
    world.perform("demo tour --trace /nowhere/x")
    #expect(world.statuses == [2])
    #expect(world.cleanUps == 1)
  }

  @Test func theScenariosAreListedOnStandardOutput() {
    world.perform("demo")
    #expect(world.output.text.contains("collect              content creation"))
    #expect(world.statuses == [0])
  }

  @Test(arguments: ["collect", "diamond", "flaky-network", "stress"])
  func everyScenarioGivesAGraphInAFolderOfItsOwn(_ name: String) throws {
    let plan = try RunPlan.scenario(name, Environment(variables: ["HOME": "/h"]))
    defer { plan.cleanUp() }
    guard case .graph(let graph) = plan.subject else {
      Issue.record("\(name) has no graph")
      return
    }
    #expect(!graph.jobs.isEmpty)
    #expect(plan.source == name)
  }

  @Test func aScenarioWithAQueueOfItsOwnTakesNoSlots() throws {
    let plan = try RunPlan.scenario("priorities", Environment(variables: ["HOME": "/h"]))
    defer { plan.cleanUp() }
    world.plan = plan
    world.perform("demo priorities -j 3")
    #expect(world.statuses == [2])
    #expect(world.errors.text.contains("priorities has a queue of its own: it takes neither --slots nor --on-failure"))
    // Its operations are freed when they have finished.
    guard case .live(let feed, let start) = plan.subject else { return }
    start()
    feed.send(.stop(.terminate, by: .signal))
    #expect(eventually { feed.snapshot.isComplete })
  }

  @Test func anUnknownScenarioIsNamedWithTheNearest() {
    #expect(throws: UsageError("there is no scenario 'colect': did you mean 'collect'?")) {
      try RunPlan.scenario("colect", Environment(variables: [:]))
    }
  }

  @Test func getMakesAJobOfEachURLOnTheLineAndInTheList() throws {
    let folder = NSTemporaryDirectory() + "opdash-get-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    world.perform("get http://h/a -i list -d \(folder)/new")
    #expect(world.graph?.jobs.map(\.name) == ["a", "listed"])
    // By the first download that writes into it.
    #expect(!FileManager.default.fileExists(atPath: "\(folder)/new"))
  }

  @Test func getsFolderIsNoFile() {
    world.perform("get http://h/a -d /dev/null")
    #expect(world.errors.text == "opdash: --dir takes a folder; /dev/null is a file\n")
    #expect(world.statuses == [2])
  }

  @Test func aDownloadMakesOneLine() async {
    obey()
    world.perform("get http://h/a")
    world.feed.begin(1)
    state(.executing)
    world.feed.post(.jobLog(JobID(0), attempt: 1, LogLine(.note, "GET /a 200")))
    world.feed.post(.jobProgress(JobID(0), JobProgress(done: 2048, total: 2048, unit: .bytes)))
    state(.succeeded(upToDate: false))
    #expect(await ends(with: 0))
    #expect(world.output.text.split(separator: "\n").filter { $0.contains("job0") }.count == 1)
    #expect(world.output.text.contains("+ job0  [1/1] ok in 0.0s, 2.0 KB"))
  }

  @Test func aDryRunPrintsAndStartsNothing() {
    world.perform("run a.yml -n --set ver=2 -j2")
    #expect(world.vars == ["ver": "2"])
    #expect(world.output.text == "g: 1 of 1 job would run, 2 slots\n  1  job0  simulate 0s\n")
    #expect(world.graph == nil)
    #expect(world.statuses == [0])
    let get = World()
    get.perform("get http://h/a?token=x -d /w -n")
    #expect(get.output.text == "get: 1 of 1 job would run, 5 slots\n  1  a  download http://h/a?token=*** to /w/a\n")
    #expect(get.graph == nil)
  }

  @Test func aDryRunOfAQueueOfItsOwnIsRefused() throws {
    world.plan = RunPlan(subject: .live(world.feed, start: {}), source: "priorities", cleanUp: {})
    world.perform("demo priorities -n")
    #expect(world.statuses == [2])
    #expect(world.errors.text.contains("priorities has a queue of its own"))
  }

  @Test func jobsAreListedWithTheirWork() {
    world.perform("list a.yml")
    #expect(world.output.text == "job0  simulate 0s\n")
    #expect(world.path == "a.yml")
    #expect(world.statuses == [0])
  }

  @Test func aGraphIsPrintedAndItsFaultsAreThoseOfTheFile() {
    world.perform("graph a.yml")
    #expect(world.output.text == "g: 1 job, 0 needs\njob0  simulate\n")
    world.perform("graph a.yml job0 --format mermaid")
    #expect(world.output.text.hasSuffix("flowchart LR\n  j0(\"job0\")\n"))
    #expect(world.statuses == [0, 0])
    world.perform("graph a.yml jbo0")
    #expect(world.errors.text == "opdash: a.yml has no job 'jbo0': did you mean 'job0'?\n")
    world.loaded = .failure(Faults(lines: ["a.yml:1:2: one"]))
    world.perform("graph a.yml")
    #expect(world.errors.text.hasSuffix("\na.yml:1:2: one\n"))
    #expect(world.statuses == [0, 0, 2, 2])
  }

  @Test func theSchemaIsPrintedAsJSON() throws {
    world.perform("schema")
    let schema = try JSONSerialization.jsonObject(with: Data(world.output.text.utf8)) as? [String: Any]
    #expect(schema?["title"] as? String == "opdash job file")
    #expect(world.output.text == JobFileSchema.json() + "\n")
    #expect(world.statuses == [0])
  }

  @Test func aFoundFileIsReadAndSaidWhereItIsAbove() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.file("a"), withIntermediateDirectories: false)
    try Data().write(to: folder.file("opdash.yml"))
    world.environment.currentDirectory = folder.url.path()
    world.perform("check")
    #expect(world.output.text == "opdash.yml: 1 job, no faults\n")
    #expect(world.errors.text == "")
    world.environment.currentDirectory = folder.file("a").path()
    world.perform("run job0 -n")
    #expect(world.path == "../opdash.yml")
    #expect(world.errors.text == "opdash: the job file is ../opdash.yml\n")
    world.perform("run jbo0")
    #expect(world.errors.text.hasSuffix("opdash: ../opdash.yml has no job 'jbo0': did you mean 'job0'?\n"))
  }

  @Test func aCompletionScriptGetsTheJobsAndNoFault() {
    world.perform("__complete run a.yml jo")
    #expect(world.output.text == "job0\tsimulate 0s\n")
    let faulty = World()
    faulty.loaded = .failure(Faults(lines: ["a.yml:1:2: one"]))
    faulty.perform("__complete run a.yml jo")
    #expect(faulty.output.text == "" && faulty.errors.text == "")
    #expect(faulty.statuses == [0])
  }

  @Test func aTraceFileThatCannotBeWrittenStartsNothing() {
    world.perform("run a.yml --trace /nowhere/x")
    #expect(world.errors.text == "opdash: can't write /nowhere/x: No such file or directory\n")
    #expect(world.graph == nil)
    #expect(world.statuses == [2])
  }

  @Test func twoReportsInOneFileAreRefused() {
    world.perform("run a.yml --trace /w/./x --junit /w/x --events /w/y")
    #expect(world.errors.text == "opdash: --junit and --trace name one file, /w/x: give each its own\n")
    #expect(world.graph == nil)
    #expect(world.statuses == [2])
  }

  @Test(arguments: ["run a.yml --events F", "run a.yml --trace ./G", "get -i F --junit F", "report last --html F"])
  func aFileThatTheCommandReadsIsNotWrittenToByIt(_ line: String) throws {
    let folder = try TemporaryFolder()
    let own = line.hasPrefix("run") ? "a.yml" : line.hasPrefix("get") ? "F" : "state/opdash/opdash.db"
    try FileManager.default.createDirectory(at: folder.file("state/opdash"), withIntermediateDirectories: true)
    let path = folder.file(own).path()
    try Data("jobs:".utf8).write(to: folder.file(own))
    if own != "F" { #expect(link(path, folder.file("F").path()) == 0) }
    #expect(symlink(path, folder.file("G").path()) == 0)
    world.environment.currentDirectory = folder.url.path()
    world.environment.variables["XDG_STATE_HOME"] = folder.file("state").path()
    world.perform(line)
    #expect(world.errors.text.hasSuffix(" \(path), which this command reads: name another file\n"))
    #expect(world.errors.text.hasPrefix("opdash: --"))
    #expect(world.graph == nil && world.statuses == [2])
    #expect(try String(contentsOf: folder.file(own), encoding: .utf8) == "jobs:")
  }

  @Test func aDownloadDoesNotReplaceTheFileThatNamesIt() throws {
    let folder = try TemporaryFolder()
    try Data("http://h/list".utf8).write(to: folder.file("list"))
    let path = folder.file("list").path()
    world.text = "jobs: { fetch: { download: { url: 'http://h/list', to: '\(path)' } } }"
    world.perform("run \(path)")
    let fault = "the file \(path) of job fetch is the job file \(path), which this command reads: name another file"
    #expect(world.errors.text == "opdash: \(fault)\n")
    #expect(world.graph == nil && world.statuses == [2])
  }

  @Test func withoutAHomeThePlaceOfTheRecordsMustBeGiven() {
    world.environment.variables = [:]
    world.perform("run a.yml")
    #expect(world.statuses == [2])
    #expect(world.errors.text.contains("--state DIR"))
  }
}

/// An unnamed file in place of an output.
///
/// It stays open: a session that its test has left may write later, and must not find another test's file at this number.
final class TemporaryFile {
  private(set) var descriptor: Int32

  init() {
    var path = Array((NSTemporaryDirectory() + "/opdash-XXXXXX").utf8CString)
    descriptor = mkstemp(&path)
    unlink(path)
  }

  var text: String {
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  /// Replaces the content; what reads the descriptor begins at its start.
  func write(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
  }

  func replaceWithClosedPipe() {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    close(ends[0])
    close(descriptor)
    descriptor = ends[1]
  }
}
