import Foundation

/// The report of squeue, scontrol or sacct on one job.
package struct SlurmRecord: Sendable, Equatable {
  package var id: SlurmJobID
  package var state: SlurmState
  /// Whether a signal has stopped it.
  var isStopped = false
  /// Whether the cluster has suspended it.
  var isSuspended = false
  /// How long it has executed, without the time that it was suspended; in whole seconds, up to one too many.
  var used: Duration?
  /// The reason that the job waits, or ended; nil if none is reported.
  package var reason: String?
  /// The nodes, such as `node[1-3]`; empty before the job has any.
  package var nodes = ""
  package var comment: String?
  /// The script and its arguments, if requested; neither the site nor the user replaces them.
  var command: String?
  package var name: String?
  /// The time of the submission or requeue, as Slurm writes it.
  var submitTime: String?
  /// The status in the format of wait(2), if requested and the job has ended.
  package var status: Int32?

  /// Whether its user or an administrator keeps it from starting.
  var isHeld: Bool { reason == Self.userHold || reason == "JobHeldAdmin" }

  static let userHold = "JobHeldUser"

  /// The end of the job; nil while it has not ended, and if it depends on a status that is not known.
  var end: SlurmEnd? {
    switch state {
    case .pending, .running: nil
    case .completed: .exited(0)
    case .failed where reason.map(Self.isOfLaunch) == true && nodes.isEmpty: .notStarted(reason ?? "")
    case .failed: status.map(SlurmEnd.init(status:))
    case .cancelled: .cancelled
    case .timedOut: .timeLimit
    case .nodeFailed: .nodeFailure(nodes: nodes)
    case .outOfMemory: .outOfMemory
    case .preempted: .preempted
    }
  }

  /// The mark in the command, or else in the comment, which the site and the user may replace; nil for a job of someone
  /// else.
  var mark: SlurmIdentity.Comment? {
    let argument = command?.split(separator: " ").last
    return argument.flatMap { SlurmIdentity.Comment($0) } ?? comment.flatMap { SlurmIdentity.Comment($0) }
  }

  private static func isOfLaunch(_ reason: String) -> Bool { reason != "NonZeroExitCode" && reason != "None" }
}

extension SlurmRecord {
  static let separator: Character = "\u{1F}"

  /// The call that queries all jobs of this user, including ended jobs and jobs of hidden partitions.
  static let query = SlurmCommand([
    "squeue", "--me", "-a", "-h", "-r", "-t", "all", "-o",
    ["%i", "%T", "%r", "%N", "%V", "%k", "%o", "%j", "%M"].joined(separator: String(separator)),
  ])

  /// Parses a line of the answer to `query`; nil if it is not a job's.
  init?(queueLine line: some StringProtocol) {
    let fields = line.split(separator: Self.separator, omittingEmptySubsequences: false)
    guard fields.count == 9, let id = SlurmJobID(fields[0]), let state = SlurmState(fields[1]) else { return nil }
    self.init(id: id, state: state)
    isStopped = fields[1] == "STOPPED"
    isSuspended = fields[1] == "SUSPENDED"
    reason = Self.value(fields[2])
    nodes = String(fields[3])
    submitTime = Self.value(fields[4])
    comment = Self.value(fields[5])
    command = Self.value(fields[6])
    name = Self.value(fields[7])
    used = Self.duration(fields[8])
  }

  /// The call that queries the statuses of all failed jobs of this user.
  static let statusQuery = SlurmCommand([
    "squeue", "--me", "-a", "-h", "-r", "-t", "FAILED", "-O", "JobArrayID:40\(separator),exit_code:12",
  ])

  /// Parses a line of the answer to `statusQuery`; the status is a number before Slurm 23.02, and has scontrol's format
  /// since.
  static func status(line: some StringProtocol) -> (id: SlurmJobID, status: Int32)? {
    let fields = line.split(separator: separator).map { $0.trimmingCharacters(in: .whitespaces) }
    guard fields.count == 2, let id = SlurmJobID(fields[0]),
      let status = Int32(fields[1]) ?? self.status(exitCode: fields[1])
    else { return nil }
    return (id, status)
  }

  /// Parses a line of `scontrol show job -o`: `JobId=12 JobName=a … ExitCode=3:0 …`; nil if it is not a job's.
  init?(controlLine line: some StringProtocol) {
    // A name may contain anything: it ends at the next key. Of the other keys the first occurrence counts, because only
    // Slurm's own values precede it.
    var (fields, name): (Substring, Substring?) = (Substring(line), nil)
    if let begin = fields.unicodeScalars.firstRange(of: " JobName=".unicodeScalars),
      let end = fields[begin.upperBound...].unicodeScalars.firstRange(of: " UserId=".unicodeScalars)
    {
      name = fields[begin.upperBound..<end.lowerBound]
      fields = fields[..<begin.lowerBound] + fields[end.lowerBound...]
    }
    var values: [Substring: Substring] = [:]
    var (last, command): (Substring?, String?)
    for word in fields.split(separator: " ") {
      guard let equals = word.firstIndex(of: "=") else {
        if last == "Command" { command = String(word) }
        continue
      }
      last = word[..<equals]
      let key = word[..<equals]
      if values[key] == nil { values[key] = word[word.index(after: equals)...] }
    }
    guard let number = values["JobId"].flatMap({ Int($0) }), let state = values["JobState"].flatMap({ SlurmState($0) })
    else { return nil }
    let array = values["ArrayJobId"].flatMap { Int($0) }
    let index = values["ArrayTaskId"].flatMap { Int($0) }
    self.init(
      id: array.flatMap { array in index.map { SlurmJobID(array, index: $0) } } ?? SlurmJobID(number), state: state)
    isStopped = values["JobState"] == "STOPPED"
    isSuspended = values["JobState"] == "SUSPENDED"
    used = values["RunTime"].flatMap { Self.duration($0) }
    reason = values["Reason"].flatMap { Self.value($0) }
    nodes = values["NodeList"].flatMap { Self.value($0) } ?? ""
    comment = values["Comment"].flatMap { Self.value($0) }
    self.name = (name ?? values["JobName"]).map(String.init)
    submitTime = values["SubmitTime"].map(String.init)
    self.command = command
    status = values["ExitCode"].flatMap { Self.status(exitCode: $0) }
  }

  /// The call that queries the accounting for jobs, if there is one.
  static func accountingQuery(_ ids: [SlurmJobID]) -> SlurmCommand {
    SlurmCommand([
      "sacct", "-n", "-P", "-X", "--delimiter=\(separator)",
      "--format=JobID,State,ExitCode,NodeList,Submit,Comment,JobName", "-j",
      ids.map(\.description).joined(separator: ","),
    ])
  }

  /// Parses a line of the answer to `accountingQuery`.
  init?(accountingLine line: some StringProtocol) {
    let fields = line.split(separator: Self.separator, omittingEmptySubsequences: false)
    guard fields.count == 7, let id = SlurmJobID(fields[0]), let state = SlurmState(fields[1]) else { return nil }
    self.init(id: id, state: state)
    status = Self.status(exitCode: fields[2])
    // Up to 24.11, sacct subtracts 128 from a program's status: a failure with 0 was a failure with 128.
    if state == .failed, status == 0 { status = 128 << 8 }
    nodes = Self.value(fields[3]).flatMap { $0 == "None assigned" ? nil : $0 } ?? ""
    submitTime = Self.value(fields[4])
    comment = Self.value(fields[5])
    name = Self.value(fields[6])
  }

  /// Converts `3:0`, a status and a signal, to the format of wait(2).
  private static func status(exitCode text: some StringProtocol) -> Int32? {
    let parts = text.split(separator: ":")
    guard parts.count == 2, let status = Int32(parts[0]), let signal = Int32(parts[1]) else { return nil }
    return status << 8 | signal & 0x7F
  }

  /// Parses `1-02:03:04`, where the days and the hours may be missing; nil for anything else.
  private static func duration(_ text: some StringProtocol) -> Duration? {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let days = parts.count == 2 ? Int64(parts[0]) : 0
    let units = parts.last?.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) } ?? []
    guard let days, (0...100_000).contains(days), (2...3).contains(units.count) else { return nil }
    let hours = units.reduce(Int64?(0)) { sum, unit in
      guard let sum, let unit, (0...9_999).contains(unit) else { return nil }
      return sum * 60 + unit
    }
    return hours.map { .seconds(days * 86_400 + $0) }
  }

  private static func value(_ text: some StringProtocol) -> String? {
    let text = text.trimmingCharacters(in: .whitespaces)
    return text.isEmpty || text == "(null)" || text == "None" || text == "N/A" ? nil : text
  }
}
