import Foundation
import Support

/// What the rounds of a soak add up to.
struct SoakFigures {
  private(set) var rounds = 0
  private var interfaces: [String: Int] = [:]
  private var deeds: [String: Int] = [:]
  private var endings: [String: Int] = [:]
  private var processes = 0
  private var guardians = 0
  /// The longest times until opdash and then its processes had ended, in seconds, and the seeds of their rounds.
  private var slowestEnd = (time: 0.0, seed: UInt64(0))
  private var slowestProcess = (time: 0.0, seed: UInt64(0))

  mutating func add(_ round: SoakRound) {
    rounds += 1
    interfaces[round.plan.interface.rawValue + (round.plan.hasShell ? " in a shell" : ""), default: 0] += 1
    deeds.merge(round.deeds.count) { $0 + $1 }
    let ending =
      switch round.ending {
      case .exited(let status): "exit \(status)"
      case .signalled(let signal): "signal \(signal)"
      case nil: "none"
      }
    endings[ending, default: 0] += 1
    processes += round.figures.processes
    guardians += round.deeds.killedGuardians
    if round.figures.end > slowestEnd.time { slowestEnd = (round.figures.end, round.plan.seed) }
    if round.figures.left > slowestProcess.time { slowestProcess = (round.figures.left, round.plan.seed) }
  }

  func description(_ seconds: Double, firstSeed: UInt64) -> String {
    func list(_ counts: [String: Int]) -> String {
      counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
    func rounded(_ value: Double) -> String { String(format: "%.2f", value) }
    return """
      \(rounds) rounds in \(rounded(seconds)) s from seed \(firstSeed); \(list(interfaces)); \
      faults: \(list(deeds)); \(processes) processes of jobs lived at the end, \(guardians) guardians killed; \
      ends: \(list(endings)); the slowest end took \(rounded(slowestEnd.time)) s (seed \(slowestEnd.seed)), \
      the slowest process \(rounded(slowestProcess.time)) s after it (seed \(slowestProcess.seed))
      """
  }
}
