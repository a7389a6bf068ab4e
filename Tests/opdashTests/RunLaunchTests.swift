import Dashboard
import Foundation
import JobFiles
import JobModel
import RunStore
import Screen
import Support
import Testing

@testable import Session
@testable import opdash

/// What starts a run, and with which options.
@Suite @MainActor struct RunLaunchTests {
  private let world = ProgramWorld()

  @Test func aFaultyFileStartsNothing() {
    world.loaded = .failure(Faults(lines: ["a.yml:1:2: one"]))
    world.perform("run a.yml")
    #expect(world.errors.text == "a.yml:1:2: one\n")
    #expect(world.output.text == "")
    #expect(world.graph == nil)
    #expect(world.statuses == [2])
  }

  @Test func theCommandLineOutweighsTheSettings() {
    world.own { file in
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

  @Test func theCommandLineOutweighsTheFileAndTheFileTheMachine() {
    world.perform("run a.yml")
    #expect(world.options?.queue.slots == 7 && world.options?.queue.onFailure == .keepGoing)
    #expect(world.options?.stateFolder == "/h/.local/state/opdash")
    var graph = JobGraph(name: "g", slots: 3, onFailure: .stopNow)
    graph.failureLimit = 2
    world.loaded = .success(graph)
    let second = ProgramWorld()
    second.loaded = world.loaded
    second.perform("run a.yml")
    #expect(second.options?.queue.slots == 3 && second.options?.queue.onFailure == .stopNow)
    #expect(second.graph?.failureLimit == 2)
    let third = ProgramWorld()
    third.loaded = world.loaded
    third.perform("run a.yml -j9 --on-failure finish-running --state=s")
    #expect(third.options?.queue.slots == 9 && third.options?.queue.onFailure == .finishRunning)
    #expect(third.graph?.failureLimit == 1)
    #expect(third.options?.stateFolder == "/w/s")
    let origin = RunOrigin(
      command: "run", words: ["run", "a.yml", "-j9", "--on-failure", "finish-running", "--state=s"], file: "/w/a.yml",
      directory: "/w", slots: 9, onFailure: "finish-running")
    #expect(third.options?.origin == origin)
  }

  @Test func whatStaysOnThisMachineIsSaid() {
    world.text = "jobs: { a: ls, b: { download: http://h/x }, c: { run: ls, tty: true } }"
    world.perform("run a.yml --on slurm")
    let words = "(a terminal, a service, or other work than 'run')"
    #expect(world.errors.text.contains("opdash: stay on this machine: b, c \(words)\n"))
    #expect(world.graph != nil)
    let local = ProgramWorld()
    local.text = world.text
    local.perform("run a.yml --on local")
    #expect(!local.errors.text.contains("stay on this machine"))
    let all = ProgramWorld()
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

  @Test func aSignalAfterTheLastJobLeavesNothingToResume() throws {
    let context = CommandContext(
      environment: world.environment, output: Output(world.output.descriptor), errors: Output(world.errors.descriptor),
      end: { _ in })
    var plan = RunPlan(subject: .graph(JobGraph(name: "g")), source: "g")
    plan.isResumable = true
    let launch = RunLaunch(context: context, plan: plan, settings: Settings())
    func offer(_ state: JobState) -> String? {
      let feed = FakeFeed()
      feed.begin(1, run: "r1")
      feed.post(.jobState(JobID(0), state, attempt: 1, pid: nil))
      feed.post(.runFinished(RunSummary(of: feed.run, signal: SIGTERM)))
      return launch.resumption(of: feed.run)
    }
    #expect(offer(.succeeded(upToDate: false)) == nil)
    #expect(offer(.cancelled(by: .signal)) == "resume it with: opdash resume r1")
    #expect(offer(.waiting) != nil)
  }

  @Test func aDryRunPrintsAndStartsNothing() {
    world.perform("run a.yml -n --set ver=2 -j2")
    #expect(world.vars == ["ver": "2"])
    #expect(world.output.text == "g: 1 of 1 job would run, 2 slots\n  1  job0  simulate 0s\n")
    #expect(world.graph == nil)
    #expect(world.statuses == [0])
    let get = ProgramWorld()
    get.perform("get http://h/a?token=x -d /w -n")
    #expect(get.output.text == "get: 1 of 1 job would run, 5 slots\n  1  a  download http://h/a?token=*** to /w/a\n")
    #expect(get.graph == nil)
  }

  @Test func aDryRunNamesWhatAsksUnlessItIsApproved() {
    world.text = "jobs: { a: { run: ls, approve: 'Go?' }, b: { run: ls, approve: 'On?' } }"
    world.perform("run a.yml -n -j2 --approve a")
    #expect(world.output.text == "a: 2 of 2 jobs would run, 2 slots\n  1  a  ls\n  2  b  ls  (asks for approval)\n")
    world.perform("run a.yml -n --approve c")
    #expect(world.errors.text.hasPrefix("opdash: --approve: there is no job 'c'"))
    #expect(world.statuses == [0, 2])
  }

  @Test func aJobThatADryRunSkipsChangesNoFile() throws {
    let folder = try TemporaryFolder()
    let (made, app) = (folder.file("gen.c").path(), folder.file("app").path())
    for path in [made, app] { try Data().write(to: URL(filePath: path)) }
    world.text = """
      vars: { regen: "no" }
      jobs:
        gen: { if: "${regen} == yes", run: ls, creates: [\(made), gen.h] }
        build: { needs: { gen: finished }, run: ls, inputs: \(made), creates: \(app) }
      """
    world.perform("run a.yml -n --explain")
    #expect(
      world.output.text.hasPrefix(
        "a: 0 of 2 jobs would run, 1 up to date, 7 slots\nup to date:\n  build  no input is newer than "))
  }

  @Test func aDryRunOfAQueueOfItsOwnIsRefused() throws {
    world.plan = RunPlan(subject: .live(world.feed, start: {}), source: "priorities", cleanUp: {})
    world.perform("demo priorities -n")
    #expect(world.statuses == [2])
    #expect(world.errors.text.contains("priorities has a queue of its own"))
  }

  @Test func aScenarioWithAQueueOfItsOwnTakesNoSlots() throws {
    let plan = try RunPlan.scenario("priorities", Environment(variables: ["HOME": "/h"]))
    defer { plan.cleanUp() }
    world.plan = plan
    let folder = try TemporaryFolder()
    try Data("old".utf8).write(to: folder.file("report.xml"))
    world.perform("demo priorities -j 3 --junit \(folder.file("report.xml").path())")
    #expect(world.statuses == [2])
    #expect(try String(contentsOf: folder.file("report.xml"), encoding: .utf8) == "old")
    #expect(world.errors.text.contains("priorities has a queue of its own: it takes neither --slots nor --on-failure"))
    // Its operations are freed when they have finished.
    guard case .live(let feed, let start) = plan.subject else { return }
    start()
    feed.send(.stop(.terminate, by: .signal))
    #expect(eventually { feed.snapshot.isComplete })
  }

  @Test func aScenarioThatCannotBeginCleansUpToo() {
    world.perform("demo tour --trace /nowhere/x")
    #expect(world.statuses == [2])
    #expect(world.cleanUps == 1)
  }
}
