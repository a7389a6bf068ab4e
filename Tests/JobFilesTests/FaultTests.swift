import JobFiles
import JobModel
import Testing

/// Each message pinned whole: it is what a person reads.
@Suite struct FaultTests {
  @Test func everyFaultIsReportedAtOnceInTheOrderOfPlaces() {
    #expect(
      faults(
        """
        name: x
        slots: [4]
        on_failure: keep-goin
        jobs:
          a:
            neds: [b]
            run: ls
            timeout: 10 minutes
          b:
            needs: [a, c]
            run: ls
            priority: hi
          c:
            run: ""
        """) == [
          "2:8: slots takes a whole number, 1 or more; this is a list",
          "3:13: on_failure takes keep-going, finish-running or stop-now; this is 'keep-goin': did you mean 'keep-going'?",
          "6:5: unknown key 'neds': did you mean 'needs'?",
          "8:14: '10 minutes' is not a duration: write 10m",
          "12:15: priority takes very-low, low, normal, high or very-high; this is 'hi': did you mean 'high'?",
          "14:10: run is empty: it takes a command for sh as text, or a program and its arguments as a list",
        ])
  }

  @Test func aFaultReadsFileLineColumnMessage() {
    let error = #expect(throws: JobFileFaults.self) {
      try JobFile.decode(Array("jobs: 1".utf8), file: "a b.yml", directory: "/", environment: [:])
    }
    #expect(error?.description == "a b.yml:1:7: jobs takes a map of names to jobs; this is '1'")
  }

  @Test func columnsCountCharacters() {
    #expect(faults("jobs: { é😀: { run: ls, rn: 1 } }") == ["1:24: unknown key 'rn': did you mean 'run'?"])
  }

  @Test(arguments: [
    ("needs: [a]", 16),
    ("needs: { a: finished }", 17),
  ])
  func aJobThatNeedsItselfIsAFault(needs: String, column: Int) {
    #expect(faults(job: "\(needs), run: ls") == ["2:\(column): job 'a' needs itself: delete this need"])
  }

  @Test func aCycleIsPrintedAsItsPathAndEachIsReported() {
    #expect(
      faults(
        """
        jobs:
          z: { run: ls, needs: [a] }
          a: { run: ls, needs: [z2, b] }
          b: { run: ls, needs: [c] }
          c: { run: ls, needs: [a] }
          z2: { run: ls }
          p: { run: ls, needs: [q] }
          q: { run: ls, needs: [p] }
        """) == [
          "3:29: jobs need each other: a -> b -> c -> a: delete one of these needs",
          "7:25: jobs need each other: p -> q -> p: delete one of these needs",
        ])
  }

  @Test func theMiddleOfALongCycleIsLeftOut() {
    func file(_ count: Int) -> String {
      "jobs:\n" + (0..<count).map { "  a\($0): { run: ls, needs: [a\(($0 + 1) % count)] }\n" }.joined()
    }
    let short = (0..<11).map { "a\($0)" }.joined(separator: " -> ")
    #expect(faults(file(11)) == ["2:26: jobs need each other: \(short) -> a0: delete one of these needs"])
    #expect(
      faults(file(1000)) == [
        "2:26: jobs need each other: a0 -> a1 -> a2 -> a3 -> … 994 more … -> a998 -> a999 -> a0: "
          + "delete one of these needs"
      ])
  }

  @Test func duplicateKeysNameBothPlacesAndHideNoOtherFault() {
    #expect(
      faults("jobs:\n  a: { run: ls, run: pwd }\n  b: { run: ls }\n  a: { run: ls, timout: 3s }\n") == [
        "2:17: duplicate key 'run', given at line 2, column 8 already: delete one of them",
        "4:3: duplicate key 'a', given at line 2, column 3 already: delete one of them",
        "4:17: unknown key 'timout': did you mean 'timeout'?",
      ])
  }

  @Test func unknownNeedsNameTheNearestJob() {
    #expect(
      faults("jobs:\n  build: { run: ls }\n  b: { run: ls, needs: [biuld, nowhere] }\n") == [
        "3:25: unknown job 'biuld' in needs: did you mean 'build'?",
        "3:32: unknown job 'nowhere' in needs: add the job, or delete the need",
      ])
  }

  @Test func aJobWithABadBodyStillCountsAsAName() {
    #expect(
      faults("jobs:\n  a: 5\n  b: { needs: [a], run: ls }\n  c: { needs: a, simulate: { steps: 0 } }\n") == [
        "2:6: a job is a map; this is '5': write '{ run: 5 }'",
        "4:37: simulate.steps takes a whole number, 1 to 1000000; this is '0'",
      ])
  }

  @Test func aMisspeltKeyIsNotReportedAsMissingToo() {
    #expect(faults(job: "rnu: ls") == ["2:8: unknown key 'rnu': did you mean 'run'?"])
    #expect(faults("job: { a: { run: ls } }") == ["1:1: unknown key 'job': did you mean 'jobs'?"])
    #expect(faults(job: "download: { ulr: http://h/x }") == ["2:20: unknown key 'ulr': did you mean 'url'?"])
    #expect(faults(job: "run: ls, retry: { mx: 3 }") == ["2:26: unknown key 'mx': did you mean 'max'?"])
  }

  @Test func aFaultOfTheDefaultsIsReportedOnce() {
    #expect(
      faults(
        "defaults: { timeout: 5, uses: { net: 1 }, retry: { cap: 1s, initial: 9s, max: 1 } }\n"
          + "jobs: { a: { run: ls }, b: { run: ls } }") == [
          "1:22: '5' is not a duration: write 5s, or 5m for minutes",
          "1:33: unknown pool 'net': declare it under pools, as in 'pools: { net: 1 }'",
          "1:50: retry.initial (9s) is longer than retry.cap (1s): raise cap or lower initial",
        ])
  }

  @Test(arguments: [
    (
      "run: ls, download: http://h/x",
      "2:17: a job has one of run, download, upload or simulate, and this one has 'run' already: delete one, or make two jobs of it"
    ),
    ("x-a: b", "2:3: job 'a' has nothing to do: give it one of run, download, upload or simulate"),
    (
      "run: { a: b }",
      "2:13: run takes a command for sh as text, or a program and its arguments as a list; this is a map: "
        + "quote text that holds ': ' or begins with '{'"
    ),
    ("run: []", "2:13: run is empty: it takes a command for sh as text, or a program and its arguments as a list"),
    ("run: [ls, ~]", "2:18: an argument of run is empty: write \"\" for an empty one"),
    ("run: ['', x]", "2:14: run names no program, because its first word is empty: write the program first"),
    ("run: [a, [b]]", "2:17: an argument of run takes text; this is a list"),
    ("run: \"a\\0b\"", "2:13: run holds a NUL character, which no command or file name can: delete it"),
    ("run: ls, retry: -1", "2:24: retry takes a whole number, 0 to 1000000; this is '-1'"),
    ("run: ls, retry: many", "2:24: retry takes a whole number, 0 to 1000000; this is 'many'"),
    (
      "run: ls, retry: '3'",
      "2:24: retry takes a whole number, 0 to 1000000; this is the text '3': write it without quotes"
    ),
    (
      "run: ls, retry: 99999999999999999999",
      "2:24: retry takes a whole number, 0 to 1000000; this is '99999999999999999999'"
    ),
    ("run: ls, retry: { jitter: yes, max: 1 }", "2:34: retry.jitter takes true or false; this is 'yes': write true"),
    (
      "run: ls, retry: { backoff: linear, max: 1 }",
      "2:35: retry.backoff takes constant or exponential; this is 'linear': write constant"
    ),
    (
      "run: ls, retry: { only: [5xy], max: 1 }",
      "2:33: retry.only takes exit, signal, network, timeout, 5xx, 4xx, 429, checksum, out-of-memory, time-limit, node-failure, preempted, lost, an exit status from 1 to 255, or { output: PATTERN }; this is '5xy': did you mean '5xx'?"
    ),
    (
      "run: ls, retry: { only: [], max: 1 }",
      "2:32: retry.only is empty, so nothing would be retried: it takes exit, signal, network, timeout, 5xx, 4xx, 429, checksum, out-of-memory, time-limit, node-failure, preempted, lost, an exit status from 1 to 255, or { output: PATTERN }"
    ),
    (
      "run: ls, retry: { jitter: true }",
      "2:24: retry has no max: say how many retries may follow the first attempt, as in 'max: 2'"
    ),
    (
      "run: ls, timeout: 0s",
      "2:26: timeout takes a duration longer than 0; this is '0s': delete it for no limit"
    ),
    ("run: ls, timeout: ~", "2:26: timeout takes a duration as 500ms, 8s, 10m or 1h30m; this is empty"),
    ("run: ls, allow_failure: maybe", "2:32: allow_failure takes true or false; this is 'maybe'"),
    (
      "run: ls, stop: { signal: TREM }",
      "2:33: stop.signal takes TERM, INT, HUP, QUIT, KILL, USR1, USR2, ABRT or ALRM; this is 'TREM': did you mean 'TERM'?"
    ),
    ("run: ls, dir: ~/src", "2:22: dir: '~' is not expanded here: write ${env.HOME}/src"),
    ("run: ls, dir: ''", "2:22: dir is empty: it takes a folder"),
    (
      "run: ls, env: { 'A=B': c }",
      "2:24: 'A=B' can't name an environment variable: it may hold no '=', blank or control character"
    ),
    ("run: ls, env: { A: }", "2:27: env.A is empty: write \"\" for an empty value"),
    ("run: ls, env: [A]", "2:22: env takes a map of names to values; this is a list"),
    ("run: ls, uses: { net: 1 }", "2:25: unknown pool 'net': declare it under pools, as in 'pools: { net: 1 }'"),
    (
      "run: ls, progress: '(a'",
      "2:28: '(a' is not a regular expression: this '(' is never closed: add ')', or write '\\(' for a bracket"
    ),
    (
      "run: ls, progress: 'abc'",
      "2:27: progress takes a regular expression with one group (per cent) or two (done, total); this one has 0: "
        + "put the number in brackets, as in '(\\d+)%'"
    ),
    (
      "run: ls, needs: [b, [c]]",
      "2:28: needs takes a list of jobs, or a map of jobs to ok, finished, failed, not-ok, any-failed or ready; this item is a list: write a job's name"
    ),
    ("run: ls, needs: [b, b]", "2:28: needs names 'b' twice: delete one"),
    (
      "run: ls, needs: { b: okay }",
      "2:29: needs.b takes ok, finished, failed, not-ok, any-failed or ready; this is 'okay': write ok"
    ),
    ("download: x", "2:18: download: 'x' is no URL: write it with http:// or https:// at its beginning"),
    (
      "download: ftp://h/x",
      "2:18: download: 'ftp://h/x' is neither http nor https: write a URL of these, or use a program such as curl in 'run'"
    ),
    ("download: 'http:///x'", "2:18: download: 'http:///x' names no host: write it as in http://example.com/file"),
    (
      "download: 'http://h/a b'",
      "2:18: download: 'http://h/a b' holds a blank or a control character: write a blank as %20"
    ),
    (
      "download: 'http://h:99999/a'",
      "2:18: download: 'http://h:99999/a' has no valid port: write a number from 1 to 65535"
    ),
    ("download: 'http://h/'", "2:18: the URL ends in no file name: give the file's name with 'to'"),
    ("download: 'http://h/%2e%2e'", "2:18: the URL ends in no file name: give the file's name with 'to'"),
    ("download: 'http://h/a%2Fb'", "2:18: the URL ends in no file name: give the file's name with 'to'"),
    (
      "download: { url: 'http://h/x', to: ../x }",
      "2:43: download.to leaves the job file's folder: write an absolute path if that is meant"
    ),
    (
      "download: { url: 'http://h/x', to: a/../../x }",
      "2:43: download.to leaves the job file's folder: write an absolute path if that is meant"
    ),
    ("download: { url: 'http://h/x', to: out/ }", "2:43: download.to names a folder: write the path of a file in it"),
    ("download: { to: x }", "2:18: download has no url: add 'url: …'"),
    (
      "download: { url: 'http://h/x', sha256: abc }",
      "2:47: download.sha256 takes 64 hexadecimal digits; this is 'abc', 3 characters long: "
        + "write the file's SHA-256, as sha256sum prints it"
    ),
    (
      "download: { url: 'http://h/x', headers: { 'a b': c } }",
      "2:50: 'a b' can't name a header: use letters, digits and '-'"
    ),
    (
      "download: { url: 'http://h/x', headers: { a: \"b\\nc\" } }",
      "2:53: download.headers.a holds a line break or control character: delete it"
    ),
    (
      "download: { url: 'http://h/x', headers: { Accept: b, accept: c } }",
      "2:61: header 'accept' is given at line 2, column 50 already: case does not count, so delete one"
    ),
    ("download: 'http://h/x', dir: src", "2:32: 'dir' is for run jobs; this is a download: delete it"),
    ("upload: { url: 'http://h/x' }", "2:16: upload has no file: add 'file: …'"),
    (
      "upload: { url: 'http://h/x', file: x, method: GET }",
      "2:54: upload.method takes PUT, POST or PATCH; this is 'GET'"
    ),
    (
      "upload: http://h/x",
      "2:16: upload is a map; this is 'http://h/x': write '{ file: out.zip, url: http://… }' or the like"
    ),
    ("simulate: { fail_rate: 1.5 }", "2:31: simulate.fail_rate takes a number from 0 to 1; this is '1.5'"),
    ("simulate: { fail_rate: nan }", "2:31: simulate.fail_rate takes a number from 0 to 1; this is 'nan'"),
    ("simulate: { seed: -1 }", "2:26: simulate.seed takes a whole number, 0 to 18446744073709551615; this is '-1'"),
  ])
  func anInvalidBodyIsRefused(body: String, fault: String) {
    let others = "  b: { run: ls }\n  c: { run: ls }\n"
    #expect(faults("jobs:\n  a: { \(body) }\n\(others)") == [fault])
  }

  @Test(arguments: [
    ("version: 2", "1:10: the format has only version 1; this is '2': write 'version: 1', or delete the line"),
    ("slots: 0", "1:8: slots takes a whole number, 1 or more; this is '0'"),
    ("slots: 1.5", "1:8: slots takes a whole number, 1 or more; this is '1.5'"),
    ("slots: 1000000", "1:8: slots takes at most 100000"),
    ("schedule: [fifo]", "1:11: schedule takes critical-path, priority or fifo; this is a list"),
    ("name: \"a\\nb\"", "1:7: name holds the control character \\n: delete it"),
    ("name:", "1:6: name takes text; this is empty"),
    ("pools: { net: 0 }", "1:15: pools.net takes a whole number, 1 or more; this is '0'"),
    ("pools: { net: 1000000001 }", "1:15: pools.net takes at most 1000000000"),
    ("pools: [net]", "1:8: pools takes a map of names to sizes, as in 'pools: { net: 4 }'; this is a list"),
    ("vars: [a]", "1:7: vars takes a map of names to values; this is a list"),
    ("vars: { a: [b] }", "1:12: vars.a takes text or a number; this is a list"),
    ("vars: { a.b: c }", "1:9: 'a.b' can't name a var: use letters, digits, '_' and '-', no digit first"),
    (
      "defaults: { run: ls }",
      "1:13: unknown key 'run': each job has its own: write it into the jobs"
    ),
    (
      "defaults: 3",
      "1:11: defaults is a map; this is '3': write '{ timeout: 10m }' or the like"
    ),
  ])
  func anInvalidSettingIsRefused(head: String, fault: String) {
    #expect(faults(head + "\njobs: { a: { run: ls } }\n") == [fault])
  }

  @Test func aJobMayNotTakeMoreThanAPoolHas() {
    #expect(
      faults(job: "run: ls, uses: { net: 3, nte: 1 }", head: "pools: { net: 2 }\n") == [
        "3:25: takes 3 of pool 'net', which has 2, so it would never start: enlarge the pool or take less",
        "3:33: unknown pool 'nte': did you mean 'net'?",
      ])
  }

  /// Equal Strings may name two files.
  @Test func twoDownloadsWhoseNamesDifferInTheirBytesWriteTwoFiles() {
    func job(_ file: String) -> String { "{ download: { url: 'http://h/x', to: '\(file)' } }" }
    #expect(faults("jobs:\n  a: \(job("e\u{301}"))\n  b: \(job("\u{e9}"))\n") == [])
  }

  @Test func twoDownloadsMayNotWriteOneFile() {
    #expect(
      faults("jobs:\n  a: { download: 'http://h/x' }\n  b: { download: { url: 'http://i/y', to: ./x } }\n") == [
        "3:43: '/jobs/x' is already the file of job 'a', line 2, column 18: give one another 'to'"
      ])
  }

  @Test(arguments: [
    ("''", "is empty: give it one"),
    ("'-x'", "begins with '-', as an option of the command line does: use another character"),
    ("' x'", "begins or ends with a blank: delete that"),
    ("'a[b]'", "holds a bracket, which only instances of a matrix have: delete it"),
    ("\"a\\eb\"", "holds the control character \\u{1B}: delete it"),
    ("\"a\\u202Eb\"", "holds the control character \\u{202E}: delete it"),
    ("\"a\\u061Cb\"", "holds the control character \\u{061C}: delete it"),
    ("'a${b}'", "holds '${': variables are not put into names, so write it out"),
  ])
  func aNameThatWouldMisleadIsRefused(name: String, fault: String) {
    #expect(faults("jobs:\n  \(name): { run: ls }\n") == ["2:3: a job's name \(fault)"])
  }

  @Test func namesInManyLanguagesAndWithBlanksAreFine() throws {
    let names = ["été 2", "建置", "a/b.c:d@e", "null", "42", "x-y"]
    #expect(try graph("jobs:\n" + names.map { "  '\($0)': { run: ls }\n" }.joined()).jobs.map(\.name) == names)
  }

  @Test func messagesCarryNoControlCharactersOfTheFile() {
    for fault in faults("jobs: { a: { run: ls, \"\\e[2J\\u202E\": 1, timeout: \"\\e]0;x\\a\" } }") {
      #expect(fault.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x202E })
    }
  }

  @Test(arguments: [
    ("\u{61C}", "control", "061C"), ("\u{202E}", "control", "202E"), ("\u{200B}", "invisible", "200B"),
    ("\u{200D}", "invisible", "200D"), ("\u{2063}", "invisible", "2063"), ("\u{E0041}", "invisible", "000E0041"),
    ("\u{3164}", "invisible", "3164"),
  ])
  func aNameThatHidesACharacterIsRefused(_ hidden: String, _ kind: String, _ number: String) {
    #expect(
      faults("pools: { p\(hidden): 1 }\njobs: { b\(hidden)uild: { run: ls }, build: { run: ls } }") == [
        "1:10: a pool's name holds the \(kind) character \\u{\(number)}: delete it",
        "2:9: a job's name holds the \(kind) character \\u{\(number)}: delete it",
      ])
  }

  @Test func theFirstHundredFaultsAreReportedAndThatThereAreMore() {
    func file(_ count: Int) -> String {
      "jobs:\n" + (0..<count).map { "  a\($0): { run: ls, needs: [b\($0)x] }\n" }.joined()
    }
    let hundred = faults(file(100))
    #expect(hundred.count == 100)
    #expect(hundred.last == "101:27: unknown job 'b99x' in needs: add the job, or delete the need")
    let more = faults(file(101))
    #expect(more == hundred + ["101:27: and more: only 100 faults are reported"])
  }

  @Test func equalFaultsAreOneMessageWithTheirNumber() {
    func file(_ count: Int) -> String { "jobs:\n" + (0..<count).map { "  a\($0): { rn: ls }\n" }.joined() }
    #expect(faults(file(3)).count == 3)
    #expect(
      faults(file(9)) == ["2:9: unknown key 'rn': did you mean 'run'? (and 8 more like it, the next on line 3)"])
    // The places of very many are not remembered.
    #expect(
      faults(file(20_000)) == [
        "2:9: unknown key 'rn': did you mean 'run'? (and 9999 more like it, the next on line 3)",
        "2:9: and more: only 100 faults are reported",
      ])
  }

  @Test(arguments: [
    "jobs: { a: { run: ls, needs: [\((0..<300).map { "n\($0)" }.joined(separator: ", "))] } }",
    "jobs: { a: { run: ls }, \((0..<300).map { "a: 1\($0), b\($0 % 150): { run: ls }" }.joined(separator: ", ")) }",
    "jobs: { a: { run: [\((0..<300).map { "'${v\($0)}'" }.joined(separator: ", "))] } }",
    "jobs: { a: { run: [\"\((0..<300).map { "${v\($0)}" }.joined())\"] } }",
    "jobs: { a: { run: ls, env: { \((0..<300).map { "'a b\($0)': x" }.joined(separator: ", ")) } } }",
    "vars: { \((0..<300).map { "v\($0): [1]" }.joined(separator: ", ")) }\njobs: { a: { run: ls } }",
  ])
  func noKindOfFaultIsReportedWithoutLimit(_ text: String) {
    let found = faults(text)
    #expect(found.count == 101)
    #expect(found.last?.hasSuffix(": and more: only 100 faults are reported") == true)
  }
}
