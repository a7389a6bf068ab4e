import Foundation
import RunStore
import Support
import Testing

/// The built program on the tests' cluster.
@Suite(
  .enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
struct ClusterProgramTests {
  private let cluster: SlurmCluster
  private let place: Workplace

  init() throws {
    cluster = try SlurmCluster.shared.get()
    place = try Workplace(cluster.environment)
  }

  private func lines(_ name: String) -> Int {
    String(decoding: place.contents(name) ?? Data(), as: UTF8.self).split(separator: "\n").count
  }

  /// What squeue has for the job of a name, as `PENDING JobHeldUser`.
  private func squeue(_ name: String) -> String {
    let text = (try? cluster.call("squeue", "-h", "-t", "all", "-n", name, "-o", "%T %r")) ?? ""
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test func theJobsOfAFileAreExecutedThere() throws {
    try place.write(
      """
      jobs:
        version: echo "tag=v7" >> "$OPDASH_OUTPUT"; echo $SLURM_JOB_ID > number
        publish: { needs: [version], run: 'printf %s "${jobs.version.tag}" > published' }
      """, to: "opdash.yml")
    let run = try place.run("run", "--on", "slurm", "--ui", "plain")
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    #expect(place.contents("published") == Data("v7".utf8))
    let number = String(decoding: place.contents("number") ?? Data(), as: UTF8.self)
    #expect(Int(number.trimmingCharacters(in: .newlines)) != nil, "\(number)")
    // The scripts have the environment, which may hold secrets.
    let runs = "state/opdash/runs"
    let left = place.folder.names(in: runs).flatMap { place.folder.names(in: "\(runs)/\($0)/cluster") }
    #expect(!left.isEmpty && !left.contains { $0.hasSuffix(".sh") || $0.hasSuffix(".values") }, "\(left)")
  }

  @Test func whatTheClusterDoesNotHaveIsSaidBeforeAnythingStarts() throws {
    try place.write("jobs: { a: { on: slurm, slurm: { cpus: 64 }, run: touch a }, b: touch b }", to: "opdash.yml")
    let run = try place.run("run", "--ui", "plain")
    #expect(run.ending() == .exited(2))
    #expect(run.errorText.hasPrefix("opdash: job a: sbatch refuses --cpus-per-task=64: "), "\(run.errorText)")
    #expect(!place.has("b"))
  }

  @Test func onlyWhatWasChosenForTheSubmissionReachesAJob() throws {
    try place.write(
      """
      on: slurm
      slurm: { name: plain }
      jobs:
        unit:
          matrix: { os: [linux] }
          run: printf "%s " "$MINE" "$SLURM_JOB_NAME" "$SLURM_LABELIO" > seen
      """, to: "opdash.yml")
    let run = try place.start(
      "run", "--ui", "json",
      environment: [
        "MINE": "mine", "SBATCH_EXPORT": "NONE", "SBATCH_ERROR": "/none/e", "SBATCH_ARRAY_INX": "1-3",
        "SBATCH_PARTITION": "main", "SLURM_LABELIO": "1", "SQUEUE_STATES": "PENDING", "SLURM_TIME_FORMAT": "relative",
      ])
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    #expect(place.contents("seen") == Data("mine plain  ".utf8))
    #expect(run.outputText.contains(", with SBATCH_PARTITION=main of the environment"))
  }

  /// Each line ends a time without output that is shorter than the limit.
  @Test func aJobThatWritesIsNotEndedForItsSilence() throws {
    try place.write(
      """
      on: slurm
      jobs:
        speaks: { silence: 4s, run: 'for i in 1 2 3 4 5 6 7; do echo $i; sleep 2; done; touch spoken' }
        silent: { silence: 4s, run: 'echo 1; sleep 600' }
      """, to: "opdash.yml")
    let run = try place.run("run", "--ui", "plain")
    #expect(run.ending() == .exited(1), "\(run.errorText)")
    #expect(place.has("spoken"))
    #expect(run.outputText.contains("wrote nothing for 4s"))
    #expect(run.outputText.contains(/\+ speaks\s/), "\(run.outputText)")
  }

  @Test func aKilledRunIsResumedAndNoJobRunsTwice() throws {
    try place.write(
      """
      on: slurm
      jobs:
        first: echo 1 >>first
        nap: { needs: [first], run: "echo 1 >>nap; while [ ! -e go ]; do sleep 0.2; done; echo v=1 >>$OPDASH_OUTPUT" }
        last: { needs: [nap], run: 'echo "${jobs.nap.v}" >>last' }
      """, to: "opdash.yml")
    let run = try place.start("run", "--ui", "plain")
    #expect(eventually { lines("nap") == 1 }, "\(run.errorText)")
    let isRecorded = try eventually {
      let store = try RunStore(folder: place.folder.file("state/opdash").path)
      guard let run = try store.runs(1).first else { return false }
      return try EarlierJob.of(store.past(of: run)).contains { job in
        if job.name == "first", case .done = job.end { true } else { false }
      }
    }
    #expect(isRecorded)
    Foundation.kill(run.child.pid, SIGKILL)
    #expect(run.ending() == .signalled(SIGKILL))
    #expect(squeue("nap").hasPrefix("RUNNING"))
    try place.write("", to: "go")
    let next = try place.run("resume", "--ui", "plain")
    #expect(next.ending() == .exited(0), "\(next.errorText)")
    #expect(next.errorText.contains("following 1 job"), "\(next.errorText)")
    for name in ["first", "nap", "last"] { #expect(lines(name) == 1, "\(name)") }
    #expect(place.contents("last") == Data("1\n".utf8))
  }

  @Test func theKeysOfTheDashboardAreSeenInTheCluster() async throws {
    let name = "keys-\(UUID().uuidString.prefix(8))"
    try place.write(
      "jobs: { \(name): { on: slurm, slurm: { options: [--begin=now+1hour] }, run: 'true' } }", to: "opdash.yml")
    let window = try place.window("run", "--keep-open=always")
    try await window.soonSees("the wait") { $0.text.contains("waits for the cluster: BeginTime") }
    #expect(squeue(name) == "PENDING BeginTime")
    try window.press("p")
    try await window.soonSees("the pause") { $0.text.contains("paused before its start") }
    #expect(eventually { squeue(name).hasPrefix("PENDING JobHeld") })
    try window.press("p")
    #expect(eventually { squeue(name) == "PENDING BeginTime" })
    try window.press("x")
    try await window.soonSees("the end") { $0.text.contains("cancelled by you") }
    #expect(squeue(name).hasPrefix("CANCELLED"))
  }
}

/// The built program where there is no Slurm.
@Suite struct AbsentClusterTests {
  @Test func theAbsenceOfSlurmIsSaidBeforeAnythingStarts() throws {
    let place = try Workplace(["PATH": "/none"], files: ["opdash.yml": "jobs: { a: touch a }"])
    let run = try place.run("run", "--on=slurm", "--ui", "plain")
    #expect(run.ending() == .exited(2))
    #expect(run.errorText.hasPrefix("opdash: Slurm is not on this machine: "), "\(run.errorText)")
    #expect(run.errorText.split(separator: "\n").count == 1)
    #expect(!place.has("a"))
  }
}
