import JobModel

/// What a command line asks for.
struct Invocation: Equatable {
  enum Command: Equatable {
    /// `-` is standard input; no job names means all jobs.
    case run(file: String, jobs: [String])
    /// `list` is a file with a URL on each line, `-` standard input.
    case get(urls: [String], list: String?, folder: String?)
    case check(file: String)
    /// Nil lists the scenarios.
    case demo(scenario: String?)
    case help(CommandName?)
    case version
  }

  var command: Command
  var settings = Settings()
}

/// How a run is to be run and shown; nil where the command line leaves it open.
struct Settings: Equatable {
  enum Interface: String, CaseIterable {
    case auto
    case tui
    case plain
    case json
    case quiet
  }

  enum KeepOpen: String, CaseIterable {
    case onFailure = "on-failure"
    case always
    case never
  }

  enum Color: String, CaseIterable {
    case auto
    case always
    case never
  }

  var slots: Int?
  var onFailure: JobGraph.Failure?
  var interface = Interface.auto
  var keepOpen = KeepOpen.onFailure
  var state: String?
  var trace: String?
  var isASCII = false
  var color = Color.auto
  var hasMouse = true
}

/// The commands, by the words that call them.
enum CommandName: String, CaseIterable {
  case run
  case get
  case check
  case demo

  /// What follows the word.
  var operands: String {
    switch self {
    case .run: "FILE [JOB...]"
    case .get: "URL..."
    case .check: "FILE"
    case .demo: "[NAME]"
    }
  }

  var summary: String {
    switch self {
    case .run: "run a job file; naming jobs runs those and what they need"
    case .get: "download each URL as a job"
    case .check: "report every fault of a job file, each with its place"
    case .demo: "list the built-in scenarios, or play one"
    }
  }
}

/// A command line that can't be obeyed, in one line that names what is wrong and what to do.
struct UsageError: Error, Equatable {
  var message: String

  init(_ message: String) { self.message = message }
}
