import Foundation
import Operations
import Processes
import Support
import Testing

@testable import Slurm

/// Allocations on a Slurm that answers from memory.
@Suite struct SlurmAllocationTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private func answer(_ answer: SlurmAnswer) { bench.slurm.change { $0.canned["scontrol"] = [answer] } }

  private func standing(_ given: SlurmAnswer) -> SlurmAllocation.Standing? {
    answer(given)
    let standing = Lock<SlurmAllocation.Standing?>(nil)
    SlurmAllocation.standing(of: SlurmJobID(12), bench.slurm) { given in standing.withLock { $0 = given } }
    return standing.withLock(\.self)
  }

  private static func job(_ state: String) -> SlurmAnswer {
    SlurmAnswer(
      .exited(0), output: "JobId=12 JobName=a JobState=\(state) Reason=None ExitCode=0:0 NodeList=node1 Comment=b\n")
  }

  @Test(
    arguments: [
      (job("RUNNING"), .held), (job("COMPLETING"), .unknown), (job("PENDING"), .unknown),
      (job("CANCELLED"), .ended(.cancelled)), (job("TIMEOUT"), .ended(.timeLimit)),
      (job("NODE_FAIL"), .ended(.nodeFailure(nodes: "node1"))), (SlurmAnswer(.exited(0)), .unknown),
      (
        SlurmAnswer(.exited(1), error: "slurm_load_jobs error: Invalid job id specified\n"),
        .ended(.lost(hasBegun: true))
      ),
      (FakeSlurm.down, .unknown), (SlurmAnswer(.timedOut), .unknown),
    ] as [(SlurmAnswer, SlurmAllocation.Standing)])
  func theControllerSaysWhereAnAllocationStands(answer: SlurmAnswer, standing: SlurmAllocation.Standing) {
    #expect(self.standing(answer) == standing)
    #expect(bench.slurm.calls(of: "scontrol") == [["scontrol", "show", "job", "-o", "12"]])
  }

  @Test(
    arguments: [
      (SlurmAnswer(.exited(0), output: " Nodes=n[1-2] CPU_IDs=0-3 Mem=100\n"), ["n1", "n2"]),
      (SlurmAnswer(.exited(0), output: "JobState=PENDING\n"), nil),
      (SlurmAnswer(.exited(1), output: " Nodes=n1 CPU_IDs=0 Mem=100\n"), nil),
    ] as [(SlurmAnswer, [String]?)])
  func theNodesOfAnAllocationAreSaidOrNone(answer: SlurmAnswer, names: [String]?) {
    self.answer(answer)
    let told = Lock<[[AllocatedNode]?]>([])
    SlurmAllocation.nodes(of: SlurmJobID(12), bench.slurm) { nodes in told.withLock { $0.append(nodes) } }
    #expect(told.withLock { $0.map { $0?.map(\.name) } } == [names])
  }

  // MARK: Steps

  private func words(_ launch: ProcessLaunch, _ step: SlurmStep) -> [String] {
    let arguments = SlurmAllocation.step(launch, step, of: SlurmJobID(12), run: "r").arguments
    return Array(arguments.drop { $0 != "step" })
  }

  private static let first = ["step", "12", "s", "-Q", "-N1", "-n1", "--jobid=12", "--export=ALL", "--input=none"]

  @Test func aStepHasOneProcessorAndNoGraphicsCardWhereNothingIsSaid() {
    #expect(
      words(ProcessLaunch(["echo", "a b"]), SlurmStep(name: "s", node: "n1")) == Self.first + [
        "--exact", "--job-name=s", "--nodelist=n1", "--cpus-per-task=1", "--mem=0", "--gres=none", "/bin/sh", "-c",
        "unset SLURM_EXIT_ERROR; exec \"$@\"", "step", "echo", "a b",
      ])
  }

  @Test func aStepHasWhatItAsksForAndItsDirectory() {
    let step = SlurmStep(name: "s", node: "n2", cpus: 4, memory: 512, gpus: 1)
    #expect(
      words(ProcessLaunch(["true"], directory: "/work"), step) == Self.first + [
        "--exact", "--job-name=s", "--nodelist=n2", "--cpus-per-task=4", "--mem=512M", "--gpus=1", "--chdir=/work",
        "/bin/sh", "-c", "unset SLURM_EXIT_ERROR; exec \"$@\"", "step", "true",
      ])
  }

  @Test(arguments: [nil: false, "": false, "0": true, "4294967279": true, "4294967290": false] as [String?: Bool])
  func aBatchScriptIsInNoStep(number: String?, isInStep: Bool) {
    #expect(SlurmAllocation.isInStep(number.map { ["SLURM_STEP_ID": $0] } ?? [:]) == isInStep)
  }

  @Test func aStepBesideWhichThisProgramIsDoesNotWaitForItsCPUs() {
    let launch = SlurmAllocation.step(
      ProcessLaunch(["true"]), SlurmStep(name: "s", node: "n1"), of: SlurmJobID(12), run: "r", overlaps: true)
    #expect(launch.arguments.suffix(6).first == "--overlap")
  }

  @Test func aStepThatHasOneStreamHasItOnItsNodeToo() {
    var launch = ProcessLaunch(["echo", "a b"])
    launch.mergesError = true
    let words = words(launch, SlurmStep(name: "s", node: "n1"))
    #expect(
      words.suffix(6) == ["/bin/sh", "-c", "unset SLURM_EXIT_ERROR; exec \"$@\" 2>&1", "step", "echo", "a b"])
  }

  @Test func aStepHasTheMarkOfTheRunAndTimeToEndOnItsNode() {
    let step = SlurmAllocation.step(
      ProcessLaunch(["true"], grace: .seconds(9)), SlurmStep(name: "s", node: "n1"), of: SlurmJobID(12), run: "r")
    #expect(step.arguments.first == "env")
    #expect(step.arguments.contains("OPDASH_RUN=r"))
    #expect(step.arguments.contains { $0.contains("\nexit 254") })
    #expect(step.remoteGrace == .seconds(5))
    #expect(step.grace == .seconds(9))
  }

  /// srun says 0 when its node is lost, which the controller notices later.
  @Test(arguments: [("Name=s", SlurmAllocation.endedStatus), ("Name=s2", 0), ("not found", 0)])
  func aStepThatItsNodeHasNotReportedHasNotEnded(steps: String, status: Int32) throws {
    let folder = try TemporaryFolder()
    try folder.addProgram("srun", "#!/bin/sh\nexit 0\n")
    let state = "echo x >>asked; [ $(wc -l <asked) -lt 3 ] && echo ' JobState=RUNNING ' || echo ' JobState=NODE_FAIL '"
    try folder.addProgram(
      "scontrol",
      "#!/bin/sh\ncd '\(folder.url.path())'\ncase $2 in step) echo ' \(steps) ' ;; job) \(state) ;; esac\n")
    let launch = SlurmAllocation.step(
      ProcessLaunch(["true"]), SlurmStep(name: "s", node: "n1"), of: SlurmJobID(12), run: "r")
    let child = try ChildProcess.run(
      launch.arguments, environment: ["PATH": "\(folder.url.path()):/usr/bin:/bin"])
    #expect(child.ending == .exited(status))
  }

  // MARK: Steps that srun does not create

  private static let refusal = "srun: error: Unable to create step for job 12: Memory required by task is not available"

  /// Runs a step with this `srun`, which has the number of its call in `$call`, and this answer of scontrol.
  private func step(
    _ srun: String, job: String = "echo ' JobState=RUNNING '", merges: Bool = true
  ) throws -> (calls: Int, output: String, ending: ChildProcess.Ending?) {
    let folder = try TemporaryFolder()
    let calls = folder.file("calls").path()
    try folder.addProgram("srun", "#!/bin/sh\necho x >>'\(calls)'\ncall=$(wc -l <'\(calls)')\n\(srun)\n")
    try folder.addProgram("scontrol", "#!/bin/sh\ncase $2 in job) \(job) ;; esac\n")
    try folder.addProgram("sleep", "#!/bin/sh\n")
    var launch = ProcessLaunch(["/bin/sh", "-c", "echo \"${SLURM_EXIT_ERROR-none}\"; echo error >&2; exit 7"])
    launch.mergesError = merges
    let words = SlurmAllocation.step(launch, SlurmStep(name: "s", node: "n1"), of: SlurmJobID(12), run: "r").arguments
    let child = try ChildProcess.run(
      ["/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"] + words,
      environment: ["PATH": "\(folder.url.path()):/usr/bin:/bin"])
    let count = (try? String(contentsOfFile: calls, encoding: .utf8))?.lines.count ?? 0
    return (count, child.output, child.ending)
  }

  /// Executes the program of its step.
  private static let execution = "while [ \"$1\" != /bin/sh ]; do shift; done; exec \"$@\""
  private static let refused = "echo '\(refusal)' >&2; exit \"$SLURM_EXIT_ERROR\""

  /// After a restart the controller creates no steps for some seconds.
  @Test(arguments: [true, false]) func aStepThatSrunCouldNotCreateIsTriedAgain(merges: Bool) throws {
    let end = try step("[ $call -gt 2 ] || { \(Self.refused); }\n\(Self.execution)", merges: merges)
    #expect(end.ending == .exited(7))
    #expect(end.calls == 3)
    #expect(end.output == (merges ? "" : "\(Self.refusal)\n\(Self.refusal)\n") + "none\nerror\n")
  }

  @Test func aStepIsTriedAgainOnlyIfSrunSaysThatThereIsNone() throws {
    let end = try step("echo 'srun: error: other' >&2; exit \"$SLURM_EXIT_ERROR\"")
    #expect(end.calls == 1)
    #expect(end.ending == .exited(253))
    #expect(end.output == "srun: error: other\n")
    // As far as srun passes such a status on.
    #expect(try step("exit 253").calls == 1)
    #expect(try step("echo '\(Self.refusal)' >&2; exit 1").calls == 1)
  }

  @Test func aStepThatIsNeverCreatedIsGivenUpAfterAMinute() throws {
    let end = try step(Self.refused)
    #expect(end.calls == 60)
    #expect(end.ending == .exited(SlurmAllocation.unstartedStatus))
    #expect(end.output == Self.refusal + "\n")
  }

  @Test func aControllerThatIsDownIsWaitedForByAStep() throws {
    let end = try step(
      "[ $call -gt 90 ] || { \(Self.refused); }\n\(Self.execution)",
      job: "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1")
    #expect(end.calls == 91)
    #expect(end.ending == .exited(7))
  }

  @Test(
    arguments: [
      ("echo ' JobState=CANCELLED '", 254), ("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", 253),
    ] as [(String, Int32)])
  func aStepOfAnAllocationThatHasEndedIsNotTriedAgain(job: String, status: Int32) throws {
    let end = try step(Self.refused, job: job)
    #expect(end.calls == 1)
    #expect(end.ending == .exited(status))
  }

  @Test func aStepThatIsToldToEndIsNotTriedAgain() throws {
    #expect(try step("kill -TERM $PPID\n\(Self.refused)").calls == 1)
  }

  // MARK: Holding and releasing

  private func allocation() -> SlurmAllocation {
    let allocation = SlurmAllocation(SlurmResources(nodes: 2), on: bench.observer)
    allocation.operation.start()
    bench.advance(exactly: .milliseconds(500))
    return allocation
  }

  private func run(_ allocation: SlurmAllocation) {
    bench.slurm.setAll("RUNNING", node: "n[1-2]")
    bench.advance(exactly: .seconds(1))
  }

  private var leases: [String] { bench.folder.names(in: "jobs").filter { $0.hasSuffix(".lease") } }

  @Test func anAllocationHasANumberAndStepsWhileItHasNodes() throws {
    let allocation = allocation()
    let call = try #require(bench.slurm.state.withLock { $0.calls.first })
    #expect(call.arguments.contains("--nodes=2"))
    #expect(call.input?.contains("while [ \"$quiet\" -lt 30 ]; do") == true)
    let terms = SlurmStep(name: "s", node: "n1")
    #expect(allocation.id == nil)
    #expect(allocation.step(ProcessLaunch(["true"]), terms) == nil)
    run(allocation)
    #expect(allocation.id == SlurmJobID(1))
    #expect(allocation.step(ProcessLaunch(["true"]), terms)?.arguments.contains("--jobid=1") == true)
    #expect(eventually { leases.count == 1 })
    bench.slurm.setAll("CANCELLED", node: "n[1-2]")
    let isFinished = eventually {
      bench.advance(exactly: .milliseconds(100))
      return allocation.operation.isFinished
    }
    #expect(isFinished)
    #expect(allocation.id == nil)
    #expect(eventually { leases.isEmpty })
  }

  @Test(arguments: [false, true])
  func aReleaseIsDoneWhenSlurmHasTakenIt(isRunning: Bool) {
    let allocation = allocation()
    if isRunning { run(allocation) }
    let count = Lock(0)
    allocation.release { count.withLock { $0 += 1 } }
    #expect(count.withLock(\.self) == 1)
    #expect(bench.slurm.calls(of: "scancel") == [["scancel", "1"]])
    #expect(allocation.operation.isCancelled)
    #expect(eventually { leases.isEmpty })
    bench.advance(exactly: .seconds(3))
    #expect(count.withLock(\.self) == 1)
  }

  @Test func aReleaseThatSlurmDoesNotTakeIsDoneAfterTwoSeconds() {
    let allocation = allocation()
    run(allocation)
    bench.slurm.change { $0.isDown = true }
    let count = Lock(0)
    allocation.release { count.withLock { $0 += 1 } }
    bench.advance(exactly: .milliseconds(1999))
    #expect(count.withLock(\.self) == 0)
    bench.advance(exactly: .milliseconds(1))
    #expect(count.withLock(\.self) == 1)
  }
}

extension SlurmAllocation {
  /// The job number of the allocation; nil before the nodes are allocated and after they are released.
  var id: SlurmJobID? {
    guard case .running(let id, _) = operation.status, !operation.isFinished else { return nil }
    return id
  }

  /// The launch of a program as a step of the allocation; nil while the allocation has no nodes.
  func step(_ launch: ProcessLaunch, _ terms: SlurmStep) -> ProcessLaunch? {
    id.map { Self.step(launch, terms, of: $0, run: "r") }
  }
}
