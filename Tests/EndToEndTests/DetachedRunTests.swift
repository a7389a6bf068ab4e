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
    #expect(try place.run("approve", name).outputText == "approved ask\n")
    let wait = try place.start("wait", name)
    try place.write("", to: "go")
    #expect(wait.ending() == .exited(0))
    #expect(try place.run("logs", name, "nap").outputText == "napped\n")
  }

  @Test func anErrorIsToldInTheTerminalAndNothingStarts() throws {
    let run = try place.run("run", "--detach", "none.yml")
    #expect(run.ending() == .exited(2) && run.errorText == "none.yml:1:1: there is no such file: check the path\n")
    #expect(run.outputText.isEmpty)
    let dry = try place.run("run", "--detach", "-n", "jobs.yml")
    #expect(dry.ending() == .exited(2) && dry.errorText.contains("not for --dry-run"))
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
