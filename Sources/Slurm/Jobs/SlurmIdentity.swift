/// An attempt of a job of a run, as its job in Slurm names it: as an argument of its script and in its comment.
package struct SlurmIdentity: Sendable, Hashable {
  /// The run's name, in the form that it has in Slurm.
  package let run: String
  /// The job's name, in the form that it has in Slurm and in names of files.
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

  /// The name of the attempt's files, without what stands after the dot.
  var fileName: String { "\(job).\(attempt)" }

  /// Reads a file name; nil if it is none of an attempt.
  init?(fileName: some StringProtocol, encodedRun run: String) {
    guard let dot = fileName.lastIndex(of: "."), let attempt = Int(fileName[fileName.index(after: dot)...]) else {
      return nil
    }
    self.init(encodedRun: run, job: String(fileName[..<dot]), attempt: attempt)
  }

  /// What a comment of ours names.
  enum Comment: Equatable {
    case job(SlurmIdentity)
    /// One of the jobs of an array: which, its index tells.
    case batch(run: String, name: String)

    /// Nil for a comment of someone else.
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

  /// The longest encoded name, so that a file's name has room for an ending.
  private static let limit = 120

  /// A name without what is special in comments, shells and names of files; long ones are cut and told apart by a hash.
  static func encoded(_ name: String) -> String {
    var text = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16)
        text += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    // A name of dots alone is that of a folder, and one that begins with a dot is not listed.
    if text.isEmpty || text.first == "." { text = "%" + text }
    guard text.utf8.count > limit else { return text }
    return "\(text.prefix(limit - 17))-\(String(hash(name), radix: 16))"
  }

  /// FNV-1a, the same in each process.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
