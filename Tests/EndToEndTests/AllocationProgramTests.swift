import Foundation
import Support
import Testing

/// The built program with an allocation of the tests' cluster.
@Suite(
  .enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
struct AllocationProgramTests {
  private let cluster: SlurmCluster
  private let place: Workplace

  init() throws {
    cluster = try SlurmCluster()
    place = try Workplace(cluster.environment)
  }

  /// The states of our jobs that have not ended.
  private var living: [String] { cluster.states().filter { ["PENDING", "RUNNING", "COMPLETING"].contains($0) } }

  @Test func thirtyShortJobsAreOneJobOfTheClusterWhichIsGoneAfterThem() throws {
    try place.write(
      """
      on: slurm
      slurm: { allocation: { nodes: 2, cpus: 2 } }
      jobs:
        part:
          matrix: { number: [\((1...30).map(String.init).joined(separator: ", "))] }
          run: 'echo "$SLURM_JOB_ID $SLURMD_NODENAME" > part.${matrix.number}; echo n=${matrix.number} >> $OPDASH_OUTPUT'
        last:
          needs: [part]
          run: 'cat part.* > all; printf %s "${jobs.part[30].n}" > value; while [ ! -e go ]; do sleep 0.1; done'
      """, to: "opdash.yml")
    let run = try place.start("run", "--ui", "plain")
    #expect(eventually { place.has("value") }, "\(run.errorText)")
    #expect(cluster.states() == ["RUNNING"])
    try place.write("", to: "go")
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    #expect(eventually { living.isEmpty }, "\(cluster.states())")
    let lines = String(decoding: place.contents("all") ?? Data(), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 30)
    let words = lines.map { $0.split(separator: " ") }
    #expect(Set(words.compactMap(\.first)).count == 1)
    #expect(Set(words.compactMap(\.last)) == ["node1", "node2"])
    #expect(place.contents("value") == Data("30".utf8))
  }

  /// For some seconds after a restart the controller creates no steps.
  @Test func aRestartOfTheControllerFailsNoStep() throws {
    try place.write(
      """
      on: slurm
      slurm: { allocation: { nodes: 2, cpus: 2 } }
      jobs:
        part:
          matrix: { number: [\((1...40).map(String.init).joined(separator: ", "))] }
          run: 'echo ${matrix.number} >> done; [ ${matrix.number} -gt 4 ] || until [ -e go ]; do sleep 0.1; done'
      """, to: "opdash.yml")
    let run = try place.start("run", "--ui", "plain")
    func done() -> [String] {
      String(decoding: place.contents("done") ?? Data(), as: UTF8.self).split(separator: "\n").map(String.init)
    }
    #expect(eventually { done().count == 4 }, "\(run.errorText)")
    // A controller that is told to end saves what it knows.
    let written = try String(contentsOf: cluster.folder.file("pid/controller"), encoding: .utf8)
    let controller = try #require(pid_t(written.trimmingCharacters(in: .whitespacesAndNewlines)))
    try cluster.call("scontrol", "shutdown", "slurmctld")
    #expect(eventually { !ProcessTable.isAlive(controller) })
    cluster.startDaemon("controller")
    try place.write("", to: "go")
    #expect(run.ending() == .exited(0), "\(run.outputText.suffix(3000)) \(run.errorText)")
    #expect(done().sorted() == (1...40).map(String.init).sorted())
    #expect(eventually { living.isEmpty }, "\(cluster.states())")
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func aSignalReleasesTheAllocation(signal: Int32) throws {
    try place.write(
      """
      on: slurm
      slurm: { allocation: { nodes: 2, cpus: 2 } }
      jobs:
        nap: "trap 'echo x >>ended; exit 1' TERM; echo x >>begun; while :; do sleep 0.1 || :; done"
        next: { needs: [nap], run: touch next }
      """, to: "opdash.yml")
    let run = try place.start("run", "--ui", "plain")
    #expect(eventually { place.has("begun") }, "\(run.errorText)")
    kill(run.child.pid, signal)
    #expect(run.ending() == .signalled(signal), "\(run.errorText)")
    #expect(place.contents("ended") == Data("x\n".utf8))
    #expect(eventually { living.isEmpty }, "\(cluster.states())")
    #expect(!place.has("next"))
  }

  @Test func aKilledRunLosesItsAllocationByTheLease() throws {
    try place.write(
      "on: slurm\nslurm: { allocation: { nodes: 1 } }\njobs: { nap: 'echo x >>begun; sleep 611' }", to: "opdash.yml")
    let run = try place.start("run", "--ui", "plain")
    #expect(eventually { place.has("begun") }, "\(run.errorText)")
    kill(run.child.pid, SIGKILL)
    #expect(run.ending() == .signalled(SIGKILL))
    #expect(eventually { living.isEmpty }, "\(cluster.states())")
  }

  /// The shell's allocation goes on, and so would a step without its srun.
  @Test func aRunThatIsKilledInsideAnAllocationLeavesNoStep() throws {
    let number = try cluster.call(
      "sbatch", "--parsable", "--nodes=1", "--cpus-per-task=2", "-o", "/dev/null", "--wrap", "sleep 613"
    ).trimmingCharacters(in: .newlines)
    func state() -> String? { try? cluster.call("squeue", "-h", "-j", number, "-o", "%T") }
    #expect(eventually { state() == "RUNNING\n" })
    let place = try Workplace(cluster.environment.merging(["SLURM_JOB_ID": number]) { $1 })
    try place.write(
      "on: slurm\njobs: { nap: \"trap '' TERM; echo $$ >pid; while :; do sleep 0.1; done\" }", to: "opdash.yml")
    let run = try place.start("run", "--ui", "plain")
    #expect(eventually { place.contents("pid")?.last == UInt8(ascii: "\n") }, "\(run.errorText)")
    let text = String(decoding: place.contents("pid") ?? Data(), as: UTF8.self)
    let pid = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
    kill(run.child.pid, SIGKILL)
    #expect(run.ending() == .signalled(SIGKILL))
    #expect(eventually { kill(pid, 0) != 0 })
    #expect(eventually { (try? cluster.call("squeue", "-s", "-h", "-o", "%j").contains("opdash/")) == false })
    #expect(state() == "RUNNING\n")
    try cluster.call("scancel", number)
  }

  /// The step of the shell has both CPUs.
  @Test func inAStepOfSrunJobsAreExecutedBesideIt() throws {
    try place.write("on: slurm\njobs: { a: echo a >> out, b: 'echo \"$SLURM_STEP_ID\" >> out' }", to: "opdash.yml")
    let run = try place.script(
      """
      timeout \(Patience.seconds) srun -Q -N1 -n1 -c2 sh -c '
        export SLURM_LABELIO=1 SLURM_STDOUTMODE=stolen SLURM_CPU_BIND=mask_cpu:0x1000 SLURM_NTASKS_PER_NODE=2
        exec "$OPDASH" run --ui plain'
      """)
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    let lines = String(decoding: place.contents("out") ?? Data(), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 2)
    #expect(!place.has("stolen"))
  }

  @Test func whatNoNodeOfTheAllocationHasIsSaidBeforeAnythingStarts() throws {
    try place.write(
      "slurm: { allocation: { nodes: 9, cpus: 2 } }\njobs: { a: { on: slurm, slurm: { cpus: 4 }, run: touch a }, b: touch b }",
      to: "opdash.yml")
    let run = try place.run("run", "--ui", "plain")
    #expect(run.ending() == .exited(2))
    let lines = run.errorText.split(separator: "\n")
    #expect(lines.count == 2, "\(run.errorText)")
    #expect(lines.first?.hasPrefix("opdash: sbatch refuses --cpus-per-task=2 --nodes=9: ") == true, "\(run.errorText)")
    #expect(lines.last?.hasPrefix("opdash: job a: slurm.cpus: 4 is too much") == true, "\(run.errorText)")
    #expect(!place.has("b"))
  }
}
