import Session

/// A parsed command line.
struct Invocation: Equatable {
  enum Command: Equatable {
    /// `-` is standard input; no job names means all jobs.
    case run(file: String, jobs: [String])
    case get(DownloadRequest)
    case check(file: String)
    case keys
    /// Nil lists the scenarios.
    case demo(scenario: String?)
    case help(CommandName?)
    case version

    var startsJobs: Bool {
      switch self {
      case .run, .get, .demo(_?): true
      case .check, .keys, .demo(nil), .help, .version: false
      }
    }
  }

  var command: Command
  var settings = Settings()
}

/// The commands by name.
enum CommandName: String, CaseIterable {
  case run
  case get
  case check
  case demo
  case keys

  /// The operands in help and messages.
  var operands: String {
    switch self {
    case .run: "FILE [JOB...]"
    case .get: "URL..."
    case .check: "FILE"
    case .demo: "[NAME]"
    case .keys: ""
    }
  }

  var summary: String {
    switch self {
    case .run: "run a job file; naming jobs runs those and what they need"
    case .get: "download each URL as a job"
    case .check: "report every fault of a job file, each with its place"
    case .demo: "list the built-in scenarios, or play one"
    case .keys: "print which key does what"
    }
  }
}
