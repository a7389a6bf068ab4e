import Foundation
import Operations
import Support
import Testing

@testable import Slurm

/// What needs a controller and nodes; one test at a time, as each takes the machine.
@Suite(.enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
enum SlurmClusterTests {}

extension SlurmClusterTests {
  @Suite struct OperationTests {
    private let run: ClusterRun

    init() throws { run = try ClusterRun(SlurmCluster.shared.get()) }

    @Test func aJobRunsOnANodeAndItsOutputIsLogged() throws {
      let operation = run.start("a b", "echo one; echo two >&2; pwd; printf three")
      #expect(operation.isOver())
      #expect(operation.end == .exited(0))
      let id = try #require(try? operation.outcome?.get().id)
      let node = try #require(try? operation.outcome?.get().nodes)
      #expect(node.hasPrefix("node"))
      let place = run.folder.url.path()
      #expect(
        run.log("a b").filter { !$0.hasPrefix("job ") } == [
          "submitted as job \(id)", "one", "two", place.hasSuffix("/") ? String(place.dropLast()) : place, "three",
        ])
      #expect(run.statuses("a b").first == .submitted(id))
    }

    @Test func eachEndIsReportedAsItWas() {
      let ends = [
        (run.start("ok", "true"), SlurmEnd.exited(0)), (run.start("three", "exit 3"), .exited(3)),
        (run.start("killed", "kill -9 $$"), .signalled(9)), (run.start("missing", "no-such-program"), .exited(127)),
        (
          run.start("refused", "true", SlurmResources(partition: "nope")),
          .refused(
            "invalid partition specified: nope (Batch job submission failed: Invalid partition name specified)")
        ),
      ]
      for (operation, end) in ends {
        #expect(operation.isOver())
        #expect(operation.end == end)
      }
    }

    @Test func manyJobsAreOneArrayAndEachIsExecutedOnce() throws {
      let operations = (0..<60).map { run.start("a[\($0)]", "echo \($0) >>all; exit $((\($0) % 7 == 3))") }
      for (number, operation) in operations.enumerated() {
        #expect(operation.isOver())
        #expect(operation.end == .exited(number % 7 == 3 ? 1 : 0))
      }
      #expect(run.marks("all") == 60)
      let arrays = Set(
        operations.compactMap { operation -> Int? in
          guard case .ended(let outcome) = operation.status else { return nil }
          return outcome.id?.number
        })
      #expect(arrays.count < 6)
    }

    @Test func theSchedulersReasonForAWaitIsTold() {
      let all = SlurmResources(nodes: 3, options: ["--exclusive"])
      let first = run.start("first", "sleep 600", all)
      #expect(eventually { first.isRunning })
      let second = run.start("second", "true", all)
      let isTold = eventually {
        run.statuses("second").contains { status in
          guard case .pending(_, let reason) = status else { return false }
          return reason == SlurmReason("Resources")
        }
      }
      #expect(isTold)
      first.cancel()
      #expect(second.isOver())
      #expect(second.end == .exited(0))
      #expect(first.isOver())
      #expect(first.isCancellation)
    }

    @Test func theLogGrowsWhileTheJobRuns() {
      let operation = run.start("a", "echo early; while ! [ -e go ]; do sleep 0.05; done; echo late")
      #expect(eventually { run.log("a").contains("early") })
      #expect(!operation.isFinished)
      run.letGo()
      #expect(operation.isOver())
      #expect(run.log("a").suffix(2) == ["early", "late"])
    }

    @Test func aCancelledJobIsGoneFromTheClusterWithItsProcesses() {
      let operation = run.start("a", "sleep 601 & echo up; wait")
      #expect(eventually { run.log("a").contains("up") })
      operation.cancel()
      #expect(operation.isOver())
      #expect(operation.isCancellation)
      #expect(run.states() == ["CANCELLED"])
    }

    @Test func aKilledJobThatIgnoresTheStopSignalEndsAtOnce() {
      let operation = run.start("a", "trap '' TERM; echo up; while :; do sleep 0.1; done")
      #expect(eventually { run.log("a").contains("up") })
      operation.kill()
      #expect(operation.isOver())
      #expect(operation.isCancellation)
    }

    @Test func aJobThatSomeoneElseCancelsHasNotSucceeded() throws {
      // Slurm may signal a program before its script. The script starts a second process when it has the signal.
      let isTold = #"[ "$(grep -ls "^PPid:.$PPID$" /proc/[0-9]*/status | wc -l)" -gt 1 ]"#
      let script = "trap 'until \(isTold); do sleep 0.05; done; exit 0' TERM; echo up; while :; do sleep 0.05; done"
      let operation = run.start("a", script)
      #expect(eventually { run.log("a").contains("up") && operation.isRunning })
      guard case .running(let id, _) = operation.status else { return #expect(Bool(false), "\(operation.status)") }
      _ = try run.cluster.call("scancel", id.description)
      #expect(operation.isOver())
      #expect(operation.end == .cancelled)
    }

    @Test func aProgramGetsItsStopSignalAndHasItsGrace() {
      let script = "trap 'echo saved; exit 0' INT; echo up; while :; do sleep 0.05; done"
      let operation = run.start("a", script, stop: SlurmJob.Stop(signal: SIGINT, grace: .seconds(3600)))
      #expect(eventually { run.log("a").contains("up") && operation.isRunning })
      operation.cancel()
      #expect(operation.isOver())
      #expect(operation.isCancellation)
      #expect(run.log("a").last == "saved")
    }

    /// By its script, or by Slurm's own cancellation and a file.
    @Test(arguments: [SIGINT, SIGTERM])
    func aProgramThatIgnoresItsStopSignalIsKilledAfterItsGrace(signal: Int32) throws {
      // SIGKILL comes so late that only the observer can be its sender.
      let run = try ClusterRun(SlurmCluster(nodes: 1, lines: ["KillWait=3600"]))
      let script = "trap '' INT TERM; echo up; while :; do sleep 0.1; done"
      let operation = run.start("a", script, stop: SlurmJob.Stop(signal: signal, grace: .seconds(1)))
      #expect(eventually { run.log("a").contains("up") && operation.isRunning })
      operation.cancel()
      #expect(operation.isOver())
      #expect(operation.isCancellation)
    }

    @Test func aPausedJobStopsAndGoesOn() {
      let operation = run.start("a", "while ! [ -e go ]; do echo tick >>ticks; sleep 0.02; done")
      #expect(eventually { run.marks("ticks") > 3 && operation.isRunning })
      operation.pause()
      let isStopped = eventually {
        let count = run.marks("ticks")
        return stays { run.marks("ticks") == count }
      }
      #expect(isStopped)
      let count = run.marks("ticks")
      operation.resume()
      #expect(eventually { run.marks("ticks") > count })
      run.letGo()
      #expect(operation.isOver())
      #expect(operation.end == .exited(0))
    }

    /// How long that takes is measured in Tests/Benchmarks.
    @Test func manyJobsAreCancelledAtOnce() {
      let operations = (0..<200).map { run.start("a[\($0)]", "sleep 600") }
      #expect(eventually { run.states().count == 200 })
      for operation in operations { operation.cancel() }
      for operation in operations { #expect(operation.isOver()) }
      #expect(run.states().allSatisfy { $0 == "CANCELLED" })
    }

    @Test func aJobBeyondItsTimeLimitSaysSo() throws {
      let operation = run.start("a", "sleep 600", SlurmResources(time: .seconds(60)))
      #expect(eventually { operation.isRunning })
      guard case .running(let id, _) = operation.status else { return }
      // The limit is reached now rather than in a minute.
      try run.cluster.call("scontrol", "update", "JobId=\(id)", "EndTime=now")
      #expect(operation.isOver())
      #expect(operation.end == .timeLimit)
    }

    // MARK: What others do

    @Test func aJobWhoseCommentAndNameAreChangedIsFollowed() throws {
      let operation = run.start("a", "echo x >>work; while ! [ -e go ]; do sleep 0.05; done; exit 3")
      #expect(eventually { operation.isRunning })
      guard case .running(let id, _) = operation.status else { return }
      try run.cluster.call("scontrol", "update", "JobId=\(id)", "Comment=project42", "JobName=other")
      let isChanged = eventually {
        (try? run.cluster.call("squeue", "-h", "-j", "\(id)", "-o", "%k %j")) == "project42 other\n"
      }
      #expect(isChanged)
      run.letGo()
      #expect(operation.isOver())
      #expect(operation.end == .exited(3))
      #expect(run.marks("work") == 1)
    }

    @Test func aJobThatIsRequeuedIsExecutedAgain() throws {
      let script = "echo x >>work; [ $(wc -l <work) = 2 ] && exit 3; while :; do sleep 0.05; done"
      let operation = run.start("a", script)
      #expect(eventually { operation.isRunning && run.marks("work") == 1 })
      guard case .running(let id, _) = operation.status else { return }
      try run.cluster.call("scontrol", "update", "JobId=\(id)", "Requeue=1")
      try run.cluster.call("scontrol", "requeue", "\(id)")
      #expect(eventually { run.statuses("a").contains(.requeued(id)) })
      // Slurm would wait two minutes.
      let isOver = eventually {
        _ = try? run.cluster.call("scontrol", "update", "JobId=\(id)", "StartTime=now")
        return operation.isFinished
      }
      #expect(isOver)
      #expect(operation.end == .exited(3))
      #expect(run.marks("work") == 2)
      #expect(run.log("a").contains("job \(id) was requeued in Slurm, and begins again"))
    }

    @Test(arguments: ["exit 1", "kill -9 $$", "echo 'cannot write: Disk quota exceeded' >&2; exit 1"])
    func aJobWhoseSubmissionSeemsToFailIsFollowed(end: String) throws {
      let run = try ClusterRun(
        run.cluster, programs: ["sbatch": "/usr/bin/sbatch \"$@\" >/dev/null; \(end)"])
      let operation = run.start("a", "echo x >>work; exit 3")
      #expect(operation.isOver())
      #expect(operation.end == .exited(3))
      #expect(run.marks("work") == 1)
      #expect(run.states().count == 1)
    }

    @Test func aJobOfALostSubmissionThatComesLateExecutesNothing() throws {
      // The controller gets the request when the attempt has been given up.
      let late = "while ! [ -e go ]; do sleep 0.05; done; /usr/bin/sbatch \"$@\" <script"
      let sbatch = """
        cd '\(run.folder.url.path())'
        cat >script
        setsid sh -c '\(late)' sh "$@" >/dev/null 2>&1 &
        exit 1
        """
      let run = try ClusterRun(run.cluster, after: run, programs: ["sbatch": sbatch])
      let operation = run.start("a", "echo x >>work")
      #expect(operation.isOver())
      #expect(operation.end == .refused("it exited with status 1"))
      run.letGo()
      #expect(eventually { run.states() == ["FAILED"] })
      #expect(run.marks("work") == 0)
    }

    // MARK: After a crash

    @Test func anotherProcessFollowsTheJobsAndNoneIsExecutedTwice() throws {
      let scripts = ["echo x >>short", "echo x >>long; while ! [ -e go ]; do sleep 0.05; done; exit 4"]
      let first = (0..<2).map { run.start("a[\($0)]", scripts[$0]) }
      #expect(eventually { run.marks("short") == 1 && run.marks("long") == 1 && first[1].isRunning })
      let second = try ClusterRun(run.cluster, after: run)
      let operations = [
        second.start("a[0]", scripts[0], mayExist: true), second.start("a[1]", scripts[1], mayExist: true),
        second.start("new", "echo x >>new", mayExist: true),
      ]
      #expect(operations[0].isOver())
      #expect(operations[2].isOver())
      run.letGo()
      #expect(operations[1].isOver())
      #expect(operations.map(\.end) == [.exited(0), .exited(4), .exited(0)])
      for name in ["short", "long", "new"] { #expect(run.marks(name) == 1, "\(name)") }
      for operation in first { #expect(operation.isOver()) }
    }

    @Test func aSubmissionWhoseAnswerWasLostIsFound() throws {
      // As if sbatch had been killed after its request.
      let operation = run.operation("a", "echo x >>work")
      let script = BatchScript.text(
        of: SlurmJob(
          run.observer.identity(job: "a", attempt: 1), name: "a", arguments: ["/bin/sh", "-c", "echo x >>work"],
          directory: run.folder.url.path()), files: run.observer.files)
      #expect(run.observer.files.makeFolder() == nil)
      let path = run.folder.file("script").path()
      try Data(script.utf8).write(to: URL(fileURLWithPath: path))
      let comment = run.observer.identity(job: "a", attempt: 1).comment
      try run.cluster.call("sbatch", "--no-requeue", "--output=/dev/null", "--comment=\(comment)", path)
      let other = run.start("a", "echo x >>work", mayExist: true)
      #expect(other.isOver())
      #expect(other.end == .exited(0))
      #expect(run.marks("work") == 1)
      #expect(run.states().count == 1)
      withExtendedLifetime(operation) {}
    }

    @Test func anAttemptThatIsSubmittedTwiceIsExecutedOnce() throws {
      let first = run.start("a", "echo x >>work; while ! [ -e go ]; do sleep 0.05; done; exit 5")
      #expect(eventually { run.marks("work") == 1 })
      // Another process submits it without having searched.
      let second = try ClusterRun(run.cluster, after: run).start("a", "echo x >>work; exit 6")
      // The surplus job leaves the attempt to the other, or is cancelled while it waits.
      #expect(eventually { ["FAILED", "CANCELLED"].contains(where: run.states().contains) })
      run.letGo()
      #expect(first.isOver())
      #expect(second.isOver())
      #expect(first.end == .exited(5))
      #expect(second.end == .exited(5))
      #expect(run.marks("work") == 1)
    }
  }
}
