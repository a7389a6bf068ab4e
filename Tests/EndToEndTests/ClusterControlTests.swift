import Foundation
import Support
import Testing

/// The keys and the ways to end a run, with jobs that a cluster executes: each is seen in squeue.
@Suite(
  .enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
struct ClusterControlTests {
  private let cluster: SlurmCluster
  private let place: Workplace
  private let marker = ProcessTable.marker()
  private let name = "job-\(UUID().uuidString.prefix(8))"

  init() throws {
    // SIGKILL comes so late that only opdash can be its sender.
    cluster = try SlurmCluster(nodes: 2, cpus: 4, lines: ["KillWait=3600"])
    place = try Workplace(cluster.environment)
  }

  /// The jobs of a name as squeue has them, `RUNNING` for example, in the order of their submission.
  private func squeue(_ name: String) -> [String] {
    let text = (try? cluster.call("squeue", "-h", "-r", "-t", "all", "-S", "i", "-n", name, "-o", "%T")) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  private var left: String {
    ((try? cluster.call("squeue", "-h", "-r", "-o", "%i %j %T")) ?? "?").trimmingCharacters(in: .newlines)
  }

  private var ticks: Int { place.contents("ticks")?.count ?? 0 }

  /// Whether the job's processes are there and stopped, all of them; a shell may wait for a child that was stopped between
  /// vfork and exec.
  private var standsStill: Bool {
    let states = ProcessTable.processes(with: marker).map { pid in
      let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
      return stat.split(separator: ")").last?.dropFirst().first
    }
    return states.contains("T") && states.allSatisfy { $0 == "T" || $0 == "D" }
  }

  @Test func aRunningJobIsPausedCancelledRetriedAndKilledByKey() async throws {
    // Once there is a file `deaf` the job ignores SIGTERM.
    try place.write(
      """
      on: slurm
      jobs: { \(name): "[ -e deaf ] && trap '' TERM; while :; do printf . >>ticks; sleep 0.05; done; : \(marker)" }
      """, to: "opdash.yml")
    let window = try place.window(columns: 100, "run", "--keep-open=always")
    try await window.soonSees("the job at work") { $0.row(name)?.letter == "▶" && ticks > 0 }
    #expect(squeue(name) == ["RUNNING"])

    try window.press("p")
    try await window.soonSees("the pause") { $0.text.contains("paused") }
    #expect(await soon { standsStill })
    let before = ticks
    #expect(squeue(name) == ["STOPPED"])
    #expect(standsStill && ticks == before)
    try window.press("p")
    #expect(await soon { ticks > before && !standsStill })
    #expect(squeue(name) == ["RUNNING"])

    try window.press("x")
    try await window.soonSees("the cancellation") { $0.text.contains("cancelled by you") }
    #expect(squeue(name) == ["CANCELLED"])
    #expect(ProcessTable.processes(with: marker).isEmpty)

    try place.write("", to: "deaf")
    let atEnd = ticks
    try window.press("r")
    try await window.soonSees("the retry at work") { $0.row(name)?.letter == "▶" && ticks > atEnd }
    #expect(squeue(name) == ["CANCELLED", "RUNNING"])

    try window.press("X")
    try await window.soonSees("the kill") { $0.text.contains("cancelled by you") }
    #expect(ProcessTable.processes(with: marker).isEmpty)
    #expect(left == "")
    // The killed script may have ended before Slurm has cancelled the job.
    #expect(squeue(name).count == 2 && ["CANCELLED", "FAILED"].contains(squeue(name).last))
    try window.press("q")
    #expect(try window.exitStatus() == 3)
  }

  @Test func controlCCancelsEveryJobInTheCluster() async throws {
    try place.write(
      """
      on: slurm
      jobs:
        \(name): { matrix: { number: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }, run: "exec sleep \(marker)" }
        after: { needs: [\(name)], run: touch after }
      """, to: "opdash.yml")
    let window = try place.window(columns: 100, "run")
    try await window.soonSees("eight of twelve at work") { _ in ProcessTable.sleepers(marker) == 8 }
    #expect(left.split(separator: "\n").count { $0.hasSuffix("RUNNING") } == 8)
    #expect(left.split(separator: "\n").count { $0.hasSuffix("PENDING") } == 4)
    try window.press("C-c")
    #expect(try window.exitStatus() == 130)
    #expect(left == "")
    #expect(ProcessTable.sleepers(marker) == 0)
    #expect(!place.has("after"))
  }

  /// A job that ignores SIGTERM; with no grace of its own, the usual one.
  private func writeDeafJob(grace: String? = nil) throws {
    let stop = grace.map { "stop: { grace: \($0) }, " } ?? ""
    try place.write(
      """
      on: slurm
      jobs: { \(name): { \(stop)run: "trap '' TERM; while :; do printf . >>ticks; sleep 0.05; done; : \(marker)" } }
      """, to: "opdash.yml")
  }

  @Test func whatIgnoresControlCIsKilledAfterItsGrace() async throws {
    try writeDeafJob()
    let window = try place.window(columns: 100, "run")
    try await window.soonSees("the job at work") { $0.row(name)?.letter == "▶" && ticks > 0 }
    try window.press("C-c")
    #expect(try window.exitStatus() == 130)
    #expect(eventually { left == "" })
    #expect(ProcessTable.processes(with: marker).isEmpty)
    #expect(squeue(name) == ["CANCELLED"])
  }

  @Test func controlCTwiceKillsWhatIgnoresTheFirst() async throws {
    try writeDeafJob(grace: "10m")
    let window = try place.window(columns: 100, "run")
    try await window.soonSees("the job at work") { $0.row(name)?.letter == "▶" && ticks > 0 }
    try window.press("C-c")
    try await window.soonSees("the first stop") { $0.text.contains("Ctrl-C kills now") }
    #expect(squeue(name) == ["RUNNING"])
    let before = ticks
    #expect(await soon { ticks > before })
    try window.press("C-c")
    #expect(try window.exitStatus() == 130)
    #expect(eventually { left == "" })
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }
}
