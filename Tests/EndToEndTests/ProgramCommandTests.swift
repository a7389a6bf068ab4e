import Foundation
import Support
import Testing

/// The commands that start no job, and what `Demo/install` puts into a prefix.
struct ProgramCommandTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "opdash.yml": """
      name: release
      vars: { ver: "4.2", who: me }
      jobs:
        fetch: { description: the sources, run: "touch fetched" }
        build (x64): { needs: [fetch], run: "echo ${ver}" }
        test:unit: { needs: ["build (x64)"], run: "true" }
        with space: { run: "true" }
        page: { needs: { fetch: failed }, run: "true" }
      """
    ])
    try FileManager.default.createDirectory(at: place.folder.file("sub/some folder"), withIntermediateDirectories: true)
  }

  // MARK: Jobs and the environment

  @Test func aFileThatRunsItselfEndsAfterEightRuns() throws {
    try place.write("jobs: { again: '\"$OPDASH\" run again.yml --ui plain' }", to: "again.yml")
    let run = try place.script("\"$OPDASH\" run again.yml --ui plain")
    #expect(run.ending() == .exited(1))
    #expect(run.outputText.contains("runs itself, 8 runs deep"))
  }

  @Test func aMakeWithinAJobHasNoWordOfAJobserverThatItLacks() throws {
    try place.write("all:\n\t+@\"$$OPDASH\" run make.yml --ui plain\nsub:\n\t@echo sub\n", to: "Makefile")
    try place.write("jobs: { m: make sub }", to: "make.yml")
    let run = try place.script("make -j3 all 2>&1")
    #expect(run.ending() == .exited(0))
    #expect(run.outputText.contains("sub"))
    #expect(!run.outputText.contains("jobserver"))
  }

  @Test func aProbeAsksTheServiceItselfAndNoProxy() throws {
    // Before the start nobody is there.
    let server = try RawServer { request in
      [request.number == 0 ? .reset : .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
    }
    defer { server.stop() }
    try place.write(
      """
      jobs:
        api: { run: exec sleep 600, service: { ready: { url: "\(server.url("/").absoluteString)", every: 20ms } } }
        user: { needs: { api: ready }, run: echo used }
      """, to: "probe.yml")
    let proxy = ["http_proxy": "http://127.0.0.1:1", "no_proxy": ""]
    let run = try place.run("run", "probe.yml", "--ui", "plain", environment: proxy)
    #expect(run.ending() == .exited(0))
    #expect(run.outputText.contains("| used"))
  }

  // MARK: Without a file

  @Test func theJobFileIsFoundAboveAndSaid() throws {
    let run = try place.script("cd sub && \"$OPDASH\" run fetch")
    #expect(run.ending() == .exited(0))
    #expect(run.errorText == "opdash: the job file is ../opdash.yml\n")
    // Its paths are relative to it.
    #expect(place.has("fetched") && !place.has("sub/fetched"))
  }

  @Test func aListHasDescriptionsAndNeeds() throws {
    let run = try place.run("list")
    #expect(run.ending() == .exited(0))
    #expect(run.outputText.contains("fetch        the sources\n"))
    #expect(run.outputText.contains("build (x64)  echo 4.2  (needs fetch)\n"))
  }

  @Test func aDryRunStartsNothing() throws {
    let run = try place.run("run", "-nj3", "--set", "ver=5", "test:*", "page")
    #expect(run.ending() == .exited(0))
    #expect(
      run.outputText
        == """
        release: 3 of 5 jobs would run, 3 slots
          1  fetch        touch fetched
          2  build (x64)  echo 5  (needs fetch)
          3  test:unit    true  (needs build (x64))
        would not run:
          page        only if fetch fails
          with space  not asked for, nor needed

        """)
    #expect(!place.has("fetched") && !place.has("state"))
  }

  @Test func anUnknownVarIsNamedWithTheNearest() throws {
    let run = try place.run("run", "--set", "verr=5")
    #expect(run.ending() == .exited(2))
    let message = "opdash.yml:2:7: --set names 'verr', which is not a var of this file: did you mean 'ver'?"
    #expect(run.errorText.hasPrefix(message), "\(run.errorText)")
  }

  @Test func keepGoingIsAFlag() throws {
    let run = try place.run("run", "-k", "opdash.yml", "fetch")
    #expect(run.ending() == .exited(0), "\(run.errorText)")
  }

  @Test(arguments: [
    (["lst"], "'lst' is neither a command nor a job of opdash.yml: did you mean 'list'?"),
    (["run", "fecth"], "opdash.yml has no job 'fecth': did you mean 'fetch'?"),
    (["help", "evnets"], "there is no help on 'evnets': did you mean 'events'?"),
    (["completion", "fisch"], "opdash completion takes bash, zsh or fish; this is 'fisch': did you mean 'fish'?"),
  ])
  func aWrongWordIsNamedInOneLine(_ words: [String], _ message: String) throws {
    let run = try place.script("\"$OPDASH\" " + words.joined(separator: " "))
    #expect(run.ending() == .exited(2))
    #expect(run.errorText == "opdash: \(message)\n")
    #expect(run.outputText == "")
  }

  @Test func aFileThatIsNotThereIsNamedBesideAnotherOne() throws {
    let run = try place.run("check", "ci.conf")
    #expect(run.ending() == .exited(2))
    #expect(run.outputText == "ci.conf:1:1: there is no such file: check the path\n")
  }

  // MARK: Shells

  /// zsh and fish are packages, which Demo/packages installs.
  private static func has(_ shell: String) -> Bool {
    (try? ChildProcess.run(["sh", "-c", "command -v \(shell)"]).ending) == .exited(0)
  }

  @Test(.enabled(if: ProgramCommandTests.has("bash"), "there is no bash")) func bashCompletesWithTab() throws {
    try expectCompletion(in: ["bash", "--norc", "--noprofile", "-i"], setup: "source <(opdash completion bash)")
  }

  @Test(.enabled(if: ProgramCommandTests.has("zsh"), "there is no zsh")) func zshCompletesWithTab() throws {
    try expectCompletion(
      in: ["zsh", "-f", "-i"], setup: "autoload -U compinit; compinit -u -D; source <(opdash completion zsh)")
  }

  @Test(.enabled(if: ProgramCommandTests.has("fish"), "there is no fish")) func fishCompletesWithTab() throws {
    try expectCompletion(in: ["fish", "-i"], setup: "opdash completion fish | source")
  }

  /// Presses Tab in lines that are right only once they are completed, and reads what they print.
  private func expectCompletion(in shell: [String], setup: String) throws {
    let program = URL(fileURLWithPath: Built.product("opdash"))
    let environment = [
      "PATH": "\(program.deletingLastPathComponent().path):/usr/bin:/bin", "HOME": place.folder.url.path,
      "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": place.folder.file("config").path,
      "XDG_DATA_HOME": place.folder.file("data").path,
    ].merging(FaultHandling.environment) { $1 }
    let words = ["sh", "-c", "cd \"$0\" && exec \"$@\"", place.folder.url.path] + shell
    let pty = try Pty(words, environment: environment, columns: 200)
    var number = 0
    // What is typed has quotes that the output lacks.
    func type(_ line: String) -> String {
      number += 1
      pty.pump()
      let before = pty.text
      pty.send("\(line); echo \"end\"\(number)\r")
      #expect(pty.waitUntil { $0.text.contains("end\(number)") }, "\(pty.text)")
      return String(pty.text.dropFirst(before.count))
    }
    _ = type(setup)
    #expect(type("opdash lis\t").contains("the sources"))
    #expect(type("opdash -n fet\t").contains("1 of 5 jobs would run"))
    #expect(type("opdash run -n bui\t").contains("2 of 5 jobs would run"))
    #expect(type("opdash run -n test:u\t").contains("3 of 5 jobs would run"))
    #expect(type("opdash run -n wi\t").contains("1 of 5 jobs would run"))
    #expect(type("opdash run -n opdash.yml fet\t").contains("1 of 5 jobs would run"))
    #expect(type("opdash run fetch --ui=qui\t && echo \"qui\"et").contains("quiet\r\n"))
    #expect(type("opdash run fetch --dry\t").contains("1 of 5 jobs would run"))
    #expect(type("opdash get -n http://127.0.0.1/x -d sub/so\t").contains("sub/some folder/x"))
    pty.send("exit\r")
    #expect(pty.waitUntil { $0.ending != nil })
  }

  // MARK: Installing

  @Test func installingPutsTheProgramPagesAndCompletionsUnderAPrefix() throws {
    let prefix = place.folder.file("a prefix").path
    let install = "'\(Self.root.appending(path: "Demo/install").path)' --program \"$OPDASH\" --prefix 'a prefix'"
    let run = try place.script(install)
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    let files = try FileManager.default.subpathsOfDirectory(atPath: prefix)
      .filter { FileManager.default.contents(atPath: "\(prefix)/\($0)") != nil }.sorted()
    let pages = [
      "add", "approve", "attach", "cancel", "check", "completion", "demo", "diff", "each", "events", "get", "graph",
      "help",
      "history", "import", "init", "jobs", "keys", "list", "logs", "pause", "ps", "replay", "report", "resume", "retry",
      "run", "schema", "settings", "slots", "wait", "watch",
    ]
    #expect(
      files == [
        "bin/opdash", "share/bash-completion/completions/opdash", "share/fish/vendor_completions.d/opdash.fish",
      ]
        + pages.map { "share/man/man1/opdash-\($0).1" }
        + ["share/man/man1/opdash.1", "share/zsh/site-functions/_opdash"])
    for file in files { #expect(run.outputLines.contains("  \(prefix)/\(file)")) }
    #expect(try place.script("'a prefix/bin/opdash' --version").outputText.hasPrefix("opdash 0.2.0 ("))
    #expect(run.outputLines.contains("note: \(prefix)/bin is not in PATH"))
    // Again, over itself; then what it says undoes it.
    #expect(try place.script(install).ending() == .exited(0))
    let undo = try #require(run.outputLines.last)
    #expect(undo.hasPrefix("  rm '"))
    #expect(try place.script(String(undo)).ending() == .exited(0))
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: prefix)
        .allSatisfy { FileManager.default.contents(atPath: "\(prefix)/\($0)") == nil })
  }

  @Test(arguments: [("--prefx x", "'--prefx'"), ("--prefix", "--prefix needs a value"), ("here", "'here'")])
  func installingSaysWhatItDoesNotUnderstand(_ words: String, _ message: String) throws {
    let run = try place.script("'\(Self.root.appending(path: "Demo/install").path)' \(words)")
    #expect(run.ending() == .exited(2))
    #expect(run.errorText.contains(message))
  }
}
