import Basics
import Session

/// The job files whose jobs have started this program, the outermost first.
///
/// An environment variable carries the chain. Without a limit a file that runs itself uses up all processes of the machine.
struct JobFileChain {
  /// One file a line; set for the programs of all jobs.
  static let variable = "OPDASH_CHAIN"
  /// The number of nested runs after which a file that occurs again is refused.
  static let limit = 8

  private let files: [String]

  init(_ environment: Environment) {
    files = (environment.variables[Self.variable] ?? "").unicodeScalars.split(separator: "\n").map { String($0) }
  }

  /// The variable for the jobs of `file`; throws if it has come too far.
  func adding(_ file: String) throws(UsageError) -> String {
    guard files.count >= Self.limit, files.contains(file) else {
      return (files + [file.escaping(["\n": "?"])]).joined(separator: "\n")
    }
    throw UsageError(
      "\(file) runs itself, \(files.count) runs deep: \(Self.text(files + [file])); "
        + "a job must not start opdash with a file that is being run")
  }

  /// The chain up to its first repetition: `/a.yml -> /b.yml -> /a.yml and so on`.
  private static func text(_ files: [String]) -> String {
    var shown: [String] = []
    for file in files {
      shown.append(file)
      if shown.dropLast().contains(file) { break }
    }
    return shown.joined(separator: " -> ") + (shown.count < files.count ? " and so on" : "")
  }
}
