import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations
import Processes
import Slurm
import Support
import Testing

@testable import JobCluster

/// A Slurm with one allocation, which says what the test wants.
private final class Allocator: SlurmRunner {
  struct State: Sendable {
    /// The line of the allocation's nodes; nil while the controller does not say them.
    var nodes: String?
    /// The answer to where the allocation stands.
    var standing = SlurmAnswer(.exited(0), output: "JobId=7 JobState=RUNNING NodeList=n1 \n")
    /// What squeue says of each job that was submitted, the first of which is 7.
    var jobs: [Int: String] = [:]
    var submitTime = "T"
    var comments: [String] = []
    var isHeld = false
    var waiting: [@Sendable () -> Void] = []
    var calls: [String] = []
  }

  let state = Lock(State())

  static let silence = SlurmAnswer(.exited(1), error: "Unable to contact slurm controller (connect failure)\n")
  static let gone = SlurmAnswer(.exited(1), error: "slurm_load_jobs error: Invalid job id specified\n")

  func run(_ command: SlurmCommand, _ done: @escaping @Sendable (SlurmAnswer) -> Void) {
    let isHeld = state.withLock { state in
      let words = command.arguments
      state.calls.append(words.prefix(words[0] == "scontrol" ? 4 : 1).joined(separator: " "))
      if let comment = words.first(where: { $0.hasPrefix("--comment=") }) {
        state.comments.append(String(comment.dropFirst("--comment=".count)))
      }
      if state.isHeld { state.waiting.append { done(self.answer(command)) } }
      return state.isHeld
    }
    if !isHeld { done(answer(command)) }
  }

  private func answer(_ command: SlurmCommand) -> SlurmAnswer {
    state.withLock { state in
      switch command.arguments.prefix(4) {
      case ["scontrol", "show", "job", "-d"]:
        state.nodes.map { SlurmAnswer(.exited(0), output: "JobId=7\n   \($0)\n") } ?? Self.silence
      case ["scontrol", "show", "job", "-o"]: state.standing
      case let words where words[0] == "sbatch": SlurmAnswer(.exited(0), output: "\(6 + state.comments.count)\n")
      case let words where words[0] == "squeue":
        SlurmAnswer(
          .exited(0),
          output: state.comments.enumerated().map { place, comment in
            "\(7 + place)\u{1F}\(state.jobs[7 + place] ?? "PENDING\u{1F}None\u{1F}")"
              + "\u{1F}\(state.submitTime)\u{1F}\(comment)\u{1F}\u{1F}allocation\u{1F}0:00\n"
          }.joined())
      default: SlurmAnswer(.exited(0))
      }
    }
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  /// Answers the calls that wait.
  func release() {
    let waiting = state.withLock { state in
      state.isHeld = false
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
  }

  var nodeQuestions: Int { state.withLock { $0.count("scontrol show job -d") } }
  var queries: Int { state.withLock { $0.count("squeue") } }
  var standingQuestions: Int { state.withLock { $0.count("scontrol show job -o") } }
}

extension Allocator.State {
  fileprivate func count(_ call: String) -> Int { calls.count { $0 == call } }
}

private final class Rig: @unchecked Sendable {
  // Safe: the allocation is used on the queue only.
  let slurm = Allocator()
  let clock = ManualOperationClock()
  private let queue = DispatchQueue(label: "test.allocation")
  private let allocation: RunAllocation
  private let told = Lock<[String]>([])

  init(
    _ clusterRequest: ClusterRequest? = nil, in surrounding: SlurmJobID? = SlurmJobID(7), isInStep: Bool = false,
    folder: TemporaryFolder? = nil
  ) {
    let (slurm, clock, told) = (slurm, clock, told)
    let path = folder?.file("jobs").path() ?? "/"
    let observer = SlurmObserver(run: "r", folder: path, runner: slurm, clock: clock)
    allocation = RunAllocation(
      clusterRequest, in: surrounding, isInStep: isInStep, run: "r", runner: slurm, clock: clock, queue: queue,
      observer: { observer }, tell: { event in told.withLock { $0.append(Self.words(event)) } })
  }

  private static func words(_ event: RunAllocation.Event) -> String {
    switch event {
    case .waits(let reason): "waits\(reason.map { ": \($0)" } ?? "")"
    case .held(let nodes): "held " + nodes.map(\.name).joined(separator: " ")
    case .ended(let failure): "ended: \(failure.reason)"
    case .released: "released"
    }
  }

  @discardableResult
  func perform<Value>(_ body: (RunAllocation) -> Value) -> Value {
    let value = queue.sync { body(allocation) }
    settle()
    return value
  }

  /// Each answer puts the next step behind it in the queue.
  func settle() { for _ in 0..<8 { queue.sync {} } }

  func advance(by duration: Duration) {
    clock.advance(by: duration)
    settle()
  }

  var events: [String] { told.withLock(\.self) }
  var id: Int? { perform { $0.id?.number } }

  /// Whether this becomes the newest event while time goes on.
  func tells(_ event: String) -> Bool {
    eventually {
      advance(by: .milliseconds(50))
      return events.last == event
    }
  }

  /// Asks about the allocation; returns how it was answered, in words.
  func explain() -> @Sendable () -> [String] {
    let answers = Lock<[String]>([])
    perform { $0.explain(SlurmJobID(7)) { failure in answers.withLock { $0.append(failure?.reason ?? "held") } } }
    return { answers.withLock(\.self) }
  }
}

@Suite struct RunAllocationTests {
  private static let line = "Nodes=n[1-2] CPU_IDs=0-1 Mem=500 GRES="
  private let rig = Rig()

  // MARK: Nodes

  @Test func theNodesOfTheSurroundingAllocationAreAskedFor() {
    rig.slurm.change { $0.nodes = Self.line }
    rig.perform { $0.request() }
    #expect(rig.events == ["held n1 n2"] && rig.id == 7)
    #expect(rig.slurm.nodeQuestions == 1 && rig.slurm.standingQuestions == 0)
    #expect(rig.clock.due == [])
  }

  @Test func nodesThatAreNotSaidAreAskedFor30Times() {
    rig.perform { $0.request() }
    for count in 1..<30 {
      #expect(rig.slurm.nodeQuestions == count && rig.events == [])
      rig.advance(by: .milliseconds(999))
      #expect(rig.slurm.nodeQuestions == count)
      rig.advance(by: .milliseconds(1))
    }
    #expect(rig.slurm.nodeQuestions == 30)
    #expect(rig.events == ["ended: scontrol does not say which nodes allocation 7 has"])
    #expect(rig.clock.due == [] && rig.id == nil)
  }

  @Test func anAnswerMakesTheCountBeginAgain() {
    func ask(_ times: Int) {
      rig.perform { $0.request() }
      for _ in 1..<times { rig.advance(by: .seconds(1)) }
    }
    ask(29)
    rig.slurm.change { $0.nodes = Self.line }
    rig.advance(by: .seconds(1))
    #expect(rig.events == ["held n1 n2"])
    rig.slurm.change { $0.nodes = nil }
    ask(29)
    #expect(rig.events == ["held n1 n2"])
    rig.advance(by: .seconds(1))
    #expect(rig.events.count == 2)
  }

  @Test func aControllerThatDoesNotAnswerIsWaitedFor() {
    rig.slurm.change { $0.standing = Allocator.silence }
    rig.perform { $0.request() }
    for count in 1...40 {
      #expect(rig.slurm.standingQuestions == count && rig.slurm.nodeQuestions == 1)
      rig.advance(by: .seconds(1))
    }
    rig.slurm.change { state in
      state.standing = Allocator.State().standing
      state.nodes = Self.line
    }
    rig.advance(by: .seconds(1))
    #expect(rig.events == [])
    rig.advance(by: .seconds(1))
    #expect(rig.events == ["held n1 n2"])
  }

  @Test func anAnswerThatComesAfterTheReleaseIsIgnored() {
    rig.slurm.change { state in
      state.isHeld = true
      state.nodes = Self.line
    }
    rig.perform { $0.request() }
    rig.perform { $0.release() }
    rig.slurm.release()
    rig.settle()
    #expect(rig.events == [] && rig.id == nil)
    #expect(!rig.perform(\.isReleasing))
  }

  // MARK: The end

  @Test(
    arguments: [
      ("TIMEOUT", "time limit of the allocation"), ("CANCELLED", "its allocation was cancelled in Slurm"),
      ("COMPLETED", "its allocation has ended"), ("FAILED", "its allocation has ended"),
      ("OUT_OF_MEMORY", "its allocation has ended"), ("NODE_FAIL", "lost its node n1"), ("PREEMPTED", "preempted"),
    ])
  func theEndOfTheAllocationIsThatOfItsSteps(state: String, reason: String) {
    rig.slurm.change {
      $0.standing = SlurmAnswer(.exited(0), output: "JobId=7 JobState=\(state) ExitCode=1:0 NodeList=n1 \n")
    }
    rig.perform { $0.request() }
    #expect(rig.events == ["ended: \(reason)"] && rig.id == nil)
  }

  @Test func anAllocationThatHasEndedIsNotAskedForAgain() {
    rig.slurm.change { $0.standing = Allocator.gone }
    rig.perform { $0.request() }
    #expect(rig.events.count == 1 && rig.events[0].hasPrefix("ended: job 7 had begun"))
    rig.perform { $0.request() }
    #expect(rig.events.count == 2 && rig.events[1] == rig.events[0])
    #expect(rig.slurm.nodeQuestions == 1 && rig.slurm.standingQuestions == 1)
  }

  @Test func questionsThatComeTogetherAreOne() {
    rig.slurm.change { state in
      state.nodes = Self.line
      state.isHeld = true
    }
    let answers = [rig.explain(), rig.explain()]
    #expect(rig.slurm.standingQuestions == 1)
    rig.slurm.release()
    rig.settle()
    #expect(answers.map { $0() } == [["held"], ["held"]])
    // It may have ended since then.
    #expect(rig.explain()() == ["held"])
    #expect(rig.slurm.standingQuestions == 2 && rig.events == [])
  }

  @Test func aQuestionIsAnsweredOnceItIsKnownHowTheAllocationStands() {
    rig.slurm.change { $0.standing = Allocator.silence }
    let first = rig.explain()
    rig.advance(by: .milliseconds(999))
    let second = rig.explain()
    #expect(first() == [] && rig.slurm.standingQuestions == 1)
    rig.slurm.change { $0.standing = SlurmAnswer(.exited(0), output: "JobId=7 JobState=TIMEOUT NodeList=n1 \n") }
    rig.advance(by: .milliseconds(1))
    let reason = "time limit of the allocation"
    #expect(first() == [reason] && second() == [reason])
    #expect(rig.explain()() == [reason])
    #expect(rig.events == ["ended: \(reason)"] && rig.slurm.standingQuestions == 2)
    #expect(rig.clock.due == [])
  }

  // MARK: Steps

  private func step(
    _ clusterRequest: ClusterRequest, _ launch: ProcessLaunch = ProcessLaunch(["make", "all"])
  ) -> (launch: ProcessLaunch, step: RunAllocation.Step) {
    rig.slurm.change { $0.nodes = Self.line }
    rig.perform { $0.request() }
    return rig.perform { $0.step(launch, clusterRequest, ticket: 3, node: "n2") }
  }

  @Test func aStepHasWhatItsJobAsksFor() {
    let modest = step(ClusterRequest()).launch.arguments
    for word in [
      "--jobid=7", "--job-name=opdash/r/3", "--nodelist=n2", "--cpus-per-task=1", "--mem=0", "--gres=none",
    ] { #expect(modest.contains(word), "\(word)") }
    #expect(modest.suffix(2) == ["make", "all"])
    let greedy = step(ClusterRequest(cpus: 4, memory: 100, gpus: 2)).launch.arguments
    for word in ["--cpus-per-task=4", "--mem=100M", "--gpus=2"] { #expect(greedy.contains(word), "\(word)") }
  }

  /// Slurm gives the processors of the step that this program is in to no other step.
  @Test func aStepSharesProcessorsWithTheOneOfThisProgramOnly() throws {
    func overlaps(_ rig: Rig) -> Bool {
      rig.perform { $0.step(ProcessLaunch(["make"]), ClusterRequest(), ticket: 3, node: "n2") }.0.arguments
        .contains("--overlap")
    }
    for isInStep in [true, false] {
      let rig = Rig(isInStep: isInStep)
      rig.slurm.change { $0.nodes = Self.line }
      rig.perform { $0.request() }
      #expect(overlaps(rig) == isInStep)
    }
    let folder = try TemporaryFolder()
    let own = Rig(ClusterRequest(nodes: 2), in: nil, isInStep: true, folder: folder)
    own.slurm.change { state in
      state.nodes = Self.line
      state.jobs[7] = "RUNNING\u{1F}None\u{1F}n[1-2]"
    }
    own.perform { $0.request() }
    #expect(own.tells("held n1 n2") && !overlaps(own))
  }

  @Test func aStepIsStoppedThroughSlurmWhileItsProgramWaits() {
    let own = ProcessLaunch(["a"], stopSignal: SIGINT, grace: .seconds(4))
    let (launch, step) = step(ClusterRequest(), own)
    #expect(launch.stopSignal == SIGCONT && launch.grace == .seconds(4) + StepControl.patience)
    #expect(step.stopSignal == "INT" && step.grace == .seconds(4))
    #expect(step.allocation == SlurmJobID(7) && step.node == "n2" && step.name == "opdash/r/3")
  }

  @Test func whatAStepCannotHaveIsNoted() {
    #expect(step(ClusterRequest(cpus: 4, memory: 100, gpus: 2, nodes: 1)).step.note == nil)
    #expect(
      step(ClusterRequest(nodes: 2)).step.note == "without effect for a step of an allocation: slurm.nodes")
    let all = ClusterRequest(
      nodes: 2, time: .seconds(60), partition: "p", account: "a", qos: "q", constraint: "c", options: ["-x"])
    #expect(
      step(all).step.note == "without effect for a step of an allocation: slurm.nodes, slurm.time, slurm.partition, "
        + "slurm.account, slurm.qos, slurm.constraint, slurm.options")
  }

  // MARK: The run's own allocation

  @Test func anAllocationThatIsRequeuedHasEnded() throws {
    let folder = try TemporaryFolder()
    let rig = Rig(ClusterRequest(nodes: 2), in: nil, folder: folder)
    rig.slurm.change { state in
      state.nodes = Self.line
      state.jobs[7] = "RUNNING\u{1F}None\u{1F}n[1-2]"
    }
    rig.perform { $0.request() }
    #expect(rig.tells("held n1 n2"))
    rig.slurm.change { state in
      state.jobs[7] = "PENDING\u{1F}BeginTime\u{1F}"
      state.submitTime = "U"
    }
    #expect(rig.tells("ended: its allocation was requeued in Slurm") && rig.id == nil)
    #expect(eventually { rig.slurm.state.withLock { $0.count("scancel") } > 0 })
  }

  @Test func theRunsOwnAllocationIsAskedForAndReleased() throws {
    let folder = try TemporaryFolder()
    let rig = Rig(ClusterRequest(nodes: 2), in: nil, folder: folder)
    rig.slurm.change { state in
      state.nodes = Self.line
      state.jobs[7] = "PENDING\u{1F}Resources\u{1F}"
    }
    rig.perform { $0.request() }
    #expect(rig.tells("waits: Resources (other jobs have the nodes)"))
    rig.slurm.change { $0.jobs[7] = "RUNNING\u{1F}None\u{1F}n[1-2]" }
    #expect(rig.tells("held n1 n2") && rig.id == 7)
    rig.perform { $0.release() }
    #expect(rig.id == nil && rig.tells("released"))
    #expect(!rig.perform(\.isReleasing))
    // The end of the first becomes known while the second waits, and is not that of the second.
    rig.perform { $0.request() }
    #expect(rig.tells("waits"))
    rig.slurm.change { $0.jobs[7] = "CANCELLED\u{1F}None\u{1F}n[1-2]" }
    let queries = rig.slurm.queries
    #expect(
      eventually {
        rig.advance(by: .milliseconds(50))
        return rig.slurm.queries > queries + 1
      })
    rig.slurm.change { $0.jobs[8] = "RUNNING\u{1F}None\u{1F}n[1-2]" }
    #expect(rig.tells("held n1 n2") && rig.id == 8)
    #expect(!rig.events.contains { $0.hasPrefix("ended") })
    rig.slurm.change { $0.jobs[8] = "TIMEOUT\u{1F}None\u{1F}n[1-2]" }
    #expect(rig.tells("ended: time limit of the allocation") && rig.id == nil)
  }
}
