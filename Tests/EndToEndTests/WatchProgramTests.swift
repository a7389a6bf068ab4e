import Foundation
import Support
import Testing

/// `opdash watch`, and services that stay.
struct WatchProgramTests {
  private let place: Workplace
  /// Marks the processes of the service.
  private let marker = ProcessTable.marker()

  init() throws {
    place = try Workplace(files: [
      "opdash.yml": """
      name: dev
      watch: { debounce: 50ms }
      jobs:
        build: { run: "tr a-z A-Z < in > out", inputs: in, creates: out }
        api: { run: "cat out > served; exec sleep \(marker)", needs: [build], inputs: out, service: true }
        other: { run: "echo x >> others" }
        shell: { run: "echo by hand > made", start: manual }
      """, "in": "one\n",
    ])
  }

  private func text(_ name: String) -> String { place.contents(name).map { String(decoding: $0, as: UTF8.self) } ?? "" }

  @Test func aChangedFileRunsItsJobsAgainAndRestartsTheService() throws {
    let run = try place.start("watch", "--ui", "plain")
    #expect(eventually { text("served") == "ONE\n" })
    for word in ["two", "three", "four"] {
      try place.write(word + "\n", to: "in")
      #expect(eventually { text("served") == word.uppercased() + "\n" }, "\(run.outputText)")
    }
    kill(run.child.pid, SIGINT)
    #expect(run.ending() == .signalled(SIGINT))
    #expect(text("others") == "x\n")
    #expect(run.outputText.contains("in has changed") && run.outputText.contains("build is executed again"))
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func inTheDashboardTheWatchIsAKeyAndARunThatIsQuitHasSucceeded() throws {
    let window = try place.window("watch")
    try window.sees("WATCHING") { $0.text.contains("serving") || $0.text.contains("watching") }
    try window.sees("api", "◉", "serving")
    try place.write("next\n", to: "in")
    try window.sees("api", "◉", "build is executed again")
    #expect(eventually { text("served") == "NEXT\n" })
    try window.press("q")
    try window.sees("the question") { $0.text.contains("quit") }
    try window.press("y")
    #expect(try window.exitStatus() == 0)
  }

  @Test func withoutInputsThereIsNothingToWatch() throws {
    try place.write("jobs: { a: ls }", to: "plain.yml")
    let run = try place.run("watch", "plain.yml")
    #expect(run.ending() == .exited(2))
    #expect(run.errorText.hasPrefix("opdash: no job of plain.yml has inputs, so there is nothing to watch"))
  }

  @Test func aJobThatAPersonStartsIsStartedByItsNameOrAKey() throws {
    #expect(try place.run("run", "shell", "--ui", "quiet").ending() == .exited(0))
    #expect(text("made") == "by hand\n")
    try place.write(
      "jobs: { a: { run: 'echo x >> a', start: manual }, up: { run: 'exec sleep \(marker)', service: true } }",
      to: "m.yml")
    let window = try place.window("run", "m.yml")
    try window.sees("a", "»", "not started")
    try window.choose("a", of: 2)
    try window.press("r")
    try window.sees("a", "✓", "ok")
    #expect(text("a") == "x\n")
    try window.press("r")
    #expect(eventually { text("a") == "x\nx\n" })
    try window.showAll()
    try window.choose("up", of: 2)
    try window.press("r")
    try window.sees("up", "◉", "a person has restarted it")
  }
}

/// Approvals of a run in plain lines.
struct ApprovalPromptTests {
  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "opdash.yml": """
      jobs:
        build: echo tag=7 >> $OPDASH_OUTPUT
        publish: { needs: [build], approve: "Publish ${jobs.build.tag}?", run: "echo published ${jobs.build.tag}" }
      """
    ])
  }

  @Test(arguments: [("y\n", 0), (" y \n", 0), ("Y\n", 3), ("yes\n", 3), ("n\n", 3), ("\n", 3), ("\u{4}", 3)])
  func theAnswerDecides(answer: String, status: Int32) throws {
    let pty = try place.pty("run", "--ui", "plain")
    #expect(pty.waitUntil { $0.text.contains("publish asks: Publish 7?") }, "\(pty.text)")
    pty.send(answer)
    #expect(pty.end() == .exited(status), "\(pty.text)")
    #expect(pty.text.contains("published 7") == (status == 0), "\(pty.text)")
  }

  @Test func whatWasTypedBeforeTheQuestionIsNoAnswer() throws {
    try place.write(
      "jobs: { wait: 'until [ -e go ]; do sleep 0.02; done', p: { needs: [wait], approve: 'Go?', run: 'true' } }",
      to: "opdash.yml")
    let pty = try place.pty("run", "--ui", "plain")
    #expect(pty.waitUntil { $0.text.contains("wait") && $0.text.contains("started") })
    pty.send("y\n")
    #expect(pty.waitUntil { $0.text.contains("y\r\n") })
    try place.write("", to: "go")
    #expect(pty.waitUntil { $0.text.contains("p asks: Go?") })
    pty.send("n\n")
    #expect(pty.end() == .exited(3))
  }
}
