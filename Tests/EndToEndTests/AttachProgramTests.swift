import Foundation
import JobModel
import Support
import Testing

/// A run and the programs that are attached to it, each in a terminal of its own.
struct AttachProgramTests {
  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "jobs.yml": """
      name: site
      jobs:
        nap: { run: "while [ ! -e go ]; do sleep 0.02; done" }
        ask: { approve: "Publish?", run: "echo published" }
      """,
      "flood.yml": """
      name: flood
      jobs:
        count: { run: "while [ ! -e go ]; do sleep 0.02; done; seq 1 200000" }
        last: { needs: [count], run: "echo all" }
      """,
      "storm.yml": """
      name: storm
      slots: 8
      jobs:
        lines: { matrix: { n: [1, 2, 3, 4] }, run: "while [ ! -e go ]; do sleep 0.02; done; seq 1 30000" }
        steps: { matrix: { n: [1, 2, 3, 4] }, needs: [lines], simulate: { duration: 200ms, steps: 1000 } }
        flaky: { needs: [lines], run: "exit 3" }
        last: { needs: { flaky: finished, steps: ok }, approve: "Enough?", run: "true" }
      """,
    ])
  }

  /// What a run has recorded, without times and processes.
  private func outcome() throws -> [String] {
    let events = try place.run("events")
    return try Recording(events.outputBytes).events.compactMap { event in
      guard case .jobState(let id, let state, _, _) = event.fact else { return nil }
      return "\(id.index) \(state.word)"
    }
  }

  private func hasBegun() throws -> Bool { try place.run("ps").outputText.contains("jobs.yml") }

  private func shows(_ pty: Pty, _ text: String) -> Bool {
    eventually {
      pty.pump()
      return pty.text.contains(text)
    }
  }

  private func ends(_ pty: Pty, _ ending: ChildProcess.Ending) -> Bool {
    eventually {
      pty.pump()
      return pty.ending == ending
    }
  }

  @Test func theScreenIsTheSameAndAKeyActsOnTheRun() throws {
    let first = try place.window("run", "jobs.yml", "--keep-open", "always")
    try first.sees("ask", "○")
    let second = try place.window("attach", "--keep-open", "always")
    try second.sees("ask asks: Publish?")
    try second.press("a")
    try second.sees("y approves")
    try second.press("y")
    try first.sees("ask", "✓")
    try second.sees("ask", "✓")
    try place.write("", to: "go")
    try first.sees("Ended after")
    // Each has a cursor of its own.
    try first.press("g")
    try second.press("g")
    try first.sees("the first row") { $0.place == 1 }
    try second.sees("the first row") { $0.place == 1 }
    let screen = try first.screen().text
    try second.sees("the same screen") { $0.text == screen }
    try second.press("q")
    #expect(try second.exitStatus() == 0)
    #expect(try first.screen().text == screen)
    try first.press("q")
    #expect(try first.exitStatus() == 0)
  }

  @Test(arguments: [SIGKILL, SIGSTOP, SIGHUP, SIGTERM, SIGINT])
  func aRunEndsAsWithoutTheAttachedOnes(_ signal: Int32) throws {
    let run = try place.start("run", "jobs.yml", "--approve", "all")
    #expect(try eventually { try hasBegun() })
    let attached = try (0..<3).map { _ in try place.pty("attach") }
    for pty in attached {
      #expect(shows(pty, "nap"))
      kill(pty.child.pid, signal)
    }
    if signal == SIGINT { for pty in attached { #expect(ends(pty, .exited(0))) } }
    try place.write("", to: "go")
    #expect(run.ending() == .exited(0))
    #expect(try Set(outcome()).isSuperset(of: ["0 succeeded", "1 succeeded"]))
    for pty in attached where signal == SIGSTOP { kill(pty.child.pid, SIGKILL) }
  }

  @Test func aTerminalThatIsClosedLeavesTheRun() throws {
    let run = try place.start("run", "jobs.yml", "--approve", "all")
    #expect(try eventually { try hasBegun() })
    let pty = try place.pty("attach")
    #expect(shows(pty, "nap"))
    pty.hangUp()
    #expect(eventually { pty.checkEnding() != nil })
    #expect(pty.ending == .signalled(SIGHUP))
    try place.write("", to: "go")
    #expect(run.ending() == .exited(0))
  }

  @Test func whoWasStoppedDuringAFloodCatchesUp() throws {
    let run = try place.start("run", "flood.yml")
    #expect(try eventually { try place.run("ps").outputText.contains("flood.yml") })
    let pty = try place.pty("attach", "--keep-open", "always")
    #expect(shows(pty, "count"))
    kill(pty.child.pid, SIGSTOP)
    try place.write("", to: "go")
    // The run does not wait for it.
    #expect(eventually { run.checkEnding() != nil } && run.ending() == .exited(0))
    kill(pty.child.pid, SIGCONT)
    #expect(ends(pty, .exited(0)), "\(pty.text.suffix(400))")
  }

  @Test func allWhoFollowAStormSeeTheSameScreen() throws {
    // A detached run can be asked.
    #expect(try place.run("run", "--detach", "storm.yml").ending() == .exited(0))
    let run = try place.start("wait")
    let ptys = try (0..<3).map { _ in try place.pty(columns: 120, rows: 40, "attach", "--keep-open", "always") }
    var terminals = ptys.map { _ in VirtualTerminal(columns: 120, rows: 40) }
    func all(_ condition: (VirtualTerminal) -> Bool) -> Bool {
      eventually {
        for index in ptys.indices { terminals[index].feed(ptys[index].take()) }
        return terminals.allSatisfy(condition)
      }
    }
    #expect(all { $0.text.contains("lines[1]") })
    kill(ptys[2].child.pid, SIGSTOP)
    try place.write("", to: "go")
    // The run does not wait for the one that is stopped.
    #expect(
      try eventually {
        for pty in ptys { pty.pump() }
        return try place.run("ps").outputText.contains("1 to approve")
      })
    kill(ptys[2].child.pid, SIGCONT)
    #expect(all { $0.text.contains("last asks: Enough?") })
    for pty in ptys { pty.send("g") }
    #expect(all { $0.screen == terminals[0].screen }, "\(terminals.map(\.text).joined(separator: "\n\n"))")
    #expect(try place.run("approve", "last").ending() == .exited(0))
    #expect(run.ending() == .exited(1))
    // Kept open although the program of the run has ended.
    #expect(all { $0.text.contains("Ended after") && $0.screen == terminals[0].screen })
    for pty in ptys { pty.send("q") }
    for pty in ptys { #expect(ends(pty, .exited(1))) }
  }

  @Test func commandsActFromAnywhereAndWaitHasTheStatusOfTheRun() throws {
    let run = try place.start("run", "jobs.yml", "--approve", "all", "--ui", "json")
    #expect(try eventually { try hasBegun() })
    // By its name: it may come after the end of the run.
    let wait = try place.start("wait", "last")
    let pid = "\(run.child.pid)"
    #expect(try place.run("slots", pid, "7").outputText == "7 slots\n")
    let refused = try place.run("cancel", pid, "napp")
    #expect(refused.ending() == .exited(2) && refused.errorText.contains("did you mean 'nap'?"))
    #expect(try place.run("cancel", "last", "nap").outputText == "cancelling nap\n")
    #expect(run.ending() == .exited(3) && wait.ending() == .exited(3))
    #expect(run.outputText.contains(#""type":"slots_changed","slots":7"#))
    #expect(try place.run("wait", "last").ending() == .exited(3))
    #expect(try place.run("events").outputBytes == run.outputBytes)
    #expect(try place.run("ps").errorText == "opdash: nothing is going on: opdash run starts something\n")
  }

  @Test func aProgramThatIsKilledIsNoticedAndItsSocketRemoved() throws {
    let run = try place.start("run", "jobs.yml", "--approve", "all")
    #expect(try eventually { try hasBegun() })
    let pty = try place.pty("attach")
    #expect(shows(pty, "nap"))
    let wait = try place.start("wait")
    run.child.stop()
    #expect(ends(pty, .exited(3)))
    #expect(pty.text.contains("opdash resume") && !pty.text.contains("keeps running"))
    #expect(wait.ending() != nil)
    #expect(try place.run("ps").outputText.isEmpty)
    #expect(place.folder.names(in: "state/opdash/live").isEmpty)
  }
}
