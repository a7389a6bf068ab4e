import Basics
import Foundation
import Operations

/// The files of a run's cluster jobs, in one folder on the file system that the nodes share.
///
/// Of each attempt: `.claim`, who executes it, or that nobody does; `.out`, its output; `.exit`, its status. Of each array:
/// `.batch`, the attempt of each index, and its script, a `.sh`. All calls may block.
package struct SlurmFiles: Sendable {
  package let folder: String

  /// - Parameter folder: An absolute path; the folder is made when it is needed.
  package init(folder: String) { self.folder = folder }

  func path(of identity: SlurmIdentity) -> String { "\(folder)/\(identity.fileName)" }
  func path(ofBatch name: String) -> String { "\(folder)/\(name).batch" }
  func path(ofScript index: Int, batch name: String) -> String { "\(folder)/\(name).\(index).sh" }

  /// The output of an attempt, both streams.
  package func outputPath(of identity: SlurmIdentity) -> String { path(of: identity) + ".out" }

  /// Where an attempt writes values for other jobs.
  package func valuesPath(of identity: SlurmIdentity) -> String { path(of: identity) + ".values" }

  /// The greatest attempt of each job that has left a file, by the job's name as identities have it.
  package func attempts() -> [String: Int] {
    var attempts: [String: Int] = [:]
    for name in names() {
      guard let dot = name.lastIndex(of: "."), Self.endings.contains(name[dot...]),
        let identity = SlurmIdentity(fileName: name[..<dot], encodedRun: "")
      else { continue }
      attempts[identity.job] = max(attempts[identity.job] ?? 0, identity.attempt)
    }
    return attempts
  }

  private func names() -> [String] { BytePath(folder).names()?.map(\.text) ?? [] }

  /// The endings of the files of an attempt.
  private static let endings: Set<Substring> = [".claim", ".out", ".exit", ".values"]

  /// Removes the files of an attempt, which is executed anew.
  package func remove(_ identity: SlurmIdentity) {
    for ending in Self.endings { unlink(path(of: identity) + ending) }
  }

  /// Removes the scripts of arrays, in which the jobs' environments are, and the values; for a run that has ended.
  package func removeScriptsAndValues() {
    for name in names() where name.hasSuffix(".sh") || name.hasSuffix(".values") {
      unlink("\(folder)/\(name)")
    }
  }

  /// Returns a sentence if the folder is not there and can't be made.
  func makeFolder() -> String? {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      return nil
    } catch {
      return "the folder of the cluster jobs can't be made: \(folder): \(error.localizedDescription)"
    }
  }

  /// Writes a file that its owner alone may read; returns a sentence if it can't.
  func write(_ text: String, to path: String) -> String? {
    let descriptor: Int32
    do throws(FileProblem) { descriptor = try ForeignFile.open(path, for: .replacing, .own) } catch {
      return "\(path) can't be written: \(error.message)"
    }
    defer { _ = close(descriptor) }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return "\(path) can't be written: \(String(cString: strerror(errno)))" }
      bytes = bytes.dropFirst(count)
    }
    return nil
  }

  /// The attempts of an array, by index; nil if its file is not there.
  func batch(named name: String, run: String) -> [SlurmIdentity]? {
    guard let text = text(of: path(ofBatch: name)) else { return nil }
    return text.lines.compactMap { SlurmIdentity(fileName: $0, encodedRun: run) }
  }

  /// The job that executes an attempt, or has executed it; nil if none has begun.
  func claim(of identity: SlurmIdentity) -> SlurmJobID? {
    text(of: path(of: identity) + ".claim")?.split(whereSeparator: \.isWhitespace).first.flatMap { SlurmJobID($0) }
  }

  /// Whether some job has begun to execute an attempt.
  func hasClaim(of identity: SlurmIdentity) -> Bool { access(path(of: identity) + ".claim", F_OK) == 0 }

  /// Claims an attempt that is given up, so that a job of it which Slurm starts yet executes nothing; false if one has begun.
  func withdraw(_ identity: SlurmIdentity) -> Bool {
    let descriptor = open(path(of: identity) + ".claim", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return errno != EEXIST }
    defer { _ = close(descriptor) }
    _ = Self.withdrawal.withCString { Foundation.write(descriptor, $0, strlen($0)) }
    return true
  }

  /// Whether an attempt was given up before a job had begun it.
  func isWithdrawn(_ identity: SlurmIdentity) -> Bool { text(of: path(of: identity) + ".claim") == Self.withdrawal }

  private static let withdrawal = "withdrawn\n"

  /// The nodes that have begun to execute attempts, and so can write the folder.
  func claimants() -> Set<String> {
    Set(
      names().lazy.filter { $0.hasSuffix(".claim") }.compactMap { name in
        let words = self.text(of: "\(folder)/\(name)")?.split(whereSeparator: \.isWhitespace)
        return words?.count == 2 ? words.map { String($0[1]) } : nil
      })
  }

  /// What an attempt's script writes at its end.
  struct Exit: Equatable {
    var status: Int32
    /// How long the program has executed, by the node's clock, to a hundredth of a second; nil where the node does not say.
    var took: Duration?
    /// Whether the script was told to end before the program had ended.
    var wasStopped: Bool
  }

  /// What an attempt's script has written at its end; nil for a file that is being written.
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

  /// Removes what an attempt has written at its end, before Slurm executes it again.
  func removeExit(of identity: SlurmIdentity) { unlink(path(of: identity) + ".exit") }

  /// Has the script of an attempt that Slurm is ending kill its program.
  func orderKill(of identity: SlurmIdentity) { _ = write("", to: path(of: identity) + ".kill") }

  /// The names of a million attempts are shorter.
  private static let limit = 64 << 20

  private func text(of path: String) -> String? {
    (try? ForeignFile.contents(path, .own, limit: Self.limit)).map { String(decoding: $0, as: UTF8.self) }
  }
}
