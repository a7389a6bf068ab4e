import Basics

/// An attempt of a job in a run, as its Slurm job names it in an argument of its script and in its comment.
package struct SlurmIdentity: Sendable, Hashable {
  /// The run's name, as encoded in Slurm.
  package let run: String
  /// The job's name, as encoded in Slurm and in file names.
  package let job: String
  package let attempt: Int

  package init(run: String, job: String, attempt: Int) {
    self.init(encodedRun: Self.encoded(run), job: Self.encoded(job), attempt: attempt)
  }

  init(encodedRun run: String, job: String, attempt: Int) {
    self.run = run
    self.job = job
    self.attempt = attempt
  }

  /// The comment of a job that was submitted by itself.
  var comment: String { "opdash/\(run)/\(job)/\(attempt)" }

  /// The name of the attempt's files without the suffix.
  var fileName: String { "\(job).\(attempt)" }

  /// Reads a file name; nil if it is not the name of an attempt's file.
  init?(fileName: some StringProtocol, encodedRun run: String) {
    guard let dot = fileName.lastIndex(of: "."), let attempt = Int(fileName[fileName.index(after: dot)...]) else {
      return nil
    }
    self.init(encodedRun: run, job: String(fileName[..<dot]), attempt: attempt)
  }

  /// The attempt or array that a comment of this program names.
  enum Comment: Equatable {
    case job(SlurmIdentity)
    /// One job of an array; the job's index tells which.
    case batch(run: String, name: String)

    /// Parses a comment; nil for a comment of someone else.
    init?(_ text: some StringProtocol) {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count >= 3, parts[0] == "opdash" else { return nil }
      if parts.count == 3, parts[2].hasPrefix("@") {
        self = .batch(run: String(parts[1]), name: String(parts[2].dropFirst()))
      } else if parts.count == 4, let attempt = Int(parts[3]) {
        self = .job(SlurmIdentity(encodedRun: String(parts[1]), job: String(parts[2]), attempt: attempt))
      } else {
        return nil
      }
    }

    var run: String {
      switch self {
      case .job(let identity): identity.run
      case .batch(let run, _): run
      }
    }
  }

  static func comment(ofBatch name: String, run: String) -> String { "opdash/\(run)/@\(name)" }

  /// The longest encoded name, which leaves room for a suffix in a file's name.
  private static let limit = 120

  /// Escapes characters that are special in comments, shells and file names; shortens long names, with a hash to
  /// distinguish them.
  static func encoded(_ name: String) -> String {
    var text = ""
    for byte in name.utf8 {
      if byte.isVariableByte || "-.".utf8.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "%" + String(byte, radix: 16, digits: 2)
      }
    }
    // A name of only dots would be a folder, and a name that begins with a dot is not listed.
    if text.isEmpty || text.first == "." { text = "%" + text }
    guard text.utf8.count > limit else { return text }
    return "\(text.prefix(limit - 17))-\(String(hash(name), radix: 16))"
  }

  /// FNV-1a, which is the same in each process.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
