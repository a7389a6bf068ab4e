import DemoServer
import Foundation
import Support
import Testing

/// Where the programs of other packages are.
enum Outside {
  static let folder = ProcessInfo.processInfo.environment["OPDASH_OUTSIDE"]
}

/// Programs of other packages with a queue of their own and the dashboard on it.
///
/// `Tests/run` builds them and says where: Demo/Embed, and the README's example outside the repository.
@Suite(
  .enabled(if: Outside.folder != nil, "Tests/run builds the packages that this needs"))
struct EmbedTests {
  private let place: TemporaryFolder
  private let embed = "\(Outside.folder ?? "")/embed"

  init() throws { place = try TemporaryFolder() }

  private func window(columns: Int = 80, rows: Int = 24, _ command: String? = nil) throws -> Window {
    try Window(TmuxSession(columns: columns, rows: rows, command ?? "'\(embed)'"))
  }

  /// Waits for the queue to be shown, of which the fourth roll is among the last.
  private func seeQueue(_ window: Window) throws { try window.sees("the queue") { $0.row("roll-4") != nil } }

  private func lines(_ words: [String], _ environment: [String: String] = [:]) throws -> Background {
    let variables = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"].merging(FaultHandling.environment) { $1 }
    let background = try Background(
      ["sh", "-c", "cd \"$0\" && exec \"$@\"", place.url.path] + words,
      environment: variables.merging(environment) { $1 }, in: place)
    _ = background.ending()
    return background
  }

  // MARK: In a terminal

  @Test(arguments: [(80, 24), (120, 40), (40, 12)])
  func itShowsItsQueueAndGivesTheTerminalBack(_ columns: Int, _ rows: Int) throws {
    let window = try window(columns: columns, rows: rows)
    try window.sees("the queue") {
      ($0.text.contains("darkroom") || columns < 60) && $0.text.contains("roll-3")
    }
    #expect(try window.exitStatus() == 0)
    try window.sees("24 prints")
    #expect(try window.session.value("alternate_on") == "0")
  }

  @Test func theKeysActOnTheQueue() throws {
    let window = try window(columns: 100)
    try seeQueue(window)
    try window.press("P")
    try window.sees("DRAINING")
    try window.press("+")
    try window.sees("/3")
    // What waits is cancelled before it has begun; then the rest goes on.
    try window.choose("roll-4", of: 6)
    try window.press("x")
    try window.sees("roll-4", "⊘", "cancelled")
    try window.press("r")
    try window.sees("an operation runs once")
    #expect(try !window.screen().lines.contains { $0.contains("r retry") })
    try window.showAll()
    try window.press("P")
    try window.sees("sort", "▶", "tracked: ")
    #expect(try window.exitStatus() == 3)
  }

  @Test func aResizeIsFollowed() throws {
    let window = try window()
    try seeQueue(window)
    // Nothing new starts, so that it does not end meanwhile.
    try window.press("P")
    try window.sees("DRAINING")
    for (columns, rows) in [(120, 40), (40, 12), (30, 4), (80, 24)] {
      try window.session.resize(columns: columns, rows: rows)
      try window.sees("\(columns)x\(rows)") { screen in
        guard rows >= 5 else { return screen.text.contains("needs 30 x 5") }
        // A small window may have no room for the name.
        return (screen.text.contains("darkroom") || columns < 60) && screen.text.contains("roll-4")
      }
    }
    try window.press("P")
    #expect(try window.exitStatus() == 0)
  }

  @Test func ctrlCCancelsWhatRunsAndThePromptIsBack() throws {
    let window = try window("bash --norc --noprofile -i")
    try window.session.type("PS1='$ '; stty -a | md5sum; '\(embed)'; echo status $?; stty -a | md5sum\n")
    try seeQueue(window)
    try window.press("C-c")
    try window.sees("status 130")
    try window.sees("the modes of the terminal as they were") { screen in
      let sums = screen.lines.filter { $0.hasSuffix("  -") }
      return sums.count == 2 && sums[0] == sums[1]
    }
  }

  @Test func ctrlZGivesTheTerminalBackUntilItGoesOn() throws {
    let window = try window("bash --norc --noprofile -i")
    try window.session.type("PS1='$ '; '\(embed)'\n")
    try seeQueue(window)
    try window.press("C-z")
    try window.sees("Stopped")
    #expect(try window.session.value("alternate_on") == "0")
    try window.session.type("fg\n")
    try window.sees("the dashboard again") {
      $0.text.contains("darkroom") && $0.lines.contains { $0.contains("filter") }
    }
    try window.sees("24 prints")
  }

  // MARK: In another terminal

  @Test func aServersQueueIsAttachedToAndActedOn() throws {
    let work = try Workplace()
    let port = try Loopback.freePort()
    let server = try work.start(script: "exec '\(Outside.folder ?? "")/server' \(port)")
    defer { kill(server.child.pid, SIGKILL) }
    #expect(eventually { server.outputText.contains("shows its queue") })
    let slow = try work.start(script: "curl -s -m 60 -w '%{http_code}' http://127.0.0.1:\(port)/slow")
    #expect(eventually { (try? work.run("ps").outputText.contains("1 in the queue, 1 running")) == true })
    let window = try work.window("attach", "answers")
    try window.sees("/slow", "▶")
    try window.press("x")
    #expect(slow.ending() == .exited(0) && slow.outputText.hasSuffix("503"))
    try window.sees("/slow", "⊘")
    let quick = try work.start(script: "curl -s -m 60 http://127.0.0.1:\(port)/quick")
    try window.sees("/quick", "✓")
    #expect(quick.ending() == .exited(0) && quick.outputText == "ok\n")
    let blocking = try work.start(script: "curl -s -m 60 http://127.0.0.1:\(port)/blocking")
    try window.sees("/blocking", "▶")
    try window.press("g")
    try window.press("b")
    try window.sees("server.Answer.waitForABackend()")
    #expect(blocking.checkEnding() == nil)
    try window.press("q")
    #expect(try window.exitStatus() == 0)
    let pty = try work.pty("attach", "\(server.child.pid)")
    #expect(pty.waitUntil { $0.text.contains("/blocking") })
    pty.send("q")
    #expect(pty.end() == .exited(0))
    #expect(pty.text.contains("answers keeps running; opdash attach \(server.child.pid) shows it again"))
  }

  // MARK: Without one

  @Test func aPipeGetsPlainLines() throws {
    let run = try lines([embed])
    #expect(run.ending() == .exited(0))
    #expect(!run.outputBytes.contains(0x1B))
    for text in [
      "darkroom: 6 jobs, 2 slots", "> roll-1", "roll-1  | 5 frames to develop", "darkroom: 6 ok in", "24 prints",
    ] {
      #expect(run.outputText.contains(text))
    }
  }

  @Test func theErrorOfAnOperationIsTheReason() throws {
    let run = try lines([embed], ["PAPER": "none"])
    #expect(run.ending() == .exited(1))
    #expect(run.outputText.contains("! enlarge  failed: "))
  }

  @Test func aTerminalThatCannotDrawGetsPlainLines() throws {
    let pty = try Pty([embed], environment: ["TERM": "dumb", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"])
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    pty.pump()
    #expect(pty.text.contains("darkroom: 6 ok in"))
    #expect(!pty.output.contains(0x1B) || !pty.text.contains("\u{1B}[?1049h"))
  }

  // MARK: The README's example

  @Test func theREADMEsExampleShowsItsOwnQueueFromOutside() throws {
    let server = try DemoServer()
    defer { server.stop() }
    let run = try lines([
      "\(Outside.folder ?? "")/example", "\(server.address)/file/page?size=300000&seed=1&rate=1000000",
    ])
    #expect(run.ending() == .exited(0))
    for text in [
      "example: 3 jobs, 3 slots", "> DownloadOperation", "DownloadOperation     | executing", "+ BlockOperation",
      "3 ok in",
      "the end\n", "300000 bytes\n",
    ] {
      #expect(run.outputText.contains(text), "\(run.outputText)")
    }
    #expect(FileManager.default.contents(atPath: place.file("page.html").path)?.count == 300_000)
  }

  @Test func theREADMEsExampleIsADashboardInATerminal() throws {
    let server = try DemoServer()
    defer { server.stop() }
    let window = try window(
      "cd '\(place.url.path)' && '\(Outside.folder ?? "")/example' '\(server.address)/file/page?size=3000000&seed=1&rate=1000000'"
    )
    try window.sees("the queue") { $0.text.contains("DownloadOperation") && $0.text.contains("BlockOperation") }
    #expect(try window.exitStatus() == 0)
  }
}
