import Foundation
import JobEngine
import JobModel
import Slurm
import Support
import Testing

@testable import JobCluster

/// Two nodes with two CPUs each, of the tests of this file.
private let ownCluster = Result { try SlurmCluster(nodes: 2, cpus: 2) }

/// A run whose cluster jobs are steps, in a folder of its own that goes with it.
private final class Stepped {
  let cluster: SlurmCluster
  let folder: TemporaryFolder
  let queue: JobQueue
  private let most = Lock((run: Run(), active: 0))
  private let subscription: JobSubscription

  init(
    _ jobs: [Job], _ allocation: ClusterRequest? = ClusterRequest(cpus: 2, nodes: 2), in surrounding: SlurmJobID? = nil,
    secrets: Set<String> = [], on cluster: SlurmCluster? = nil
  ) throws {
    let cluster = try cluster ?? ownCluster.get()
    self.cluster = cluster
    folder = try TemporaryFolder()
    var graph = JobGraph(name: "steps", jobs: jobs, secrets: secrets, allocation: allocation)
    for index in jobs.indices {
      guard case .shell(var work) = jobs[index].work else { continue }
      work.environment.merge(cluster.environment) { own, _ in own }
      work.directory = folder.url.path()
      graph.jobs[index].work = .shell(work)
    }
    var options = JobQueueOptions(slots: 1, stateFolder: folder.file("state").path(), seed: 1)
    options.cluster = RunCluster(cluster.runner, surrounding: surrounding)
    queue = try JobQueue(graph, options: options)
    subscription = queue.subscribe(on: DispatchQueue(label: "test.steps")) { [most] batch in
      most.withLock { most in
        for event in batch {
          most.run.apply(event)
          most.active = max(most.active, most.run.counts.active)
        }
      }
    }
    queue.start()
  }

  /// The most jobs that executed at once.
  var mostActive: Int { most.withLock { $0.active } }

  func ended() -> Run {
    #expect(eventually { queue.run.isComplete }, "\(queue.run.jobs.map(\.state))")
    return queue.run
  }

  func wait(for job: Int, _ condition: (JobModel.JobRecord) -> Bool) {
    #expect(eventually { condition(queue.run.jobs[job]) }, "it is \(queue.run.jobs[job].state)")
  }

  func text(_ name: String) -> String { (try? String(contentsOf: folder.file(name), encoding: .utf8)) ?? "" }

  /// The states of the jobs that this run has in the cluster.
  var states: [String] { cluster.states("opdash/\(queue.id)/") }

  /// Ends the run as its program does.
  func finish() {
    queue.send(.finish(signal: nil))
    #expect(eventually { queue.run.summary != nil })
  }

  deinit {
    subscription.cancel()
    queue.send(.stop(.kill, by: .signal))
    _ = eventually { queue.run.counts.done == queue.run.jobs.count }
    queue.send(.finish(signal: nil))
    _ = eventually { queue.run.summary != nil }
  }
}

private func step(
  _ name: String, _ script: String, needs: [Int] = [], _ clusterRequest: ClusterRequest = ClusterRequest()
) -> Job {
  Job(
    name: name, work: .shell(ShellWork(.script(script), cluster: clusterRequest)),
    needs: needs.map { JobNeed(JobID($0)) })
}

private func lines(_ record: JobModel.JobRecord) -> [String] {
  (0..<record.log.count).map { record.log[$0].line }.filter { $0.stream != .note }.map(\.text)
}

@Suite(
  .enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
struct StepRunTests {
  @Test func aGraphOfStepsHasTheEndThatItHasHereInOneJobOfTheCluster() throws {
    // The first two wait for each other, and so are there at once.
    let script = "echo x >>begun; until [ $(grep -c x begun) -ge 2 ]; do sleep 0.05; done"
    var jobs = (0..<16).map { step("job\($0)", "echo \"$OPDASH_JOB $SLURM_JOB_ID\"; \(script)") }
    jobs.append(step("value", "echo \"N=$OPDASH_JOB\" >> \"$OPDASH_OUTPUT\"; echo $TOKEN", ClusterRequest(cpus: 2)))
    if case .shell(var work) = jobs[16].work {
      work.environment = ["TOKEN": "s3cr3t"]
      jobs[16].work = .shell(work)
    }
    jobs.append(step("bad", "echo no >&2; exit 3"))
    jobs.append(step("after", "true", needs: [17]))
    jobs.append(step("again", "[ \"$OPDASH_ATTEMPT\" -ge 2 ]"))
    jobs[19].retry = RetryPolicy(max: 2, initial: .milliseconds(10))
    let stepped = try Stepped(jobs, secrets: ["s3cr3t"])
    let run = stepped.ended()
    #expect(run.counts.succeeded == 18)
    #expect(run.jobs[17].state == .failed(JobFailure(.exit(3), "exit 3"), allowed: false))
    #expect(run.jobs[18].state == .skipped(because: .job(JobID(17))))
    #expect(run.jobs[19].attempts.count == 2)
    #expect(run.jobs[16].outputs == ["N": "value"])
    #expect(lines(run.jobs[16]) == ["***"])
    let places = run.jobs.compactMap(\.place)
    #expect(Set(places.map(\.id)).count == 1)
    #expect(Set(places.compactMap(\.nodes)) == ["node1", "node2"])
    #expect(lines(run.jobs[0]) == ["job0 \(places[0].id)"])
    #expect((2...4).contains(stepped.mostActive), "\(stepped.mostActive) at once")
    stepped.finish()
    #expect(eventually { stepped.states == ["CANCELLED"] }, "\(stepped.states)")
  }

  @Test func aStepIsPausedGoesOnAndIsEndedByItsStopSignal() throws {
    // Slurm signals a process after its children: the shell, which has -e, may see that sleep has failed before its own signal.
    let script = "trap 'echo bye >>end; exit 1' INT; while :; do echo tick >>ticks; sleep 0.1 || :; done"
    var jobs = [step("a", script)]
    if case .shell(var work) = jobs[0].work {
      work.stop = ShellWork.Stop(signal: SIGINT, grace: .seconds(3600))
      jobs[0].work = .shell(work)
    }
    let stepped = try Stepped(jobs)
    stepped.wait(for: 0) { $0.state == .executing }
    #expect(eventually { stepped.text("ticks").count > 10 })
    stepped.queue.send(.pause([JobID(0)]))
    stepped.wait(for: 0) { $0.state == .paused(started: true) }
    var last = -1
    let stops = eventually {
      last = stepped.text("ticks").count
      // For the time of several ticks.
      return stays(moments: 3) { stepped.text("ticks").count == last }
    }
    #expect(stops)
    stepped.queue.send(.resume([JobID(0)]))
    #expect(eventually { stepped.text("ticks").count > last })
    stepped.queue.send(.cancel([JobID(0)], by: .person))
    let run = stepped.ended()
    #expect(run.jobs[0].state == .cancelled(by: .person))
    #expect(stepped.text("end") == "bye\n")
  }

  @Test func aStepThatIsKilledLeavesNoProcess() throws {
    // The other job keeps the allocation, which would end the step.
    let stepped = try Stepped([
      step("a", "trap '' TERM; echo $$ >pid; sleep 606 & wait; sleep 606"),
      step("b", "until [ -e go ]; do sleep 0.1; done"),
    ])
    #expect(eventually { stepped.text("pid").hasSuffix("\n") })
    let pid = try #require(pid_t(stepped.text("pid").trimmingCharacters(in: .newlines)))
    stepped.queue.send(.kill([JobID(0)]))
    stepped.wait(for: 0) { $0.state == .cancelled(by: .person) }
    #expect(eventually { kill(pid, 0) != 0 })
    #expect(stepped.queue.run.jobs[1].state == .executing)
    _ = FileManager.default.createFile(atPath: stepped.folder.file("go").path(), contents: nil)
    #expect(stepped.ended().jobs[1].state == .succeeded(upToDate: false))
  }

  @Test func theTimeoutOfAStepIsAFailureOfItsOwn() throws {
    var jobs = [step("a", "sleep 607")]
    jobs[0].timeout = .milliseconds(500)
    let run = try Stepped(jobs).ended()
    guard case .failed(let failure, _) = run.jobs[0].state else {
      Issue.record("it is \(run.jobs[0].state)")
      return
    }
    #expect(failure.cause == .timedOut)
  }

  @Test func aCancelledAllocationFailsItsStepsAndIsReplaced() throws {
    // Four CPUs: the fifth waits.
    let jobs = (0..<5).map { step("job\($0)", "[ $OPDASH_JOB = job4 ] || sleep 608") }
    let stepped = try Stepped(jobs)
    for index in 0..<4 { stepped.wait(for: index) { $0.state == .executing } }
    let first = try #require(stepped.queue.run.jobs[0].place?.id)
    try stepped.cluster.call("scancel", first)
    let run = stepped.ended()
    let cancelled = JobFailure(.error, "its allocation was cancelled in Slurm")
    for index in 0..<4 { #expect(run.jobs[index].state == .failed(cancelled, allowed: false)) }
    #expect(run.jobs[4].state == .succeeded(upToDate: false))
    #expect(run.jobs[4].place?.id != first)
  }

  @Test func theLossOfANodeIsTheFailureOfWhatExecutedAndCanBeRetried() throws {
    var jobs = ["a", "b"].map {
      step($0, "echo x >>begun.$OPDASH_JOB; [ $OPDASH_ATTEMPT = 2 ] || sleep 612", ClusterRequest(cpus: 2))
    }
    jobs[1].retry = RetryPolicy(max: 1, initial: .milliseconds(10), only: [.nodeFailure])
    // The controller misses a node after this time.
    let cluster = try SlurmCluster(nodes: 4, cpus: 2, lines: ["SlurmdTimeout=5"])
    let stepped = try Stepped(jobs, on: cluster)
    for name in ["a", "b"] { #expect(eventually { !stepped.text("begun.\(name)").isEmpty }) }
    let place = try #require(stepped.queue.run.jobs[1].place)
    cluster.loseNode(try #require(place.nodes), with: try #require(SlurmJobID(place.id)))
    let run = stepped.ended()
    guard case .failed(let failure, _) = run.jobs[0].state else {
      Issue.record("it is \(run.jobs[0].state)")
      return
    }
    #expect(failure.cause == .nodeFailure, "\(failure)")
    #expect(run.jobs[1].state == .succeeded(upToDate: false), "\(lines(run.jobs[1]))")
    #expect(run.jobs[1].place?.id != place.id, "\(run.jobs[1].attempts) \(lines(run.jobs[1]))")
  }

  @Test func aProgramMayEndWithTheStatusOfALostAllocation() throws {
    let run = try Stepped([step("a", "exit \(SlurmAllocation.endedStatus)"), step("b", "true")]).ended()
    #expect(run.jobs[0].state == .failed(JobFailure(.exit(254), "exit 254"), allowed: false))
    #expect(run.jobs[1].state == .succeeded(upToDate: false))
    #expect(Set(run.jobs.compactMap(\.place?.id)).count == 1)
  }

  @Test func aStepThatSrunCannotCreateFailsInItsLaunch() throws {
    let folder = try TemporaryFolder()
    try folder.addProgram("srun", "#!/bin/sh\necho 'srun: error: odd' >&2\nexit \"$SLURM_EXIT_ERROR\"\n")
    var jobs = [step("a", "true"), step("b", "true")]
    if case .shell(var work) = jobs[0].work {
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      work.environment = ["PATH": "\(folder.url.path()):\(path)"]
      jobs[0].work = .shell(work)
    }
    let run = try Stepped(jobs).ended()
    #expect(run.jobs[0].state == .failed(JobFailure(.launch, "srun could not start the step"), allowed: false))
    #expect(lines(run.jobs[0]) == ["srun: error: odd"])
    #expect(run.jobs[1].state == .succeeded(upToDate: false))
    #expect(Set(run.jobs.compactMap(\.place?.id)).count == 1)
  }

  @Test func aRefusedAllocationIsTheFailureOfTheJobsThatWait() throws {
    let run = try Stepped([step("a", "true"), step("b", "true")], ClusterRequest(partition: "none")).ended()
    for record in run.jobs {
      guard case .failed(let failure, _) = record.state else {
        Issue.record("it is \(record.state)")
        continue
      }
      #expect(failure.cause == .launch)
      #expect(failure.reason.hasPrefix("Slurm refused the allocation: "), "\(failure.reason)")
      #expect(record.attempts.isEmpty)
    }
  }

  @Test func aJobHasTheReasonOfItsAllocationWhichAStopReleases() throws {
    let cluster = try ownCluster.get()
    let other = try cluster.call(
      "sbatch", "--parsable", "--nodes=2", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 609")
    let number = other.trimmingCharacters(in: .newlines)
    defer { _ = try? cluster.call("scancel", number) }
    #expect(eventually { (try? cluster.call("squeue", "-h", "-j", number, "-o", "%T")) == "RUNNING\n" })
    let stepped = try Stepped([step("a", "true")])
    let reason = "Resources (other jobs have the nodes)"
    stepped.wait(for: 0) { $0.state == .ready(for: .cluster(reason: reason)) }
    #expect(StatusText(JobID(0), stepped.queue.run, now: .zero).whole == "waits for the cluster: \(reason)")
    #expect(stepped.states == ["PENDING"])
    stepped.queue.send(.stop(.terminate, by: .signal))
    #expect(stepped.ended().jobs[0].state == .cancelled(by: .signal))
    stepped.finish()
    #expect(stepped.states == ["CANCELLED"])
  }

  @Test func insideAnAllocationItIsUsedAndNotReleased() throws {
    let cluster = try ownCluster.get()
    let text = try cluster.call(
      "sbatch", "--parsable", "--nodes=1", "--cpus-per-task=2", "-o", "/dev/null", "--wrap", "sleep 610")
    let id = try #require(SlurmJobID(text.trimmingCharacters(in: .newlines)))
    defer { _ = try? cluster.call("scancel", id.description) }
    #expect(
      eventually { (try? cluster.call("squeue", "-h", "-j", id.description, "-o", "%T")) == "RUNNING\n" })
    let before = cluster.states().count
    let jobs = (0..<4).map { step("job\($0)", "echo $SLURM_JOB_ID", ClusterRequest(partition: "elsewhere")) }
    // What the file asks for does not count here.
    let stepped = try Stepped(jobs, ClusterRequest(nodes: 2), in: id)
    let run = stepped.ended()
    #expect(run.counts.succeeded == 4)
    #expect(lines(run.jobs[3]) == [id.description])
    let notes = (0..<run.jobs[0].log.count).map { run.jobs[0].log[$0].line }.filter { $0.stream == .note }.map(\.text)
    #expect(notes == ["without effect for a step of an allocation: slurm.partition"])
    stepped.finish()
    #expect(cluster.states().count == before)
    #expect(try cluster.call("squeue", "-h", "-j", id.description, "-o", "%T") == "RUNNING\n")
  }
}
