import Foundation
import Support

/// A round of the soak: a job file, and the faults that its run meets.
///
/// The same for the same seed.
struct SoakPlan {
  enum Interface: String {
    case tui
    case inline
    /// Plain lines on a terminal.
    case lines
    case plain
    case json
    case quiet

    var option: String { self == .lines ? "plain" : rawValue }
    var isTerminal: Bool { [.tui, .inline, .lines].contains(self) }
  }

  enum Fault {
    /// SIGINT, SIGTERM or SIGHUP to opdash, so many times.
    case ask(Int32, times: Int)
    /// A signal that ends opdash at once.
    case end(Int32)
    case stopProgram
    case killGuardian
    /// A signal to a process of a job, or to its group.
    case signalJob(Int32, group: Bool)
    case continueJobs
    case keys([[UInt8]])
    /// Ctrl-C, Ctrl-Z, Ctrl-\, Ctrl-S.
    case control(UInt8, times: Int)
    case resize(columns: Int, rows: Int)
    /// The terminal's buffer is full, or no process reads from it.
    case clog
    case stopReading
    case read
    case hangUp
    case closeOutput
  }

  let seed: UInt64
  private(set) var interface = Interface.plain
  /// Whether a shell with job control stands between the terminal and opdash.
  private(set) var hasShell = false
  private(set) var hasTrace = false
  /// The limit of each file's size in blocks of 512 bytes.
  private(set) var fileLimit: Int?
  private(set) var jobs: [SoakJob] = []
  private(set) var file: [String: Any] = [:]
  /// Milliseconds to wait before each fault.
  private(set) var faults: [(after: Int, Fault)] = []
  /// What ends the run.
  private(set) var ending: [Fault] = []
  /// The longest grace of what the signals of `ending` wait for, in seconds.
  private(set) var grace = 0.0

  private var random: FuzzInput

  init(seed: UInt64) {
    self.seed = seed
    random = FuzzInput(seed: seed)
    interface = pick([.tui, .tui, .tui, .inline, .inline, .lines, .plain, .plain, .json, .json, .json, .quiet])
    hasShell = interface.isTerminal && chance(25)
    hasTrace = chance(40)
    // A sanitizer's own files may not grow either.
    if chance(8), !FaultHandling.isSanitized { fileLimit = 8 + random.number(200) }
    let isDeaf = chance(10)
    chooseEnding(isDeaf: isDeaf)
    chooseFaults()
    chooseJobs(isDeaf: isDeaf)
  }

  private mutating func chance(_ percent: Int) -> Bool { random.number(100) < percent }

  private mutating func pick<Element>(_ all: [Element]) -> Element { all[random.number(all.count)] }

  // MARK: Faults

  /// The thread sanitizer calls the handlers of faults at once, even while the thread holds a lock of the sanitizer.
  private static let fatal =
    [SIGKILL, SIGKILL, SIGKILL, SIGQUIT, SIGUSR1, SIGALRM]
    + (FaultHandling.isThreadSanitized ? [] : [SIGSEGV, SIGABRT])
  private static let act = "xxXXppPrrRq [-+]:y".map { Array(String($0).utf8) }

  /// Of a deaf job's run, whose grace is an hour, only what doesn't wait for it.
  private mutating func chooseEnding(isDeaf: Bool) {
    let ladder = Fault.ask(SIGINT, times: 3)
    var choices: [[Fault]] = [[.end(pick(Self.fatal))], [.end(SIGKILL)], [ladder], [.ask(SIGTERM, times: 1), ladder]]
    if interface.isTerminal { choices.append([.control(0x03, times: 3)]) }
    if !isDeaf {
      choices += [(SIGINT, 1), (SIGTERM, 1), (SIGTERM, 3), (SIGHUP, 1)].map { [.ask($0, times: $1)] }
      choices +=
        interface.isTerminal
        ? [[.hangUp], [.control(0x03, times: 1)]] : [[.closeOutput, .ask(SIGTERM, times: 1)]]
      if interface == .tui { choices.append([.keys([[0x1B], [0x1B], [0x71], [0x71]]), .ask(SIGTERM, times: 1)]) }
    }
    ending = pick(choices)
  }

  /// Whether opdash leaves after the ending even if no process reads its output.
  var endsUnread: Bool {
    ending.contains {
      switch $0 {
      case .ask(SIGINT, let times), .control(0x03, let times): times >= 3
      case .ask, .end, .hangUp, .closeOutput: true
      default: false
      }
    }
  }

  private mutating func chooseFaults() {
    faults = [(chance(20) ? random.number(100) : random.number(300), .read)]
    for _ in 0..<random.number(6) {
      faults.append((random.number(60), fault()))
      // No fault comes after these.
      if case .end = faults[faults.count - 1].1 { break }
      if case .hangUp = faults[faults.count - 1].1 { break }
    }
    // A clogged terminal is read again as a rule, because the signals wait for it a second.
    if chance(75) { faults.append((random.number(60), .read)) }
  }

  private mutating func fault() -> Fault {
    let signals = [SIGTERM, SIGKILL, SIGKILL, SIGSTOP, SIGSTOP, SIGHUP, SIGSEGV]
    switch random.number(100) {
    case 0..<8: return .ask(pick([SIGINT, SIGINT, SIGTERM, SIGHUP]), times: pick([1, 1, 2, 3]))
    case 8..<14: return .end(pick(Self.fatal))
    // A shell's terminal would be another program's meanwhile.
    case 14..<20: return hasShell ? .continueJobs : .stopProgram
    case 20..<30: return .killGuardian
    case 30..<45: return .signalJob(pick(signals), group: chance(50))
    case 45..<50: return .continueJobs
    case 50..<54 where !interface.isTerminal: return .closeOutput
    case 54..<60 where !interface.isTerminal: return .stopReading
    case _ where !interface.isTerminal: return .signalJob(SIGKILL, group: chance(50))
    case 50..<58: return .resize(columns: 1 + random.number(200), rows: 1 + random.number(60))
    case 58..<62: return chance(30) ? .clog : .stopReading
    case 62..<65: return .hangUp
    case 65..<75: return .control(pick([0x03, 0x1A, 0x1A, 0x1A, 0x1C, 0x13]), times: pick([1, 1, 2, 3]))
    default: return .keys(keys())
    }
  }

  private mutating func keys() -> [[UInt8]] {
    (0..<1 + random.number(12)).map { _ in
      if chance(60) { return pick(Self.act) }
      guard case .bytes(let bytes) = random.next(resizes: false) else { return [] }
      return bytes
    }
  }

  // MARK: Jobs

  private mutating func chooseJobs(isDeaf: Bool) {
    let isKilled =
      (ending + faults.map(\.1)).contains { if case .end = $0 { true } else { false } }
      || faults.contains { if case .control(0x1C, _) = $0.1 { true } else { false } }
    // What is neither in its session nor marked is lost if opdash is.
    var kinds = SoakJob.Kind.allCases.filter { !(isKilled && $0 == .unmarked) }
    kinds += [.lines, .writer, .download, .quick]
    let count = 3 + random.number(6)
    for number in 1...count {
      var kind = pick(kinds)
      if number == 1, isDeaf || chance(75) { kind = isDeaf ? .deaf : pick([.nap, .deaf, .background, .daemon]) }
      let grace = number == 1 && isDeaf ? 3_600_000 : pick([20, 100, 200])
      var job = SoakJob(kind, number, grace: grace, &random)
      if !(number == 1 && isDeaf) { self.grace = max(self.grace, Double(grace) / 1000) }
      if number > 1, chance(30) {
        job.text["needs"] = [jobs[random.number(jobs.count)].name: pick(["ok", "ok", "finished", "failed"])]
      }
      jobs.append(job)
    }
    file = [
      "slots": 2 + random.number(5), "pools": ["pool": 1 + random.number(2)],
      "on_failure": pick(["keep-going", "keep-going", "keep-going", "finish-running", "stop-now"]),
      "jobs": Dictionary(uniqueKeysWithValues: jobs.map { ($0.name, $0.text) }),
    ]
  }
}

extension SoakPlan: CustomStringConvertible {
  var description: String {
    let options = [hasShell ? "in a shell" : nil, hasTrace ? "trace" : nil, fileLimit.map { "ulimit -f \($0)" }]
    let steps = faults.map { "\($0.after) ms \($0.1)" } + ending.map { "at the end \($0)" }
    let text = try? JSONSerialization.data(withJSONObject: file, options: [.sortedKeys, .withoutEscapingSlashes])
    return """
      --ui \(interface) \(options.compactMap(\.self).joined(separator: ", ")); \(steps.joined(separator: "; "))
      \(text.map { String(decoding: $0, as: UTF8.self) } ?? "")
      """
  }
}
