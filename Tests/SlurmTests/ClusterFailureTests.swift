import Foundation
import Operations
import Support
import Testing

@testable import Slurm

extension SlurmClusterTests {
  /// What happens when a part of the cluster fails; each test has a cluster of its own.
  @Suite struct FailureTests {
    @Test func jobsGoOnWhileTheControllerIsDownAndAreReportedAfterwards() throws {
      let run = try ClusterRun(SlurmCluster(nodes: 2, cpus: 8))
      let states = Lock<[SlurmController]>([])
      run.observer.whenControllerChanges { state in states.withLock { $0.append(state) } }
      let operations = (0..<4).map {
        run.start("a[\($0)]", "echo x >>work; while ! [ -e go ]; do sleep 0.05; done; exit \($0)")
      }
      #expect(eventually { operations.allSatisfy(\.isRunning) })
      // It has saved the submission and not the starts: it will start the same jobs once more, and then cancel them.
      run.cluster.killDaemon("controller")
      #expect(eventually { if case .down? = states.withLock(\.last) { true } else { false } })
      let late = run.start("late", "echo x >>late")
      run.letGo()
      run.cluster.startDaemon("controller")
      #expect(eventually { states.withLock(\.last) == .answers })
      // It takes a node out of use where it finds a job that it has not started, until someone says otherwise.
      let isOver = eventually {
        _ = try? run.cluster.call("scontrol", "update", "NodeName=ALL", "State=RESUME")
        return operations.allSatisfy(\.isFinished) && late.isFinished
      }
      #expect(isOver)
      for (number, operation) in operations.enumerated() {
        #expect(operation.end == .exited(Int32(number)))
      }
      #expect(late.end == .exited(0))
      #expect(run.marks("work") == 4)
      #expect(run.marks("late") == 1)
    }

    @Test func aControllerKilledAfterASubmitLosesAndRepeatsNoWork() throws {
      let run = try ClusterRun(SlurmCluster(nodes: 1, cpus: 8))
      let operations = (0..<5).map { run.start("a[\($0)]", "echo x >>work.\($0)") }
      #expect(eventually { run.statuses("a[0]").isEmpty == false })
      run.cluster.killDaemon("controller")
      run.cluster.startDaemon("controller")
      for operation in operations {
        #expect(operation.isOver())
        // Slurm may end work that had begun when the controller forgot it, even before its first command.
        #expect(operation.end == .exited(0) || operation.end == .lost(hasBegun: true))
      }
      for (number, operation) in operations.enumerated() {
        let marks = run.marks("work.\(number)")
        #expect(operation.end == .exited(0) ? marks == 1 : marks <= 1)
      }
    }

    @Test func aJobSurvivesTheEndOfItsNodesDaemon() throws {
      // However late the daemon is back, the node is not taken for lost.
      let run = try ClusterRun(SlurmCluster(nodes: 1, lines: ["SlurmdTimeout=3600"]))
      let operation = run.start("a", "echo x >>work; while ! [ -e go ]; do sleep 0.05; done; exit 3")
      #expect(eventually { operation.isRunning && run.marks("work") == 1 })
      run.cluster.killDaemon("node1")
      run.letGo()
      run.cluster.startDaemon("node1")
      #expect(operation.isOver())
      #expect(operation.end == .exited(3))
      #expect(run.marks("work") == 1)
    }

    @Test func aJobWhoseNodeIsLostSaysSoAndOthersGoOn() throws {
      let run = try ClusterRun(SlurmCluster(nodes: 2))
      let lost = run.start("lost", "sleep 603", SlurmResources(options: ["--nodelist=node1"]))
      let other = run.start(
        "other", "while ! [ -e go ]; do sleep 0.05; done", SlurmResources(options: ["--nodelist=node2"]))
      #expect(eventually { lost.isRunning && other.isRunning })
      guard case .running(let id, _) = lost.status else { return }
      run.cluster.loseNode("node1", with: id)
      try run.cluster.call("scontrol", "update", "NodeName=node1", "State=DOWN", "Reason=test")
      #expect(lost.isOver())
      #expect(lost.end == .nodeFailure(nodes: "node1"))
      run.letGo()
      #expect(other.isOver())
      #expect(other.end == .exited(0))
    }

    /// Kills the program that follows the jobs at random moments, at its start, within a submission and later.
    @Test func aRunWhoseProgramIsKilledAgainAndAgainDoesEachJobOnce() throws {
      let cluster = try SlurmCluster(nodes: 2, cpus: 8)
      let folder = try TemporaryFolder()
      let count = 24
      let conf = cluster.folder.file("slurm.conf").path()
      let program = [Built.product("slurm-probe"), conf, "killed", folder.url.path(), String(count)]
      let null = open("/dev/null", O_RDWR | O_CLOEXEC)
      defer { close(null) }
      for _ in 0..<25 {
        let probe = try ChildProcess(program, descriptors: [null, null, null])
        _ = poll(nil, 0, Int32.random(in: 0...600))
        kill(probe.pid, SIGKILL)
        _ = probe.ending(waiting: true)
      }
      let last = try ChildProcess.run(program)
      #expect(last.ending == .exited(0))
      #expect(last.output.split(separator: "\n").map(String.init) == (0..<count).map { "\($0) exited(\($0 % 4))" })
      for number in 0..<count {
        let work = (try? String(contentsOf: folder.file("work.\(number)"), encoding: .utf8)) ?? ""
        #expect(work == "x\n", "\(number)")
      }
      #expect(try eventually { try cluster.call("squeue", "-h", "-o", "%i %T").isEmpty })
    }

    @Test func aJobThatIsPreemptedSaysSo() throws {
      let cluster = try SlurmCluster(
        nodes: 1,
        partitions: [
          "PartitionName=low Nodes=ALL Default=YES PriorityTier=1 State=UP",
          "PartitionName=high Nodes=ALL PriorityTier=10 State=UP",
        ], lines: ["PreemptType=preempt/partition_prio", "PreemptMode=CANCEL"])
      let run = try ClusterRun(cluster)
      let low = run.start("low", "sleep 600", SlurmResources(options: ["--exclusive"]))
      #expect(eventually { low.isRunning })
      let high = run.start("high", "true", SlurmResources(partition: "high", options: ["--exclusive"]))
      #expect(low.isOver())
      #expect(low.end == .preempted)
      #expect(high.isOver())
      #expect(high.end == .exited(0))
    }

    @Test func aClusterEndsWithItsDaemonsAndJobs() throws {
      let path: String
      do {
        let run = try ClusterRun(SlurmCluster(nodes: 1))
        path = run.cluster.folder.file("slurm.conf").path()
        let operation = run.start("a", "sleep 602")
        #expect(eventually { operation.isRunning })
        operation.cancel()
        #expect(operation.isOver())
      }
      let isGone = eventually {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return !names.contains { name in
          guard Int(name) != nil, let data = FileManager.default.contents(atPath: "/proc/\(name)/environ") else {
            return false
          }
          return String(decoding: data, as: UTF8.self).contains("SLURM_CONF=\(path)")
        }
      }
      #expect(isGone)
    }
  }
}
