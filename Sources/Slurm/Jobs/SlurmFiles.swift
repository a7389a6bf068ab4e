import Basics
import Foundation
import Operations

/// The files of a run's cluster jobs, in one folder on the file system that the nodes share.
///
/// Each attempt has `.sent`, written before it is submitted by itself; `.claim`, which names the job that executes it or
/// says that none does; `.out`, its output; `.exit`, its status; and `.halt`, if this program has held or stopped it.
/// Each array has `.batch`, which lists the attempt of each index and is written before the submission too, and a `.sh`
/// script for each attempt. All calls may block.
package struct SlurmFiles: Sendable {
  package let folder: String

  /// - Parameter folder: An absolute path; the folder is created when it is needed.
  package init(folder: String) { self.folder = folder }

  func path(of identity: SlurmIdentity) -> String { "\(folder)/\(identity.fileName)" }
  func path(ofBatch name: String) -> String { "\(folder)/\(name).batch" }
  func path(ofScript index: Int, batch name: String) -> String { "\(folder)/\(name).\(index).sh" }

  /// The path of an attempt's output, both streams.
  package func outputPath(of identity: SlurmIdentity) -> String { path(of: identity) + ".out" }

  /// The path of the file that receives an attempt's values for other jobs.
  package func valuesPath(of identity: SlurmIdentity) -> String { path(of: identity) + ".values" }

  /// Whether a node has written a file of an attempt.
  func hasAttempts() -> Bool {
    names().contains { name in
      guard let dot = name.lastIndex(of: "."), Self.endings.contains(name[dot...]) else { return false }
      return SlurmIdentity(fileName: name[..<dot], encodedRun: "") != nil
    }
  }

  /// The attempts that may have been submitted, also if no query shows it yet, and whether each is claimed.
  package func submissions(run: String) -> [SlurmIdentity: Bool] {
    var attempts: [SlurmIdentity: Bool] = [:]
    for name in names() {
      guard let dot = name.lastIndex(of: ".") else { continue }
      let (stem, ending) = (name[..<dot], name[dot...])
      if ending == ".batch" {
        attempts.merge((batch(named: String(stem), run: run) ?? []).map { ($0, false) }) { isClaimed, _ in isClaimed }
      } else if ending == ".sent" || Self.endings.contains(ending),
        let identity = SlurmIdentity(fileName: stem, encodedRun: run)
      {
        attempts[identity] = attempts[identity] == true || ending == ".claim"
      }
    }
    return attempts
  }

  private func names() -> [String] { BytePath(folder).names()?.map(\.text) ?? [] }

  /// The suffixes of the files of an attempt that nodes write.
  private static let endings: Set<Substring> = [".claim", ".out", ".exit", ".values"]

  /// Notes that an attempt is submitted by itself; returns a message if that fails.
  func noteSubmission(of identity: SlurmIdentity) -> String? { write("", to: path(of: identity) + ".sent") }

  /// Removes the files of an ended attempt, except its output, and withdraws it: no process follows it later.
  package func abandon(_ identity: SlurmIdentity) {
    for ending in [".sent", ".claim", ".exit", ".values", ".halt"] { unlink(path(of: identity) + ending) }
    _ = withdraw(identity)
  }

  /// Removes the values and the scripts of arrays, which contain the jobs' environments; for a run that has ended.
  package func removeScriptsAndValues() {
    for name in names() where name.hasSuffix(".sh") || name.hasSuffix(".values") {
      unlink("\(folder)/\(name)")
    }
  }

  /// Creates the folder if it does not exist; returns a message if that fails.
  func makeFolder() -> String? {
    PrivateFolder.ensure(folder).map { "the folder of the cluster jobs can't be made: \(folder): \($0)" }
  }

  /// Writes a file that only its owner may read; returns a message if that fails.
  func write(_ text: String, to path: String) -> String? {
    do throws(FileProblem) {
      let descriptor = try ForeignFile.open(path, for: .replacing, .own)
      defer { _ = close(descriptor) }
      try ForeignFile.write(Array(text.utf8), to: descriptor, path)
      return nil
    } catch {
      return "\(path) can't be written: \(error.message)"
    }
  }

  /// The attempts of an array, by index; nil if the array's file does not exist.
  func batch(named name: String, run: String) -> [SlurmIdentity]? {
    guard let text = text(of: path(ofBatch: name)) else { return nil }
    return text.lines.compactMap { SlurmIdentity(fileName: $0, encodedRun: run) }
  }

  /// The job that executes an attempt, or has executed it; nil if none has begun.
  package func claim(of identity: SlurmIdentity) -> SlurmJobID? {
    text(of: path(of: identity) + ".claim")?.split(whereSeparator: \.isWhitespace).first.flatMap { SlurmJobID($0) }
  }

  /// Whether an attempt is claimed, by a job that has begun to execute it or by `withdraw(_:)`.
  package func hasClaim(of identity: SlurmIdentity) -> Bool { access(path(of: identity) + ".claim", F_OK) == 0 }

  /// Claims an abandoned attempt, so that a job that Slurm may still start executes nothing; false if one has begun.
  package func withdraw(_ identity: SlurmIdentity) -> Bool {
    let descriptor = open(path(of: identity) + ".claim", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return errno != EEXIST }
    defer { _ = close(descriptor) }
    _ = Self.withdrawal.withCString { Foundation.write(descriptor, $0, strlen($0)) }
    return true
  }

  /// Whether an attempt was withdrawn before a job had begun it, or abandoned.
  package func isWithdrawn(_ identity: SlurmIdentity) -> Bool {
    text(of: path(of: identity) + ".claim") == Self.withdrawal
  }

  private static let withdrawal = "withdrawn\n"

  /// The nodes that have begun to execute attempts, and so can write to the folder.
  func claimants() -> Set<String> {
    Set(
      names().lazy.filter { $0.hasSuffix(".claim") }.compactMap { name in
        let words = self.text(of: "\(folder)/\(name)")?.split(whereSeparator: \.isWhitespace)
        return words?.count == 2 ? words.map { String($0[1]) } : nil
      })
  }

  /// The end of an attempt as its script records it.
  struct Exit: Equatable {
    var status: Int32
    /// The program's execution time by the node's clock, to a hundredth of a second; nil if the node does not report
    /// it.
    var took: Duration?
    /// Whether the script was asked to end before the program had ended.
    var wasStopped: Bool
  }

  /// Reads the end that an attempt's script recorded; nil without a file, and while it is being written.
  func exit(of identity: SlurmIdentity) -> Exit? {
    guard let text = text(of: path(of: identity) + ".exit"), text.utf8.last == UInt8(ascii: "\n") else { return nil }
    let words = text.split(whereSeparator: \.isWhitespace)
    guard let status = words.first.flatMap({ Int32($0) }) else { return nil }
    let times = words.dropFirst(2).compactMap { Double($0) }
    let seconds = times.count == 2 ? times[1] - times[0] : .nan
    return Exit(
      status: status, took: (0...1e9).contains(seconds) ? .milliseconds(10 * (seconds * 100).rounded()) : nil,
      wasStopped: words.last == "stopped")
  }

  /// Removes the recorded end of an attempt before Slurm executes it again.
  func removeExit(of identity: SlurmIdentity) { unlink(path(of: identity) + ".exit") }

  /// Makes the script of an attempt that Slurm is ending kill its program.
  func orderKill(of identity: SlurmIdentity) { _ = write("", to: path(of: identity) + ".kill") }

  /// A hold or stop of an attempt's job by this program, for a process that follows the job later.
  struct Halt: Equatable {
    /// Whether the job may be held or stopped.
    var isStanding = false
    /// When the program was stopped, in seconds since 1970; nil for a hold, and after the stop.
    var since: Int?
    /// The seconds of earlier stops.
    var total = 0

    /// The time that the program did not execute although Slurm counts it.
    var stopped: Duration { .seconds(total) + .seconds(since.map { max(0, time(nil) - $0) } ?? 0) }

    mutating func begin(isStop: Bool) {
      isStanding = true
      if isStop, since == nil { since = time(nil) }
    }

    mutating func end() { self = Halt(total: Int(stopped / .seconds(1))) }
  }

  /// The hold or stop of an attempt that a process has recorded.
  func halt(of identity: SlurmIdentity) -> Halt {
    let words = text(of: path(of: identity) + ".halt")?.split(whereSeparator: \.isWhitespace) ?? []
    let times = words.dropFirst().compactMap { Int($0) }
    guard let total = times.first, times.allSatisfy((0...1 << 40).contains) else { return Halt() }
    return Halt(isStanding: words[0] == "standing", since: times.count > 1 ? times[1] : nil, total: total)
  }

  /// Records the hold or stop of an attempt.
  func record(_ halt: Halt, of identity: SlurmIdentity) {
    let path = path(of: identity) + ".halt"
    guard halt != Halt() else {
      unlink(path)
      return
    }
    let text = "\(halt.isStanding ? "standing" : "over") \(halt.total)\(halt.since.map { " \($0)" } ?? "")\n"
    _ = write(text, to: path)
  }

  /// Enough for the names of a million attempts.
  private static let limit = 64 << 20

  private func text(of path: String) -> String? {
    (try? ForeignFile.contents(path, .own, limit: Self.limit)).map { String(decoding: $0, as: UTF8.self) }
  }
}
