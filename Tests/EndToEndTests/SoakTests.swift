import Foundation
import Support
import Testing

/// Rounds of random keys, signals and faults over busy runs of the real program.
///
/// `OPDASH_SOAK` is the number of rounds, or seconds as `60s`; `OPDASH_SOAK_SEED` is the seed of the first round, and those
/// after it count on; `OPDASH_SOAK_AT_ONCE` is how many go on at once; `OPDASH_SOAK_PROGRAM` is another build of opdash.
@Suite struct SoakTests {
  @Test(.enabled(if: Soak.canFindProcesses, "the processes of a round are found in /proc"))
  func noRoundLeavesAProcessAWrongFileOrARawTerminal() async throws {
    let soak = try Soak()
    await withCheckedContinuation { continuation in
      // Its own thread: it takes long.
      Thread {
        soak.run()
        continuation.resume()
      }.start()
    }
    print(soak.summary)
    #expect(soak.faults == [])
    #expect(soak.rounds > 0)
  }
}

/// The rounds of one soak, several at once.
final class Soak: Sendable {
  static let canFindProcesses = FileManager.default.fileExists(atPath: "/proc/self/environ")
  private static let variables = ProcessInfo.processInfo.environment
  private static let length = variables["OPDASH_SOAK"] ?? (FaultHandling.isSanitized ? "16" : "40")
  /// More faults than these say nothing new.
  private static let enough = 100

  private struct State {
    var next: UInt64 = 0
    var figures = SoakFigures()
    var faults: [String] = []
  }

  private let state = Lock(State())
  private let began = Date()
  private let firstSeed: UInt64
  private let workers: Int
  private let program: String
  private let server: SoakServer

  init() throws {
    let seed = Self.variables["OPDASH_SOAK_SEED"].flatMap { UInt64($0) }
    firstSeed = seed ?? UInt64.random(in: 0..<1_000_000_000_000)
    workers = Self.variables["OPDASH_SOAK_AT_ONCE"].flatMap { Int($0) } ?? 4
    program = Self.variables["OPDASH_SOAK_PROGRAM"] ?? Built.product("opdash")
    server = try SoakServer()
  }

  var faults: [String] { state.withLock(\.faults) }
  var rounds: Int { state.withLock(\.figures.rounds) }
  var summary: String {
    "soak: " + state.withLock(\.figures).description(Date().timeIntervalSince(began), firstSeed: firstSeed)
  }

  func run() {
    DispatchQueue.concurrentPerform(iterations: workers) { _ in
      while let number = nextNumber() { perform(firstSeed + number) }
    }
  }

  private func nextNumber() -> UInt64? {
    state.withLock { state in
      let isOver: Bool
      if let seconds = Self.length.hasSuffix("s") ? Double(Self.length.dropLast()) : nil {
        isOver = Date().timeIntervalSince(began) >= seconds
      } else {
        isOver = state.next >= UInt64(Self.length) ?? 0
      }
      guard !isOver, state.faults.count < Self.enough else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  /// At once, also where the output is a file.
  private func say(_ text: String) {
    print(text)
    fflush(nil)
  }

  private func perform(_ seed: UInt64) {
    let plan = SoakPlan(seed: seed)
    var faults: [String] = []
    do {
      // A number, because some processes sleep for so many fractions of a second to be found.
      let mark = "7\(getpid())7\(seed)"
      let round = try SoakRound(plan, mark: mark, program: program, server: server)
      round.run()
      faults = round.faults
      let count = state.withLock { state in
        state.figures.add(round)
        return state.figures.rounds
      }
      if count % 500 == 0 { say(summary) }
      if !faults.isEmpty { faults.append("the newest output: \(String(reflecting: round.newestOutput))") }
    } catch {
      faults = ["\(error)"]
    }
    guard !faults.isEmpty else { return }
    let found = faults.joined(separator: "\n")
    say("soak: a fault, again with OPDASH_SOAK=1 OPDASH_SOAK_SEED=\(seed)\n\(found)\n\(plan)")
    state.withLock { $0.faults.append("seed \(seed): \(faults[0])") }
  }
}
