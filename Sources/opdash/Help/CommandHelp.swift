import Foundation

extension CommandName {
  /// The help of the command.
  var page: HelpText {
    let options = Option.rows(of: self) { $0.commands.contains(self) || $0.name == "help" }
    let examples = examples.map { HelpText.Row(term: $0, meaning: $1) }
    return HelpText(
      name: "opdash \(rawValue)", summary: summary,
      usage: ["opdash", rawValue, operands, "[OPTION...]"].filter { !$0.isEmpty }.joined(separator: " "),
      introduction: notes.map { .text($0) },
      sections: [
        .init(title: "Options", blocks: [.table(options)]), .init(title: "Examples", blocks: [.table(examples)]),
      ])
  }

  private var notes: [String] {
    let search = """
      Without FILE, it is opdash.yml, opdash.yaml or opdash.json in this folder or the nearest one above; - is standard \
      input.
      """
    let naming = "RUN is a run's name, the beginning of one, or last; opdash history lists them."
    return switch self {
    case .resume:
      [
        """
        Goes on with a run whose program was killed, that was quit or cancelled, or in which jobs failed, as a new run. Jobs that \
        succeeded and have not changed since are not run again; partial downloads go on from their byte. Processes that a \
        killed run has left are ended first; its jobs of a cluster are followed. \(naming) Without RUN it is the last unfinished one of the job file that opdash \
        run would find, else of all.
        """,
        "The job file is read again, and the jobs that a change of it affects are named.",
      ]
    case .history:
      [
        """
        Prints the recorded runs, the newest first, and for the job file how long each job usually takes, how often it \
        fails and which are flaky. \(search)
        """,
        """
        Runs are removed after 30 days, beyond the newest 200, and beyond 1 GB of events and logs, at the start of a run or by \
        --prune; history in the settings file says otherwise.
        """,
      ]
    case .replay:
      [
        """
        Plays a recorded run in the dashboard, with all views and logs; , and . step back and forward. A file is one of \
        --events. \(naming)
        """
      ]
    case .report:
      [
        """
        Prints what decided the length of a recorded run, how its slots were used, its slowest and flakiest jobs, and the \
        failures with the end of their logs. \(naming) The default is last.
        """
      ]
    case .diff:
      [
        "Prints which jobs became slower, faster, failed newly or were fixed from the first run to the second. \(naming)"
      ]
    case .run:
      [
        "Runs the jobs of a job file, YAML or JSON. \(search)",
        """
        Naming jobs runs those and what they need; * and ? stand for any characters. The first word is FILE if it is - or has \
        a slash or a job file's ending, and where there is no opdash.yml.
        """,
        "On a terminal it shows the dashboard, elsewhere a line for each change of state.",
      ]
    case .get:
      [
        """
        Downloads each URL as a job, five at once unless --slots says another number. A file is named after the end of its \
        URL. A transfer that breaks is retried and resumed, also by the next opdash get.
        """,
        """
        No file that is there is changed: where the server has the same one (of the same size, and not changed since) nothing \
        is downloaded, else the new one gets a number, as in file.zip.1.
        """,
        """
        With --sums each file must have the SHA-256 sum that the list, as of sha256sum, has beside its name. Without URLs \
        all files of the list are downloaded, from the folder of the list's URL or that of --base.
        """,
      ]
    case .each:
      [
        """
        Runs the command by sh -c for each ARG or, without any, for each line of standard input. {} in it is the argument, {.} \
        the argument without its extension, {/} its last component, {//} its folder, {/.} the last component without \
        extension, {#} the number of the job from 1. Each is quoted for the shell, within quotation marks too. A command \
        without any of them gets {} at its end. -- ends the options, as before an ARG with a hyphen at its start.
        """,
        """
        On a terminal the dashboard shows the jobs. Elsewhere, and with --order or --output raw, standard output has what the \
        commands print and nothing else, that of each job whole, when it ends; standard error has theirs, and at the end the \
        failures.
        """,
      ]
    case .list:
      ["Prints the jobs of a job file, each with its description (its command, if it has none) and needs. \(search)"]
    case .check:
      [
        """
        Prints every fault of a job file as FILE:LINE:COLUMN: message. \(search) The exit status is 0 without faults, else 2.
        """
      ]
    case .graph:
      [
        """
        Prints the graph of a job file; naming jobs leaves out all that they don't need. \(search)
        """,
        """
        The tree has each job once, below what it needs; where it needs more than that one, or not its success, the line \
        says so. dot is for Graphviz, mermaid for pages that draw it. In both, edges that need no success are dashed.
        """,
      ]
    case .schema:
      [
        """
        Prints the JSON Schema of job files, by which editors complete and check keys and values. A file that begins with \
        "# yaml-language-server: $schema=opdash.json" is checked in editors with the YAML language server.
        """
      ]
    case .demo: ["Plays a scenario, or lists them. Each ends by itself and uses no network beyond loopback."]
    case .keys:
      [
        """
        Prints which key does what, and what of it comes from the settings file, $XDG_CONFIG_HOME/opdash/config.yaml or \
        ~/.config/opdash/config.yaml.
        """
      ]
    case .help:
      [
        """
        Explains a command, the keys of a job file (jobs) or the records of --ui json (events). opdash COMMAND -h is the \
        same.
        """
      ]
    case .completion:
      [
        """
        Prints the lines that let a shell complete commands, options, scenarios, and the jobs of the file that is named or \
        found. Demo/install puts them where the shells look.
        """
      ]
    }
  }

  private var examples: [(String, String)] {
    switch self {
    case .run:
      [
        ("opdash run", "all jobs of opdash.yml"),
        ("opdash run ci.yml build 'test-*'", "some of them, with their needs"),
        ("opdash run -n", "what would run, in order"),
        ("opdash run --set ver=4.3 -j 2", "another value for a var, two jobs at once"),
        ("opdash run --ui json | jq .type", "the events, for another program"),
      ]
    case .get:
      [
        ("opdash get https://example.com/a.iso", "one file, into this folder"),
        ("opdash get -i urls.txt -d mirror -j 8", "a list of files into a folder, eight at once"),
        ("opdash get --on-exists skip URL...", "only missing files"),
        ("opdash get -i <(./urls)", "the URLs that a program prints"),
        ("opdash get --sums SHA256SUMS URL...", "only with the sums of the list"),
        ("opdash get --sums https://example.com/SHA256SUMS", "all files that the list names"),
      ]
    case .each:
      [
        ("opdash each 'gzip -k {}' *.log", "one job for each file"),
        ("opdash each -j 8 'convert {} {.}.png' *.jpg", "eight at once, a name made of another"),
        ("find . -name '*.c' -print0 | opdash each -0 --order 'md5sum {}'", "a list, its results in the same order"),
        ("seq 1000 | opdash each -n 100 'echo {}'", "a hundred arguments for each command"),
      ]
    case .resume:
      [
        ("opdash resume", "the last unfinished run of this folder's job file"),
        ("opdash resume 20261122-1030 -n", "what would run and why"),
        ("opdash resume --failed", "only failed jobs, and jobs skipped because of them"),
      ]
    case .history:
      [("opdash history", "of opdash.yml here or above"), ("opdash history --prune", "remove old runs now")]
    case .replay:
      [
        ("opdash replay last --speed 4", "the last run, four times as fast"),
        ("opdash replay events.ndjson", "a file that --events has written"),
      ]
    case .report:
      [
        ("opdash report", "the last run"),
        ("opdash report last --html report.html", "as a page with timeline and graph"),
        ("opdash report last --junit report.xml", "as JUnit XML"),
      ]
    case .diff: [("opdash diff 20261121 last", "since yesterday, where one run of that day is recorded")]
    case .list: [("opdash list", "the jobs of opdash.yml"), ("opdash list ci.yml", "the jobs of another file")]
    case .check: [("opdash check", "opdash.yml"), ("./generate | opdash check -", "what another program writes")]
    case .graph:
      [
        ("opdash graph", "the tree of opdash.yml"), ("opdash graph ci.yml publish", "of what publish needs"),
        ("opdash graph --format dot | dot -Tsvg -o jobs.svg", "a picture, by Graphviz"),
      ]
    case .schema: [("opdash schema", "> opdash.json keeps it for the editor")]
    case .demo: [("opdash demo", "their names"), ("opdash demo flaky-network", "one of them")]
    case .keys: [("opdash keys", "every key")]
    case .help: [("opdash help run", "one command"), ("opdash help jobs", "the job file at a glance")]
    case .completion:
      [
        ("source <(opdash completion bash)", "in ~/.bashrc"),
        ("source <(opdash completion zsh)", "in ~/.zshrc, after compinit"),
        ("opdash completion fish | source", "in ~/.config/fish/config.fish"),
      ]
    }
  }
}

extension HelpText {
  /// The commands, some of them with one line for two, so that the help fits a screen.
  private static let commands: [([CommandName], String?)] = [
    ([.run], nil), ([.get], nil), ([.each], "run a command for each argument, or line of standard input"),
    ([.list, .check, .graph], "print a file's jobs, its faults, or its graph"),
    ([.resume], "resume an unfinished run; finished work is kept"),
    ([.history, .replay], "list past runs and usual times; play a run again"),
    ([.report, .diff], "say where a run spent its time; compare two"),
    ([.demo], nil), ([.keys, .help], "print the keys; explain a command, job files or events"),
    ([.completion, .schema], "complete commands in a shell, job files in an editor"),
  ]

  /// The help of the program.
  static let program = HelpText(
    name: "opdash", summary: "runs jobs and shows them live in the terminal", usage: "opdash COMMAND [OPTION...]",
    introduction: [.text("Runs jobs and shows them live in the terminal.")],
    sections: [
      .init(
        title: "Commands",
        blocks: [
          .table(
            commands.map { commands, meaning in
              Row(
                term: commands.map(\.rawValue).joined(separator: ", "),
                meaning: meaning ?? commands.map(\.summary).joined(separator: "; "))
            })
        ]),
      .init(
        title: "Options",
        blocks: [
          .table(
            Option.rows(of: nil) { $0.commands.isEmpty }
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
