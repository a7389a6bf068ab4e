import JobFiles
import JobModel
import Session

/// Parses a command line.
///
/// Options may precede and follow the command and its operands; `--` ends them, and so does the shell command of `each`. A
/// value is the next word, or follows `=` or the option's letter: `--slots 4`, `--slots=4`, `-j 4`, `-j4`.
struct CommandLineParser {
  private var rest: ArraySlice<String>
  private var operands: [String] = []
  /// The options, each as it was written.
  private var used: [(option: Option, spelled: String)] = []
  private var values = Option.Values()

  /// `words` are those after the program's name.
  static func parse(_ words: [String]) throws(UsageError) -> Invocation {
    var parser = CommandLineParser(rest: words[...])
    try parser.readWords()
    var invocation = try parser.invocation()
    invocation.words = words
    return invocation
  }

  private init(rest: ArraySlice<String>) { self.rest = rest }

  private mutating func readWords() throws(UsageError) {
    var isOver = false
    while let word = rest.popFirst() {
      if isOver || !word.hasPrefix("-") || word == "-" {
        operands.append(word)
        if operands.count == 2, operands[0] == CommandName.each.rawValue { try readArguments() }
      } else if word == "--" {
        isOver = true
      } else if word.hasPrefix("--") {
        try readLong(word)
      } else {
        try readLetters(word)
      }
    }
  }

  /// Takes the rest as arguments of `each`: what looks like an option belongs to it.
  private mutating func readArguments() throws(UsageError) {
    let command = operands[1]
    if rest.first == "--" {
      rest.removeFirst()
    } else if let word = rest.first(where: { $0.hasPrefix("-") }), !command.contains(where: { " \t\n{$".contains($0) })
    {
      throw UsageError(
        "'\(word)' after the command '\(command)' would be an argument of a job: quote the command, as in "
          + "opdash each '\(command) \(word)' …, or write -- before the arguments")
    }
    let foreign = EachTemplate.Form.allCases.map(\.rawValue) + [":::", "::::", ":::+", "::::+"]
    if let word = rest.first(where: foreign.contains) {
      if word.hasPrefix(":::"), command.contains("{") {
        throw UsageError("'\(word)' stands outside of the command: leave it out, as in opdash each '\(command)' a b")
      }
      throw UsageError(
        "'\(word)' stands outside of the command: quote the command, as in opdash each '\(command) {}' a b")
    }
    operands += rest
    rest = []
  }

  private mutating func readLong(_ word: String) throws(UsageError) {
    let parts = word.unicodeScalars.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      .map { String($0) }
    guard let option = Option.named(parts[0]) else {
      let near = Option.ofOthers[parts[0]].flatMap { name in
        Option.named(name).flatMap { option in commandName.map(option.isOf) ?? true ? name : nil }
      }
      throw unknownOption(
        "--\(parts[0])", (near ?? NearestName.of(parts[0], in: Option.all.map(\.name))).map { "--\($0)" })
    }
    try apply(option, as: option.spelled, attached: parts.count > 1 ? parts[1] : nil)
  }

  /// The command, which may follow its options.
  private var commandName: CommandName? {
    if let word = operands.first { return CommandName(rawValue: word) ?? .run }
    return rest.lazy.compactMap { CommandName(rawValue: $0) }.first
  }

  private mutating func readLetters(_ word: String) throws(UsageError) {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = Option.lettered(letter, for: commandName) else {
        // `-slots` for `--slots` is a frequent mistake.
        let names = Option.all.map(\.name)
        let near = word.count > 2 ? NearestName.of(String(word.dropFirst()), in: names) : nil
        let same = names.first { $0 == word.dropFirst() }
        throw unknownOption(word, (same ?? near).map { "--\($0)" })
      }
      // The rest of the letters is the value.
      let rest = option.valueName == nil || letters.isEmpty ? nil : String(letters)
      if rest != nil { letters = "" }
      try apply(option, as: "-\(letter)", attached: rest)
    }
  }

  private mutating func apply(_ option: Option, as spelled: String, attached: String?) throws(UsageError) {
    used.append((option, spelled))
    guard option.valueName != nil else {
      guard attached == nil else { throw UsageError("\(option.spelled) takes no value") }
      _ = option.apply(&values, "")
      return
    }
    guard let text = attached ?? rest.popFirst() else {
      throw UsageError("\(option.spelled) needs a value: \(option.takes)")
    }
    try Self.checkText(text, "\(option.spelled) ")
    guard option.apply(&values, text) else {
      let fault = "\(option.spelled) takes \(option.takes); this is '\(text)'"
      guard case .words(let words) = option.candidates else { throw UsageError(fault) }
      // Of several words with commas, one that is not valid.
      let word = text.split(separator: ",").map(String.init).first { !words.contains($0) } ?? text
      throw UsageError(fault + hint(NearestName.of(word, in: words)))
    }
  }

  private func invocation() throws(UsageError) -> Invocation {
    if values.wantsVersion { return Invocation(command: .version) }
    guard let word = operands.first else {
      if values.wantsHelp { return Invocation(command: .help(nil)) }
      throw UsageError("no command: opdash --help lists them")
    }
    let named = CommandName(rawValue: word)
    // `opdash JOB...`; a file and the help are asked for by a command.
    guard let name = named ?? (values.wantsHelp || JobFileSearch.isFile(word) || word.isEmpty ? nil : .run) else {
      throw Self.unknownCommand(word)
    }
    if let stray = used.first(where: { !$0.option.isOf(name) }) {
      throw UsageError("opdash \(name.rawValue) has no option \(stray.spelled); see opdash \(name.rawValue) --help")
    }
    if values.wantsHelp { return Invocation(command: .help(.command(name))) }
    if values.explains, !values.isDryRun { throw UsageError("--explain is for --dry-run: add -n") }
    if values.isDetached, values.isDryRun { throw UsageError("--detach is for a run, not for --dry-run") }
    if values.wantsJSON, values.html != nil || values.prunes || values.settings.files[.junit] != nil {
      throw UsageError("--json prints what opdash \(name.rawValue) prints else: leave out the other form")
    }
    return Invocation(
      command: try command(name, operands.dropFirst(named == nil ? 0 : 1)), isBare: named == nil,
      settings: values.settings, vars: values.vars, isDryRun: values.isDryRun,
      isForced: values.isForced, explains: values.explains, wantsJSON: values.wantsJSON,
      isDetached: values.isDetached, isWatching: name == .watch)
  }

  private func command(_ name: CommandName, _ operands: ArraySlice<String>) throws(UsageError) -> Invocation.Command {
    let form = name.row.operands
    if let extra = operands.dropFirst(form.limit).first {
      let takes = form == .none ? "nothing" : form.rawValue
      throw UsageError("opdash \(name.rawValue) takes \(takes); '\(extra)' is one too many")
    }
    // An argument of `each` is any text.
    if let empty = (name == .each ? operands.prefix(1) : operands).firstIndex(of: "") {
      throw UsageError("operand \(empty) of opdash \(name.rawValue) is empty; see opdash \(name.rawValue) --help")
    }
    if values.each.isRaw, name != .each {
      throw UsageError("--output raw is for opdash each; opdash \(name.rawValue) prints lines, grouped or github")
    }
    // The planner answers for arguments and URLs, which no link can stand for.
    if name != .each, name != .get { for word in operands { try Self.checkText(word) } }
    switch name {
    case .run, .watch: return .run(Array(operands))
    case .list: return .list(file: operands.first)
    case .check: return .check(file: operands.first)
    case .graph: return .graph(Array(operands), values.graphFormat)
    case .demo: return .demo(scenario: operands.first)
    case .resume: return .resume(run: operands.first, onlyFailed: values.onlyFailed)
    case .history:
      if values.prunes, let word = operands.first {
        throw UsageError("opdash history --prune takes no file; this is '\(word)'")
      }
      return .history(file: operands.first, prunes: values.prunes)
    case .replay:
      guard let word = operands.first else {
        throw UsageError("opdash replay needs a run, or a file of events; opdash history lists the runs")
      }
      return .replay(word, speed: values.speed)
    case .report: return .report(run: operands.first ?? "last", html: values.html)
    case .diff:
      guard operands.count == 2, let first = operands.first, let second = operands.last else {
        throw UsageError("opdash diff needs two runs; opdash history lists them")
      }
      return .diff(first, second)
    case .logs: return .logs(Array(operands), follows: values.follows)
    case .ps: return .running
    case .attach: return .attach(run: operands.first, values.isReadOnly ? .readOnly : .full)
    case .wait: return .wait(run: operands.first)
    case .events: return .events(run: operands.first ?? "last", follows: values.follows)
    case .cancel: return try control(.cancel, operands)
    case .pause: return try control(.pause, operands)
    case .retry: return try control(.retry, operands)
    case .approve: return try control(.approve, operands)
    case .slots:
      guard operands.count == 2, let run = operands.first, let word = operands.last else {
        throw UsageError("opdash slots needs a run and a number of slots, as in opdash slots last 4")
      }
      let slots = OptionValue<Int>.slots
      guard let number = slots.read(word) else {
        throw UsageError("opdash slots takes \(slots.takes); this is '\(word)'")
      }
      return .slots(run: run, number)
    case .add:
      guard let file = operands.last else {
        throw UsageError("opdash add needs a job file, as in opdash add last more.yml; - is standard input")
      }
      return .add(run: operands.count > 1 ? operands.first : nil, file: file)
    case .keys: return .keys
    case .initialize:
      if operands.first == "-" { throw UsageError("opdash init takes the name of a file; this is '-'") }
      return .initialize(file: operands.first ?? JobFileSearch.names[0])
    case .importing:
      let list = ImportFormat.allCases.map(\.rawValue).joined(last: "or")
      guard let word = operands.first else { throw UsageError("opdash import needs a format, \(list), and a file") }
      guard let format = ImportFormat(rawValue: word) else {
        let near = NearestName.of(word, in: ImportFormat.allCases.map(\.rawValue))
        throw UsageError("opdash import takes \(list); this is '\(word)'" + hint(near))
      }
      guard let file = operands.dropFirst().first else {
        throw UsageError("opdash import \(word) needs a file; - is standard input")
      }
      return .importing(format, file: file)
    case .schema: return .schema
    case .help:
      guard let word = operands.first else { return values.wantsManual ? .manual(nil) : .help(nil) }
      let topic = try HelpTopic.named(word)
      return values.wantsManual ? .manual(topic) : .help(topic)
    case .completion:
      let list = CompletionScript.allCases.map(\.rawValue).joined(last: "or")
      guard let word = operands.first else { throw UsageError("opdash completion needs a shell: \(list)") }
      if let script = CompletionScript(rawValue: word) { return .completion(script) }
      let near = NearestName.of(word, in: CompletionScript.allCases.map(\.rawValue))
      throw UsageError("opdash completion takes \(list); this is '\(word)'" + hint(near))
    case .each:
      guard let command = operands.first else {
        throw UsageError("opdash each needs a command, as in opdash each 'gzip {}' *.log")
      }
      var request = values.each
      request.command = command
      request.arguments = Array(operands.dropFirst())
      return .each(request)
    case .get:
      var request = values.download
      request.urls = Array(operands)
      if request.base != nil, request.sums == nil || !operands.isEmpty || request.list != nil {
        throw UsageError("--base says where the files of --sums LIST are, and goes with no other URLs")
      }
      guard !operands.isEmpty || request.list != nil || request.listedBase != nil else {
        guard let sums = request.sums else { throw UsageError("opdash get needs a URL, --input LIST or --sums URL") }
        throw UsageError("opdash get --sums \(sums) needs the URLs to check, or --base URL to download what it names")
      }
      return .get(request)
    }
  }

  /// Throws for a word with bytes that are not UTF-8, which would name another file: Foundation has replaced them.
  private static func checkText(_ word: String, _ option: String = "") throws(UsageError) {
    guard word.unicodeScalars.contains("\u{FFFD}") else { return }
    throw UsageError("\(option)'\(word)' is not UTF-8: rename it, or name a link that leads to it")
  }

  private func control(
    _ action: RunAction, _ operands: ArraySlice<String>
  ) throws(UsageError) -> Invocation.Command {
    guard let run = operands.first else {
      throw UsageError("opdash \(action.rawValue) needs a run; opdash ps lists them")
    }
    return .control(action, run: run, jobs: Array(operands.dropFirst()))
  }

  /// The error of a first word that is neither a command nor the name of a job.
  static func unknownCommand(_ word: String) -> UsageError {
    let near =
      JobFileSearch.isFile(word)
      ? "opdash run \(word)" : NearestName.of(word, in: CommandName.allCases.map(\.rawValue))
    return UsageError(
      "unknown command '\(word)'" + (near.map { ": did you mean '\($0)'?" } ?? "; see opdash --help"))
  }

  private var help: String { "opdash\(commandName.map { " \($0.rawValue)" } ?? "") --help" }

  private func unknownOption(_ word: String, _ near: String?) -> UsageError {
    UsageError("unknown option '\(word)'\(hint(near))\(near == nil ? "" : " See \(help)")")
  }

  private func hint(_ near: String?) -> String {
    near.map { ": did you mean '\($0)'?" } ?? "; see \(help)"
  }
}
