import Foundation
import JobModel
import Slurm
import Support
import Testing

@testable import JobCluster

/// What a resumed run does with the jobs that earlier runs have left in the cluster.
struct AbandonedClusterJobsTests {
  private let folders: TemporaryFolder

  init() throws {
    folders = try TemporaryFolder()
    for run in ["r", "q"] {
      try FileManager.default.createDirectory(
        at: folders.file("\(run)/cluster"), withIntermediateDirectories: true)
    }
  }

  private func run(_ id: String) -> AbandonedClusterJobs.EarlierRun {
    .init(id: id, folder: folders.file(id).path())
  }

  /// `a` and `b`, which needs it, are jobs of the cluster.
  private static let graph = JobGraph(
    name: "g",
    jobs: ["a", "b"].enumerated().map { index, name in
      Job(
        name: name, work: .shell(ShellWork(.script("true"), cluster: ClusterRequest())),
        needs: index == 0 ? [] : [JobNeed(JobID(0))])
    })

  /// The jobs of `names` are recorded.
  private func plan(
    _ names: String..., leftOut: [String] = [], restored: Set<JobID> = [], changed: Set<String> = [],
    isOverdue: Bool = false
  ) -> AbandonedClusterJobs.Plan {
    let recorded = Self.graph.jobs.filter { names.contains($0.name) }.map { ($0.name, $0) }
    return AbandonedClusterJobs.Plan(
      graph: Self.graph, restored: restored, leftOut: leftOut, recorded: Dictionary(uniqueKeysWithValues: recorded),
      isSame: { $0.name == $1.name && !changed.contains($0.name) }, isOverdue: { _ in isOverdue })
  }

  private func jobs(
    _ slurm: ListedJobs, _ plan: AbandonedClusterJobs.Plan, runs: [String] = ["r"], absence: String? = nil
  ) throws -> AbandonedClusterJobs {
    try AbandonedClusterJobs(of: runs.map(run), plan, runner: slurm) { absence }
  }

  private func messages(_ body: () throws -> Void) -> [String]? {
    do { try body() } catch { return (error as? ClusterRefusal)?.messages }
    return []
  }

  private func followed(_ run: String, _ number: Int) -> EarlierClusterJob {
    EarlierClusterJob(run: run, folder: folders.file(run).path() + "/cluster", number: number)
  }

  @Test func withoutFilesOfClusterJobsSlurmIsNotAsked() throws {
    let slurm = ListedJobs(nil)
    let runs = [AbandonedClusterJobs.EarlierRun(id: "x", folder: nil), .init(id: "y", folder: "/no/such/folder")]
    let left = try AbandonedClusterJobs(of: runs, plan("a"), runner: slurm) { "absent" }
    #expect(left.followed == [:] && left.ending == nil && slurm.queries == 0)
  }

  @Test func anUnchangedJobIsFollowed() throws {
    let slurm = ListedJobs([ListedJobs.job(7, "RUNNING", attempt: 2)])
    let left = try jobs(slurm, plan("a"))
    #expect(left.followed == [JobID(0): followed("r", 2)] && left.ending == nil)
    try left.cancelOthers()
    #expect(slurm.cancelled == [])
  }

  @Test func theNewestRunThatHasSubmittedAJobCounts() throws {
    let lines = [
      ListedJobs.job(7, "RUNNING", run: "q", attempt: 3), ListedJobs.job(8, "RUNNING", name: "b", attempt: 1),
    ]
    let left = try jobs(ListedJobs(lines), plan("a", "b"), runs: ["r", "q"])
    #expect(left.followed == [JobID(0): followed("q", 3), JobID(1): followed("r", 1)])
  }

  @Test func aChangedJobIsCancelledWithWhatNeedsIt() throws {
    let lines = [ListedJobs.job(7, "RUNNING", attempt: 1), ListedJobs.job(8, "PENDING", name: "b", attempt: 1)]
    let slurm = ListedJobs(lines)
    let left = try jobs(slurm, plan("a", "b", changed: ["a"], isOverdue: true))
    #expect(left.followed == [:])
    #expect(left.ending == "ending 2 cluster jobs of the earlier run: a (7), b (8)")
    try left.cancelOthers()
    #expect(slurm.cancelled == ["scancel", "7", "8"])
  }

  @Test func aRestoredJobAndOneWithARecordedEndAreNotFollowed() throws {
    let lines = [ListedJobs.job(7, "RUNNING", attempt: 1), ListedJobs.job(8, "RUNNING", name: "b", attempt: 1)]
    let left = try jobs(ListedJobs(lines), plan("a", restored: [JobID(0)]))
    #expect(left.followed == [:] && left.ending == "ending 2 cluster jobs of the earlier run: a (7), b (8)")
  }

  @Test func aJobThatWasCancelledIsExecutedAgain() throws {
    let cancelled = ListedJobs.job(7, "CANCELLED", attempt: 1)
    #expect(try jobs(ListedJobs([cancelled]), plan("a")).followed == [:])
    // The second submission of one attempt, the first of which was cancelled, goes on.
    let twice = ListedJobs([cancelled, ListedJobs.job(8, "RUNNING", attempt: 1)])
    #expect(try jobs(twice, plan("a")).followed == [JobID(0): followed("r", 1)])
  }

  /// Slurm forgets it, and the job may have been executed again by then.
  @Test func aCancelledAttemptIsNotFollowedLater() throws {
    for ending in ["claim", "exit"] { try write("0\n", to: "r/cluster/a.1.\(ending)") }
    let left = try jobs(ListedJobs([ListedJobs.job(7, "CANCELLED", attempt: 1)]), plan("a"))
    #expect(left.followed == [:] && left.ending == nil)
    try left.cancelOthers()
    #expect(try jobs(ListedJobs([]), plan("a")).followed == [:])
  }

  @Test func anEndIsKeptUntilAllOthersHaveBeenCancelled() throws {
    for ending in ["claim", "exit", "values"] { try write("0\n", to: "r/cluster/b.1.\(ending)") }
    let slurm = ListedJobs([ListedJobs.job(7, "RUNNING", attempt: 1)], canCancel: false)
    #expect(throws: ClusterRefusal.self) { try jobs(slurm, plan()).cancelOthers() }
    #expect(text("r/cluster/b.1.exit") == "0\n" && text("r/cluster/b.1.values") == "0\n")
    try jobs(ListedJobs([ListedJobs.job(7, "RUNNING", attempt: 1)]), plan()).cancelOthers()
    #expect(text("r/cluster/b.1.exit") == nil && text("r/cluster/b.1.values") == nil)
  }

  /// A run with the facts of the job `a`.
  private func run(
    _ id: String, _ facts: [JobFact], hasFolder: Bool = true, lacks: Set<String> = []
  ) -> AbandonedClusterJobs.EarlierRun {
    var run = Run()
    let start = RunStart(id: id, name: "g", slots: 1, at: .distantPast, jobs: 1)
    for fact in [JobFact.runStarted(start), .jobAdded(JobID(0), Self.graph.jobs[0])] + facts {
      run.apply(JobEvent(seq: run.nextSeq, time: run.time, fact: fact))
    }
    return .init(id: id, folder: hasFolder ? folders.file(id).path() : nil, run: run, withoutValues: lacks)
  }

  private static func state(_ state: JobState) -> JobFact { .jobState(JobID(0), state, attempt: 1, pid: nil) }

  private func isFollowed(_ runs: [AbandonedClusterJobs.EarlierRun]) throws -> Bool {
    try !AbandonedClusterJobs(of: runs, plan("a"), runner: ListedJobs([])) { nil }.followed.isEmpty
  }

  private static let ended: [[JobFact]] = [
    [state(.executing), state(.succeeded(upToDate: false))],
    [
      .jobRestored(JobID(0), EarlierSuccess(run: "o", at: .distantPast, took: .zero)),
      state(.succeeded(upToDate: true)),
    ],
    [state(.executing), .cancelRequested(JobID(0), by: .person, kill: false)],
    // Executed again, by a person or by its policy.
    [state(.executing), state(.failed(JobFailure(.exit(1), "exit 1"), allowed: false)), state(.waiting)],
    [state(.executing), retry],
    // Their next attempt was not submitted.
    [placed("7"), state(.executing), retry, state(.paused(started: false))],
    [placed("7"), state(.executing), retry, state(.ready(for: .cluster(reason: nil)))],
    [
      placed("7"), state(.executing), state(.succeeded(upToDate: false)), state(.waiting),
      state(.ready(for: .cluster(reason: nil))),
    ],
    [
      placed("7"), state(.executing), .cancelRequested(JobID(0), by: .restart, kill: false),
      state(.ready(for: .cluster(reason: nil))),
    ],
  ]
  private static let retry = state(
    .backingOff(until: .zero, number: 1, limit: 2, after: JobFailure(.exit(1), "exit 1")))
  private static func placed(_ id: String) -> JobFact { .jobPlaced(JobID(0), ClusterPlace(id: id)) }

  @Test(arguments: ended.indices) func anAttemptWhoseEndIsRecordedIsNotFollowed(index: Int) throws {
    try write("7 node1\n", to: "q/cluster/a.1.claim")
    let facts = Self.ended[index]
    #expect(try !isFollowed([run("q", facts)]))
    #expect(try !isFollowed([run("r"), run("q", facts)]))
    #expect(try !isFollowed([run("r"), run("s", facts, hasFolder: false), run("q")]))
    #expect(try isFollowed([run("r"), run("q"), run("s", facts, hasFolder: false)]))
  }

  @Test func anAttemptWhoseValuesAreNotRecordedIsFollowed() throws {
    try write("7 node1\n", to: "q/cluster/a.1.claim")
    let facts = [Self.placed("7"), Self.state(.executing), Self.state(.succeeded(upToDate: false))]
    #expect(try isFollowed([run("r"), run("q", facts, lacks: ["a"])]))
  }

  @Test func anAttemptThatTheClusterBeginsAgainIsFollowed() throws {
    try write("7 node1\n", to: "q/cluster/a.1.claim")
    let requeued = [Self.placed("7"), Self.state(.executing), Self.state(.ready(for: .cluster(reason: nil)))]
    #expect(try isFollowed([run("r"), run("q", requeued)]))
  }

  /// The facts of its submission and its start are lost if the program is killed before they are recorded.
  @Test(arguments: 1...3, ["claim", "sent"]) func aRetryThatWasSubmittedIsFollowed(recorded: Int, file: String) throws {
    try write("7 node1\n", to: "q/cluster/a.1.claim")
    try write("8 node1\n", to: "q/cluster/a.2.\(file)")
    let again = [Self.retry, Self.state(.ready(for: .cluster(reason: nil))), Self.placed("8")]
    let runs = [run("r"), run("q", [Self.placed("7"), Self.state(.executing)] + again.prefix(recorded))]
    let left = try AbandonedClusterJobs(of: runs, plan("a"), runner: ListedJobs([])) { nil }
    #expect(left.followed == [JobID(0): followed("q", 2)])
  }

  private static let replaceable: [[JobFact]] = [
    [.cancelRequested(JobID(0), by: .restart, kill: false)], [.cancelRequested(JobID(0), by: .timeout, kill: false)],
    [state(.failed(JobFailure(.exit(1), "exit 1"), allowed: false))], [state(.succeeded(upToDate: false))],
    [.cancelRequested(JobID(0), by: .person, kill: false), state(.cancelled(by: .person))],
  ]

  /// After an end of the attempt a policy, a person or a change may have it executed again.
  @Test(arguments: replaceable.indices) func aSubmissionAfterARecordedEndIsFollowed(index: Int) throws {
    try write("7 node1\n", to: "q/cluster/a.1.claim")
    let runs = [run("r"), run("q", [Self.placed("7"), Self.state(.executing)] + Self.replaceable[index])]
    func followed() throws -> [JobID: EarlierClusterJob] {
      try AbandonedClusterJobs(of: runs, plan("a"), runner: ListedJobs([])) { nil }.followed
    }
    #expect(try followed() == [:])
    try write("8 node1\n", to: "q/cluster/a.2.claim")
    #expect(try followed() == [JobID(0): self.followed("q", 2)])
  }

  /// Slurm has forgotten it.
  @Test func anAttemptThatWasCancelledBeforeItsStartIsNotFollowed() throws {
    try write("", to: "q/cluster/a.1.sent")
    let facts = [Self.placed("7"), Self.state(.cancelled(by: .person))]
    #expect(try !isFollowed([run("r"), run("q", facts)]))
  }

  /// The job that `b` needs is executed before the next resume.
  @Test func anAttemptThatIsNotFollowedIsNotFollowedLater() throws {
    try write("7 node1\n", to: "r/cluster/b.1.claim")
    let slurm = ListedJobs([ListedJobs.job(7, "COMPLETED", name: "b", attempt: 1)])
    #expect(try jobs(slurm, plan("b")).followed == [JobID(1): followed("r", 1)])
    let left = try jobs(slurm, plan("a", "b", isOverdue: true))
    #expect(left.followed == [:])
    try left.cancelOthers()
    #expect(slurm.cancelled == [])
    #expect(try jobs(slurm, plan("b", restored: [JobID(0)])).followed == [:])
  }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: folders.file(name))
  }

  private func text(_ name: String) -> String? { try? String(contentsOf: folders.file(name), encoding: .utf8) }

  /// The controller may accept it after the query, as sbatch may be killed before it answers.
  @Test(arguments: ["r/cluster/a.2.sent", "r/cluster/x.batch"])
  func aSubmissionThatNoQueryListsIsFollowed(file: String) throws {
    try write("b.1\na.2\n", to: file)
    let slurm = ListedJobs([])
    let left = try jobs(slurm, plan("a"))
    #expect(left.followed == [JobID(0): followed("r", 2)] && left.ending == nil)
    try left.cancelOthers()
    #expect(slurm.cancelled == [] && text("r/cluster/a.2.claim") == nil)
    #expect(text("r/cluster/b.1.claim") == (file.hasSuffix("batch") ? "withdrawn\n" : nil))
  }

  @Test func aSubmissionThatIsNotFollowedExecutesNothing() throws {
    try write("", to: "r/cluster/a.1.sent")
    let left = try jobs(ListedJobs([]), plan("a", changed: ["a"]))
    #expect(left.followed == [:] && left.ending == nil)
    try left.cancelOthers()
    #expect(text("r/cluster/a.1.claim") == "withdrawn\n")
    #expect(try jobs(ListedJobs([]), plan("a")).followed == [:])
  }

  /// The first query does not list it, the second one does.
  @Test func aSubmissionThatHasBegunMeanwhileIsCancelled() throws {
    try write("", to: "r/cluster/a.1.sent")
    let slurm = ListedJobs([])
    let left = try jobs(slurm, plan())
    try write("7 node1\n", to: "r/cluster/a.1.claim")
    slurm.list([ListedJobs.job(7, "RUNNING", attempt: 1)])
    try left.cancelOthers()
    #expect(slurm.cancelled == ["scancel", "7"])
  }

  @Test func jobsThatStayOutAreNotEnded() throws {
    let slurm = ListedJobs([ListedJobs.job(7, "RUNNING", attempt: 1)])
    #expect(
      messages { _ = try jobs(slurm, plan("a", leftOut: ["a", "b"])) } == [
        "the cluster still has a job of run r that --failed would end: a: opdash resume without --failed goes on with it"
      ])
    #expect(messages { _ = try jobs(slurm, plan("b", leftOut: ["a"])) } == [])
  }

  @Test func withoutAnAnswerNothingIsStarted() throws {
    let unknown = "whether the run has left cluster jobs is not known, because the Slurm controller does not answer"
    let asked = messages { _ = try jobs(ListedJobs(nil), plan("a")) }
    #expect(asked?.count == 1 && asked?.first?.hasPrefix(unknown) == true)
    let slurm = ListedJobs([ListedJobs.job(7, "RUNNING", attempt: 1)], canCancel: false)
    let told = messages { try jobs(slurm, plan()).cancelOthers() }
    #expect(told?.count == 1 && told?.first?.hasPrefix(unknown) == true)
    #expect(messages { _ = try jobs(slurm, plan("a"), absence: "Slurm is not here") } == ["Slurm is not here"])
  }
}
