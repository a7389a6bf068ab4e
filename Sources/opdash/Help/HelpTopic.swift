import JobModel
import Session

/// A topic of `opdash help`.
enum HelpTopic: Equatable, CaseIterable {
  case command(CommandName)
  case jobs
  case settings

  static let allCases: [HelpTopic] = CommandName.allCases.map { .command($0) } + [.jobs, .settings]

  var word: String {
    switch self {
    case .command(let command): command.rawValue
    case .jobs: "jobs"
    case .settings: "settings"
    }
  }

  static func named(_ word: String) throws(UsageError) -> HelpTopic {
    if let topic = allCases.first(where: { $0.word == word }) { return topic }
    let near = NearestName.hint(for: word, in: allCases.map(\.word), otherwise: "; see opdash help")
    throw UsageError("there is no help on '\(word)'\(near)")
  }

  var page: HelpText {
    switch self {
    case .command(let command): HelpText(command)
    case .jobs: .jobs
    case .settings: .settings
    }
  }
}

extension HelpText {
  init(_ command: CommandName) {
    let row = command.row
    name = "opdash \(command.rawValue)"
    summary = row.summary
    let words = [row.operands.rawValue, "[OPTION...]"]
    // The options of `each` end at its command.
    usage = (["opdash", command.rawValue] + (row.operands == .commandLine ? words.reversed() : words))
      .filter { !$0.isEmpty }.joined(separator: " ")
    introduction = row.notes.map { .text($0) }
    sections = [
      Section(title: "Options", blocks: [.table(Row.options(of: command))]),
      Section(title: "Examples", blocks: [.table(row.examples.map { Row(term: $0.line, meaning: $0.meaning) })]),
    ]
    if command == .events { sections += Self.records }
  }

  /// The commands, several on each line, so that the help fits a screen.
  private static let commands: [([CommandName], String)] = [
    ([.run, .watch], "run a job file; run again what changes affect"),
    ([.get, .each], "download URLs; run a command for each argument"),
    ([.list, .check, .graph], "print a file's jobs, its faults, or its graph"),
    ([.ps, .attach, .wait], "list live runs; show one here; wait for its end"),
    ([.cancel, .pause, .retry], "act on a run of another terminal"),
    ([.approve, .slots], "let jobs start that ask; change the slots"),
    ([.resume, .history, .replay], "resume a run; list past runs; play one again"),
    ([.report, .diff, .logs, .events], "where a run's time went; compare two; print it"),
    ([.initialize, .importing, .schema], "write a job file; of another tool's; its schema"),
    ([.demo, .keys, .help, .completion], "play scenarios; print keys; explain; complete"),
  ]

  static let program = HelpText(
    name: "opdash", summary: "runs jobs and shows them live in the terminal", usage: "opdash COMMAND [OPTION...]",
    introduction: [.text("Runs jobs and shows them live in the terminal.")],
    sections: [
      .init(
        title: "Commands",
        blocks: [
          .table(
            commands.map { commands, meaning in
              Row(term: commands.map(\.rawValue).joined(separator: ", "), meaning: meaning)
            })
        ]),
      .init(
        title: "Options",
        blocks: [
          .table(
            Row.options(of: nil)
              + [Row(term: "opdash help COMMAND", meaning: "the options of a command, with examples")])
        ]),
      .init(
        title: "Exit status",
        blocks: [
          .text(
            """
            0 all succeeded, 1 a job failed, 2 bad usage or job file, 3 cancelled with work left, 130 143 129 ended by SIGINT \
            SIGTERM SIGHUP.
            """)
        ]),
    ])
}

extension HelpText.Row {
  fileprivate static func options(of command: CommandName?) -> [Self] {
    Option.all.filter { option in
      command.map { option.commands.contains($0) || option.name == "help" } ?? option.commands.isEmpty
    }.map { Self(term: $0.term(of: command), meaning: $0.summary) }
  }
}
