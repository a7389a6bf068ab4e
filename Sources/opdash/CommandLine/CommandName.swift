/// The commands by name, in the order of the help.
enum CommandName: String, CaseIterable {
  case run
  case get
  case each
  case list
  case check
  case graph
  case schema
  case resume
  case history
  case replay
  case report
  case diff
  case demo
  case keys
  case help
  case completion

  /// The operands in help and messages.
  var operands: String {
    switch self {
    case .run, .graph: "[FILE] [JOB...]"
    case .get: "URL..."
    case .each: "'CMD {}' [ARG...]"
    case .list, .check, .history: "[FILE]"
    case .resume, .report: "[RUN]"
    case .replay: "RUN|FILE"
    case .diff: "RUN RUN"
    case .demo: "[NAME]"
    case .keys, .schema: ""
    case .help: "[COMMAND|jobs|events]"
    case .completion: "bash|zsh|fish"
    }
  }

  var summary: String {
    switch self {
    case .run: "run a job file; naming jobs runs them and their needs"
    case .get: "download each URL as a job"
    case .each: "run a command for each argument, or each line of standard input"
    case .list: "print the jobs of a file with their descriptions and needs"
    case .check: "report every fault of a job file, each with its place"
    case .graph: "print the job graph as a tree, for Graphviz or for Mermaid"
    case .schema: "print the JSON Schema of job files, for editors"
    case .resume: "resume an interrupted, cancelled or failed run"
    case .history: "list past runs, and how long each job usually takes"
    case .replay: "play a recorded run in the dashboard"
    case .report: "say where a recorded run spent its time and what failed"
    case .diff: "compare two recorded runs: slower, faster, newly failed"
    case .demo: "list the built-in scenarios, or play one"
    case .keys: "print which key does what"
    case .help: "explain a command, job files or events, with examples"
    case .completion: "print what completes this command line in a shell"
    }
  }

  /// The number of operands that it takes.
  var limit: Int {
    switch self {
    case .run, .get, .each, .graph: .max
    case .list, .check, .demo, .help, .completion, .resume, .history, .replay, .report: 1
    case .diff: 2
    case .keys, .schema: 0
    }
  }
}
