import JobFiles
import JobModel
import Testing

/// The keys `shell`, `tty` and `silence` of jobs, and `approve`.
struct RunKeyTests {
  private func work(_ body: String, head: String = "") throws -> ShellWork {
    guard case .shell(let work) = try job(body, head: head).work else { throw UnexpectedWork() }
    return work
  }

  private func warnings(_ text: String) throws -> [String] {
    var found: [String] = []
    _ = try JobFile.decode(Array(text.utf8), file: "ci.yml", directory: "/jobs", environment: environment) {
      found.append("\($0.line):\($0.column): \($0.message)")
    }
    return found
  }

  @Test func aScriptIsForShUnlessAShellIsGiven() throws {
    #expect(try work("run: ls").shell == ["/bin/sh", "-e", "-c"])
  }

  @Test(arguments: [
    ("bash", ["bash", "-e", "-c"]), ("/usr/bin/zsh", ["/usr/bin/zsh", "-e", "-c"]), ("dash", ["dash", "-e", "-c"]),
    ("fish", ["fish", "-c"]), ("python3", ["python3", "-c"]), ("node", ["node", "-e"]), ("perl", ["perl", "-e"]),
    ("ruby", ["ruby", "-e"]), ("[bash, -eu, -o, pipefail, -c]", ["bash", "-eu", "-o", "pipefail", "-c"]),
    ("[awk]", ["awk"]), ("'${env.CI:-x}sh'", nil),
  ])
  func aShellIsAKnownWordOrTheWordsBeforeTheScript(written: String, words: [String]?) throws {
    guard let words else {
      #expect(faults(job: "run: ls, shell: \(written)").count == 1)
      return
    }
    #expect(try work("run: ls\nshell: \(written)").shell == words)
    #expect(try work("run: ls", head: "shell: \(written)").shell == words)
    #expect(try work("run: ls", head: "defaults: { shell: \(written) }").shell == words)
  }

  @Test func aJobsShellGoesBeforeTheDefaultsAndThatBeforeTheFiles() throws {
    let head = "shell: zsh\ndefaults: { shell: dash }"
    #expect(try work("run: ls", head: head).shell.first == "dash")
    #expect(try work("run: ls\nshell: bash", head: head).shell.first == "bash")
  }

  @Test(arguments: [
    (
      "ls",
      "'ls' is not a shell that opdash knows: write a command as 'run', and another shell as a list, as in [ls, -c]"
    ),
    ("bash -eu", "'bash -eu' is not a shell that opdash knows: write its words as a list, as in [bash, -eu, -c]"),
    ("bash -ec", "'bash -ec' is not a shell that opdash knows: write its words as a list, as in [bash, -ec]"),
    ("'bash {0}'", "'bash {0}' is not a shell that opdash knows: write its words as a list, as in [bash, -c]"),
    (
      "''",
      "shell is empty: it takes sh, bash, zsh, dash, ksh, fish, python, python3, node, perl or ruby, or a list of the words before the script, as in [bash, -eu, -c]"
    ),
    (
      "[]",
      "shell names no program: it takes sh, bash, zsh, dash, ksh, fish, python, python3, node, perl or ruby, or a list of the words before the script, as in [bash, -eu, -c]"
    ),
    (
      "['', -c]",
      "shell names no program: it takes sh, bash, zsh, dash, ksh, fish, python, python3, node, perl or ruby, or a list of the words before the script, as in [bash, -eu, -c]"
    ),
    ("[bash]", "'bash' alone would take the script for the name of a file: write [bash, -e, -c]"),
  ])
  func whatIsNoShellIsRefused(written: String, fault: String) {
    #expect(faults(job: "run: ls, shell: \(written)") == ["2:24: \(fault)"])
  }

  @Test func thePlaceholderOfGitHubActionsIsRefused() {
    #expect(
      faults(job: "run: ls, shell: [bash, '{0}']") == [
        "2:31: '{0}' is a form of GitHub Actions: the script itself is the last word, so write -c in its place"
      ])
  }

  @Test func aListHasNoShell() throws {
    #expect(
      faults(job: "run: [ls], shell: bash") == [
        "2:19: 'shell' runs a script, and this job's run is a list, which has no shell: delete it"
      ])
    #expect(faults(job: "run: [ls], shell: bash, service: { ready: { run: 'test -e x' } }").isEmpty)
    #expect(try work("run: [ls]", head: "shell: bash\ndefaults: { shell: bash }").command == .argv(["ls"]))
  }

  @Test func aScriptOfAnotherLanguageKeepsItsOwnVariablesWithoutWarning() throws {
    let head = "vars: { version: 1 }\nshell: node\njobs:\n  a:\n    run: "
    let script = "'console.log(`${verison} ${version.x} $version {{version}} ${version}` + \"${\")'"
    #expect(try warnings(head + script).isEmpty)
    let graph = try graph(head + script)
    guard case .shell(let work) = graph.jobs[0].work else { throw UnexpectedWork() }
    #expect(work.command == .script("console.log(`${verison} ${version.x} $version {{version}} 1` + \"${\")"))
    #expect(try warnings(head.replacing("node", with: "bash") + "'echo ${verison}'").count == 1)
    #expect(try warnings(head.replacing("node", with: "[env, bash, -c]") + "'echo ${verison}'").count == 1)
    #expect(faults(head.replacing("node", with: "bash") + "'echo ${version%.*}'").count == 1)
  }

  @Test func aTerminalAndALimitOfSilenceAreThoseOfTheJobOrTheDefaults() throws {
    let own = try work("run: ls\ntty: true\nsilence: 5m")
    #expect(own.hasTerminal)
    #expect(own.silence == .seconds(300))
    let other = try work("run: ls\ntty: false", head: "defaults: { tty: true, silence: 3s }")
    #expect(!other.hasTerminal)
    #expect(other.silence == .seconds(3))
    #expect(try !work("run: ls").hasTerminal)
    #expect(try work("run: ls").silence == nil)
  }

  @Test func aJobHasTheJobserverThatItOrTheDefaultsAskFor() throws {
    #expect(try work("run: ls").jobserver == .none)
    #expect(try work("run: ls\njobserver: true").jobserver == .descriptors)
    #expect(try work("run: ls\njobserver: fifo").jobserver == .fifo)
    #expect(try work("run: ls", head: "defaults: { jobserver: true }").jobserver == .descriptors)
    #expect(try work("run: ls\njobserver: false", head: "defaults: { jobserver: fifo }").jobserver == .none)
  }

  @Test func theStreamsAreTogetherUnlessTheJobOrTheDefaultsSayApart() throws {
    #expect(try work("run: ls").stderr == .together)
    #expect(try work("run: ls\nstderr: apart").stderr == .apart)
    #expect(try work("run: ls", head: "defaults: { stderr: apart }").stderr == .apart)
    #expect(try work("run: ls\nstderr: together", head: "defaults: { stderr: apart }").stderr == .together)
    #expect(try work("run: ls\ntty: true", head: "defaults: { stderr: apart }").hasTerminal)
  }

  @Test(arguments: [
    ("run: ls, jobserver: pipe", "2:28: jobserver takes true, false or fifo; this is 'pipe'"),
    ("run: ls, jobserver: yes", "2:28: jobserver takes true, false or fifo; this is 'yes': write true"),
    ("simulate: {}, jobserver: true", "2:22: 'jobserver' is for run jobs; this is a simulate: delete it"),
    (
      "run: ls, on: slurm, jobserver: true",
      "2:28: a job of a cluster has no slot here to share: delete 'jobserver', or write 'on: local'"
    ),
    ("run: ls, stderr: merged", "2:25: stderr takes together or apart; this is 'merged': write together"),
    (
      "run: ls, stderr: apart, tty: true",
      "2:17: a terminal has one stream, so 'stderr' can't be apart: delete it, or 'tty'"
    ),
    ("simulate: {}, stderr: apart", "2:22: 'stderr' is for run jobs; this is a simulate: delete it"),
    ("run: ls, tty: yes", "2:22: tty takes true or false; this is 'yes': write true"),
    ("run: ls, silence: 0s", "2:26: silence takes a duration longer than 0; this is '0s': delete it for no limit"),
    ("run: ls, silence: 5", "2:26: '5' is not a duration: write 5s, or 5m for minutes"),
    ("simulate: {}, tty: true", "2:22: 'tty' is for run jobs; this is a simulate: delete it"),
    ("simulate: {}, silence: 1s", "2:22: 'silence' is for run jobs; this is a simulate: delete it"),
    ("simulate: {}, shell: sh", "2:22: 'shell' is for run jobs; this is a simulate: delete it"),
    ("run: ls, no_output_timeout: 5m", "2:17: unknown key 'no_output_timeout': write 'silence'"),
    ("run: ls, pty: true", "2:17: unknown key 'pty': write 'tty'"),
    ("run: ls, confirm: 'Sure?'", "2:17: unknown key 'confirm': write 'approve'"),
    (
      "run: ls, env_file: .env",
      "2:17: unknown key 'env_file': write 'dotenv' at the start of the file, for all of its jobs"
    ),
  ])
  func whatIsNoneOfTheseIsRefused(body: String, fault: String) {
    #expect(faults(job: body) == [fault])
  }

  @Test func theWholeRunHasALimit() throws {
    #expect(try graph("timeout: 2h\njobs: { a: { run: ls } }").timeout == .seconds(7200))
    #expect(try graph("jobs: { a: { run: ls } }").timeout == nil)
    #expect(
      faults("timeout: 0\njobs: { a: { run: ls } }") == [
        "1:10: timeout takes a duration longer than 0; this is '0': delete it for no limit"
      ])
  }

  @Test func aPersonIsAskedWhatTheFileSays() throws {
    #expect(try job("run: ls\napprove: 'Publish ${v}?'", head: "vars: { v: 4.2 }").approval == "Publish 4.2?")
    #expect(try job("run: ls\napprove: 'yes'").approval == "yes")
    #expect(try job("run: ls").approval == nil)
    #expect(try job("upload: { file: a, url: http://h/x }\napprove: Send it?").approval == "Send it?")
  }

  @Test(arguments: [
    ("''", "approve is empty: it takes a question to a person"),
    ("\"a\\nb\"", "approve holds the control character \\n: delete it"),
    ("~", "approve takes a question to a person; this is empty"),
    ("[a]", "approve takes a question to a person; this is a list"),
    ("true", "approve takes a question to a person; this is 'true': write the question, as in 'Publish it?'"),
    ("Yes", "approve takes a question to a person; this is 'Yes': write the question, as in 'Publish it?'"),
    ("ON", "approve takes a question to a person; this is 'ON': write the question, as in 'Publish it?'"),
    ("5", "approve takes a question to a person; this is '5': write the question, as in 'Publish it?'"),
    ("false", "approve takes a question to a person; this is 'false': delete it for no question"),
    ("no", "approve takes a question to a person; this is 'no': delete it for no question"),
    ("n", "approve takes a question to a person; this is 'n': delete it for no question"),
  ])
  func whatIsNoQuestionIsRefused(written: String, fault: String) {
    #expect(faults(job: "run: ls, approve: \(written)") == ["2:26: \(fault)"])
  }

  @Test func eachJobIsAskedForByItself() {
    #expect(
      faults("defaults: { approve: true, service: true }\njobs: { a: { run: ls } }") == [
        "1:13: unknown key 'approve': each job has its own: write it into the jobs",
        "1:28: unknown key 'service': each job has its own: write it into the jobs",
      ])
  }
}
