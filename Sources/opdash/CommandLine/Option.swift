import JobModel
import Reports
import Screen
import Session

/// An option of the command line: its name, its value, and its effect.
struct Option: Sendable {
  /// The result of all options of a command line.
  struct Values: Equatable {
    var settings = Settings()
    var download = DownloadRequest()
    var each = EachRequest()
    var vars: [String: String] = [:]
    var isDryRun = false
    var onlyFailed = false
    var prunes = false
    var speed = 1.0
    var html: String?
    var graphFormat = GraphFormat.text
    var wantsManual = false
    var wantsHelp = false
    var wantsVersion = false
  }

  enum Effect: Sendable {
    case flag(@Sendable (inout Values) -> Void)
    /// `takes` describes valid values; the closure returns whether the value is one.
    case value(name: String, takes: String, @Sendable (inout Values, String) -> Bool)
    /// One of a list of words.
    case choice(name: String, words: [String], @Sendable (inout Values, String) -> Bool)
  }

  var name: String
  var letter: Character?
  var summary: String
  /// The commands that have it; empty for an option of the program itself.
  var commands: [CommandName]
  /// The commands that give its letter to another option.
  var unlettered: [CommandName] = []
  var effect: Effect

  var spelled: String { "--\(name)" }

  var valueName: String? {
    switch effect {
    case .flag: nil
    case .value(let name, _, _), .choice(let name, _, _): name
    }
  }

  /// Options of xargs, GNU parallel and make, with opdash's names for them.
  static let ofOthers = [
    "keep-order": "order", "retries": "retry", "jobs": "slots", "max-procs": "slots", "halt": "on-failure",
    "joblog": "events", "max-replace-args": "max-args",
  ]

  private static let running: [CommandName] = [.run, .get, .each, .demo, .resume]
  /// The commands with a dashboard.
  private static let showing: [CommandName] = running + [.replay]
  private static let printing: [CommandName] = showing + [.keys]
  /// The commands that read a job file and accept values for its vars.
  private static let reading: [CommandName] = [.run, .list, .check, .graph]
  private static let recorded: [CommandName] = [.resume, .history, .replay, .report, .diff]

  /// All options, in the order of the help.
  static let all: [Option] = [
    Option(
      name: "slots", letter: "j", summary: "jobs at once (default: the file's, else processors; get: 5)",
      commands: running,
      effect: .value(name: "N", takes: "a whole number, 1 or more") { values, text in
        guard let slots = Int(text), (1...100_000).contains(slots) else { return false }
        values.settings.slots = slots
        return true
      }),
    Option(
      name: "keep-going", letter: "k", summary: "short for --on-failure keep-going", commands: running,
      effect: .flag { $0.settings.onFailure = .keepGoing }),
    Option(
      name: "on-failure", letter: nil, summary: "keep-going (default), finish-running or stop-now", commands: running,
      effect: choice("P", \.onFailure, of: JobGraph.Failure.self)),
    Option(
      name: "on", letter: nil, summary: "what executes the programs: local, or a cluster by slurm",
      commands: [.run, .resume], effect: choice("ENGINE", \.engine, of: Engine.self)),
    Option(
      name: "dry-run", letter: "n", summary: "say what would run, in order, and why what won't", commands: running,
      unlettered: [.each], effect: .flag { $0.isDryRun = true }),
    Option(
      name: "set", letter: nil, summary: "a value for one of the file's vars", commands: reading,
      effect: .value(name: "NAME=VALUE", takes: "NAME=VALUE") { values, text in
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return false }
        values.vars[String(text[..<equals])] = String(text[text.index(after: equals)...])
        return true
      }),
    Option(
      name: "approve", letter: nil, summary: "JOB starts without being asked for; or all", commands: [.run, .resume],
      effect: .value(name: "JOB", takes: "a job's name, a pattern, or all") { values, text in
        values.settings.approved.append(text)
        return !text.isEmpty
      }),
    Option(
      name: "failed", letter: nil, summary: "only failed jobs, and jobs skipped because of them", commands: [.resume],
      effect: .flag { $0.onlyFailed = true }),
    Option(
      name: "speed", letter: nil, summary: "how many times as fast as the run was (default 1)", commands: [.replay],
      effect: .value(name: "N", takes: "a number from 0.1 to 1000") { values, text in
        guard let speed = Double(text), (0.1...1000).contains(speed) else { return false }
        values.speed = speed
        return true
      }),
    Option(
      name: "html", letter: nil, summary: "write the report as one page with timeline and graph", commands: [.report],
      effect: text("FILE", takes: "a file", \.html)),
    Option(
      name: "format", letter: nil, summary: "text (default), dot for Graphviz, or mermaid", commands: [.graph],
      effect: .choice(name: "F", words: GraphFormat.allCases.map(\.rawValue)) { values, text in
        guard let format = GraphFormat(rawValue: text) else { return false }
        values.graphFormat = format
        return true
      }),
    Option(
      name: "prune", letter: nil, summary: "remove old runs now: by age, number and size", commands: [.history],
      effect: .flag { $0.prunes = true }),
    Option(
      name: "input", letter: "i", summary: "read URLs from LIST, one a line; - is standard input",
      commands: [.get],
      effect: text("LIST", takes: "a file, or - for standard input", \.download.list)),
    Option(
      name: "dir", letter: "d", summary: "download into DIR", commands: [.get],
      effect: text("DIR", takes: "a folder", \.download.folder)),
    Option(
      name: "on-exists", letter: nil, summary: "a file that is there: number (default), skip, overwrite",
      commands: [.get],
      effect: .choice(name: "HOW", words: DownloadWork.Existing.allCases.map(\.rawValue)) { values, text in
        guard let existing = DownloadWork.Existing(rawValue: text) else { return false }
        values.download.existing = existing
        return true
      }),
    Option(
      name: "content-disposition", letter: nil, summary: "take the file's name from the server", commands: [.get],
      effect: .flag { $0.download.usesServerName = true }),
    Option(
      name: "stall", letter: nil, summary: "retry when no byte moves in TIME (default 5m; 0s: no limit)",
      commands: [.get],
      effect: .value(name: "TIME", takes: "a time as in \(DurationText.examples)") { values, text in
        guard let stall = DurationText.parse(text) else { return false }
        values.download.stall = stall
        return true
      }),
    Option(
      name: "sums", letter: nil, summary: "check the files against a list of sha256sum, or download what it names",
      commands: [.get],
      effect: text("FILE|URL", takes: "a file, - for standard input, or a URL", \.download.sums)),
    Option(
      name: "base", letter: nil, summary: "the URL of the folder of the files that --sums names", commands: [.get],
      effect: .value(name: "URL", takes: "a URL, http://… or https://…") { values, text in
        values.download.base = text.hasSuffix("/") ? text : text + "/"
        return DownloadSums.isURL(text)
      }),
    Option(
      name: "max-args", letter: "n", summary: "arguments of each job, all of them for {} (default 1)",
      commands: [.each],
      effect: .value(name: "N", takes: "a whole number, 1 or more") { values, text in
        guard let count = Int(text), count >= 1 else { return false }
        values.each.perJob = count
        return true
      }),
    Option(
      name: "delimiter", letter: "d", summary: "what ends an argument of a list: ';' or '\\t' or '\\0'",
      commands: [.each],
      effect: .value(name: "X", takes: "some characters, in which \\n, \\r, \\t, \\0 and \\\\ are escapes") {
        values, text in
        values.each.delimiter = EachRequest.delimiter(text)
        return values.each.delimiter != nil
      }),
    Option(
      name: "null", letter: "0", summary: "the same as -d '\\0', for find -print0", commands: [.each],
      effect: .flag { $0.each.delimiter = [0] }),
    Option(
      name: "order", letter: nil, summary: "print what commands print in the order of arguments",
      commands: [.each], effect: .flag { $0.each.isOrdered = true }),
    Option(
      name: "retry", letter: nil, summary: "try a job that fails so many times more", commands: [.each],
      effect: .value(name: "N", takes: "a whole number, 0 or more") { values, text in
        guard let count = Int(text), (0...1_000_000).contains(count) else { return false }
        values.each.retries = count
        return true
      }),
    Option(
      name: "timeout", letter: nil, summary: "the limit of one attempt, as in 500ms, 8s or 1h30m", commands: [.each],
      effect: .value(name: "TIME", takes: "a time as in \(DurationText.examples)") { values, text in
        guard let limit = DurationText.parse(text), limit > .zero else { return false }
        values.each.timeout = limit
        return true
      }),
    Option(
      name: "ui", letter: nil, summary: "auto (default), tui, inline, plain, json or quiet", commands: showing,
      effect: choice("MODE", \.interface, of: Settings.Interface.self, automatic: "auto")),
    Option(
      name: "output", letter: nil, summary: "lines (default), grouped or github; raw for each",
      commands: showing,
      effect: .choice(name: "HOW", words: PlainReport.Grouping.allCases.map(\.rawValue) + ["raw"]) { values, text in
        values.settings.grouping = PlainReport.Grouping(rawValue: text)
        values.each.isRaw = text == "raw"
        return values.each.isRaw || values.settings.grouping != nil
      }),
    Option(
      name: "keep-open", letter: nil, summary: "stay at the end: on-failure (default), always or never",
      commands: showing, effect: choice("WHEN", \.keepOpen)),
    Option(
      name: "state", letter: nil, summary: "where runs are recorded (default $XDG_STATE_HOME/opdash)",
      commands: [.run, .get, .each, .demo] + recorded,
      effect: text("DIR", takes: "a folder", \.settings.state)),
    Option(
      name: "events", letter: nil, summary: "write the events to a file, as --ui json prints them", commands: running,
      effect: text("FILE", takes: "a file", \.settings.files[.events])),
    Option(
      name: "junit", letter: nil, summary: "write the outcome of each job as JUnit XML", commands: running + [.report],
      effect: text("FILE", takes: "a file", \.settings.files[.junit])),
    Option(
      name: "trace", letter: nil, summary: "write a Chrome trace-event file (opens in Perfetto)", commands: running,
      effect: text("FILE", takes: "a file", \.settings.files[.trace])),
    Option(
      name: "notify", letter: nil, summary: "at the end: none (default), bell or message", commands: showing,
      effect: choice("HOW", \.notice, of: EndNotice.self)),
    Option(
      name: "background", letter: nil, summary: "auto (default), dark or light", commands: showing,
      effect: choice("BG", \.background, of: ScreenTraits.Background.self)),
    Option(
      name: "ascii", letter: nil, summary: "draw with ASCII only", commands: printing + [.graph],
      effect: .flag { $0.settings.isASCII = true }),
    Option(
      name: "color", letter: nil, summary: "auto (default), always or never", commands: printing,
      effect: choice("WHEN", \.color)),
    Option(
      name: "no-mouse", letter: nil, summary: "leave the mouse to the terminal", commands: showing,
      effect: .flag { $0.settings.hasMouse = false }),
    Option(
      name: "man", letter: nil, summary: "print the source of a man page", commands: [.help],
      effect: .flag { $0.wantsManual = true }),
    Option(
      name: "help", letter: "h", summary: "print this; after a command, its help", commands: [],
      effect: .flag { $0.wantsHelp = true }),
    Option(
      name: "version", letter: nil, summary: "print the version and the commit that it was built from", commands: [],
      effect: .flag { $0.wantsVersion = true }),
  ]

  /// Whether a command has the option.
  func isOf(_ command: CommandName) -> Bool { commands.isEmpty || commands.contains(command) }

  /// The option that a letter stands for in a command or, if it has none or is nil, in another.
  static func lettered(_ letter: Character, for command: CommandName?) -> Option? {
    let options = all.filter { $0.letter == letter }
    guard let command else { return options.first }
    return options.first { $0.commands.contains(command) && !$0.unlettered.contains(command) } ?? options.first
  }

  /// The options in the help of a command, or of the program.
  static func rows(of command: CommandName?, where isWanted: (Option) -> Bool) -> [HelpText.Row] {
    all.filter(isWanted).map { option in
      let hasLetter = command.map { !option.unlettered.contains($0) } ?? true
      let letter = option.letter.flatMap { hasLetter ? "-\($0), " : nil } ?? "    "
      return HelpText.Row(
        term: letter + option.spelled + (option.valueName.map { " \($0)" } ?? ""), meaning: option.summary)
    }
  }

  private static func text(
    _ name: String, takes: String, _ path: any WritableKeyPath<Values, String?> & Sendable
  ) -> Effect {
    .value(name: name, takes: takes) { values, text in
      values[keyPath: path] = text
      return !text.isEmpty
    }
  }

  private static func choice<Choice: RawRepresentable & CaseIterable & SendableMetatype>(
    _ name: String, _ path: any WritableKeyPath<Settings, Choice> & Sendable
  ) -> Effect where Choice.RawValue == String {
    .choice(name: name, words: Choice.allCases.map(\.rawValue)) { values, text in
      guard let choice = Choice(rawValue: text) else { return false }
      values.settings[keyPath: path] = choice
      return true
    }
  }

  /// `automatic` is a word for nil.
  private static func choice<Choice: RawRepresentable & CaseIterable & SendableMetatype>(
    _ name: String, _ path: any WritableKeyPath<Settings, Choice?> & Sendable, of type: Choice.Type,
    automatic: String? = nil
  ) -> Effect where Choice.RawValue == String {
    .choice(name: name, words: (automatic.map { [$0] } ?? []) + Choice.allCases.map(\.rawValue)) { values, text in
      let choice = Choice(rawValue: text)
      guard choice != nil || text == automatic else { return false }
      values.settings[keyPath: path] = choice
      return true
    }
  }
}
