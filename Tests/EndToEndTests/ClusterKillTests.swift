import Foundation
import Operations
import Support
import Testing

/// Runs of cluster jobs whose program is killed at random moments and resumed.
///
/// `OPDASH_CLUSTER_KILLS` is the number of kills, `OPDASH_CLUSTER_KILL_SEED` the seed of the first round, and those after it
/// count on; `OPDASH_SOAK_PROGRAM` is another build of opdash.
@Suite(.enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
struct ClusterKillTests {
  @Test func everyJobIsDoneOnceHoweverOftenTheProgramIsKilledAndResumed() async throws {
    let first =
      ClusterKillSettings.variables["OPDASH_CLUSTER_KILL_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000)
    let cluster = try SlurmCluster(cpus: 8)
    let program = ClusterKillSettings.variables["OPDASH_SOAK_PROGRAM"] ?? Built.product("opdash")
    let result = Lock((next: first, left: ClusterKillSettings.kills, figures: ClusterKillFigures(), faults: [String]()))
    await withCheckedContinuation { continuation in
      // Its own thread: it takes long.
      Thread {
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
          while let (seed, kills) = Self.next(result) { Self.perform(seed, kills, cluster, program, result) }
        }
        continuation.resume()
      }.start()
    }
    print("cluster kills: \(result.withLock { $0.figures }), first seed \(first)")
    #expect(result.withLock { $0.faults } == [])
    #expect(result.withLock { $0.figures.jobs } > 0)
  }

  private typealias Result = Lock<(next: UInt64, left: Int, figures: ClusterKillFigures, faults: [String])>

  /// The next round's seed and number of kills; nil when there were enough kills.
  private static func next(_ result: Result) -> (seed: UInt64, kills: Int)? {
    result.withLock { result in
      guard result.left > 0, result.faults.isEmpty else { return nil }
      let kills = min(ClusterKillSettings.ofRound, result.left)
      result.left -= kills
      defer { result.next += 1 }
      return (result.next, kills)
    }
  }

  private static func perform(
    _ seed: UInt64, _ kills: Int, _ cluster: SlurmCluster, _ program: String, _ result: Result
  ) {
    var faults: [String] = []
    do {
      let round = try ClusterKillRound(seed: seed, kills: kills, cluster: cluster, program: program)
      round.run()
      faults = round.faults
      result.withLock {
        $0.figures += round.figures
        // A run may be over before its last kill.
        $0.left += kills - round.figures.kills
      }
    } catch {
      faults = ["\(error)"]
    }
    guard !faults.isEmpty else { return }
    let text = "\(faults.joined(separator: "\n")), seed \(seed)"
    result.withLock { $0.faults.append(text) }
  }
}

private enum ClusterKillSettings {
  static let variables = ProcessInfo.processInfo.environment
  static let kills = variables["OPDASH_CLUSTER_KILLS"].flatMap { Int($0) } ?? 4
  /// The kills of one round.
  static let ofRound = 3
}
