import Foundation
import Support
import Testing

/// The built program while parts of the cluster fail; each test has a cluster of its own.
///
/// `OPDASH_CLUSTER_OUTAGE` is how many seconds the controller is down.
@Suite(
  .enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
struct ClusterOutageTests {
  private static let outage = ProcessInfo.processInfo.environment["OPDASH_CLUSTER_OUTAGE"].flatMap { Double($0) } ?? 3
  private static let names = (0..<24).map { "job\($0)" }

  /// Jobs that write their line, the later ones when there is a file `go`: four chains of six jobs.
  private static var jobFile: String {
    let jobs = names.enumerated().map { index, name in
      let needs = index < 4 ? "" : "needs: [\(names[index - 4])], "
      let wait = index < 8 ? "" : "until [ -e go ]; do sleep 0.1; done; "
      return "  \(name): { \(needs)run: '\(wait)echo \(name) >>work' }\n"
    }
    return "on: slurm\njobs:\n" + jobs.joined()
  }

  private func work(_ place: Workplace) -> [String] {
    String(decoding: place.contents("work") ?? Data(), as: UTF8.self).split(separator: "\n").map(String.init).sorted()
  }

  private func left(_ cluster: SlurmCluster) -> String {
    (try? cluster.call("squeue", "-h", "-r", "-o", "%i %T")) ?? "?"
  }

  /// Waits for the end of the run and expects no job left, none done twice, and each that is reported as done to be done.
  private func expectTruth(_ run: Background, _ place: Workplace, _ cluster: SlurmCluster) {
    // After a crash the controller takes a node out of use where it finds a job whose start it has not saved.
    let hasEnded = eventually {
      _ = try? cluster.call("scontrol", "update", "NodeName=ALL", "State=RESUME")
      _ = poll(nil, 0, 500)
      return run.checkEnding() != nil
    }
    let output = "\(run.outputText.suffix(3000)) \(run.errorText) \(left(cluster))"
    #expect(hasEnded, "\(output)")
    let done = run.outputText.matches(of: /\+ (job[0-9]+)\s/).map { String($0.1) }
    #expect(Set(done).isSubset(of: work(place)), "\(output)")
    #expect(Set(work(place)).count == work(place).count, "\(output)")
    #expect(eventually { left(cluster).isEmpty }, "\(left(cluster))")
  }

  /// Expects the run to end well, with each job done once and none left.
  private func expectAllDone(_ run: Background, _ place: Workplace, _ cluster: SlurmCluster) {
    expectTruth(run, place, cluster)
    #expect(run.ending() == .exited(0), "\(run.outputText.suffix(3000))")
    #expect(work(place) == Self.names.sorted())
  }

  @Test func aRunWaitsForAControllerThatWasKilled() throws {
    let cluster = try SlurmCluster(nodes: 2, cpus: 8)
    let place = try Workplace(cluster.environment, files: ["opdash.yml": Self.jobFile])
    let run = try place.start("run", "--ui", "plain")
    #expect(eventually { work(place).count == 8 }, "\(run.outputText)")
    // What a controller has saved it does not forget.
    #expect(eventually { left(cluster).split(separator: "\n").count { $0.hasSuffix("RUNNING") } == 4 })
    let seen = Date()
    let state = cluster.folder.file("state/job_state").path
    #expect(
      eventually {
        let date = try? FileManager.default.attributesOfItem(atPath: state)[.modificationDate] as? Date
        return date.map { $0 > seen } ?? false
      })
    cluster.killDaemon("controller")
    #expect(eventually { run.outputText.contains("the cluster's controller is down, and is waited for") })
    try place.write("", to: "go")
    _ = poll(nil, 0, Int32(Self.outage * 1000))
    #expect(run.checkEnding() == nil)
    cluster.startDaemon("controller")
    expectAllDone(run, place, cluster)
    #expect(run.outputText.contains("the cluster's controller answers again"))
  }

  @Test func aControllerKilledAfterASubmitMakesNoJobRunTwice() throws {
    let cluster = try SlurmCluster(nodes: 2, cpus: 8)
    let place = try Workplace(cluster.environment, files: ["opdash.yml": Self.jobFile])
    try place.write("", to: "go")
    let run = try place.start("run", "--ui", "plain")
    #expect(eventually { run.outputText.contains("submitted as job") })
    cluster.killDaemon("controller")
    cluster.startDaemon("controller")
    // Work that had begun when the controller forgot it may be ended by Slurm, which is then reported.
    expectTruth(run, place, cluster)
  }

  @Test func aRunGoesOnWhenTheDaemonOfANodeIsKilled() throws {
    // Slurm asks a daemon that it has lost for its jobs after a third of this time.
    let cluster = try SlurmCluster(nodes: 2, cpus: 8, lines: ["SlurmdTimeout=10"])
    let place = try Workplace(cluster.environment, files: ["opdash.yml": Self.jobFile])
    let run = try place.start("run", "--ui", "plain")
    #expect(eventually { work(place).count == 8 && left(cluster).contains("RUNNING") })
    cluster.killDaemon("node1")
    try place.write("", to: "go")
    cluster.startDaemon("node1")
    expectAllDone(run, place, cluster)
  }

  @Test func aJobWhoseNodeIsLostFailsAndIsTriedOnAnother() throws {
    let cluster = try SlurmCluster(nodes: 2, cpus: 1)
    let place = try Workplace(
      cluster.environment,
      files: [
        "opdash.yml": """
        on: slurm
        defaults: { slurm: { options: [--exclusive] } }
        jobs:
          again:
            retry: { max: 1, initial: 10ms, only: [node-failure] }
            run: '[ $OPDASH_ATTEMPT = 2 ] || { echo $SLURM_JOB_ID $SLURMD_NODENAME >node; exec sleep 1000; }; echo again >>work'
          other: until [ -e go ]; do sleep 0.1; done; echo other >>work
        """
      ])
    let run = try place.start("run", "--ui", "plain")
    #expect(
      eventually {
        place.contents("node")?.last == UInt8(ascii: "\n")
          && left(cluster).split(separator: "\n").count { $0.hasSuffix("RUNNING") } == 2
      })
    let words = String(decoding: place.contents("node") ?? Data(), as: UTF8.self).split(whereSeparator: \.isWhitespace)
    let (id, node) = try (#require(words.first), String(#require(words.last)))
    cluster.loseNode(node, with: id)
    try cluster.call("scontrol", "update", "NodeName=\(node)", "State=DOWN", "Reason=test")
    #expect(eventually { run.outputText.contains("lost its node \(node)") }, "\(run.outputText)")
    try place.write("", to: "go")
    #expect(run.ending() == .exited(0), "\(run.outputText) \(left(cluster))")
    #expect(work(place) == ["again", "other"])
    #expect(eventually { left(cluster).isEmpty }, "\(left(cluster))")
  }
}
