import Dispatch
import Foundation
import JobModel
import Operations
import Reports
import Screen
import Support
import Testing

@testable import JobEngine

private let earlier = EarlierSuccess(run: "before", at: Date(timeIntervalSince1970: 0), took: .seconds(123))

/// Jobs that were done in an earlier run.
@Suite struct RestoredJobTests {
  @Test func aRestoredJobEndsAtTheStartAndIsNotExecuted() throws {
    var bench = Bench(graph(["a": [], "b": ["a"], "c": ["b"]]))
    bench.start(restored: [JobID(0): earlier, JobID(1): earlier])
    #expect(bench.names == ["c"])
    let ends = bench.facts.filter {
      if case .jobRestored = $0 { true } else if case .jobState(_, .succeeded, _, _) = $0 { true } else { false }
    }
    #expect(
      ends == [
        .jobRestored(JobID(0), earlier), .jobState(JobID(0), .succeeded(upToDate: true), attempt: 0, pid: nil),
        .jobRestored(JobID(1), earlier), .jobState(JobID(1), .succeeded(upToDate: true), attempt: 0, pid: nil),
      ])
    #expect(bench.journal.run.counts.done == 2)
    #expect(bench.journal.run[JobID(0)].restored == earlier)
    #expect(bench.journal.run[JobID(0)].attempts.isEmpty)
  }

  @Test func theHashOfTheInputsOfARestoredJobIsStatedAgain() throws {
    var bench = Bench(graph(["a": []]))
    bench.start(restored: [JobID(0): earlier], inputs: [JobID(0): "hash"])
    #expect(bench.journal.run[JobID(0)].inputsHash == "hash")
  }

  @Test func anUnmetNeedOfARestoredJobHoldsOnlyTheOthers() throws {
    var bench = Bench(graph(["a": [], "b": ["a"], "c": ["a", "b"]]))
    bench.start(restored: [JobID(1): earlier])
    #expect(bench.names == ["a"])
    #expect(try bench.state("c") == .waiting)
    try bench.end("a")
    #expect(bench.names == ["c"])
  }

  @Test func aRestoredJobRulesOutANeedForItsFailure() throws {
    var jobs = graph(["a": [], "page": ["a"], "tidy": ["page"], "next": ["page"]])
    jobs.jobs[1].needs[0].when = .failed
    jobs.jobs[2].needs[0].when = .finished
    var bench = Bench(jobs)
    bench.start(restored: [JobID(0): earlier])
    #expect(try bench.state("page") == .skipped(because: .job(JobID(0))))
    #expect(try bench.state("next") == .skipped(because: .job(JobID(0))))
    #expect(bench.names == ["tidy"])
  }

  @Test func theValuesOfARestoredJobAreThoseOfTheRecordedRun() throws {
    var graph = graph(["a": [], "b": ["a"]]) { $0.work = .shell(ShellWork(.argv(["use", "${jobs.a.path}"]))) }
    graph.jobs[1].outputs = [OutputReference("${jobs.a.path}", job: JobID(0), name: "path")]
    var bench = Bench(graph)
    let success = EarlierSuccess(run: "before", at: earlier.at, took: earlier.took, outputs: ["path": "/x"])
    bench.start(restored: [JobID(0): success])
    #expect(bench.facts.contains(.jobOutputs(JobID(0), ["path": "/x"])))
    #expect(bench.journal.run[JobID(0)].outputs == ["path": "/x"])
    #expect(bench.names == ["b"])
    let job = try bench.journal.run.resolved(graph.jobs[1])
    #expect(job.work == .shell(ShellWork(.argv(["use", "/x"]))))
  }

  @Test func aRetryByHandExecutesARestoredJob() throws {
    var bench = Bench(graph(["a": [], "b": ["a"]]))
    bench.start(restored: [JobID(0): earlier, JobID(1): earlier])
    #expect(bench.names.isEmpty)
    bench.send(.retry([JobID(0)], withDependents: true))
    #expect(bench.names == ["a"])
    #expect(bench.executing.map(\.attempt) == [1])
    // Its files are as they were, which is the reason why it was restored.
    #expect(bench.executing.map(\.mustExecute) == [true])
    #expect(bench.journal.run[JobID(0)].restored == nil)
    try bench.end("a")
    #expect(try bench.state("a") == .succeeded(upToDate: false))
    #expect(try bench.state("b") == .succeeded(upToDate: true))
    #expect(bench.journal.run.isComplete)
  }

  @Test func anEarlierSuccessIsCalledSoInEveryView() throws {
    var bench = Bench(graph(["a": []]))
    bench.start(restored: [JobID(0): earlier])
    let run = bench.journal.run
    #expect(StatusText(JobID(0), run, now: .zero).whole == "ok in an earlier run, took 2:03")
    #expect(StateClass(run[JobID(0)]) == .upToDate)
    #expect(RunSummary(of: run).exit == 0)
    let text = Lock("")
    var fold = Run()
    var report = PlainReport(paint: Paint(isColoured: false)) { bytes in
      text.withLock { $0 += bytes.text }
    }
    for (seq, fact) in bench.facts.enumerated() {
      let before: JobState? = if case .jobState(let id, _, _, _) = fact { fold[id].state } else { nil }
      let event = JobEvent(seq: seq, time: .zero, fact: fact)
      fold.apply(event)
      report.receive(event, before: before, in: fold)
    }
    report.flush()
    #expect(text.withLock { $0 }.contains("= a  [1/1] ok in an earlier run, took 2:03\n"))
  }

  @Test func aRehearsalExecutesNoRestoredJob() {
    let rehearsal = Rehearsal(graph(["a": [], "b": ["a"], "c": []]), slots: 2, restored: [JobID(0): earlier])
    #expect(rehearsal.order == [JobID(1), JobID(2)])
  }

  /// Runs a graph of simulated jobs in a real queue and returns the finished run.
  private func run(_ graph: JobGraph, restored: [JobID: EarlierSuccess]) throws -> Run {
    let queue = try JobQueue(graph, options: .init(slots: 4, resumes: "before", restored: restored))
    queue.start()
    #expect(eventually { queue.run.isComplete })
    queue.send(.finish(signal: nil))
    #expect(eventually { queue.run.summary != nil })
    return queue.run
  }

  @Test func aRunOfRestoredJobsOnlySucceedsAtOnce() throws {
    let run = try run(graph(["a": [], "b": ["a"]]), restored: [JobID(0): earlier, JobID(1): earlier])
    #expect(run.start?.resumes == "before")
    #expect(run.summary?.succeeded == 2)
    #expect(run.summary?.exit == 0)
  }

  @Test func ofAHundredThousandJobsTheRestoredAreNotExecuted() throws {
    let jobs = (0..<100_000).map { index in
      Job(
        name: "job-\(index)", work: .simulate(SimulatedWork(duration: .zero, steps: 1)),
        needs: index == 0 ? [] : [JobNeed(JobID(index - 1)), JobNeed(JobID(index / 2))])
    }
    let restored = Dictionary(uniqueKeysWithValues: (0..<99_990).map { (JobID($0), earlier) })
    let run = try run(JobGraph(name: "many", jobs: jobs), restored: restored)
    #expect(run.summary?.succeeded == 100_000)
    #expect(run.jobs.count { !$0.attempts.isEmpty } == 10)
  }
}
