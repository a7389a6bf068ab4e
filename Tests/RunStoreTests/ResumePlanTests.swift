import Foundation
import JobModel
import RunStore
import Testing

private let earlier = EarlierSuccess(run: "before", at: Date(timeIntervalSince1970: 0), took: .seconds(3))

private func graph(_ jobs: KeyValuePairs<String, [String]>) -> JobGraph {
  let names = jobs.map(\.key)
  return JobGraph(
    name: "test",
    jobs: jobs.map { name, needs in
      Job(
        name: name, work: .simulate(SimulatedWork()),
        needs: needs.compactMap { need in names.firstIndex(of: need).map { JobNeed(JobID($0)) } })
    })
}

/// The jobs of the earlier run, each with its name as its fingerprint.
private func jobs(_ ends: KeyValuePairs<String, EarlierJob.End>) -> [EarlierJob] {
  ends.map { EarlierJob($0.key, $0.value, fingerprint: $0.key) }
}

extension ResumePlan {
  /// The plan of a graph in which the fingerprints of `changed` jobs differ.
  fileprivate init(
    _ earlier: [EarlierJob], _ graph: JobGraph, changed: Set<String> = [], onlyFailed: Bool = false,
    missing: Set<String> = [], inputs: [String: String] = [:]
  ) {
    self.init(
      earlier, graph, fingerprints: graph.jobs.map { changed.contains($0.name) ? "changed" : $0.name },
      onlyFailed: onlyFailed, isThere: { !missing.contains($0) }, inputsHash: { inputs[$0.name] })
  }

  fileprivate var restoredNames: [String] { restored.keys.sorted().map { graph[$0].name } }
  fileprivate var reasons: [String: Reason] {
    Dictionary(uniqueKeysWithValues: again.map { (graph[$0.job].name, $0.reason) })
  }
}

@Suite struct ResumePlanTests {
  private let chain = graph(["a": [], "b": ["a"], "c": ["b"], "d": []])

  @Test func whatSucceededIsNotExecutedAgain() {
    let plan = ResumePlan(
      jobs(["a": .done(earlier), "b": .executing, "c": .waiting, "d": .cancelled]), chain)
    #expect(plan.restoredNames == ["a"])
    #expect(plan.restored[JobID(0)] == earlier)
    #expect(plan.reasons == ["b": .executing, "c": .waiting, "d": .cancelled])
    #expect(!plan.isNothingLeft)
    #expect(plan.graph == chain)
  }

  @Test func nothingIsLeftOfARunThatHasSucceeded() {
    let plan = ResumePlan(
      jobs(["a": .done(earlier), "b": .done(earlier), "c": .done(earlier), "d": .done(earlier)]), chain)
    #expect(plan.isNothingLeft)
  }

  @Test func aJobWhoseValuesOthersReadIsExecutedAgainIfTheyAreNotRecorded() {
    var graph = chain
    graph.jobs[1].outputs = [OutputReference("${jobs.a.path}", job: JobID(0), name: "path")]
    let known = EarlierSuccess(run: "before", at: earlier.at, took: .seconds(3), outputs: ["path": "/a"])
    let unknown = EarlierSuccess(run: "before", at: earlier.at, took: .seconds(3), outputs: nil)
    let ends: (EarlierSuccess) -> [EarlierJob] = {
      jobs(["a": .done($0), "b": .failed, "c": .skipped, "d": .done(unknown)])
    }
    #expect(ResumePlan(ends(known), graph).restored[JobID(0)]?.outputs == ["path": "/a"])
    let plan = ResumePlan(ends(unknown), graph)
    #expect(plan.restoredNames == ["d"])
    #expect(plan.reasons == ["a": .valuesMissing, "b": .failed, "c": .skipped])
  }

  @Test func aChangedJobIsExecutedAgainWithAllThatNeedIt() {
    let plan = ResumePlan(
      jobs(["a": .done(earlier), "b": .done(earlier), "c": .done(earlier), "d": .done(earlier)]), chain,
      changed: ["b"])
    #expect(plan.restoredNames == ["a", "d"])
    #expect(plan.reasons == ["b": .changed, "c": .needed])
  }

  @Test func jobsThatCameToTheFileAreNewAndThoseThatLeftItAreTold() {
    let plan = ResumePlan(jobs(["a": .done(earlier), "old": .failed, "c": .done(earlier)]), chain)
    #expect(plan.reasons == ["b": .new, "c": .needed, "d": .new])
    #expect(plan.removed == ["old"])
  }

  @Test func aFailureThatWasAllowedDoesNotUndoTheJobsAfterIt() {
    let plan = ResumePlan(
      jobs(["a": .failed, "b": .done(earlier), "c": .done(earlier), "d": .failed]), chain)
    #expect(plan.restoredNames == ["b", "c"])
    #expect(plan.reasons == ["a": .failed, "d": .failed])
  }

  @Test func whatNeedsAFailureOrAnyEndIsExecutedAgainWithIt() {
    var jobs = chain
    jobs.jobs[1].needs = [JobNeed(JobID(0), when: .failed)]
    jobs.jobs[3].needs = [JobNeed(JobID(0), when: .finished)]
    let before = [("a", EarlierJob.End.failed), ("b", .done(earlier)), ("c", .done(earlier)), ("d", .done(earlier))]
      .map { EarlierJob($0, $1, fingerprint: $0) }
    let plan = ResumePlan(before, jobs)
    #expect(plan.restored.isEmpty)
    #expect(plan.reasons == ["a": .failed, "b": .needed, "c": .needed, "d": .needed])
  }

  @Test func aJobWhoseOutputIsGoneOrWhoseInputsHaveChangedIsExecutedAgain() {
    var jobs = graph(["made": [], "gone": [], "same": [], "edited": [], "unknown": []])
    jobs.jobs[0].creates = ["/made"]
    jobs.jobs[1].creates = ["/made", "/gone"]
    for index in 2...4 { jobs.jobs[index].inputs = ["/in"] }
    let before = jobs.jobs.map {
      EarlierJob($0.name, .done(earlier), fingerprint: $0.name, inputsHash: $0.name == "unknown" ? nil : "hash")
    }
    let plan = ResumePlan(
      before, jobs, missing: ["/gone"], inputs: ["same": "hash", "edited": "other", "unknown": "hash"])
    #expect(plan.reasons == ["gone": .outputMissing, "edited": .inputsChanged, "unknown": .inputsChanged])
    #expect(plan.restoredInputs == [JobID(0): "hash", JobID(2): "hash"])
  }

  @Test func aSuccessWithoutARecordedFingerprintCountsAsChanged() {
    let plan = ResumePlan([EarlierJob("a", .done(earlier), fingerprint: nil)], graph(["a": []]))
    #expect(plan.reasons == ["a": .changed])
  }

  @Test func onlyFailuresRunAgainWithWhatWasSkippedBecauseOfThem() {
    let all = graph(["ok": [], "lint": ["ok"], "after": ["lint"], "quit": ["ok"], "late": ["quit"], "idle": []])
    let before = jobs([
      "ok": .done(earlier), "lint": .failed, "after": .skipped, "quit": .cancelled,
      "late": .skipped, "idle": .waiting,
    ])
    let plan = ResumePlan(before, all, onlyFailed: true)
    #expect(plan.graph.jobs.map(\.name) == ["ok", "lint", "after"])
    #expect(plan.restoredNames == ["ok"])
    #expect(plan.reasons == ["lint": .failed, "after": .skipped])
    #expect(plan.leftOut == ["quit", "late", "idle"])
    #expect(plan.graph.jobs[2].needs == [JobNeed(JobID(1))])
  }

  @Test func aJobThatAFailureNeedsIsRunThoughItHasNotFailed() {
    let all = graph(["tool": [], "quit": [], "both": ["tool", "quit"], "done": []])
    let before = jobs([
      "tool": .failed, "quit": .cancelled, "both": .skipped, "done": .done(earlier),
    ])
    let plan = ResumePlan(before, all, onlyFailed: true)
    #expect(plan.reasons == ["tool": .failed, "quit": .cancelled, "both": .skipped])
    #expect(plan.restoredNames == ["done"])
    #expect(plan.leftOut.isEmpty)
  }

  @Test func aRunWithoutFailuresHasNothingForOnlyFailed() {
    let plan = ResumePlan(jobs(["a": .done(earlier), "d": .cancelled]), graph(["a": [], "d": []]), onlyFailed: true)
    #expect(plan.isNothingLeft)
    #expect(plan.leftOut == ["d"])
  }

  // MARK: Services

  /// A graph with these services; a need for one is a need for `ready`.
  private func serving(_ jobs: KeyValuePairs<String, [String]>, services: Set<String>) -> JobGraph {
    var all = graph(jobs)
    for index in all.jobs.indices {
      if services.contains(all.jobs[index].name) {
        all.jobs[index].work = .shell(ShellWork(.script("serve"), service: Service()))
      }
      all.jobs[index].needs = all.jobs[index].needs.map { need in
        JobNeed(need.job, when: services.contains(all[need.job].name) ? .ready : .ok)
      }
    }
    return all
  }

  @Test func aServiceServesAgainForTheJobsThatAreExecuted() {
    let all = serving(
      ["disk": [], "db": ["disk"], "migrate": ["db"], "test": ["migrate"], "api": [], "check": ["api"]],
      services: ["disk", "db", "api"])
    let plan = ResumePlan(
      jobs([
        "disk": .done(earlier), "db": .done(earlier), "migrate": .failed, "test": .skipped, "api": .done(earlier),
        "check": .done(earlier),
      ]), all)
    #expect(plan.reasons == ["disk": .used, "db": .used, "migrate": .failed, "test": .skipped])
    #expect(plan.restoredNames == ["api", "check"])
  }

  @Test func aServiceThatNoJobNamesServesAgainForAnyOrdinaryJob() {
    let all = serving(["proxy": [], "a": [], "b": []], services: ["proxy"])
    let ends = jobs(["proxy": .done(earlier), "a": .done(earlier), "b": .failed])
    #expect(ResumePlan(ends, all).reasons == ["proxy": .used, "b": .failed])
    #expect(ResumePlan(ends, all, onlyFailed: true).reasons == ["proxy": .used, "b": .failed])
    let done = jobs(["proxy": .done(earlier), "a": .done(earlier), "b": .done(earlier)])
    #expect(ResumePlan(done, all).isNothingLeft)
  }

  @Test func aServiceServesAgainForAJobOfFinally() {
    var all = serving(["db": [], "a": [], "dump": ["db"]], services: ["db"])
    all.jobs[2].finally = .always
    let plan = ResumePlan(jobs(["db": .done(earlier), "a": .failed, "dump": .done(earlier)]), all)
    #expect(plan.reasons == ["db": .used, "a": .failed, "dump": .final])
  }

  @Test func aServiceThatWasNotNeededIsNoWork() {
    var all = serving(["db": [], "c": ["db"], "a": []], services: ["db"])
    all.jobs[1].condition = JobCondition("false", [[.init("false")]])
    #expect(ResumePlan(jobs(["db": .skipped, "c": .skipped, "a": .done(earlier)]), all).isNothingLeft)
    #expect(ResumePlan(jobs(["db": .skipped, "c": .skipped, "a": .failed]), all).reasons == ["a": .failed])
  }

  // MARK: Jobs that are skipped again

  /// `a`, `page` for its failure, `rep` for any end of `page`, `c` under a condition, and `rep2` for its skip.
  private func withSkips(if text: String = "") -> JobGraph {
    var all = graph(["a": [], "page": [], "rep": [], "c": [], "rep2": [], "x": []])
    all.jobs[1].needs = [JobNeed(JobID(0), when: .failed)]
    all.jobs[2].needs = [JobNeed(JobID(1), when: .finished)]
    all.jobs[3].condition = JobCondition(text, [[.init(text)]])
    all.jobs[4].needs = [JobNeed(JobID(3), when: .notOK)]
    return all
  }

  private func endsWithSkips(x: EarlierJob.End) -> [EarlierJob] {
    jobs([
      "a": .done(earlier), "page": .skipped, "rep": .done(earlier), "c": .skipped, "rep2": .done(earlier), "x": x,
    ])
  }

  @Test func whatIsSkippedAgainMakesNoJobRun() {
    let plan = ResumePlan(endsWithSkips(x: .failed), withSkips())
    #expect(plan.reasons == ["x": .failed])
    #expect(plan.restoredNames == ["a", "rep", "rep2"])
    #expect(ResumePlan(endsWithSkips(x: .done(earlier)), withSkips()).isNothingLeft)
  }

  @Test func whatRuledAJobOutMayHaveChanged() {
    let plan = ResumePlan(endsWithSkips(x: .failed), withSkips(if: "yes"), changed: ["a"])
    #expect(
      plan.reasons == [
        "a": .changed, "page": .skipped, "rep": .needed, "c": .skipped, "rep2": .needed, "x": .failed,
      ])
  }

  @Test func jobsOfFinallyAreNotRunForASkippedJobAlone() {
    var all = withSkips()
    all.jobs += graph(["clean": [], "page2": [], "tell": []]).jobs
    for index in 6...8 { all.jobs[index].finally = index == 7 ? .failed : .always }
    all.jobs[8].needs = [JobNeed(JobID(7), when: .finished)]
    let finals = jobs(["clean": .done(earlier), "page2": .skipped, "tell": .done(earlier)])
    #expect(ResumePlan(endsWithSkips(x: .done(earlier)) + finals, all).isNothingLeft)
    #expect(
      ResumePlan(endsWithSkips(x: .failed) + finals, all).reasons == [
        "x": .failed, "clean": .final, "page2": .skipped, "tell": .final,
      ])
  }

  @Test func aJobForFailuresIsSkippedAgainIfNoneCanCome() {
    var all = graph(["a": [], "b": [], "tell": []])
    all.jobs[2].needs = [JobNeed(JobID(0), when: .anyFailed), JobNeed(JobID(1), when: .anyFailed)]
    #expect(ResumePlan(jobs(["a": .done(earlier), "b": .done(earlier), "tell": .skipped]), all).isNothingLeft)
    #expect(
      ResumePlan(jobs(["a": .done(earlier), "b": .cancelled, "tell": .skipped]), all).reasons
        == ["b": .cancelled, "tell": .skipped])
  }

  @Test func aConditionCountsWithTheValuesThatAreKnown() {
    var all = graph(["a": [], "c": ["a"]])
    all.jobs[1].outputs = [OutputReference("${jobs.a.v}", job: JobID(0), name: "v")]
    all.jobs[1].condition = JobCondition("${jobs.a.v}", [[.init("${jobs.a.v}")]])
    for (value, isLeft) in [("no", false), ("yes", true)] {
      let success = EarlierSuccess(run: "before", at: earlier.at, took: earlier.took, outputs: ["v": value])
      let plan = ResumePlan(jobs(["a": .done(success), "c": .skipped]), all)
      #expect(plan.reasons == (isLeft ? ["c": .skipped] : [:]))
    }
    #expect(ResumePlan(jobs(["a": .failed, "c": .skipped]), all).reasons == ["a": .failed, "c": .skipped])
  }

  @Test func whatNeedsAJobThatNoPersonHasStartedIsSkippedAgain() {
    var all = graph(["deploy": [], "tell": ["deploy"], "a": []])
    all.jobs[0].isManual = true
    #expect(ResumePlan(jobs(["deploy": .skipped, "tell": .skipped, "a": .done(earlier)]), all).isNothingLeft)
    #expect(ResumePlan(jobs(["deploy": .failed, "tell": .skipped, "a": .failed]), all).reasons == ["a": .failed])
  }

  // MARK: finally

  /// `a` and `b` that needs it, `page` for failures, and `clean`.
  private var withFinals: JobGraph {
    var all = graph(["a": [], "b": ["a"], "page": [], "clean": []])
    all.jobs[2].finally = .failed
    all.jobs[3].finally = .always
    return all
  }

  @Test func theJobsOfFinallyFollowWhateverIsExecutedAgain() {
    let plan = ResumePlan(
      jobs(["a": .done(earlier), "b": .failed, "page": .done(earlier), "clean": .done(earlier)]), withFinals)
    #expect(plan.restoredNames == ["a"])
    #expect(plan.reasons == ["b": .failed, "page": .final, "clean": .final])
    #expect(!plan.leavesWork)
  }

  @Test func theJobsOfFinallyAloneAreNoWork() {
    let done = ResumePlan(
      jobs(["a": .done(earlier), "b": .done(earlier), "page": .skipped, "clean": .done(earlier)]), withFinals)
    #expect(done.isNothingLeft)
    let failed = ResumePlan(
      jobs(["a": .done(earlier), "b": .done(earlier), "page": .skipped, "clean": .failed]), withFinals)
    #expect(failed.restoredNames == ["a", "b"])
    #expect(failed.reasons == ["page": .skipped, "clean": .failed])
  }

  @Test func theJobsOfFinallyFollowOnlyTheFailuresToo() {
    var all = withFinals
    all.jobs.insert(Job(name: "quit", work: .simulate(SimulatedWork())), at: 2)
    let before = jobs([
      "a": .done(earlier), "b": .failed, "quit": .cancelled, "page": .done(earlier), "clean": .cancelled,
    ])
    let plan = ResumePlan(before, all, onlyFailed: true)
    #expect(plan.graph.jobs.map(\.name) == ["a", "b", "page", "clean"])
    #expect(plan.reasons == ["b": .failed, "page": .final, "clean": .cancelled])
    #expect(plan.leftOut == ["quit"] && plan.leavesWork)
    // One that reads a value of a job that stays out can't run.
    all.jobs[4].outputs = [OutputReference("${jobs.quit.x}", job: JobID(2), name: "x")]
    let without = ResumePlan(before, all, onlyFailed: true)
    #expect(without.graph.jobs.map(\.name) == ["a", "b", "page"])
    #expect(without.leftOut == ["quit", "clean"])
  }

  @Test func onlyFailuresWithoutOneRunNoJobOfFinally() {
    let before = jobs(["a": .done(earlier), "b": .cancelled, "page": .skipped, "clean": .done(earlier)])
    #expect(ResumePlan(before, withFinals, onlyFailed: true).isNothingLeft)
  }

  @Test func aPlanOfAHundredThousandJobsRestoresAllThatAreDone() {
    let count = 100_000
    let all = JobGraph(
      name: "many",
      jobs: (0..<count).map { index in
        Job(
          name: "\(index)", work: .simulate(SimulatedWork()),
          needs: index == 0 ? [] : [JobNeed(JobID(index - 1)), JobNeed(JobID(index / 2))])
      })
    let before = all.jobs.enumerated().map { index, job in
      EarlierJob(job.name, index < 90_000 ? .done(earlier) : .waiting, fingerprint: job.name)
    }
    let plan = ResumePlan(before, all)
    #expect(plan.restored.count == 90_000)
    #expect(plan.again.count == 10_000)
  }

  @Test(
    arguments: [
      (nil, false, false), (.changed, true, true), (.inputsChanged, true, true), (.outputMissing, true, true),
      (.valuesMissing, true, true), (.needed, true, true), (.final, true, true),
      (.new, true, true), (.failed, false, true),
      (.executing, false, true), (.cancelled, false, true), (.skipped, false, true), (.waiting, false, true),
      (.used, false, true),
    ] as [(ResumePlan.Reason?, Bool, Bool)])
  func aNeedIsOverdueByTheReason(reason: ResumePlan.Reason?, ofSuccess: Bool, ofAnyEnd: Bool) {
    for condition in JobNeed.Condition.allCases {
      let expected = condition == .ok ? ofSuccess : ofAnyEnd
      #expect(ResumePlan.isOverdue(JobNeed(JobID(0), when: condition), reason) == expected)
    }
  }

  @Test func inputsAreHashedOnlyWhereTheyDecide() {
    var all = graph(["plain": [], "read": [], "changed": [], "gone": [], "failed": [], "unknown": []])
    for index in 1..<6 { all.jobs[index].inputs = ["/in"] }
    all.jobs[3].creates = ["/gone"]
    let before = all.jobs.map { job in
      EarlierJob(
        job.name, job.name == "failed" ? .failed : .done(earlier), fingerprint: job.name,
        inputsHash: job.name == "unknown" ? nil : "hash")
    }
    var asked: [String] = []
    let plan = ResumePlan(
      before, all, fingerprints: all.jobs.map { $0.name == "changed" ? "other" : $0.name }, isThere: { _ in false },
      inputsHash: { job in
        asked.append(job.name)
        return "hash"
      })
    #expect(asked == ["read"])
    #expect(plan.restoredNames == ["plain", "read"])
    #expect(plan.restoredInputs == [JobID(0): "hash", JobID(1): "hash"])
    #expect(plan.again.map(\.job.index) == [2, 3, 4, 5])
    #expect(plan.again.map(\.reason) == [.changed, .outputMissing, .failed, .inputsChanged])
  }

  @Test func ofTwoEarlierJobsOfOneNameTheFirstCounts() {
    let before = [
      EarlierJob("a", .done(earlier), fingerprint: "a"), EarlierJob("a", .failed, fingerprint: "a"),
    ]
    #expect(ResumePlan(before, graph(["a": []])).isNothingLeft)
  }

  @Test func theIdentifiersOfWhatIsRestoredAreThoseOfTheNewGraph() {
    let all = graph(["idle": [], "ok": [], "lint": [], "also": []])
    let before = [
      EarlierJob("idle", .waiting, fingerprint: "idle"),
      EarlierJob("ok", .done(earlier), fingerprint: "ok", inputsHash: "h"),
      EarlierJob("lint", .failed, fingerprint: "lint"), EarlierJob("also", .done(earlier), fingerprint: "also"),
    ]
    let plan = ResumePlan(before, all, onlyFailed: true)
    #expect(plan.graph.jobs.map(\.name) == ["ok", "lint", "also"])
    #expect(plan.restored.keys.sorted() == [JobID(0), JobID(2)])
    #expect(plan.restoredInputs == [JobID(0): "h"])
    #expect(plan.again.map(\.job) == [JobID(1)])
    #expect(plan.leftOut == ["idle"])
  }
}
