import JobModel
import Reports
import Screen
import Session

/// An option of the command line: parsing, help, man pages, completion and the reference are made from its row.
struct Option: Sendable {
  /// The result of all options of a command line.
  struct Values: Equatable {
    var settings = Settings()
    var download = DownloadRequest()
    var each = EachRequest()
    var vars: [String: String] = [:]
    var isDryRun = false
    var isDetached = false
    var isForced = false
    var onlyFailed = false
    var prunes = false
    var speed = 1.0
    var html: String?
    var graphFormat = GraphFormat.text
    var wantsJSON = false
    var explains = false
    var follows = false
    var isReadOnly = false
    var wantsManual = false
    var wantsHelp = false
    var wantsVersion = false
  }

  var name: String
  var letter: Character?
  /// The value's name in the help; nil for a flag.
  var valueName: String?
  /// The valid values, in messages.
  var takes = ""
  var candidates = ValueCandidates.none
  /// The commands that have it; empty for an option of the program itself.
  var commands: [CommandName]
  /// The commands that give its letter to another option.
  var unlettered: [CommandName] = []
  var summary: String
  /// Sets the value, which is empty for a flag; returns whether it is valid.
  var apply: @Sendable (inout Values, String) -> Bool

  var spelled: String { "--\(name)" }

  func isOf(_ command: CommandName) -> Bool { commands.isEmpty || commands.contains(command) }

  /// The option and its value, as in `-j, --slots N`; `command` may give the letter to another option.
  func term(of command: CommandName?) -> String {
    let hasLetter = command.map { !unlettered.contains($0) } ?? true
    return (letter.flatMap { hasLetter ? "-\($0), " : nil } ?? "    ") + spelled + (valueName.map { " \($0)" } ?? "")
  }

  static func named(_ name: some StringProtocol) -> Option? { all.first { $0.name == name } }

  /// The option that a letter stands for in a command or, if it has none or is nil, in another.
  static func lettered(_ letter: Character, for command: CommandName?) -> Option? {
    let options = all.filter { $0.letter == letter }
    guard let command else { return options.first }
    return options.first { $0.commands.contains(command) && !$0.unlettered.contains(command) } ?? options.first
  }

  /// Options of xargs, GNU parallel and make, with opdash's names for them.
  static let ofOthers = [
    "keep-order": "order", "retries": "retry", "jobs": "slots", "max-procs": "slots", "halt": "on-failure",
    "joblog": "events", "max-replace-args": "max-args",
  ]

  // MARK: The table

  private static let running: [CommandName] = [.run, .watch, .get, .each, .demo, .resume]
  /// The commands with a dashboard.
  private static let drawing: [CommandName] = running + [.replay, .attach]
  /// The commands that can print a run instead.
  private static let showing: [CommandName] = running + [.replay]
  private static let printing: [CommandName] = drawing + [.keys]
  /// The commands that read a job file and accept values for its vars.
  private static let reading: [CommandName] = [.run, .watch, .list, .check, .graph, .add]
  private static let recorded: [CommandName] = [.resume, .history, .replay, .report, .diff, .logs, .events]
  /// The commands for runs that are going on.
  private static let live: [CommandName] = [.ps, .attach, .wait, .cancel, .pause, .retry, .approve, .slots, .add]

  /// All options, in the order of the help.
  static let all: [Option] = [
    value(
      "slots", letter: "j", .slots, running, "jobs at once (default: the file's, else processors; get: 5)"
    ) { $0.settings.slots = $1 },
    flag("keep-going", letter: "k", running, "short for --on-failure keep-going") {
      $0.settings.onFailure = .keepGoing
    },
    value(
      "on-failure", .choice("P", JobGraph.Failure.self), running, "keep-going (default), finish-running or stop-now"
    ) { $0.settings.onFailure = $1 },
    value(
      "on", .choice("ENGINE", Engine.self), [.run, .watch, .resume],
      "what executes the programs: local, or a cluster by slurm"
    ) { $0.settings.engine = $1 },
    flag("dry-run", letter: "n", running, unlettered: [.each], "say what would run, in order, and why what won't") {
      $0.isDryRun = true
    },
    flag("detach", [.run, .watch, .get, .each, .resume], "run in the background, and print the run's name") {
      $0.isDetached = true
    },
    flag("explain", [.run, .watch, .resume], "with --dry-run: which input or command has changed") {
      $0.explains = true
    },
    flag("force", [.run, .watch], "run jobs that are up to date too") { $0.isForced = true },
    value("set", .assignment, reading, "a value for one of the file's vars") { $0.vars[$1.name] = $1.value },
    value(
      "approve", .text("JOB", "a job's name, a pattern, or all", .jobs), [.run, .watch, .resume],
      "JOB starts without being asked for; or all"
    ) { $0.settings.approved.append($1) },
    flag("failed", [.resume], "only failed jobs, and jobs skipped because of them") { $0.onlyFailed = true },
    value("speed", .decimal(0.1...1000), [.replay], "how many times as fast as the run was (default 1)") {
      $0.speed = $1
    },
    value("html", .file, [.report], "write the report as one page with timeline and graph") { $0.html = $1 },
    value("format", .choice("F", GraphFormat.self), [.graph], "text (default), dot for Graphviz, or mermaid") {
      $0.graphFormat = $1
    },
    flag("follow", letter: "f", [.logs, .events], "print what comes, until the run has ended") { $0.follows = true },
    flag("read-only", [.attach], "no key changes the run") { $0.isReadOnly = true },
    flag("json", [.list, .history, .report, .diff, .ps], "print one JSON document") { $0.wantsJSON = true },
    flag("prune", [.history], "remove old runs now: by age, number and size") { $0.prunes = true },
    value(
      "input", letter: "i", .text("LIST", "a file, or - for standard input", .files), [.get],
      "read URLs from LIST, one a line; - is standard input"
    ) { $0.download.list = $1 },
    value("dir", letter: "d", .folder, [.get], "download into DIR") { $0.download.folder = $1 },
    value(
      "on-exists", .choice("HOW", DownloadWork.Existing.self), [.get],
      "a file that is there: number (default), skip, overwrite"
    ) { $0.download.existing = $1 },
    flag("content-disposition", [.get], "take the file's name from the server") {
      $0.download.usesServerName = true
    },
    value("stall", .time(from: .zero), [.get], "retry when no byte moves in TIME (default 5m; 0s: no limit)") {
      $0.download.stall = $1
    },
    value(
      "sums", .text("FILE|URL", "a file, - for standard input, or a URL", .files), [.get],
      "check the files against a list of sha256sum, or download what it names"
    ) { $0.download.sums = $1 },
    value("base", .url, [.get], "the URL of the folder of the files that --sums names") {
      $0.download.base = $1.hasSuffix("/") ? $1 : $1 + "/"
    },
    value(
      "max-args", letter: "n", .number(1...Int.max), [.each], "arguments of each job, all of them for {} (default 1)"
    ) { $0.each.perJob = $1 },
    value("delimiter", letter: "d", .delimiter, [.each], "what ends an argument of a list: ';' or '\\t' or '\\0'") {
      $0.each.delimiter = $1
    },
    flag("null", letter: "0", [.each], "the same as -d '\\0', for find -print0") { $0.each.delimiter = [0] },
    flag("order", [.each], "print what commands print in the order of arguments") { $0.each.isOrdered = true },
    value("retry", .number(0...1_000_000), [.each], "try a job that fails so many times more") {
      $0.each.retries = $1
    },
    value("timeout", .time(from: .nanoseconds(1)), [.each], "the limit of one attempt, as in 500ms, 8s or 1h30m") {
      $0.each.timeout = $1
    },
    value(
      "ui", .words("MODE", ["auto"] + words(Settings.Interface.self)), showing,
      "auto (default), tui, inline, plain, json or quiet"
    ) { $0.settings.interface = Settings.Interface(rawValue: $1) },
    value(
      "output", .words("HOW", words(PlainReport.Grouping.self) + ["raw"]), showing,
      "lines (default), grouped or github; raw for each"
    ) { ($0.settings.grouping, $0.each.isRaw) = (PlainReport.Grouping(rawValue: $1), $1 == "raw") },
    value(
      "keep-open", .choice("WHEN", KeepOpen.self), drawing, "stay at the end: on-failure (default), always or never"
    ) { $0.settings.keepOpen = $1 },
    value(
      "state", .folder, [.run, .watch, .get, .each, .demo] + live + recorded,
      "where runs are recorded (default $XDG_STATE_HOME/opdash)"
    ) { $0.settings.state = $1 },
    value("events", .file, running, "write the events to a file, as --ui json prints them") {
      $0.settings.files[.events] = $1
    },
    value("junit", .file, running + [.report], "write the outcome of each job as JUnit XML") {
      $0.settings.files[.junit] = $1
    },
    value("trace", .file, running, "write a Chrome trace-event file (opens in Perfetto)") {
      $0.settings.files[.trace] = $1
    },
    value("otlp", .url, running, "send the run as an OpenTelemetry trace to a collector") {
      $0.settings.collector = $1
    },
    value("silence", .warnings, running, "warnings that are not given, by name") {
      $0.settings.silencedWarnings.formUnion($1)
    },
    value("notify", .choice("HOW", EndNotice.self), drawing, "at the end: none (default), bell or message") {
      $0.settings.notice = $1
    },
    value("background", .choice("BG", ScreenTraits.Background.self), drawing, "auto (default), dark or light") {
      $0.settings.background = $1
    },
    flag("ascii", printing + [.graph], "draw with ASCII only") { $0.settings.isASCII = true },
    value("color", .choice("WHEN", Settings.Color.self), printing, "auto (default), always or never") {
      $0.settings.color = $1
    },
    flag("no-mouse", drawing, "leave the mouse to the terminal") { $0.settings.hasMouse = false },
    flag("man", [.help], "print the source of a man page") { $0.wantsManual = true },
    flag("help", letter: "h", [], "print this; after a command, its help") { $0.wantsHelp = true },
    flag("version", [], "print the version and the commit that it was built from") { $0.wantsVersion = true },
  ]

  private static func flag(
    _ name: String, letter: Character? = nil, _ commands: [CommandName], unlettered: [CommandName] = [],
    _ summary: String, _ set: @escaping @Sendable (inout Values) -> Void
  ) -> Option {
    Option(name: name, letter: letter, commands: commands, unlettered: unlettered, summary: summary) { values, _ in
      set(&values)
      return true
    }
  }

  private static func value<Value>(
    _ name: String, letter: Character? = nil, _ kind: OptionValue<Value>, _ commands: [CommandName],
    _ summary: String, _ set: @escaping @Sendable (inout Values, Value) -> Void
  ) -> Option {
    Option(
      name: name, letter: letter, valueName: kind.name, takes: kind.takes, candidates: kind.candidates,
      commands: commands, summary: summary
    ) { values, text in
      guard let value = kind.read(text) else { return false }
      set(&values, value)
      return true
    }
  }

  private static func words<Choice: RawRepresentable<String> & CaseIterable>(_ type: Choice.Type) -> [String] {
    Choice.allCases.map(\.rawValue)
  }
}
