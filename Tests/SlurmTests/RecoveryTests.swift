import Foundation
import Operations
import Support
import Testing

@testable import Slurm

/// Runs that are interrupted at random moments, on a scripted Slurm whose controller forgets and whose answers are lost.
@Suite struct RecoveryTests {
  /// Executes the jobs of a scripted Slurm as the scripts of the attempts would.
  private struct Nodes {
    var random: SplitMix
    /// How often the program of each attempt was executed.
    var executions: [SlurmIdentity: Int] = [:]
    var executing: [(job: FakeSlurm.Job, identity: SlurmIdentity)] = []
    /// The jobs that the controller has saved.
    var saved: [FakeSlurm.Job] = []
    var savedNext = 1

    mutating func chance(_ one: UInt64) -> Bool { random.next() % one == 0 }

    mutating func step(_ bench: Bench) {
      bench.slurm.change { slurm in
        if !slurm.isDown {
          start(&slurm, bench)
          reportEnds(&slurm)
        }
        for (position, (job, identity)) in executing.enumerated().reversed() where chance(15) {
          executing.remove(at: position)
          try? bench.write("0 \(job.id)\n", to: identity, ".exit")
        }
      }
    }

    /// Nodes report ends until the controller has taken them.
    private mutating func reportEnds(_ slurm: inout FakeSlurm.State) {
      for index in slurm.jobs.indices where slurm.jobs[index].state == "RUNNING" {
        let job = slurm.jobs[index]
        if !executing.contains(where: { $0.job.id == job.id && $0.job.comment == job.comment }) {
          slurm.jobs[index].state = chance(2) ? "COMPLETED" : "NODE_FAIL"
        }
      }
    }

    private mutating func start(_ slurm: inout FakeSlurm.State, _ bench: Bench) {
      for index in slurm.jobs.indices where slurm.jobs[index].state == "PENDING" && chance(12) {
        guard let identity = bench.identity(ofComment: slurm.jobs[index]) else { continue }
        let id = slurm.jobs[index].id
        if bench.observer.files.hasClaim(of: identity) {
          slurm.jobs[index].state = "FAILED"
          slurm.jobs[index].reason = "NonZeroExitCode"
          slurm.jobs[index].status = BatchScript.duplicateStatus << 8
        } else {
          try? bench.write("\(id) node1\n", to: identity, ".claim")
          executions[identity, default: 0] += 1
          executing.append((slurm.jobs[index], identity))
          slurm.jobs[index].state = "RUNNING"
          slurm.jobs[index].reason = "None"
          slurm.jobs[index].node = "node1"
        }
      }
    }

    /// Saves, loses answers, and kills the controller.
    mutating func disturb(_ bench: Bench) {
      bench.slurm.change { slurm in
        if chance(10), !slurm.isDown { (saved, savedNext) = (slurm.jobs, slurm.next) }
        if chance(40) { slurm.canned["sbatch"] = [FakeSlurm.slow] }
        if chance(80) { slurm.canned["squeue"] = [FakeSlurm.down] }
        if slurm.isDown ? chance(30) : chance(120) {
          slurm.isDown.toggle()
          // It starts with what it has saved, and gives later numbers out again.
          if !slurm.isDown { (slurm.jobs, slurm.next) = (saved, savedNext) }
        }
      }
    }
  }

  @Test(arguments: 1...40)
  func everyJobIsExecutedOnceAndReported(seed: Int) throws {
    let names = (0..<12).map { "a\($0)" }
    var nodes = Nodes(random: SplitMix(seed: UInt64(seed)))
    var bench = try Bench()
    for name in names { bench.follow(name, SlurmResources(cpus: name.hasSuffix("1") ? 2 : 1)) }
    for step in 0..<4000 {
      nodes.step(bench)
      // In the end all is well, so that all can end.
      if step < 400 {
        nodes.disturb(bench)
        if nodes.chance(40) {
          bench.abandon()
          bench = Bench(after: bench)
          for name in names { bench.follow(name, SlurmResources(cpus: name.hasSuffix("1") ? 2 : 1), mayExist: true) }
        }
      } else {
        bench.slurm.change { $0.isDown = false }
      }
      bench.advance(.milliseconds(100))
      if step > 400, names.allSatisfy({ bench.end($0) != nil }) { break }
    }
    for name in names {
      #expect(nodes.executions[bench.identity(name)] == 1, "\(name)")
      #expect(bench.end(name) == .exited(0), "\(name)")
    }
  }
}
