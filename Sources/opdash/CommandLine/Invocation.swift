import Session

/// A parsed command line.
struct Invocation: Equatable {
  enum Command: Equatable {
    /// A file, jobs of it, or both; see `JobFileSearch`.
    case run([String])
    case get(DownloadRequest)
    case list(file: String?)
    case check(file: String?)
    case keys
    /// Nil lists the scenarios.
    case demo(scenario: String?)
    /// Nil is the program.
    case help(HelpTopic?)
    case manual(HelpTopic?)
    case completion(CompletionScript)
    case version

    var startsJobs: Bool {
      switch self {
      case .run, .get, .demo(_?): true
      case .list, .check, .keys, .demo(nil), .help, .manual, .completion, .version: false
      }
    }
  }

  var command: Command
  var settings = Settings()
  /// Other values for the job file's vars.
  var vars: [String: String] = [:]
  /// Whether to say what would run instead of running it.
  var isDryRun = false
}
