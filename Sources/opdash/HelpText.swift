/// The output of `--help` and `--version`.
enum HelpText {
  static let version = "opdash 0.1.0"

  /// The help of the program, or of one command.
  static func of(_ command: CommandName?) -> String {
    guard let command else {
      let commands = table(CommandName.allCases.map { ("\($0.rawValue) \($0.operands)", $0.summary) })
      return """
        usage: opdash COMMAND [OPTION...]

        Runs jobs and shows them live in the terminal.

        \(commands)

        Options of run, get and demo:
        \(options { $0.commands.contains(.run) })

        Options that stand alone:
        \(options { $0.commands.isEmpty })

        Exit status: 0 all succeeded, 1 a job failed, 2 bad usage or job file,
        3 cancelled with work left, 130 143 129 ended by SIGINT SIGTERM SIGHUP.
        """
    }
    return """
      usage: opdash \(command.rawValue)\(command.operands.isEmpty ? "" : " " + command.operands) [OPTION...]

      \(notes(command))

      \(options { $0.commands.contains(command) || $0.name == "help" })
      """
  }

  private static func notes(_ command: CommandName) -> String {
    switch command {
    case .run:
      """
      Runs the jobs of a job file, YAML or JSON; - is standard input. Naming jobs runs
      those and what they need. Off a terminal, each change of state makes a line.
      """
    case .get:
      """
      Downloads each URL as a job. A file is named after the end of its URL, and one
      whose name is taken gets a number.
      """
    case .check:
      """
      Prints every fault of a job file as FILE:LINE:COLUMN: message; - is standard
      input. The exit status is 0 where there is none, else 2.
      """
    case .demo:
      """
      Plays a scenario, or lists them. Each ends by itself and uses no network beyond
      loopback.
      """
    case .keys:
      """
      Prints which key does what, and what of it comes from the settings file,
      $XDG_CONFIG_HOME/opdash/config.yaml or ~/.config/opdash/config.yaml.
      """
    }
  }

  private static func options(where isWanted: (Option) -> Bool) -> String {
    table(
      Option.all.filter(isWanted).map { option in
        let letter = option.letter.map { "-\($0), " } ?? "    "
        return (letter + option.spelled + (option.valueName.map { " \($0)" } ?? ""), option.summary)
      })
  }

  private static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).filter { $0 <= 22 }.max() ?? 0
    return rows.map { term, meaning in
      "  \(term)\(String(repeating: " ", count: max(0, width - term.count)))  \(meaning)"
    }.joined(separator: "\n")
  }
}
