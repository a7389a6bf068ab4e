import Foundation
import Support
import Testing

/// Runs of the real program that are killed at random moments and resumed.
///
/// `OPDASH_KILLS` is the number of kills, `OPDASH_KILL_JOBS` that of jobs in a run, `OPDASH_KILL_SEED` the seed of the first
/// round, and those after it count on; `OPDASH_SOAK_AT_ONCE` is how many rounds go on at once; `OPDASH_SOAK_PROGRAM` is another
/// build of opdash.
@Suite struct KillTests {
  @Test(.enabled(if: Soak.canFindProcesses, "the processes of a round are found in /proc"))
  func aResumedRunIsCompleteAndRunsNoSucceededJobTwice() async throws {
    let first = KillSettings.number("OPDASH_KILL_SEED").map(UInt64.init) ?? .random(in: 0..<1_000_000_000)
    let server = try SoakServer()
    let rounds = (KillSettings.kills + KillSettings.ofRound - 1) / KillSettings.ofRound
    let result = Lock((next: 0, figures: KillFigures(), faults: [String]()))
    await withCheckedContinuation { continuation in
      // Its own thread: it takes long.
      Thread {
        DispatchQueue.concurrentPerform(iterations: KillSettings.number("OPDASH_SOAK_AT_ONCE") ?? 2) { _ in
          while true {
            let number = result.withLock { result in
              defer { result.next += 1 }
              return result.next
            }
            guard number < rounds else { break }
            Self.perform(first + UInt64(number), server, result)
          }
        }
        continuation.resume()
      }.start()
    }
    print("kills: \(result.withLock { $0.figures }), first seed \(first)")
    #expect(result.withLock { $0.faults } == [])
    #expect(result.withLock { $0.figures.rounds } == rounds)
  }

  private static func perform(
    _ seed: UInt64, _ server: SoakServer, _ result: Lock<(next: Int, figures: KillFigures, faults: [String])>
  ) {
    let plan = KillPlan(seed: seed, jobs: KillSettings.jobs, kills: KillSettings.ofRound)
    var faults: [String] = []
    do {
      // A number, because some processes sleep for so many fractions of a second to be found.
      let round = try KillRound(
        plan, mark: "7\(getpid())7\(seed)",
        program: KillSettings.variables["OPDASH_SOAK_PROGRAM"] ?? Built.product("opdash"),
        server: server)
      round.run()
      faults = round.faults
      result.withLock { $0.figures += round.figures }
    } catch {
      faults = ["\(error)"]
    }
    guard !faults.isEmpty else { return }
    let again =
      "again with OPDASH_KILLS=\(KillSettings.ofRound) OPDASH_KILL_JOBS=\(KillSettings.jobs) OPDASH_KILL_SEED=\(seed)"
    result.withLock { $0.faults.append("\(faults.joined(separator: "\n")), \(again)") }
  }
}

private enum KillSettings {
  static let variables = ProcessInfo.processInfo.environment
  static let kills = number("OPDASH_KILLS") ?? 8
  static let jobs = number("OPDASH_KILL_JOBS") ?? (kills > 8 ? 200 : 60)
  /// The kills of one round.
  static let ofRound = 4

  static func number(_ name: String) -> Int? { variables[name].flatMap { Int($0) } }
}
