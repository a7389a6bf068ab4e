import Foundation
import Support
import Testing

/// After ^Z and `bg` the terminal is the shell's, until `fg`.
struct BackgroundTests {
  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "jobs.yml": """
      jobs:
        chatty: { run: "i=0; while [ ! -e go ]; do i=$((i+1)); echo line $i of it; sleep 0.05; done" }
      """
    ])
  }

  private func command(_ window: Window, _ text: String) throws {
    try window.session.type(text)
    try window.press("Enter")
  }

  /// What the shell has written of its last background job.
  private func pid() throws -> pid_t {
    let text = String(decoding: try #require(place.contents("pid")), as: UTF8.self)
    return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  /// Has the shell do something for long enough that several frames would have been drawn.
  private func useShell(_ window: Window) throws {
    try command(window, "clear; sleep 1.5; stty -a | grep -o 'echo ' ; echo used")
    try window.sees("the shell's line") { $0.lines.contains("used") }
  }

  @Test(arguments: ["bash", "dash"])
  func theDashboardIsDrawnInTheForegroundOnly(_ shell: String) throws {
    let window = try place.shell()
    if shell == "dash" {
      try command(window, "clear; PS1='dash: ' exec dash -i")
      try window.sees("the shell's prompt") { $0.lines.contains("dash: ") || $0.lines.contains("dash:") }
    }
    try command(window, "$OPDASH run jobs.yml")
    try window.sees("chatty", "▶")
    try window.press("C-z")
    try window.sees("Stopped")
    try command(window, "bg")
    try useShell(window)
    let screen = try window.screen()
    #expect(!screen.text.contains("chatty") && screen.lines.contains("echo"), "\(screen.text)")
    #expect(try window.session.value("alternate_on") == "0")
    #expect(try window.session.value("mouse_any_flag") == "0")
    try command(window, "jobs")
    try window.sees("Running")
    try command(window, "fg")
    try window.sees("chatty", "▶")
    #expect(try window.session.value("alternate_on") == "1")
    // The keys are the dashboard's again.
    try window.press("P")
    try window.sees("nothing new starts")
    // Stopped again, and ended in the background: the shell's terminal stays as it is.
    try window.press("C-z")
    try window.sees("Stopped")
    try command(window, "stty -g >before; bg; touch go")
    try command(window, "wait; stty -g >after; cmp before after && echo as before")
    try window.sees("the shell's modes") { $0.lines.contains("as before") }
    #expect(try window.session.value("alternate_on") == "0")
  }

  @Test func theInlineBlockIsDrawnInTheForegroundOnly() throws {
    let window = try place.shell()
    try command(window, "$OPDASH run jobs.yml --ui inline")
    try window.sees(" RUN ")
    try window.press("C-z")
    try window.sees("Stopped")
    try command(window, "bg")
    try useShell(window)
    let screen = try window.screen()
    #expect(!screen.text.contains(" of it") && !screen.text.contains(" RUN "), "\(screen.text)")
    #expect(try window.session.value("cursor_flag") == "1")
    try command(window, "fg")
    // The lines that came meanwhile, and the block.
    try window.sees("the block") { $0.text.contains(" of it") && $0.lines.last?.contains(" RUN ") == true }
    try place.write("", to: "go")
    try window.sees("1 ok in")
  }

  @Test func aDashboardThatWasStoppedByForceLeavesTheShellAlone() throws {
    let window = try place.shell()
    try command(window, "$OPDASH run jobs.yml & echo $! >pid; fg")
    try window.sees("chatty", "▶")
    kill(try pid(), SIGSTOP)
    // On the alternate screen still.
    try window.sees("Stopped")
    try command(window, "bg; printf '\\033[?1049l'")
    try useShell(window)
    #expect(try !window.screen().text.contains("chatty"))
    try command(window, "fg")
    try window.sees("chatty", "▶")
    #expect(try window.session.value("alternate_on") == "1")
    try place.write("", to: "go")
    try window.sees("1 ok")
  }

  @Test(arguments: ["tui", "inline"])
  func afterAKillTheShellHasItsTerminalBack(_ interface: String) throws {
    let window = try place.shell()
    try command(window, "stty -g >before; $OPDASH run jobs.yml --ui \(interface) & echo $! >pid; fg")
    if interface == "tui" { try window.sees("line 20 of it") } else { try window.sees(" RUN ") }
    kill(try pid(), SIGKILL)
    #expect(try eventually { try window.session.value("alternate_on") == "0" })
    #expect(try eventually { try window.session.value("mouse_any_flag") == "0" })
    #expect(try eventually { try window.session.value("cursor_flag") == "1" })
    try command(window, "stty -g >after; cmp before after && echo as before")
    try window.sees("the shell's modes") { $0.lines.contains("as before") }
  }

  @Test func aKillLeavesTheTerminalOfAnotherProgramAlone() throws {
    let window = try place.shell()
    try command(window, "$OPDASH run jobs.yml & echo $! >pid; fg")
    try window.sees("line 20 of it")
    let pid = try pid()
    let variable = "HOME=\(place.folder.url.path)"
    #expect(eventually { ProcessTable.guardians(variable).count == 1 })
    kill(pid, SIGSTOP)
    try window.sees("Stopped")
    try command(window, "tail -f pid")
    try window.sees("the other program") { $0.lines.contains("\(pid)") }
    kill(pid, SIGKILL)
    #expect(eventually { ProcessTable.guardians(variable).isEmpty })
    // The screen is left as the other program has it.
    #expect(try window.session.value("alternate_on") == "1")
  }

  @Test func aQuestionLeavesWhatIsTypedForTheForegroundAlone() throws {
    try place.write(
      "jobs: { gate: 'while [ ! -e go ]; do sleep 0.02; done', ask: { needs: [gate], approve: 'Go?', run: 'true' } }",
      to: "ask.yml")
    let window = try place.shell()
    try command(window, "$OPDASH run ask.yml --ui plain & sh -c 'touch busy; while [ ! -e back ]; do sleep 0.02; done'")
    #expect(eventually { place.has("busy") })
    // The terminal shows it and keeps it until the shell reads again.
    try command(window, "touch typed")
    try window.sees("touch typed")
    try place.write("", to: "go")
    try window.sees("ask asks: Go?")
    try place.write("", to: "back")
    #expect(eventually { place.has("typed") })
    #expect(try place.run("approve", "last").outputText == "approved ask\n")
    try window.sees("2 ok in")
  }

  @Test func theLinesOfTheBackgroundAreBounded() throws {
    try place.write(
      """
      jobs:
        flood: { run: "while [ ! -e flood ]; do sleep 0.02; done; seq 300000" }
        last: { needs: [flood], run: "touch flooded; while [ ! -e go ]; do sleep 0.02; done" }
      """, to: "flood.yml")
    let window = try place.shell()
    try window.session.record(to: place.folder.file("bytes").path)
    try command(window, "$OPDASH run flood.yml --ui inline & echo $! >pid; fg")
    try window.sees(" RUN ")
    try window.press("C-z")
    try window.sees("Stopped")
    try command(window, "bg; touch flood")
    #expect(eventually { place.has("flooded") })
    // It has taken the lines when it has nothing to do in several looks.
    let pid = try pid()
    var looks = 0
    #expect(
      eventually {
        looks = ProcessTable.isAsleep(pid) ? looks + 1 : 0
        return looks == 20
      })
    try command(window, "fg")
    try window.sees("the end of the lines") { $0.text.contains("300000") && $0.lines.last?.contains(" RUN ") == true }
    let text = String(decoding: place.contents("bytes") ?? Data(), as: UTF8.self)
    #expect(text.contains(" lines in the background; the logs have all"))
    try place.write("", to: "go")
    try window.sees("2 ok in")
  }
}
