import Foundation
import Support

/// A job of a soak's round, and what its files must hold.
struct SoakJob {
  enum Kind: CaseIterable {
    case nap
    /// Ignores the signals that ask it to end.
    case deaf
    case background
    /// Ends before what it has started.
    case leaves
    case session
    case daemon
    /// Leaves its session and clears its environment.
    case unmarked
    case groups
    /// Starts processes in sessions of their own, one after the other.
    case storm
    case lines
    case flood
    case writer
    case fails
    case flaky
    case stopsItself
    case late
    case quick
    case simulated
    case download
    case upload
  }

  let name: String
  let kind: Kind
  /// The job as the job file has it; `%` stands for the mark of the round, `@` for the address of the server.
  var text: [String: Any] = [:]
  /// What its log must hold, or the beginning of it.
  var log: Data?
  var download: SoakServer.File?
  private var isLasting = false

  /// Whether it never ends by itself.
  var isEndless: Bool {
    switch kind {
    case .nap, .deaf, .background, .session, .daemon, .unmarked, .groups, .flood, .stopsItself: text["timeout"] == nil
    default: isLasting && text["timeout"] == nil
    }
  }

  /// The file that it leaves if it succeeds; nil if it leaves none.
  var leaves: String? {
    switch kind {
    case .lines, .writer, .flaky, .quick, .storm, .leaves, .stopsItself: "\(name).done"
    case .download: "\(name).bin"
    default: nil
    }
  }

  /// All names that its files can have.
  var files: [String] {
    switch kind {
    case .download: ["\(name).bin", "\(name).bin.part", "\(name).bin.part.meta"]
    case .upload: ["\(name).up"]
    default: ["\(name).done", "\(name).tried", "\(name).half"]
    }
  }

  /// A job of this kind with random details; its grace is `grace` milliseconds.
  init(_ kind: Kind, _ number: Int, grace: Int, _ random: inout FuzzInput) {
    self.kind = kind
    name = "\(number)-\(kind)"
    let done = ": >\(name).done"
    switch kind {
    case .nap: run(["sleep", "6000.%"])
    case .deaf: run("trap '' TERM INT HUP; while :; do sleep 6000.%; done")
    case .background: run("sleep 6000.% & sleep 6000.% & wait")
    case .leaves: run("sleep 6000.% & (sleep 6000.% >/dev/null 2>&1 &); \(done)")
    case .session: run("setsid sleep 6000.% & wait")
    case .daemon:
      run("setsid sh -c 'trap \"\" TERM HUP; setsid sleep 6000.% >/dev/null 2>&1 & exit' & sleep 6000.%")
    case .unmarked: run("env -i setsid sleep 6000.% >/dev/null 2>&1 & sleep 6000.%")
    case .groups: run("set -m; sleep 6000.% & wait")
    case .storm:
      run("i=0; while [ $i -lt 100 ]; do i=$((i+1)); setsid sleep 0.03 & sleep 0.01; done; wait; \(done)")
    case .lines:
      let count = 1 + random.number(random.number(4) == 0 ? 60_000 : 2000)
      run("seq \(count) && \(done)")
      log = Self.numbers.prefix(Self.bytes(ofNumbersTo: count))
    case .flood:
      run("yes a line of some length | head -c 2000000; sleep 6000.%")
      log = Self.lines
    case .writer:
      run("i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo $i >>\(name).half; done; mv \(name).half \(name).done")
    case .fails: run("sleep 0.0\(random.number(9)); exit 3")
    case .flaky: run("[ -e \(name).tried ] || { : >\(name).tried; exit 1; }; \(done)")
    case .stopsItself: run("kill -STOP $$; \(done)")
    case .late: run("sleep 6000.%")
    case .quick: run(done)
    case .simulated:
      let (isLong, rate) = (random.number(3) == 0, Double(random.number(4)) / 10)
      text["simulate"] = [
        "duration": isLong ? "1h" : "\(random.number(150))ms", "steps": 1 + random.number(20),
        "fail_rate": rate, "seed": random.number(1000),
      ]
      isLasting = isLong && rate == 0
    case .download:
      let file = SoakServer.File(
        size: random.number(random.number(3) == 0 ? 2_000_000 : 50_000),
        manner: SoakServer.Manner.allCases[random.number(SoakServer.Manner.allCases.count)])
      download = file
      text["download"] = ["url": "@/\(file.path)/%/\(name)", "to": "\(name).bin"]
      isLasting = file.manner == .stalled
    case .upload: text["upload"] = ["file": "\(name).up", "url": "@/up/%/\(name)"]
    }
    if text["run"] != nil { text["stop"] = ["grace": "\(grace)ms"] }
    if kind == .late || random.number(12) == 0 { text["timeout"] = "\(50 + random.number(100))ms" }
    if kind == .flaky || random.number(4) == 0 {
      text["retry"] = ["max": 1 + random.number(3), "initial": "\(1 + random.number(40))ms", "backoff": "constant"]
    }
    if random.number(4) == 0 { text["allow_failure"] = true }
    if random.number(4) == 0 { text["uses"] = ["pool": 1] }
    if random.number(4) == 0 { text["priority"] = ["low", "high"][random.number(2)] }
  }

  private static let numbers = Data((1...60_000).map { "\($0)\n" }.joined().utf8)
  private static let lines = Data(String(repeating: "a line of some length\n", count: 100_000).utf8).prefix(2_000_000)

  private static func bytes(ofNumbersTo last: Int) -> Int {
    // A line feed each, and as many digits as powers of ten that are not greater.
    [1, 10, 100, 1000, 10_000].reduce(last) { $0 + max(0, last - $1 + 1) }
  }

  private mutating func run(_ command: Any) { text["run"] = command }
}
