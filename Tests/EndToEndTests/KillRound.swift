import Foundation
import JobModel
import RunStore
import Support

/// A run of a `KillPlan` that is killed and resumed until it ends.
final class KillRound {
  private let plan: KillPlan
  private let program: String
  private let folder: TemporaryFolder
  private let environment: [String: String]
  private let processes: SoakProcesses
  /// How often each shell job had begun when the store first had its success.
  private var begun: [String: Int] = [:]
  private(set) var faults: [String] = []
  private(set) var figures = KillFigures()

  init(_ plan: KillPlan, mark: String, program: String, server: SoakServer) throws {
    self.plan = plan
    self.program = program
    folder = try TemporaryFolder()
    try plan.file(mark: mark, address: server.address).write(to: folder.file("opdash.json"))
    processes = SoakProcesses(mark: mark)
    let own = [
      "HOME": folder.url.path, "XDG_STATE_HOME": folder.file("state").path, "LC_ALL": "C.UTF-8",
      "XDG_CONFIG_HOME": folder.file("config").path, "PATH": "/usr/local/bin:/usr/bin:/bin",
      SoakProcesses.variable: mark, "SWIFT_BACKTRACE": "",
    ]
    environment = FaultHandling.isSanitized ? own.merging(FaultHandling.environment) { $1 } : own
  }

  deinit { processes.free() }

  private var state: String { folder.file("state/opdash").path }

  func run() {
    do {
      for kill in plan.kills { try perform(kill) }
      try finish()
    } catch {
      fault("\(error)")
    }
    for process in processes.living() { kill(process.pid, SIGKILL) }
  }

  private func fault(_ text: String) { faults.append(text) }

  // MARK: Runs

  /// Starts the run, or goes on with the one that the store has.
  private func start() throws -> ChildProcess {
    let isRecorded = try !RunStore(folder: state).runs(1).isEmpty
    let output = open(folder.file("output").path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer {
      close(output)
      close(null)
    }
    let command = ["sh", "-c", "cd \"$0\" && exec \"$@\"", folder.url.path, program]
    return try ChildProcess(
      command + [isRecorded ? "resume" : "run", "--ui", "quiet"], environment: environment,
      descriptors: [null, output, output])
  }

  private func perform(_ plan: KillPlan.Kill) throws {
    let before = lines("begun")
    let child = try start()
    var ending: ChildProcess.Ending?
    let hasBegun = eventually {
      ending = child.ending()
      return ending != nil || lines("begun") - before >= plan.begun
    }
    if !hasBegun { fault("its jobs do not begin: \(newestOutput)") }
    if ending == nil {
      _ = poll(nil, 0, plan.after)
      ending = child.ending()
    }
    if let ending {
      // It was faster.
      if ending != .exited(0) { fault("it ended with \(ending): \(newestOutput)") }
      return
    }
    let time = Date().timeIntervalSince1970
    if plan.withGuardian {
      // Stopped, it starts no other guardian.
      kill(child.pid, SIGSTOP)
      for process in processes.living() where process.name == "job-guardian" { kill(process.pid, SIGKILL) }
    }
    kill(child.pid, SIGKILL)
    guard child.ending(waiting: true) == .signalled(SIGKILL) else { return }
    figures.kills += 1
    if plan.withGuardian { figures.killsWithGuardian += 1 }
    try checkStore()
    try checkSuccesses(before: time)
  }

  private func finish() throws {
    let child = try start()
    var ending: ChildProcess.Ending?
    let hasEnded = eventually {
      ending = ending ?? child.ending()
      return ending != nil
    }
    guard hasEnded else {
      child.stop()
      return fault("it does not end: \(newestOutput)")
    }
    if ending != .exited(0) { fault("it ended with \(ending.map { "\($0)" } ?? ""): \(newestOutput)") }
    try checkStore()
    try checkResults()
    // The guardian ends a moment after opdash.
    if !eventually({ processes.living().isEmpty }) {
      fault("processes are left: \(processes.living())")
    }
  }

  var newestOutput: String {
    String(
      decoding: (FileManager.default.contents(atPath: folder.file("output").path) ?? Data()).suffix(2000), as: UTF8.self
    )
  }

  // MARK: Checks

  private func lines(_ name: String) -> Int {
    (FileManager.default.contents(atPath: folder.file(name).path) ?? Data()).count { $0 == UInt8(ascii: "\n") }
  }

  /// The words of the lines of a file.
  private func words(in name: String) -> [[Substring]] {
    let text = String(decoding: FileManager.default.contents(atPath: folder.file(name).path) ?? Data(), as: UTF8.self)
    return text.split(separator: "\n").map { $0.split(separator: " ") }
  }

  /// How often each job stands in a file whose lines begin with names.
  private func counts(in name: String) -> [Substring: Int] {
    words(in: name).reduce(into: [:]) { if let job = $1.first { $0[job, default: 0] += 1 } }
  }

  /// The jobs that had done their work before the kill have succeeded, unless they still had processes to be ended.
  ///
  /// What was done before the run began, processes did that an earlier one had left.
  private func checkSuccesses(before time: Double) throws {
    guard let start = try RunStore(folder: state).runs(1).first?.startedAt.timeIntervalSince1970 else { return }
    for words in words(in: "done") {
      guard words.count == 2, let end = Double(words[1]) else {
        fault("a line of done is \(words)")
        continue
      }
      let (name, ago) = (String(words[0]), time - end)
      guard ago > 0, end > start, begun[name] == nil, let job = plan.jobs.first(where: { $0.name == name }) else {
        continue
      }
      if job.leavesProcesses { figures.unfinished += 1 } else { figures.unrecorded.append(ago) }
      if ago > 5, ago > Self.stretch() { fault("the success of \(name) is not recorded, \(ago) s after its end") }
    }
  }

  /// What 5 s of a machine that does nothing else are now, in seconds: as long as 2500 processes take from start to end.
  private static func stretch() -> Double {
    let began = DispatchTime.now().uptimeNanoseconds
    for _ in 0..<10 { _ = try? ChildProcess(["true"]).ending(waiting: true) }
    return Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9 * 250
  }

  /// The database is sound, and no job whose success it had before has begun again.
  private func checkStore() throws {
    let store = try RunStore(folder: state)
    let damage = try store.check()
    if !damage.isEmpty { fault("the store is damaged: \(damage)") }
    guard let run = try store.runs(1).first else { return }
    let jobs = try EarlierJob.of(store.past(of: run))
    let done = Set(jobs.filter { if case .done = $0.end { true } else { false } }.map(\.name))
    for name in begun.keys where !done.contains(name) { fault("the success of \(name) is no longer recorded") }
    let (begunNow, doneNow) = (counts(in: "begun"), counts(in: "done"))
    for job in plan.jobs where job.isShell && done.contains(job.name) {
      let count = begunNow[job.name[...]] ?? 0
      if let before = begun[job.name], before != count { fault("\(job.name) has begun again after its success") }
      begun[job.name] = count
      if doneNow[job.name[...]] == nil { fault("\(job.name) is recorded as done and is not") }
    }
  }

  private func checkResults() throws {
    let store = try RunStore(folder: state)
    let run = try store.run(named: "last")
    if run.summary?.succeeded != plan.jobs.count { fault("not all have succeeded: \(String(describing: run.summary))") }
    if lines("doubles") > 0 { fault("two attempts of a job executed at once") }
    let done = counts(in: "done")
    for job in plan.jobs {
      switch job.kind {
      case .shell:
        figures.shellJobs += 1
        // Its work was done, and opdash was killed before, or its processes still executed.
        if done[job.name[...], default: 0] > 1 { figures.repeated += 1 }
        if begun[job.name] == nil { fault("\(job.name) is not recorded as done") }
      case .download(let file):
        if FileManager.default.contents(atPath: folder.file("\(job.name).file").path) != file.content {
          fault("\(job.name) has wrong bytes")
        }
      case .simulate: break
      }
    }
    figures.runs += try store.runs().count
    figures.rounds += 1
  }
}

/// What the rounds have seen.
struct KillFigures: CustomStringConvertible {
  var rounds = 0
  var runs = 0
  var kills = 0
  var killsWithGuardian = 0
  var shellJobs = 0
  /// Shell jobs whose work was done twice: not all of it, or not all of their processes, had ended when opdash was killed.
  var repeated = 0
  /// Shell jobs that had done their work before a kill, and left processes that had not ended.
  var unfinished = 0
  /// How many seconds before a kill shell jobs had done their work whose success was not recorded.
  var unrecorded: [Double] = []

  static func += (sum: inout KillFigures, more: KillFigures) {
    sum.rounds += more.rounds
    sum.runs += more.runs
    sum.kills += more.kills
    sum.killsWithGuardian += more.killsWithGuardian
    sum.shellJobs += more.shellJobs
    sum.repeated += more.repeated
    sum.unfinished += more.unfinished
    sum.unrecorded += more.unrecorded
  }

  var description: String {
    "\(rounds) rounds, \(runs) runs, \(kills) kills, \(killsWithGuardian) of them with the guardian; "
      + "\(shellJobs) shell jobs, of which \(repeated) did their work twice; before the kill \(unfinished) had done it and "
      + "left processes that executed, and \(unrecorded.count) had ended without a record, "
      + "\(Int((unrecorded.max() ?? 0) * 1000)) ms before at most"
  }
}
