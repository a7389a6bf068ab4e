import CVersion

/// The version of the program, and the commit that it was built from.
enum Version {
  static let name = "opdash 0.1.0"

  /// The output of `--version`.
  static let text = line(commit: String(cString: opdash_commit()))

  /// `commit` is empty unless `Demo/install` or `Demo/run` built the program.
  static func line(commit: String) -> String {
    commit.isEmpty ? "\(name) (built from an unknown commit)" : "\(name) (\(commit))"
  }
}
