import Foundation
import Operations
import RunStore
import Support

/// A run of cluster jobs whose program is killed at random moments and resumed until it ends.
final class ClusterKillRound {
  private static let count = 60
  /// The time of the run of a start, after which it is killed, is less than this; a whole run takes twice as long.
  private static let longest: Int32 = 4000

  private let cluster: SlurmCluster
  private let program: String
  private let place: Workplace
  /// Milliseconds from each start to its kill.
  private var moments: [Int32] = []
  /// The line that each job is to write once, by its name.
  private var lines: [String: String] = [:]
  private(set) var faults: [String] = []
  private(set) var figures = ClusterKillFigures()

  init(seed: UInt64, kills: Int, cluster: SlurmCluster, program: String) throws {
    self.cluster = cluster
    self.program = program
    place = try Workplace(cluster.environment)
    var random = SplitMix(seed: seed)
    var text = "on: slurm\nname: kills\njobs:\n"
    for number in 0..<Self.count { text += "  \(addJob(number, &random))\n" }
    moments = (0..<kills).map { _ in .random(in: 0..<Self.longest, using: &random) }
    try place.write(text, to: "opdash.yml")
  }

  /// A job of the file: some fail at their first attempt, before their work, some need others, or their values.
  private func addJob(_ number: Int, _ random: inout SplitMix) -> String {
    let name = "job\(number)"
    var needs = Set(
      (0..<2).compactMap { _ in number > 0 && random.unit() < 0.3 ? Int.random(in: 0..<number, using: &random) : nil })
    var keys: [String] = []
    var word = "done"
    if let other = needs.min(), other % 3 == 0 {
      word = "${jobs.job\(other).word}"
      lines[name] = "\(name) word\(other)"
    } else {
      needs = random.unit() < 0.5 ? needs : []
      lines[name] = "\(name) done"
    }
    var script = "sleep 0.\(Int.random(in: 0...3, using: &random)); echo \(name) \(word) >>work"
    if number % 3 == 0 { script += "; echo word=word\(number) >>$OPDASH_OUTPUT" }
    if random.unit() < 0.2 {
      script = "[ $OPDASH_ATTEMPT -ge 2 ] || exit 1; \(script)"
      keys.append("retry: { max: 2, initial: 10ms }")
    }
    if !needs.isEmpty { keys.append("needs: [\(needs.sorted().map { "job\($0)" }.joined(separator: ", "))]") }
    keys.append("run: '\(script)'")
    return "\(name): { \(keys.joined(separator: ", ")) }"
  }

  // MARK: Runs

  func run() {
    do {
      for moment in moments where try kill(after: moment) { break }
      try finish()
    } catch {
      faults.append("\(error)")
    }
    figures.rounds = 1
  }

  /// Starts the run, or goes on with the one that is recorded.
  private func start() throws -> Background {
    figures.starts += 1
    let isRecorded = try !RunStore(folder: place.folder.file("state/opdash").path).runs(1).isEmpty
    return try place.start(
      script: "exec $PROGRAM \(isRecorded ? "resume" : "run") --ui quiet", environment: ["PROGRAM": program])
  }

  /// Returns whether the run was over before.
  private func kill(after moment: Int32) throws -> Bool {
    let run = try start()
    _ = poll(nil, 0, moment)
    if let ending = run.checkEnding() {
      // Killed after its last job, a run may have nothing left to do.
      if ending != .exited(0) { faults.append("it ended with \(ending): \(run.errorText)") }
      return true
    }
    Foundation.kill(run.child.pid, SIGKILL)
    guard run.ending() == .signalled(SIGKILL) else { return true }
    figures.kills += 1
    return false
  }

  private func finish() throws {
    let run = try start()
    let ending = run.ending()
    if ending != .exited(0) {
      faults.append("it ended with \(ending.map { "\($0)" } ?? "no end"): \(run.errorText) \(queue)")
    }
    figures.jobs = lines.count
    let work = String(decoding: place.contents("work") ?? Data(), as: UTF8.self)
    let done = Dictionary(grouping: work.split(separator: "\n").map(String.init)) { String($0.prefix { $0 != " " }) }
    for (name, line) in lines.sorted(by: { $0.key < $1.key }) where done[name] != [line] {
      faults.append("\(name) has written \(done[name] ?? []) in place of \(line)")
    }
    if !eventually({ queue.isEmpty }) { faults.append("left in the cluster: \(queue)") }
  }

  /// The jobs of this round's runs that the cluster has not ended.
  private var queue: String {
    let folder = place.folder.names(in: "state/opdash/runs")
    let lines = (try? cluster.call("squeue", "-h", "-r", "-o", "%i %T %k"))?.split(separator: "\n") ?? ["no squeue"]
    return lines.filter { line in folder.contains { line.contains("opdash/\($0)/") } || line == "no squeue" }
      .joined(separator: ", ")
  }
}

/// What the rounds have seen.
struct ClusterKillFigures: CustomStringConvertible {
  var rounds = 0
  var starts = 0
  var kills = 0
  var jobs = 0

  static func += (sum: inout ClusterKillFigures, more: ClusterKillFigures) {
    sum.rounds += more.rounds
    sum.starts += more.starts
    sum.kills += more.kills
    sum.jobs += more.jobs
  }

  var description: String { "\(rounds) rounds of \(jobs) jobs in all, \(starts) starts, \(kills) kills" }
}
