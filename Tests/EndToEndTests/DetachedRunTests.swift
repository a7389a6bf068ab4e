import Foundation
import JobModel
import Support
import Testing

/// Runs that outlive their terminal.
struct DetachedRunTests {
  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "jobs.yml": """
      name: site
      jobs:
        nap: { run: "while [ ! -e go ]; do sleep 0.02; done; echo napped" }
        ask: { approve: "Publish?", run: "echo published" }
      """
    ])
  }

  private func detach() throws -> String {
    let start = try place.run("run", "--detach", "jobs.yml")
    #expect(start.ending() == .exited(0) && start.errorText.isEmpty, "\(start.errorText)")
    return start.outputText.trimmingCharacters(in: .newlines)
  }

  @Test func theNameIsPrintedAndTheRunIsReachedByIt() throws {
    let name = try detach()
    #expect(try place.run("ps").outputText.contains(name))
    let document =
      try JSONSerialization.jsonObject(with: place.run("ps", "--json").outputBytes) as? [String: [[String: Any]]]
    let run = try #require(document?["runs"]?.first)
    #expect(run["run"] as? String == name && run["jobs"] as? Int == 2 && run["asking"] as? Int == 1, "\(run)")
    #expect(try place.run("approve", name).outputText == "approved ask\n")
    let wait = try place.start("wait", name)
    try place.write("", to: "go")
    #expect(wait.ending() == .exited(0))
    #expect(try place.run("logs", name, "nap").outputText == "napped\n")
  }

  @Test func aRunThatIsNotRecordedSaysSoBeforeItsNameIsPrinted() throws {
    // A folder in the place of the database.
    try FileManager.default.createDirectory(at: place.folder.file("other/opdash.db"), withIntermediateDirectories: true)
    let start = try place.run("run", "--detach", "--state", "other", "jobs.yml")
    #expect(start.ending() == .exited(0))
    #expect(start.errorText.hasSuffix("the run goes on without being recorded\n"), "\(start.errorText)")
    let name = start.outputText.trimmingCharacters(in: .newlines)
    #expect(try place.run("cancel", "--state", "other", name).ending() == .exited(0))
    #expect(eventually { (try? place.run("ps", "--state", "other").outputText) == "" })
  }

  /// Nothing executes before which the name could be printed.
  @Test func theNameOfARunThatIsOverAtOnceIsPrinted() throws {
    try place.write("jobs: { one: { run: 'true', if: 'false' } }", to: "none.yml")
    for _ in 1...5 {
      let start = try place.run("run", "--detach", "none.yml")
      #expect(start.ending() == .exited(0) && start.outputText.hasSuffix("\n"), "\(start.outputText)")
    }
  }

  @Test func anErrorIsToldInTheTerminalAndNothingStarts() throws {
    let run = try place.run("run", "--detach", "none.yml")
    #expect(run.ending() == .exited(2) && run.errorText == "none.yml:1:1: there is no such file: check the path\n")
    #expect(run.outputText.isEmpty)
    let dry = try place.run("run", "--detach", "-n", "jobs.yml")
    #expect(dry.ending() == .exited(2) && dry.errorText.contains("not for --dry-run"))
    #expect(try place.run("ps").outputText.isEmpty)
  }

  /// A list can't come from the terminal that the run leaves.
  @Test func aDetachedListNeedsOtherInputThanTheTerminal() throws {
    let pty = try place.pty(script: "$OPDASH each --detach 'echo {}'; echo status $?")
    #expect(pty.waitUntil { $0.text.contains("status 2") }, "\(pty.text)")
    #expect(pty.text.contains("opdash each needs arguments after the command"), "\(pty.text)")
    #expect(try place.run("ps").outputText.isEmpty)
  }

  /// The shell leads the session of the terminal: when that is closed, the system sends SIGHUP to all of it.
  @Test func theEndOfTheTerminalAndOfTheLoginIsNoEndOfTheRun() throws {
    let pty = try place.pty(script: "$OPDASH run --detach --approve all jobs.yml && exec sleep 1000")
    #expect(
      eventually {
        pty.pump()
        return pty.text.contains("\n")
      })
    let name = try #require(pty.text.split(separator: "\r\n").first.map(String.init))
    pty.hangUp()
    #expect(eventually { pty.checkEnding() != nil })
    let wait = try place.start("wait", name)
    try place.write("", to: "go")
    #expect(wait.ending() == .exited(0))
    #expect(try place.run("logs", name, "ask").outputText == "published\n")
  }

  @Test func aRunLeavesTheTerminalThatItWasStartedIn() throws {
    let window = try place.shell()
    try window.session.type("$OPDASH run jobs.yml; echo status $?")
    try window.press("Enter")
    try window.sees("ask asks: Publish?")
    try window.press("D")
    try window.sees("keeps running; opdash attach")
    try window.sees("status 0")
    #expect(try window.session.value("alternate_on") == "0")
    window.session.close()
    let approval = try place.run("approve", "last")
    #expect(approval.outputText == "approved ask\n" && approval.errorText.isEmpty, "\(approval.errorText)")
    let wait = try place.start("wait", "last")
    try place.write("", to: "go")
    #expect(wait.ending() == .exited(0))
    #expect(try place.run("logs", "last", "nap").outputText == "napped\n")
  }

  /// The terminals that the programs with this home have open.
  private var openTerminals: [String] {
    let files = FileManager.default
    func names(_ path: String) -> [String] { (try? files.contentsOfDirectory(atPath: path)) ?? [] }
    let home = Substring("HOME=\(place.folder.url.path)")
    return names("/proc").filter { pid_t($0) != nil }.flatMap { pid -> [String] in
      guard ProcessTable.text("/proc/\(pid)/environ")?.split(separator: "\0").contains(home) == true else { return [] }
      return names("/proc/\(pid)/fd").compactMap { number -> String? in
        let file = try? files.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(number)")
        return file.flatMap { $0.hasPrefix("/dev/pts/") || $0 == "/dev/tty" ? $0 : nil }
      }
    }
  }

  /// With a file as input, the keys come from `/dev/tty`.
  @Test(arguments: ["", "<nap.yml"])
  func noProcessOfALeftRunHoldsItsTerminal(_ redirection: String) throws {
    let marker = ProcessTable.marker()
    try place.write("jobs: { nap: { run: [sleep, \"\(marker)\"] } }", to: "nap.yml")
    let pty = try place.pty(words: ["run", "nap.yml"], redirection: redirection)
    #expect(pty.waitUntil { $0.text.contains("━━━") && ProcessTable.sleepers(marker) == 1 })
    let (program, home) = (pty.program, "HOME=\(place.folder.url.path)")
    #expect(!openTerminals.isEmpty)
    pty.send("D")
    #expect(pty.waitUntil { $0.ending == .exited(0) }, "\(pty.report)")
    #expect(eventually { openTerminals.isEmpty }, "\(openTerminals)")
    // The same guardian still ends the jobs.
    #expect(ProcessTable.guardians(home).count == 1 && ProcessTable.sleepers(marker) == 1)
    kill(program, SIGKILL)
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty && ProcessTable.guardians(home).isEmpty })
  }

  /// strace holds up the process of a starting job before it closes the run's descriptors.
  @Test func aRunThatStartsAJobLeavesItsTerminalAlive() throws {
    let options = "-D -f -q -o trace -e trace=close_range -e inject=close_range:delay_enter=5000000"
    let pty = try place.pty(script: "exec strace \(options) $OPDASH run jobs.yml")
    #expect(
      pty.waitUntil { pty in
        let calls = place.contents("trace").map { String(decoding: $0, as: UTF8.self) }
        return pty.text.contains("Publish?") && calls?.contains("close_range(3") == true
      })
    pty.send("D")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    #expect(try place.run("approve", "site").outputText == "approved ask\n")
    let wait = try place.start("wait", "site")
    try place.write("", to: "go")
    #expect(wait.ending() == .exited(0))
  }

  /// Nobody is left who could retry its failure.
  @Test func aRunThatHasLeftItsTerminalEndsByItself() throws {
    try place.write("jobs: { fails: { run: \"while [ ! -e go ]; do sleep 0.02; done; exit 3\" } }", to: "fails.yml")
    let window = try place.window("run", "fails.yml")
    try window.sees("fails")
    try window.press("D")
    #expect(try window.exitStatus() == 0)
    let wait = try place.start("wait", "last")
    try place.write("", to: "go")
    #expect(wait.ending() == .exited(1))
    #expect(eventually { (try? place.run("ps").outputText) == "" })
  }

  /// The process that the shell waits for stands for the run.
  @Test(arguments: [SIGTERM, SIGINT, SIGKILL, SIGABRT])
  func aSignalToWhatTheShellWaitsForIsTheRuns(_ signal: Int32) throws {
    let pty = try place.pty("run", "jobs.yml")
    #expect(pty.waitUntil { $0.text.contains("Publish?") && $0.program != $0.child.pid })
    let program = pty.program
    kill(pty.child.pid, signal)
    #expect(pty.waitUntil { $0.ending == .signalled(signal) })
    #expect(eventually { !ProcessTable.isAlive(program) })
  }

  /// strace holds up the signal by which it stops after the program, so that the program continues in between.
  @Test func itDoesNotStopForAProgramThatHasBeenContinued() throws {
    let options = "-D -o trace -e trace=kill -e inject=kill:delay_enter=1000000"
    let pty = try place.pty(script: "exec strace \(options) $OPDASH run jobs.yml")
    #expect(pty.waitUntil { $0.text.contains("Publish?") && $0.program != $0.child.pid })
    let program = pty.program
    kill(program, SIGSTOP)
    // Each of its other calls is held for a moment only.
    var held = 0
    #expect(
      eventually {
        held = ProcessTable.state(of: pty.child.pid) == "t" ? held + 1 : 0
        return held == 5
      })
    kill(program, SIGCONT)
    kill(pty.child.pid, SIGTERM)
    #expect(pty.waitUntil { $0.ending == .signalled(SIGTERM) })
    #expect(eventually { !ProcessTable.isAlive(program) })
  }

  @Test func aProgramThatIsKilledBehindItIsSeenByTheShell() throws {
    let pty = try place.pty("run", "jobs.yml")
    #expect(pty.waitUntil { $0.text.contains("Publish?") && $0.program != $0.child.pid })
    kill(pty.program, SIGKILL)
    #expect(pty.waitUntil { $0.ending == .signalled(SIGKILL) })
  }

  @Test func anAttachedDashboardComesAndGoes() throws {
    let name = try detach()
    let window = try place.window("attach")
    try window.sees("ask asks: Publish?")
    try window.press("q")
    #expect(try window.exitStatus() == 0)
    #expect(try place.run("cancel", name).outputText == "stopping the run\n")
    #expect(try place.run("wait", name).ending() == .exited(3))
  }
}
