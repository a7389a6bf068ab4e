import Foundation
import JobEngine
import JobModel
import Slurm
import Support
import Testing

@testable import JobCluster

/// A run on the tests' cluster, in a folder of its own that goes with it.
private final class Clustered {
  let folder: TemporaryFolder
  let queue: JobQueue

  init(_ graph: JobGraph, on cluster: SlurmCluster? = nil, slots: Int = 8) throws {
    folder = try TemporaryFolder()
    var options = JobQueueOptions(slots: slots, stateFolder: folder.url.path(), seed: 1)
    if let cluster { options.cluster = RunCluster(cluster.runner) }
    queue = try JobQueue(graph, options: options)
    queue.start()
  }

  /// The run once every job has ended.
  func ended() -> Run {
    #expect(eventually { queue.run.isComplete })
    return queue.run
  }

  func wait(for job: Int, _ condition: (JobModel.JobRecord) -> Bool) {
    #expect(eventually { condition(queue.run.jobs[job]) }, "it is \(queue.run.jobs[job].state)")
  }

  deinit {
    queue.send(.stop(.kill, by: .signal))
    _ = eventually { queue.run.counts.done == queue.run.jobs.count }
  }
}

private func shell(_ name: String, _ script: String, needs: [Int] = [], cluster: ClusterRequest? = nil) -> Job {
  Job(
    name: name, work: .shell(ShellWork(.script(script), directory: "/tmp", cluster: cluster)),
    needs: needs.map { JobNeed(JobID($0)) })
}

extension SlurmCluster {
  /// The state and the reason that squeue has for a job, as `PENDING JobHeldUser`.
  fileprivate func squeue(_ place: ClusterPlace?) -> String {
    guard let place else { return "" }
    let text = (try? call("squeue", "-h", "-r", "-t", "all", "-o", "%i %T %r")) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(place.id + " ") }
    return line.map { String($0.dropFirst(place.id.count + 1)) } ?? ""
  }
}

@Suite(
  .enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
struct ClusterRunTests {
  /// Four layers of fifty jobs: with retries, a failure, its skipped dependents and a value.
  private static var graph: JobGraph {
    var jobs: [Job] = []
    for index in 0..<200 {
      let (layer, place) = (index / 50, index % 50)
      let needs = layer == 0 ? [] : Set([index - 50, (layer - 1) * 50 + (place * 7 + 1) % 50]).sorted()
      let script =
        switch place {
        case 3 where layer == 1: "echo no >&2; exit 3"
        case 5: "[ \"$OPDASH_ATTEMPT\" -ge 2 ]"
        case 7: "echo \"N=$OPDASH_JOB\" >> \"$OPDASH_OUTPUT\""
        default: "echo $OPDASH_JOB"
        }
      var job = shell("job\(index)", script, needs: needs)
      if place == 5 { job.retry = RetryPolicy(max: 2, initial: .milliseconds(10)) }
      jobs.append(job)
    }
    return JobGraph(name: "both", jobs: jobs)
  }

  @Test func aGraphHasTheSameEndOnAClusterAsHere() throws {
    let cluster = try SlurmCluster.shared.get()
    let here = try Clustered(Self.graph).ended()
    let there = try Clustered(Self.graph.executed(by: .cluster), on: cluster).ended()
    #expect(there.counts == here.counts)
    for (one, other) in zip(here.jobs, there.jobs) {
      let log = (0..<other.log.count).map { other.log[$0].line.text }
      #expect(one.state == other.state, "\(one.job.name): \(log)")
      #expect(one.attempts.map(\.number) == other.attempts.map(\.number), "\(one.job.name)")
      #expect(one.outputs == other.outputs, "\(one.job.name)")
    }
    #expect(there.counts.skipped > 0)
    let withoutNode = there.jobs.filter { !$0.attempts.isEmpty && $0.place?.nodes == nil }
    #expect(withoutNode.map(\.job.name) == [])
  }

  @Test func theOutputIsInTheLogAsIfTheJobWereHere() throws {
    let cluster = try SlurmCluster.shared.get()
    var graph = JobGraph(
      name: "log", jobs: [shell("a", "echo one; echo $TOKEN; echo three >&2", cluster: ClusterRequest(cpus: 1))],
      secrets: ["s3cr3t"])
    if case .shell(var work) = graph.jobs[0].work {
      work.environment = ["TOKEN": "s3cr3t"]
      graph.jobs[0].work = .shell(work)
    }
    let clustered = try Clustered(graph, on: cluster)
    let run = clustered.ended()
    let log = run.jobs[0].log
    let lines = (0..<log.count).map { log[$0].line }
    #expect(lines.filter { $0.stream != .note }.map(\.text) == ["one", "***", "three"])
    let path = try #require(run.logPath(JobID(0), attempt: 1))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "one\n***\nthree\n")
  }

  @Test func jobsThatAreShorterThanAQueryHaveTakenTheirTime() throws {
    // A query that finds them ended would give them no time at all. Each says when it began and ended.
    let script = "read begin rest </proc/uptime; sleep 0.2; read end rest </proc/uptime; echo $begin $end"
    let jobs = (0..<4).map { shell("j\($0)", script, needs: $0 == 0 ? [] : [$0 - 1], cluster: ClusterRequest()) }
    let run = try Clustered(JobGraph(name: "short", jobs: jobs), on: SlurmCluster.shared.get()).ended()
    for record in run.jobs {
      let lines = (0..<record.log.count).map { record.log[$0].line }.filter { $0.stream != .note }
      let times = try #require(lines.first?.text).split(separator: " ").compactMap { Double($0) }
      let (begin, end) = (try #require(times.first), try #require(times.last))
      // By a clock of hundredths.
      #expect(try #require(record.elapsed(at: run.time)) + .milliseconds(10) >= .seconds(end - begin))
    }
  }

  @Test func progressIsReadFromTheOutput() throws {
    let script = "echo 'step 1 of 4'; while [ ! -e \"$GO\" ]; do sleep 0.1; done; echo 'step 4 of 4'"
    let folder = try TemporaryFolder()
    var job = shell("a", script, cluster: ClusterRequest())
    if case .shell(var work) = job.work {
      work.progress = #"step (\d+) of (\d+)"#
      work.environment = ["GO": folder.file("go").path()]
      job.work = .shell(work)
    }
    let run = try Clustered(JobGraph(name: "steps", jobs: [job]), on: SlurmCluster.shared.get())
    run.wait(for: 0) { $0.progress?.done == 1 && $0.progress?.total == 4 }
    try Data().write(to: folder.file("go"))
    #expect(run.ended().jobs[0].progress?.done == 4)
  }

  @Test func aJobThatWaitsIsHeldGoesOnAndIsCancelled() throws {
    let cluster = try SlurmCluster.shared.get()
    // A feature that no node has is refused; a begin that is far away is waited for.
    let later = ClusterRequest(options: ["--begin=now+1hour"])
    let run = try Clustered(
      JobGraph(name: "waits", jobs: [shell("a", "true", cluster: later), shell("b", "true", needs: [0])]), on: cluster)
    let reason = "BeginTime (its begin is later)"
    run.wait(for: 0) { $0.state == .ready(for: .cluster(reason: reason)) }
    #expect(StatusText(JobID(0), run.queue.run, now: .zero).whole == "waits for the cluster: \(reason)")
    #expect(cluster.squeue(run.queue.run.jobs[0].place).hasPrefix("PENDING"))
    run.queue.send(.pause([JobID(0)]))
    #expect(eventually { cluster.squeue(run.queue.run.jobs[0].place).hasPrefix("PENDING JobHeld") })
    #expect(run.queue.run.jobs[0].state == .paused(started: false))
    run.queue.send(.resume([JobID(0)]))
    #expect(eventually { cluster.squeue(run.queue.run.jobs[0].place) == "PENDING BeginTime" })
    run.queue.send(.cancel([JobID(0)], by: .person))
    let end = run.ended()
    #expect(end.jobs[0].state == .cancelled(by: .person))
    #expect(end.jobs[0].attempts.isEmpty)
    #expect(end.jobs[1].state == .skipped(because: .job(JobID(0))))
    #expect(cluster.squeue(end.jobs[0].place).hasPrefix("CANCELLED"))
  }

  @Test func aJobThatNeverBeganFailsWithoutAStart() throws {
    let cluster = try SlurmCluster.shared.get()
    let later = ClusterRequest(options: ["--begin=now+1hour"])
    let run = try Clustered(JobGraph(name: "never", jobs: [shell("a", "true", cluster: later)]), on: cluster)
    run.wait(for: 0) { $0.place != nil && $0.state == .ready(for: .cluster(reason: "BeginTime (its begin is later)")) }
    try cluster.call("scancel", try #require(run.queue.run.jobs[0].place?.id))
    let end = run.ended()
    #expect(end.jobs[0].state == .failed(JobFailure(.error, "cancelled in Slurm"), allowed: false))
    #expect(end.jobs[0].attempts.isEmpty)
    #expect(end.jobs[0].elapsed(at: end.time) == nil)
  }

  @Test(arguments: [false, true])
  func aJobThatRunsIsPausedAndEnded(byKill: Bool) throws {
    let cluster = try SlurmCluster.shared.get()
    let script = "while :; do echo tick; sleep 0.2; done"
    let run = try Clustered(JobGraph(name: "runs", jobs: [shell("a", script, cluster: ClusterRequest())]), on: cluster)
    run.wait(for: 0) { $0.state == .executing && !$0.log.isEmpty }
    #expect(run.queue.run.counts.usedSlots == 0)
    #expect(cluster.squeue(run.queue.run.jobs[0].place).hasPrefix("RUNNING"))
    run.queue.send(.pause([JobID(0)]))
    run.wait(for: 0) { $0.state == .paused(started: true) }
    run.queue.send(.resume([JobID(0)]))
    run.wait(for: 0) { $0.state == .executing }
    run.queue.send(byKill ? .kill([JobID(0)]) : .cancel([JobID(0)], by: .person))
    let end = run.ended()
    #expect(end.jobs[0].state == .cancelled(by: .person))
    #expect(end.jobs[0].attempts.count == 1)
    // A killed script may have ended by the signal before Slurm cancels the job.
    let ends = byKill ? ["CANCELLED", "FAILED"] : ["CANCELLED"]
    #expect(eventually { ends.contains { cluster.squeue(end.jobs[0].place).hasPrefix($0) } })
  }

  @Test func aJobThatAnEarlierRunHasLeftIsFollowedAndRunsOnce() throws {
    let cluster = try SlurmCluster.shared.get()
    let folder = try TemporaryFolder()
    let (marks, go) = (folder.file("marks").path(), folder.file("go"))
    let script = "echo mark >>'\(marks)'; until [ -e '\(go.path())' ]; do sleep 0.1; done; echo done"
    // As an earlier run would have submitted it.
    let jobs = EarlierClusterJob.folder(inRun: folder.url.path())
    let observer = SlurmObserver(run: "earlier", folder: jobs, runner: cluster.runner)
    let identity = observer.identity(job: "a", attempt: 2)
    let operation = SlurmOperation(
      SlurmJob(
        identity, name: "a", arguments: ["/bin/sh", "-c", script], directory: "/tmp"),
      on: observer)
    operation.start()
    #expect(eventually { FileManager.default.fileExists(atPath: marks) })
    let values = observer.files.valuesPath(of: identity)
    try Data("V=1\n".utf8).write(to: URL(fileURLWithPath: values))
    let graph = JobGraph(name: "later", jobs: [shell("a", script, cluster: ClusterRequest())])
    var options = JobQueueOptions(slots: 1)
    options.cluster = RunCluster(
      cluster.runner, earlier: [JobID(0): EarlierClusterJob(run: "earlier", folder: jobs, number: 2)])
    let queue = try JobQueue(graph, options: options)
    queue.start()
    #expect(eventually { queue.run.jobs.first?.state == .executing })
    try Data().write(to: go)
    #expect(eventually { queue.run.isComplete })
    #expect(queue.run.jobs[0].state == .succeeded(upToDate: false))
    #expect(try String(contentsOfFile: marks, encoding: .utf8) == "mark\n")
    #expect(queue.run.jobs[0].outputs == ["V": "1"])
    // Yet another run would need them, should this one be killed before they are recorded.
    #expect(FileManager.default.fileExists(atPath: values))
    queue.send(.finish(signal: nil))
  }
}

/// A job named `a` that an earlier run has submitted and left, executing.
private final class LeftJob {
  let run = "earlier-\(UUID().uuidString.prefix(8))"
  let folder: TemporaryFolder
  private let cluster: SlurmCluster
  private let operation: SlurmOperation
  private let script: String

  /// Has begun; it makes the file `made` at its start, and ends once there is a file `go`.
  init(on cluster: SlurmCluster) throws {
    self.cluster = cluster
    folder = try TemporaryFolder()
    let (made, go) = (folder.file("made").path(), folder.file("go").path())
    script = "echo mark >>'\(made)'; while [ ! -e '\(go)' ]; do sleep 0.1; done"
    let observer = SlurmObserver(
      run: run, folder: EarlierClusterJob.folder(inRun: folder.url.path()), runner: cluster.runner)
    operation = SlurmOperation(
      SlurmJob(
        observer.identity(job: "a", attempt: 1), name: "a", arguments: ["/bin/sh", "-c", script], directory: "/tmp"),
      on: observer)
    operation.start()
    #expect(eventually { marks == 1 && states == ["RUNNING"] }, "\(states)")
  }

  deinit { operation.kill() }

  /// How often it was executed.
  var marks: Int { (try? String(contentsOf: folder.file("made"), encoding: .utf8))?.split(separator: "\n").count ?? 0 }

  /// The states of its submissions.
  var states: [String] { cluster.states("opdash/\(run)/") }

  func letEnd() throws { try Data().write(to: folder.file("go")) }

  /// The same job in a later run, which follows it.
  func follower(_ change: (inout Job) -> Void) throws -> JobQueue {
    var job = shell("a", script, cluster: ClusterRequest())
    change(&job)
    var options = JobQueueOptions(slots: 1)
    let jobs = EarlierClusterJob.folder(inRun: folder.url.path())
    options.cluster = RunCluster(
      cluster.runner, earlier: [JobID(0): EarlierClusterJob(run: run, folder: jobs, number: 1)])
    return try JobQueue(JobGraph(name: "later", jobs: [job]), options: options)
  }
}

@Suite(
  .enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
struct LeftJobTests {
  @Test func whatAFollowedJobHasMadeSoFarDoesNotMakeItUpToDate() throws {
    let left = try LeftJob(on: SlurmCluster.shared.get())
    let queue = try left.follower { $0.creates = [left.folder.file("made").path()] }
    queue.start()
    #expect(eventually { queue.run.jobs.first?.state == .executing }, "\(queue.run.jobs.map(\.state))")
    try left.letEnd()
    #expect(eventually { queue.run.isComplete })
    #expect(queue.run.jobs[0].state == .succeeded(upToDate: false))
    #expect(left.marks == 1)
    queue.send(.finish(signal: nil))
  }

  /// The job waits for a person, or in the operation queue, when the run is stopped.
  @Test(arguments: [false, true]) func aJobThatIsNeverFollowedEndsWithTheRun(isAdmitted: Bool) throws {
    let left = try LeftJob(on: SlurmCluster.shared.get())
    let queue = try left.follower { if !isAdmitted { $0.approval = "go on?" } }
    if isAdmitted { queue.hold(atMost: .seconds(600)) { _ in } }
    queue.start()
    let state = JobState.ready(for: isAdmitted ? .cluster(reason: nil) : .person)
    #expect(eventually { queue.run.jobs.first?.state == state }, "\(queue.run.jobs.map(\.state))")
    queue.send(.stop(.terminate, by: .signal))
    queue.send(.finish(signal: nil))
    #expect(eventually { queue.run.summary != nil })
    #expect(queue.run.jobs[0].state == .cancelled(by: .signal))
    // Slurm was told before the end.
    #expect(!left.states.contains("RUNNING"), "\(left.states)")
    #expect(eventually { left.states == ["CANCELLED"] }, "\(left.states)")
  }
}
