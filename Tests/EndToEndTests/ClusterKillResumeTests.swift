import Foundation
import JobModel
import RunStore
import Support
import Testing

/// What becomes of the cluster jobs that a killed program has left: which are followed, and what is said of the others.
@Suite(
  .enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
struct ClusterKillResumeTests {
  private let cluster: SlurmCluster
  private let place: Workplace
  /// The name of a job that no other test has.
  private let train = "train-\(UUID().uuidString.prefix(8))"
  private let untilGo = "while [ ! -e go ]; do sleep 0.2; done"

  init() throws {
    cluster = try SlurmCluster.shared.get()
    place = try Workplace(cluster.environment)
  }

  private func lines(_ name: String) -> Int {
    String(decoding: place.contents(name) ?? Data(), as: UTF8.self).split(separator: "\n").count
  }

  /// The states of the submissions of `train`.
  private var states: [String] {
    let text = (try? cluster.call("squeue", "-h", "-r", "-t", "all", "-n", train, "-o", "%T")) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  /// Kills a run once `train` has written its line, its place is recorded, and the end of `first` if there is one.
  private func startAndKill(_ first: String? = nil) throws {
    let run = try place.start("run", "--on", "slurm", "--ui", "plain")
    #expect(eventually { lines("train") == 1 }, "\(run.errorText)")
    let isRecorded = try eventually {
      let store = try RunStore(folder: place.folder.file("state/opdash").path)
      guard let entry = try store.runs(1).first else { return false }
      let events = try store.events(of: entry)
      let names = events.compactMap { event -> String? in
        if case .jobAdded(_, let job) = event.fact { return job.name }
        return nil
      }
      let isPlaced = events.contains { event in
        if case .jobPlaced(let id, _) = event.fact { names[id.index] == train } else { false }
      }
      return try isPlaced && (first == nil || store.ended(in: entry).contains { $0.name == first })
    }
    #expect(isRecorded)
    Foundation.kill(run.child.pid, SIGKILL)
    #expect(run.ending() == .signalled(SIGKILL))
    #expect(states == ["RUNNING"])
  }

  private func writeFile(first: String, mayFail: Bool = false) throws {
    try place.write(
      """
      jobs:
        first: { allow_failure: \(mayFail), run: '\(first)' }
        \(train): { needs: [first], run: 'echo 1 >>train; \(untilGo)' }
      """, to: "opdash.yml")
  }

  @Test func aJobWhoseNeedWasAllowedToFailIsFollowed() throws {
    try writeFile(first: "exit 1", mayFail: true)
    try startAndKill("first")
    let next = try place.start("resume", "--ui", "plain")
    try place.write("", to: "go")
    #expect(next.ending() == .exited(0), "\(next.errorText)")
    #expect(next.errorText.contains("following 1 job"), "\(next.errorText)")
    #expect(lines("train") == 1)
  }

  @Test func aJobWhoseNeedIsExecutedAgainIsEndedAndExecutedAgain() throws {
    try writeFile(first: "echo 1 >>first")
    try startAndKill("first")
    try writeFile(first: "echo 2 >>first")
    let next = try place.start("resume", "--ui", "plain")
    #expect(eventually { lines("train") == 2 }, "\(next.errorText)")
    try place.write("", to: "go")
    #expect(next.ending() == .exited(0), "\(next.errorText)")
    #expect(next.errorText.contains("opdash: ending 1 cluster job of the earlier run: \(train) ("), "\(next.errorText)")
    #expect(!next.errorText.contains("following"), "\(next.errorText)")
    #expect(place.contents("first") == Data("1\n2\n".utf8))
  }

  @Test func jobsThatOnlyFailedOnesWouldEndAreNamedAndLeft() throws {
    try place.write(
      """
      jobs:
        first: { slurm: { cpus: 2 }, run: exit 1 }
        \(train): 'echo 1 >>train; \(untilGo)'
      """, to: "opdash.yml")
    try startAndKill("first")
    let failed = try place.run("resume", "--failed", "--ui", "plain")
    #expect(failed.ending() == .exited(2), "\(failed.errorText)")
    #expect(failed.errorText.contains("that --failed would end: \(train): "), "\(failed.errorText)")
    #expect(states == ["RUNNING"])
    try place.write("", to: "go")
    let next = try place.run("resume", "--ui", "plain")
    #expect(next.ending() == .exited(1), "\(next.errorText)")
    #expect(next.errorText.contains("following 1 job"), "\(next.errorText)")
    #expect(lines("train") == 1)
  }

  @Test func whatAJobThatWasBrokenOffHasMadeIsNotUpToDate() throws {
    try place.write("jobs: { \(train): { creates: [train], run: 'echo 1 >>train; \(untilGo)' } }", to: "opdash.yml")
    try startAndKill()
    let next = try place.start("run", "--on", "slurm", "--ui", "plain")
    #expect(eventually { lines("train") == 2 }, "\(next.errorText) \(next.outputText)")
    try place.write("", to: "go")
    #expect(next.ending() == .exited(0), "\(next.errorText)")
  }
}
