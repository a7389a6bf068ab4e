import JobModel
import Remote
import Session
import Testing

@testable import opdash

@Suite struct CommandLineParserTests {
  private func parse(_ line: String) throws -> Invocation {
    try CommandLineParser.parse(line.split(separator: " ").map(String.init))
  }

  @Test(arguments: [
    ("run a.yml", Invocation.Command.run(["a.yml"])),
    ("run - build test", .run(["-", "build", "test"])),
    ("run -- -odd.yml -j", .run(["-odd.yml", "-j"])),
    ("-- run a.yml", .run(["a.yml"])),
    ("check a.yml", .check(file: "a.yml")),
    ("run", .run([])), ("check", .check(file: nil)), ("list", .list(file: nil)), ("list a.yml", .list(file: "a.yml")),
    ("graph", .graph([], .text)), ("graph a.yml build --format dot", .graph(["a.yml", "build"], .dot)),
    ("import ninja b.ninja", .importing(.ninja, file: "b.ninja")),
    ("import compose -", .importing(.compose, file: "-")),
    ("schema", .schema), ("schema -h", .help(.command(.schema))),
    ("demo", .demo(scenario: nil)),
    ("keys", .keys), ("keys --ascii --color never", .keys), ("keys -h", .help(.command(.keys))),
    ("demo collect", .demo(scenario: "collect")),
    ("resume", .resume(run: nil, onlyFailed: false)), ("resume last --failed", .resume(run: "last", onlyFailed: true)),
    ("history", .history(file: nil, prunes: false)), ("history a.yml", .history(file: "a.yml", prunes: false)),
    ("history --prune", .history(file: nil, prunes: true)), ("diff a b", .diff("a", "b")),
    ("replay last", .replay("last", speed: 1)), ("replay r --speed 0.1", .replay("r", speed: 0.1)),
    ("replay r --speed=1000", .replay("r", speed: 1000)), ("report", .report(run: "last", html: nil)),
    ("report r --html p", .report(run: "r", html: "p")), ("graph --format mermaid", .graph([], .mermaid)),
    ("get http://a/x http://b/y", .get(DownloadRequest(urls: ["http://a/x", "http://b/y"]))),
    ("get -i list -d out", .get(DownloadRequest(list: "list", folder: "out"))),
    ("get --input=- --dir=out http://a/x", .get(DownloadRequest(urls: ["http://a/x"], list: "-", folder: "out"))),
    ("get -i-", .get(DownloadRequest(list: "-"))),
    ("get u --stall 90s", .get(DownloadRequest(urls: ["u"], stall: .seconds(90)))),
    ("get u --stall=0s", .get(DownloadRequest(urls: ["u"], stall: .zero))),
    (
      "get u --on-exists skip --content-disposition",
      .get(DownloadRequest(urls: ["u"], existing: .skip, usesServerName: true))
    ),
    ("get --sums L u", .get(DownloadRequest(urls: ["u"], sums: "L"))),
    ("get --sums - -i l", .get(DownloadRequest(list: "l", sums: "-"))),
    ("get --sums HTTPS://h/L", .get(DownloadRequest(sums: "HTTPS://h/L"))),
    ("get --sums=L --base http://h/d", .get(DownloadRequest(sums: "L", base: "http://h/d/"))),
    ("get --sums=L --base http://h/d/", .get(DownloadRequest(sums: "L", base: "http://h/d/"))),
    ("each -k x{} -j 4 a", .each(EachRequest(command: "x{}", arguments: ["-j", "4", "a"]))),
    ("each true -- a -b", .each(EachRequest(command: "true", arguments: ["a", "-b"]))),
    ("each -- true -- a -b", .each(EachRequest(command: "true", arguments: ["a", "-b"]))),
    ("-- each x{} -j", .each(EachRequest(command: "x{}", arguments: ["-j"]))),
    ("each -n 2 -d ; -j4 x", .each(EachRequest(command: "x", delimiter: [59], perJob: 2))),
    ("-n2 -0 each x a", .each(EachRequest(command: "x", arguments: ["a"], delimiter: [0], perJob: 2))),
    (
      "each --max-args=3 --delimiter=\\t --retry 2 --timeout 1m30s --order x",
      .each(
        EachRequest(command: "x", delimiter: [9], perJob: 3, retries: 2, timeout: .seconds(90), isOrdered: true))
    ),
    ("each --output raw x", .each(EachRequest(command: "x", isRaw: true))),
    ("-d run get u", .get(DownloadRequest(urls: ["u"], folder: "run"))),
    ("--help", .help(nil)), ("-h", .help(nil)), ("run -h", .help(.command(.run))),
    ("-h get", .help(.command(.get))), ("help", .help(nil)), ("help run", .help(.command(.run))),
    ("help jobs", .help(.jobs)), ("help events", .help(.command(.events))), ("help help", .help(.command(.help))),
    ("help --man", .manual(nil)), ("help --man run", .manual(.command(.run))), ("help -h", .help(.command(.help))),
    ("completion zsh", .completion(.zsh)), ("ps", .running), ("attach", .attach(run: nil, .full)),
    ("attach --read-only 1", .attach(run: "1", .readOnly)), ("wait 1", .wait(run: "1")),
    ("events -f", .events(run: "last", follows: true)), ("slots 1 4", .slots(run: "1", 4)),
    ("add more.yml", .add(run: nil, file: "more.yml")), ("add last -", .add(run: "last", file: "-")),
    ("cancel 1 a b", .control(.cancel, run: "1", jobs: ["a", "b"])), ("pause 1", .control(.pause, run: "1", jobs: [])),
    ("check --help", .help(.command(.check))), ("--version", .version), ("run --version", .version),
  ])
  func aLineAsksForACommand(_ line: String, _ command: Invocation.Command) throws {
    #expect(try parse(line).command == command)
  }

  @Test(arguments: ["--slots 4", "--slots=4", "-j 4", "-j4"])
  func aValueFollowsOrIsAttached(_ option: String) throws {
    #expect(try parse("run a.yml \(option)").settings.slots == 4)
    #expect(try parse("\(option) run a.yml").settings.slots == 4)
  }

  @Test func everyOptionSetsItsSetting() throws {
    let settings = try parse(
      """
      run a.yml -j 3 --on-failure stop-now --ui json --keep-open never --state st --trace tr --events ev --junit ju
       --otlp http://c --silence long-line,queue-suspended --silence slots-held --output grouped --ascii --color always --no-mouse
       --notify bell --background light
      """.replacing("\n", with: "")
    ).settings
    var expected = Settings()
    expected.slots = 3
    expected.onFailure = .stopNow
    expected.interface = .json
    expected.keepOpen = .never
    expected.state = "st"
    expected.files = [.trace: "tr", .events: "ev", .junit: "ju"]
    expected.collector = "http://c"
    expected.silencedWarnings = [.longLine, .queueSuspended, .slotsHeld]
    expected.grouping = .grouped
    expected.isASCII = true
    expected.color = .always
    expected.hasMouse = false
    expected.notice = .bell
    expected.background = .light
    #expect(settings == expected)
  }

  @Test func theLastOfARepeatedOptionCounts() throws {
    #expect(try parse("run a.yml -j1 -j2").settings.slots == 2)
    #expect(try parse("run --set a=1 --set a=2").vars == ["a": "2"])
    #expect(try parse("run --on-failure stop-now -k").settings.onFailure == .keepGoing)
    #expect(try parse("run -k --on-failure stop-now").settings.onFailure == .stopNow)
    #expect(try parse("run").settings.engine == nil)
    #expect(try parse("resume --on slurm").settings.engine == .cluster)
  }

  @Test func whatIsNotSaidIsAsUsual() throws {
    let invocation = try parse("run a.yml")
    #expect(invocation.settings == Settings() && invocation.vars.isEmpty && !invocation.isDryRun)
    #expect(invocation.words == ["run", "a.yml"])
    #expect(try parse("run --ui json --ui auto").settings.interface == nil)
    #expect(try parse("run --approve a --approve=b*").settings.approved == ["a", "b*"])
    #expect(try parse("run -j100000").settings.slots == 100_000)
    #expect(try parse("each --retry 0 x").command == .each(EachRequest(command: "x")))
  }

  @Test func keepGoingIsAFlagAndTakesNoFile() throws {
    let invocation = try parse("run -k a.yml")
    #expect(invocation.command == .run(["a.yml"]))
    #expect(invocation.settings.onFailure == .keepGoing)
    #expect(try parse("run -kn a.yml").isDryRun)
  }

  /// As with make: the words are looked up in the job file.
  @Test func jobsAreNamedWithoutACommand() throws {
    let invocation = try parse("-n build -j 2 test --set a=b")
    #expect(invocation.command == .run(["build", "test"]) && invocation.isBare && invocation.isDryRun)
    #expect(invocation.settings.slots == 2 && invocation.vars == ["a": "b"])
    #expect(try !parse("run build").isBare && !parse("list").isBare)
  }

  @Test func aVarHasANameAndAnyValue() throws {
    #expect(try parse("run --set a=b=c --set=d= --set e-f=/x").vars == ["a": "b=c", "d": "", "e-f": "/x"])
  }

  @Test(arguments: [
    ("", "no command: opdash --help lists them"),
    ("frobnicate --help", "unknown command 'frobnicate'; see opdash --help"),
    ("rum --failed", "opdash run has no option --failed; see opdash run --help"),
    ("bui/ld", "unknown command 'bui/ld': did you mean 'opdash run bui/ld'?"),
    ("run caf\u{FFFD}.yml", "'caf\u{FFFD}.yml' is not UTF-8: rename it, or name a link that leads to it"),
    ("get u -d \u{FFFD}", "--dir '\u{FFFD}' is not UTF-8: rename it, or name a link that leads to it"),
    ("release.yml", "unknown command 'release.yml': did you mean 'opdash run release.yml'?"),
    ("run a.yml --slot 4", "unknown option '--slot': did you mean '--slots'? See opdash run --help"),
    ("run a.yml --slot=4", "unknown option '--slot': did you mean '--slots'? See opdash run --help"),
    ("run a.yml --colour=never", "unknown option '--colour': did you mean '--color'? See opdash run --help"),
    ("run a.yml --qqqqqqq", "unknown option '--qqqqqqq'; see opdash run --help"),
    ("run a.yml -q", "unknown option '-q'; see opdash run --help"),
    ("run -f a.yml", "opdash run has no option -f; see opdash run --help"),
    ("-f run a.yml", "opdash run has no option -f; see opdash run --help"),
    ("history -n 5", "opdash history has no option -n; see opdash history --help"),
    ("run a.yml -u", "unknown option '-u'; see opdash run --help"),
    ("run a.yml -uo", "unknown option '-uo': did you mean '--ui'? See opdash run --help"),
    ("run a.yml --jobs 2", "unknown option '--jobs': did you mean '--slots'? See opdash run --help"),
    ("check a.yml --jobs 2", "unknown option '--jobs'; see opdash check --help"),
    ("run a.yml -slots 4", "unknown option '-slots': did you mean '--slots'? See opdash run --help"),
    ("run a.yml -j", "--slots needs a value: a whole number, 1 to 100000"),
    ("run a.yml -j0", "--slots takes a whole number, 1 to 100000; this is '0'"),
    ("run a.yml -j four", "--slots takes a whole number, 1 to 100000; this is 'four'"),
    ("run a.yml --slots=", "--slots takes a whole number, 1 to 100000; this is ''"),
    ("run a.yml --ascii=1", "--ascii takes no value"),
    (
      "run a.yml --ui plian",
      "--ui takes auto, tui, inline, plain, json or quiet; this is 'plian': did you mean 'plain'?"
    ),
    (
      "run a.yml --on-failure keep-gong",
      "--on-failure takes keep-going, finish-running or stop-now; this is 'keep-gong': did you mean 'keep-going'?"
    ),
    (
      "run --silence slots-held,long-lin",
      "--silence takes \(RunWarning.Kind.allCases.map(\.rawValue).joined(last: "or")), with commas between several; "
        + "this is 'slots-held,long-lin': did you mean 'long-line'?"
    ),
    ("run --set ver", "--set takes NAME=VALUE; this is 'ver'"),
    ("run --set =1", "--set takes NAME=VALUE; this is '=1'"),
    ("get u --set a=1", "opdash get has no option --set; see opdash get --help"),
    ("check a b", "opdash check takes [FILE]; 'b' is one too many"),
    ("import", "opdash import needs a format, ninja, procfile or compose, and a file"),
    ("import nynja", "opdash import takes ninja, procfile or compose; this is 'nynja': did you mean 'ninja'?"),
    ("import ninja", "opdash import ninja needs a file; - is standard input"),
    ("import ninja a b", "opdash import takes ninja|procfile|compose FILE; 'b' is one too many"),
    ("list a b", "opdash list takes [FILE]; 'b' is one too many"),
    ("graph --format svg", "--format takes text, dot or mermaid; this is 'svg'; see opdash graph --help"),
    ("list --format dot", "opdash list has no option --format; see opdash list --help"),
    ("lst -h", "unknown command 'lst': did you mean 'list'?"),
    ("help rnu", "there is no help on 'rnu': did you mean 'run'?"),
    ("help frobnicate", "there is no help on 'frobnicate'; see opdash help"),
    ("completion", "opdash completion needs a shell: bash, zsh or fish"),
    ("completion bsh", "opdash completion takes bash, zsh or fish; this is 'bsh': did you mean 'bash'?"),
    ("run --man", "opdash run has no option --man; see opdash run --help"),
    ("demo a b", "opdash demo takes [NAME]; 'b' is one too many"),
    ("keys a", "opdash keys takes nothing; 'a' is one too many"),
    ("schema opdash.yml", "opdash schema takes nothing; 'opdash.yml' is one too many"),
    ("keys -j4", "opdash keys has no option -j; see opdash keys --help"),
    ("run a.yml --notify sing", "--notify takes none, bell or message; this is 'sing'; see opdash run --help"),
    ("run a.yml --background drak", "--background takes auto, dark or light; this is 'drak': did you mean 'dark'?"),
    ("get", "opdash get needs a URL, --input LIST or --sums URL"),
    ("get --sums L", "opdash get --sums L needs the URLs to check, or --base URL to download what it names"),
    ("get --base http://h/", "--base says where the files of --sums LIST are, and goes with no other URLs"),
    ("get --sums L --base http://h/ u", "--base says where the files of --sums LIST are, and goes with no other URLs"),
    (
      "get --sums L --base http://h/ -i l",
      "--base says where the files of --sums LIST are, and goes with no other URLs"
    ),
    ("run x.yml --otlp http://", "--otlp takes a URL, http://… or https://…; this is 'http://'"),
    ("get --sums L --base d", "--base takes a URL, http://… or https://…; this is 'd'"),
    ("each", "opdash each needs a command, as in opdash each 'gzip {}' *.log"),
    ("each -n 0 x", "--max-args takes a whole number, 1 or more; this is '0'"),
    (
      "each -d \\q x",
      "--delimiter takes some characters, in which \\n, \\r, \\t, \\0 and \\\\ are escapes; this is '\\q'"
    ),
    ("each --retry -1 x", "--retry takes a whole number, 0 to 1000000; this is '-1'"),
    ("each --timeout 5 x", "--timeout takes a time longer than 0, as in 500ms, 8s, 10m or 1h30m; this is '5'"),
    ("each --max-arg 3 x", "unknown option '--max-arg': did you mean '--max-args'? See opdash each --help"),
    ("each --keep-order x", "unknown option '--keep-order': did you mean '--order'? See opdash each --help"),
    ("each --retries 2 x", "unknown option '--retries': did you mean '--retry'? See opdash each --help"),
    ("each --jobs 2 x", "unknown option '--jobs': did you mean '--slots'? See opdash each --help"),
    ("each --halt now x", "unknown option '--halt': did you mean '--on-failure'? See opdash each --help"),
    ("each --joblog f x", "unknown option '--joblog': did you mean '--events'? See opdash each --help"),
    (
      "each gzip -k foo",
      "'-k' after the command 'gzip' would be an argument of a job: quote the command, as in opdash each 'gzip -k' …, "
        + "or write -- before the arguments"
    ),
    (
      "each -- gzip -k foo",
      "'-k' after the command 'gzip' would be an argument of a job: quote the command, as in opdash each 'gzip -k' …, "
        + "or write -- before the arguments"
    ),
    (
      "-- each echo ::: a",
      "':::' stands outside of the command: quote the command, as in opdash each 'echo {}' a b"
    ),
    (
      "each echo {.}",
      "'{.}' stands outside of the command: quote the command, as in opdash each 'echo {}' a b"
    ),
    (
      "each echo {#}",
      "'{#}' stands outside of the command: quote the command, as in opdash each 'echo {}' a b"
    ),
    ("each {#}:{} ::: a", "':::' stands outside of the command: leave it out, as in opdash each '{#}:{}' a b"),
    (
      "each echo :::+ a",
      "':::+' stands outside of the command: quote the command, as in opdash each 'echo {}' a b"
    ),
    (
      "each echo {} a",
      "'{}' stands outside of the command: quote the command, as in opdash each 'echo {}' a b"
    ),
    (
      "each echo ::: a",
      "':::' stands outside of the command: quote the command, as in opdash each 'echo {}' a b"
    ),
    ("each -q x", "unknown option '-q'; see opdash each --help"),
    ("each -i l x", "opdash each has no option -i; see opdash each --help"),
    ("replay", "opdash replay needs a run, or a file of events; opdash history lists the runs"),
    ("replay r --speed 0.09", "--speed takes a number from 0.1 to 1000; this is '0.09'"),
    ("replay r --speed 1000.1", "--speed takes a number from 0.1 to 1000; this is '1000.1'"),
    ("diff a", "opdash diff needs two runs; opdash history lists them"),
    ("diff a b c", "opdash diff takes RUN RUN; 'c' is one too many"),
    ("history --prune a.yml", "opdash history --prune takes no file; this is 'a.yml'"),
    ("run --approve=", "--approve takes a job's name, a pattern, or all; this is ''"),
    ("run --state=", "--state takes a folder; this is ''"),
    ("slots last", "opdash slots needs a run and a number of slots, as in opdash slots last 4"),
    ("slots last 0", "opdash slots takes a whole number, 1 to 100000; this is '0'"),
    ("slots last 100001", "opdash slots takes a whole number, 1 to 100000; this is '100001'"),
    ("run --junit -", "--junit takes a file (standard output is /dev/stdout); this is '-'"),
    ("report --html=-", "--html takes a file (standard output is /dev/stdout); this is '-'"),
    ("run -j100001", "--slots takes a whole number, 1 to 100000; this is '100001'"),
    ("each --retry 1000001 x", "--retry takes a whole number, 0 to 1000000; this is '1000001'"),
    ("each --timeout 0s x", "--timeout takes a time longer than 0, as in 500ms, 8s, 10m or 1h30m; this is '0s'"),
    ("get u --stall never", "--stall takes a time as in 500ms, 8s, 10m or 1h30m; this is 'never'"),
    ("run --explain", "--explain is for --dry-run: add -n"),
    ("report --json --html x", "--json prints what opdash report prints else: leave out the other form"),
    ("run -0", "opdash run has no option -0; see opdash run --help"),
    ("run --output raw", "--output raw is for opdash each; opdash run prints lines, grouped or github"),
    ("get u --on-exists skp", "--on-exists takes number, skip or overwrite; this is 'skp': did you mean 'skip'?"),
    ("check a.yml -j4", "opdash check has no option -j; see opdash check --help"),
    ("run a.yml -d x", "opdash run has no option -d; see opdash run --help"),
  ])
  func aWrongLineIsAnsweredInOneLine(_ line: String, _ message: String) {
    #expect(throws: UsageError(message)) { try parse(line) }
  }

  @Test func anEmptyArgumentIsOneAndAnEmptyCommandIsNone() throws {
    let invocation = try CommandLineParser.parse(["each", "x", ""])
    #expect(invocation.command == .each(EachRequest(command: "x", arguments: [""])))
    #expect(throws: UsageError("operand 1 of opdash each is empty; see opdash each --help")) {
      try CommandLineParser.parse(["each", ""])
    }
  }
}
