import Basics

/// The commands by name, in the order of the help.
enum CommandName: String, CaseIterable {
  case run
  case watch
  case get
  case each
  case list
  case check
  case graph
  case initialize = "init"
  case importing = "import"
  case schema
  case ps
  case attach
  case wait
  case events
  case cancel
  case pause
  case retry
  case approve
  case slots
  case add
  case resume
  case history
  case replay
  case report
  case diff
  case logs
  case demo
  case keys
  case help
  case completion

  /// The operands of a command, as help and messages write them.
  enum Operands: String {
    case none = ""
    case file = "[FILE]"
    case foreignFile = "ninja|procfile|compose FILE"
    case fileAndJobs = "[FILE] [JOB...]"
    case urls = "URL..."
    case commandLine = "'CMD {}' [ARG...]"
    case run = "[RUN]"
    case runOrProcess = "[RUN|PID]"
    case runOrFile = "RUN|FILE"
    case twoRuns = "RUN RUN"
    case runAndJob = "[RUN] [JOB]"
    case runAndJobs = "RUN [JOB...]"
    case runAndNumber = "RUN N"
    case runAndFile = "[RUN|PID] FILE"
    case scenario = "[NAME]"
    case topic = "[COMMAND|jobs|events|settings]"
    case shell = "bash|zsh|fish"

    /// How many there can be.
    var limit: Int {
      switch self {
      case .none: 0
      case .file, .run, .runOrProcess, .runOrFile, .scenario, .topic, .shell: 1
      case .foreignFile, .twoRuns, .runAndJob, .runAndNumber, .runAndFile: 2
      case .fileAndJobs, .runAndJobs, .urls, .commandLine: .max
      }
    }
  }

  /// A command's help, man page and completion are made from its row and its options.
  struct Row {
    let operands: Operands
    let summary: String
    let notes: [String]
    let examples: [(line: String, meaning: String)]

    /// Blank lines divide the notes.
    init(_ operands: Operands, _ summary: String, _ notes: String, _ examples: [(line: String, meaning: String)]) {
      self.operands = operands
      self.summary = summary
      self.notes = notes.split(separator: "\n\n").map { String($0).escaping(["\n": " "]) }
      self.examples = examples
    }
  }

  private static let found = """
    Without FILE, it is opdash.yml, opdash.yaml or opdash.json in this folder or the nearest one above
    """
  private static let search = "\(found); - is standard input."
  private static let live = """
    RUN is a run that is going on, as opdash ps names it: its RUN or the beginning of that, PID or NAME; or last.
    """
  private static let naming = "RUN is a run's name, the beginning of one, or last; opdash history lists them."

  var row: Row {
    switch self {
    case .run:
      Row(
        .fileAndJobs, "run a job file; naming jobs runs them and their needs",
        """
        Runs the jobs of a job file, YAML or JSON. \(Self.search)

        Naming jobs runs those and what they need; * and ? stand for any characters. The first word is FILE if it is -,
        has a job file's ending, or has a slash and is there, and where there is no opdash.yml. opdash JOB... is short
        for opdash run JOB... where JOB is not the name of a command and has no slash.

        On a terminal it shows the dashboard, elsewhere a line for each change of state.
        """,
        [
          ("opdash run", "all jobs of opdash.yml"),
          ("opdash run ci.yml build 'test-*'", "some of them, with their needs"),
          ("opdash build", "the job build of opdash.yml, with its needs"),
          ("opdash run -n", "what would run, in order"),
          ("opdash run --set ver=4.3 -j 2", "another value for a var, two jobs at once"),
          ("opdash run --ui json | jq .type", "the events, for another program"),
        ])
    case .watch:
      Row(
        .fileAndJobs, "run a job file, and run again what changes of inputs affect",
        """
        Runs the jobs as opdash run does, and stays. When files that a job has in 'inputs' change, the job is executed
        again, with all that needs it: what runs is ended first, services are restarted, and a job whose inputs have the
        content of its last success is up to date. \(Self.search)

        Changes in quick succession are one; watch in the job file says how quick, and what to ignore. A job that changes
        its own inputs in three attempts in a row is watched no longer, and its log says so. W in the dashboard of any
        run does the same.
        """,
        [
          ("opdash watch", "all jobs of opdash.yml"),
          ("opdash watch ci.yml test", "one of them, with its needs"),
        ])
    case .get:
      Row(
        .urls, "download each URL as a job",
        """
        Downloads each URL as a job, five at once unless --slots says another number. A file is named after the end of
        its URL. A transfer that breaks is retried and resumed, also by the next opdash get.

        No file that is there is changed: where the server has the same one (of the same size, and not changed since)
        nothing is downloaded, else the new one gets a number, as in file.zip.1.

        With --sums each file must have the SHA-256 sum that the list, as of sha256sum, has beside its name. Without
        URLs all files of the list are downloaded, from the folder of the list's URL or that of --base.
        """,
        [
          ("opdash get https://example.com/a.iso", "one file, into this folder"),
          ("opdash get -i urls.txt -d mirror -j 8", "a list of files into a folder, eight at once"),
          ("opdash get --on-exists skip URL...", "only missing files"),
          ("opdash get -i <(./urls)", "the URLs that a program prints"),
          ("opdash get --sums SHA256SUMS URL...", "only with the sums of the list"),
          ("opdash get --sums https://example.com/SHA256SUMS", "all files that the list names"),
        ])
    case .each:
      Row(
        .commandLine, "run a command for each argument, or each line of standard input",
        """
        Runs the command by sh -c for each ARG or, without any, for each line of standard input. {} in it is the
        argument, {.} the argument without its extension, {/} its last component, {//} its folder, {/.} the last
        component without extension, {#} the number of the job from 1. Each is quoted for the shell, within quotation
        marks too. A command without any of them gets {} at its end. Where the shell may take a part of an argument
        for a command, as in $(...), write "$1" in place of {}. Options end at CMD.

        On a terminal the dashboard shows the jobs. Elsewhere, and with --order or --output raw, standard output has
        what the commands print and nothing else, that of each job whole, when it ends; standard error has theirs, and
        at the end the failures.
        """,
        [
          ("opdash each 'gzip -k {}' *.log", "one job for each file"),
          ("opdash each -j 8 'convert {} {.}.png' *.jpg", "eight at once, a name made of another"),
          ("find . -name '*.c' -print0 | opdash each -0 --order 'md5sum {}'", "a list, its results in the same order"),
          ("seq 1000 | opdash each -n 100 'echo {}'", "a hundred arguments for each command"),
        ])
    case .list:
      Row(
        .file, "print the jobs of a file with their descriptions and needs",
        """
        Prints the jobs of a job file, each with its description (its command, if it has none) and needs. \(Self.search)
        """,
        [("opdash list", "the jobs of opdash.yml"), ("opdash list ci.yml", "the jobs of another file")])
    case .check:
      Row(
        .file, "report every fault of a job file, each with its place",
        """
        Prints every fault of a job file as FILE:LINE:COLUMN: message. \(Self.search) The exit status is 0 without faults,
        else 2.
        """,
        [("opdash check", "opdash.yml"), ("./generate | opdash check -", "what another program writes")])
    case .graph:
      Row(
        .fileAndJobs, "print the job graph as a tree, for Graphviz or for Mermaid",
        """
        Prints the graph of a job file; naming jobs leaves out all that they don't need. \(Self.search)

        The tree has each job once, below what it needs; where it needs more than that one, or not its success, the
        line says so. dot is for Graphviz, mermaid for pages that draw it. In both, edges that need no success are
        dashed.
        """,
        [
          ("opdash graph", "the tree of opdash.yml"),
          ("opdash graph ci.yml publish", "of what publish needs"),
          ("opdash graph --format dot | dot -Tsvg -o jobs.svg", "a picture, by Graphviz"),
        ])
    case .initialize:
      Row(
        .file, "write a job file to begin with",
        """
        Writes a job file with comments, opdash.yml in this folder unless FILE is another path. A file that is there is left
        as it is.
        """,
        [("opdash init", "then opdash runs its jobs: opdash run")])
    case .importing:
      Row(
        .foreignFile, "print a job file that does the same as another tool's file",
        """
        Prints a job file that does the same as a build.ninja, a Procfile (foreman, honcho, overmind) or a file of
        process-compose; - is standard input. Keep it in the folder of that file: its relative paths are the same.

        Features that a job file can't express are reported on standard error as FILE:LINE:COLUMN: warning: message, and
        in comments of the job file. A file with faults prints nothing, and the exit status is 2.
        """,
        [
          ("opdash import ninja build.ninja", "> opdash.yml keeps it; also what CMake writes"),
          ("opdash import procfile Procfile", "each process as a service"),
          ("opdash import compose process-compose.yaml", "with probes, restarts and needs"),
        ])
    case .schema:
      Row(
        .none, "print the JSON Schema of job files, for editors",
        """
        Prints the JSON Schema of job files, by which editors complete and check keys and values. A file that begins
        with "# yaml-language-server: $schema=opdash.schema.json" is checked in editors with the YAML language server.
        """,
        [("opdash schema", "> opdash.schema.json keeps it for the editor")])
    case .ps:
      Row(
        .none, "list the runs of this user that are going on",
        """
        Prints the runs on this machine that opdash executes for this user: name, process, time, jobs, job file. They
        are found by sockets in $XDG_RUNTIME_DIR/opdash and in the state folder, which nobody else can reach.
        """,
        [("opdash ps", "all of them"), ("opdash ps --json", "for a program")])
    case .attach:
      Row(
        .runOrProcess, "show a run of another terminal in the dashboard",
        """
        Shows a run that is going on in the dashboard, with all views, logs and keys, also those that act; several
        programs may show one run. q, Ctrl-C and the end of the terminal leave the run as it is. Without RUN or PID it
        is the only one that is going on. \(Self.live)

        The exit status is the run's if it has ended, else 0, or 129 after the end of the terminal. ssh -t HOST opdash
        attach shows a run of another machine.
        """,
        [
          ("opdash attach", "the only run"), ("opdash attach 20261122-1030 --read-only", "no key changes it"),
        ])
    case .wait:
      Row(
        .runOrProcess, "wait until a run has ended; ends with its exit status",
        """
        Prints nothing and ends when the run does, with the exit status of opdash run. \(Self.live) Without it, it is the
        only one that is going on. Of a run that has ended already it is the recorded status.
        """,
        [("opdash wait 20261122-1030", "&& ./deploy follows if all succeeded")])
    case .events:
      Row(
        .run, "print the events of a recorded run as NDJSON",
        """
        Prints the events of a run, one JSON object a line, as --ui json and --events do. \(Self.naming) The default is
        last. With --follow it prints what comes until the run has ended. Each line begins with v (1), seq (0, 1, 2 … without a gap), t (seconds since the run began) and type. New fields
        are added at the end; readers ignore those that they don't know.
        """,
        [
          ("opdash events -f", "of the last run, as they come"),
          ("opdash events last | jq -r 'select(.state == \"failed\").job'", "the names of failed jobs"),
        ])
    case .cancel:
      Row(
        .runAndJobs, "cancel jobs of a run of another terminal, or stop it",
        """
        Cancels the jobs, which names or patterns say; without JOB it stops the run: nothing new starts, and what runs
        is ended. \(Self.live)
        """,
        [("opdash cancel 20261122-1030", "the whole run"), ("opdash cancel last 'test-*'", "some of its jobs")])
    case .pause:
      Row(
        .runAndJobs, "pause jobs of a run of another terminal, or resume them",
        """
        Pauses the jobs, which names or patterns say; without JOB all. If all of them are paused already, it resumes
        them. \(Self.live)
        """,
        [("opdash pause last build", "one job; once more resumes it")])
    case .retry:
      Row(
        .runAndJobs, "retry jobs of a run of another terminal",
        """
        Starts jobs again that have failed or were cancelled, and what was skipped because of them; without JOB all
        that failed. A JOB may be a manual one, or a service, which is restarted. \(Self.live)
        """,
        [("opdash retry last", "all failed jobs"), ("opdash retry last lint", "one of them")])
    case .approve:
      Row(
        .runAndJobs, "approve jobs of a run of another terminal",
        """
        Lets jobs start that wait for a person; without JOB all that ask. \(Self.live)
        """,
        [("opdash approve last publish", "the job publish starts")])
    case .slots:
      Row(
        .runAndNumber, "change how many jobs of a run execute at once",
        """
        Sets the number of slots; jobs beyond a smaller number end first. \(Self.live)
        """,
        [("opdash slots last 2", "two jobs at once from now on")])
    case .add:
      Row(
        .runAndFile, "add the jobs of a file to a run that is going on",
        """
        Adds the jobs of a job file to a run that is going on: all of them, or none if one has a fault. - is standard
        input. They may need jobs of the run, also ended ones, and none may have the name of one. \(Self.live) Without it,
        it is the only one that is going on.

        The program of the run reads the file: ${env.NAME} is of its environment. Settings of the whole run, such as slots,
        have no effect. A job adds jobs too, by writing a job file to $OPDASH_ADD.
        """,
        [
          ("opdash add more.yml", "to the only run that is going on"),
          ("opdash add 20261122-1030 more.yml", "to this one"),
          ("opdash add -", "from standard input"),
        ])
    case .resume:
      Row(
        .run, "resume an interrupted, cancelled or failed run",
        """
        Goes on with a run whose program was killed, that was quit or cancelled, or in which jobs failed, as a new
        run. Jobs that succeeded and have not changed since are not run again; partial downloads go on from their
        byte. Processes that a killed run has left are ended first; its jobs of a cluster are followed. \(Self.naming)
        Without RUN it is the last unfinished one of the job file that opdash run would find, else of all.

        The job file is read again, and the jobs that a change of it affects are named.
        """,
        [
          ("opdash resume", "the last unfinished run of this folder's job file"),
          ("opdash resume 20261122-1030 -n", "what would run and why"),
          ("opdash resume --failed", "only failed jobs, and jobs skipped because of them"),
        ])
    case .history:
      Row(
        .file, "list past runs, and how long each job usually takes",
        """
        Prints the recorded runs, the newest first, and for the job file how long each job usually takes, how often it
        fails and which are flaky. \(Self.found), and all runs where there is none.

        Runs are removed after 30 days, beyond the newest 200, and beyond 1 GB of events and logs, at the start of a
        run or by --prune; history in the settings file says otherwise.
        """,
        [("opdash history", "of opdash.yml here or above"), ("opdash history --prune", "remove old runs now")])
    case .replay:
      Row(
        .runOrFile, "play a recorded run in the dashboard",
        """
        Plays a recorded run in the dashboard, with all views and logs; , and . step back and forward. A file is one
        of --events. \(Self.naming)
        """,
        [
          ("opdash replay last --speed 4", "the last run, four times as fast"),
          ("opdash replay events.ndjson", "a file that --events has written"),
        ])
    case .report:
      Row(
        .run, "say where a recorded run spent its time and what failed",
        """
        Prints what decided the length of a recorded run, how its slots were used, its slowest and flakiest jobs, and
        the failures with the end of their logs. \(Self.naming) The default is last.
        """,
        [
          ("opdash report", "the last run"),
          ("opdash report last --html report.html", "as a page with timeline and graph"),
          ("opdash report last --junit report.xml", "as JUnit XML"),
        ])
    case .diff:
      Row(
        .twoRuns, "compare two recorded runs: slower, faster, newly failed",
        """
        Prints which jobs became slower, faster, failed newly or were fixed from the first run to the second.
        \(Self.naming)
        """,
        [("opdash diff 20261121 last", "since yesterday, where one run of that day is recorded")])
    case .logs:
      Row(
        .runAndJob, "print the output of a recorded run, or of one of its jobs",
        """
        Prints the log of a job's newest attempt as its program wrote it, or of all jobs of a run line by line, each
        after the name of its job. \(Self.naming) The default is last; one word is a job where no run has the name.

        With --follow it prints what comes until the run has ended; of one job, until that has.
        """,
        [
          ("opdash logs build", "the log of the job build in the last run"),
          ("opdash logs 20261122-1030 'test-*'", "of some jobs of another run"),
          ("opdash logs -f", "what all jobs write, as it comes"),
        ])
    case .demo:
      Row(
        .scenario, "list the built-in scenarios, or play one",
        """
        Plays a scenario, or lists them. Each ends by itself and uses no network beyond loopback.
        """,
        [("opdash demo", "their names"), ("opdash demo flaky-network", "one of them")])
    case .keys:
      Row(
        .none, "print which key does what",
        """
        Prints which key does what, and what of it comes from the settings file, $XDG_CONFIG_HOME/opdash/config.yaml
        or ~/.config/opdash/config.yaml.
        """,
        [("opdash keys", "every key")])
    case .help:
      Row(
        .topic, "explain a command, job files, events or settings, with examples",
        """
        Explains a command, the keys of a job file (jobs), the records of --ui json (events) or the settings file
        (settings). opdash COMMAND -h is the same.
        """,
        [("opdash help run", "one command"), ("opdash help jobs", "the job file at a glance")])
    case .completion:
      Row(
        .shell, "print what completes this command line in a shell",
        """
        Prints the lines that let a shell complete commands, options, scenarios, and the jobs of the file that is
        named or found. Demo/install puts them where the shells look.
        """,
        [
          ("source <(opdash completion bash)", "in ~/.bashrc"),
          ("source <(opdash completion zsh)", "in ~/.zshrc, after compinit"),
          ("opdash completion fish | source", "in ~/.config/fish/config.fish"),
        ])
    }
  }
}
