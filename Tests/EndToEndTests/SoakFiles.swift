import Foundation
import Support

/// What is wrong with the files and the output of a round that is over.
struct SoakFiles {
  private(set) var faults: [String] = []
  private let round: SoakRound
  private let plan: SoakPlan
  /// The names of jobs that were said to have succeeded, in whatever way.
  private var succeeded: Set<String> = []

  init(_ round: SoakRound, server: SoakServer) {
    self.round = round
    plan = round.plan
    readOutput()
    readTrace()
    checkNames()
    checkModes()
    for job in plan.jobs { check(job, server) }
  }

  private func contents(_ name: String) -> Data? { FileManager.default.contents(atPath: round.folder.file(name).path) }

  private func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: round.folder.file(name).path) }

  private static func object(_ line: some DataProtocol) -> [String: Any]? {
    try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
  }

  // MARK: Output

  private mutating func readOutput() {
    switch plan.interface {
    case .json: readEvents()
    case .plain:
      if round.output.contains(0x1B) { faults.append("plain lines with an escape") }
      for line in String(decoding: round.output, as: UTF8.self).split(separator: "\n") {
        if let match = line.wholeMatch(of: /\d\d:\d\d\.\d \+ (\S+)  ok.*/) { succeeded.insert(String(match.output.1)) }
      }
    case .tui, .inline, .lines, .quiet: break
    }
    guard !plan.interface.isTerminal else { return }
    let errors = String(decoding: contents("errors") ?? Data(), as: UTF8.self)
    if errors.contains("Fatal error") || errors.contains("ERROR: ") { faults.append("a crash: \(errors.suffix(2000))") }
  }

  private mutating func readEvents() {
    var lines = Data(round.output).split(separator: 0x0A, omittingEmptySubsequences: false)
    let rest = lines.popLast()
    if round.hasEndedInOrder, rest?.isEmpty == false { faults.append("the last line is cut") }
    var events = SoakEvents(slots: plan.file["slots"] as? Int ?? 0)
    for (index, line) in lines.enumerated() {
      guard let object = Self.object(line) else {
        return faults.append("line \(index) is no JSON: \(String(decoding: line.prefix(300), as: UTF8.self))")
      }
      if let fault = events.fold(object) {
        return faults.append("line \(index): \(fault): \(String(decoding: line.prefix(300), as: UTF8.self))")
      }
    }
    succeeded.formUnion(events.states.filter { $0.value == "succeeded" }.keys)
    guard round.hasEndedInOrder else { return }
    // After a signal opdash leaves without writing the rest of its output if the reader takes nothing for a second.
    if events.isOver, events.exit != round.status.map({ Int($0) }), plan.fileLimit == nil {
      faults.append("run_finished has exit \(events.exit ?? -1)")
    }
  }

  /// An event a line; only the last may be missing or cut, if opdash was ended.
  private mutating func readTrace() {
    guard plan.hasTrace, let trace = contents("trace.json") else { return }
    if round.hasEndedInOrder, plan.fileLimit == nil,
      (try? JSONSerialization.jsonObject(with: trace)) is [Any] == false
    {
      faults.append("the trace is not whole")
    }
    var lines = trace.split(separator: 0x0A, omittingEmptySubsequences: false).map { Data($0) }
    lines.removeLast()
    for (index, line) in lines.enumerated() where !["[", "]", "[]"].contains(String(decoding: line, as: UTF8.self)) {
      let isLast = index == lines.count - 1 || line.last != UInt8(ascii: ",")
      guard let event = Self.object(line.last == UInt8(ascii: ",") ? line.dropLast() : line) else {
        faults.append("line \(index) of the trace is no event: \(String(decoding: line.prefix(300), as: UTF8.self))")
        return
      }
      if isLast, index < lines.count - 2 { faults.append("line \(index) of the trace has no comma") }
      if event["ph"] as? String == "X", let name = event["name"] as? String,
        (event["args"] as? [String: Any])?["outcome"] as? String == "ok"
      {
        succeeded.insert(name)
      }
    }
  }

  // MARK: Files

  private mutating func checkNames() {
    var known: Set = ["jobs.json", "trace.json", "state", "output", "errors", "pause", "stopped"]
    for job in plan.jobs { known.formUnion(job.files) }
    let unknown = Set(round.folder.names()).subtracting(known)
    if !unknown.isEmpty { faults.append("files that nobody asked for: \(unknown.sorted())") }
  }

  /// The folders and logs of the run are their owner's, as are the trace and what is needed to resume a download.
  private mutating func checkModes() {
    let private700 = round.folder.file("state").path
    var paths = [private700]
    let below = FileManager.default.enumerator(atPath: private700)
    while let name = below?.nextObject() as? String { paths.append("\(private700)/\(name)") }
    paths += ["trace.json"].map { round.folder.file($0).path }
    paths += plan.jobs.filter { $0.kind == .download }.map { round.folder.file("\($0.name).bin.part.meta").path }
    for path in paths {
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      let mode = status.st_mode & 0o7777
      if mode != (isFolder ? 0o700 : 0o600) { faults.append("\(path) has the mode \(String(mode, radix: 8))") }
    }
  }

  private mutating func check(_ job: SoakJob, _ server: SoakServer) {
    let hasSucceeded = succeeded.contains(job.name)
    if hasSucceeded, let leaves = job.leaves, !has(leaves) { faults.append("\(job.name) is ok without \(leaves)") }
    if let file = job.download { check(job, file) }
    if job.kind == .upload, hasSucceeded {
      let isTaken = server.hasTaken("/up/\(round.mark)/\(job.name)")
      if !isTaken { faults.append("\(job.name) is ok, but the server has not got it") }
    }
    guard let expected = job.log else { return }
    let logs = logs(of: job)
    for log in logs where !Self.isBeginning(log.data, of: expected) {
      faults.append("\(log.name) holds what the job has not written, in \(log.data.count) bytes")
    }
    // A flood's last attempt may end without success.
    if hasSucceeded, plan.fileLimit == nil, logs.last.map({ $0.data.count < expected.count }) != false {
      faults.append("the log of \(job.name), which is ok, has \(logs.last?.data.count ?? 0) of \(expected.count) bytes")
    }
  }

  private mutating func check(_ job: SoakJob, _ file: SoakServer.File) {
    let content = file.content
    if let got = contents("\(job.name).bin"), got != content {
      faults.append("\(job.name).bin has \(got.count) of \(content.count) bytes, or wrong ones")
    }
    if let part = contents("\(job.name).bin.part"), content.prefix(part.count) != part {
      faults.append("\(job.name).bin.part holds wrong bytes, \(part.count) of \(content.count)")
    }
  }

  /// Whether it is the first part of a log, apart from what a shell says of processes that were killed.
  ///
  /// That comes by another pipe, at any place.
  private static func isBeginning(_ log: Data, of expected: Data) -> Bool {
    var (log, expected) = (log, expected)
    for _ in 0..<20 {
      if expected.prefix(log.count) == log { return true }
      let same = zip(log, expected).prefix { $0 == $1 }.count
      (log, expected) = (log.dropFirst(same), expected.dropFirst(same))
      let message = log.prefix { $0 != 0x0A }
      guard message.count < 40, message.first.map({ (0x41...0x5A).contains($0) }) == true else { return false }
      log = log.dropFirst(message.count + 1)
    }
    return false
  }

  /// By the number of the attempt.
  private func logs(of job: SoakJob) -> [(name: String, data: Data)] {
    let runs = round.folder.names(in: "state/opdash/runs")
    return runs.flatMap { run in
      round.folder.names(in: "state/opdash/runs/\(run)/logs").filter { $0.hasPrefix("\(job.name).") }
        .compactMap { name in contents("state/opdash/runs/\(run)/logs/\(name)").map { (name, $0) } }
    }
  }
}
