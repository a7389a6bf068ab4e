import Foundation
import Support
import Testing

/// A dashboard in which nothing moves costs nothing: no byte to the terminal, no thread that wakes.
@Suite struct IdleTests {
  private let place: Workplace
  private let marker = ProcessTable.marker()

  init() throws {
    place = try Workplace(files: [
      "long.yml": """
      slots: 3
      jobs:
        steps: { simulate: { duration: 1h, steps: 10000, seed: 1 } }
        sleep: { run: "while :; do sleep 0.05; : \(marker); done" }
        stuck: { needs: [steps], run: 'true' }
      """,
      "short.yml": "jobs: { good: { run: echo hello }, bad: { run: exit 3 } }",
    ])
  }

  /// Whether there comes a while in which nothing is written and no thread wakes: what ticks never has one.
  private func comesToRest(_ pty: Pty) -> Bool {
    eventually {
      pty.pump()
      let (bytes, waits) = (pty.output.count, ProcessTable.waits(of: pty.program))
      // Longer than a second, at which clocks tick.
      let isSilent = stays(moments: 10) {
        pty.pump()
        return pty.output.count == bytes
      }
      let after = ProcessTable.waits(of: pty.program)
      // A thread that has left did wake to do so.
      let woken = waits.merging(after) { $1 }.keys.filter { waits[$0] != after[$0] }
      return isSilent && !waits.isEmpty && woken.count <= (FaultHandling.isThreadSanitized ? 1 : 0)
    }
  }

  @Test func aRunThatIsOverAndKeptOpen() throws {
    let pty = try place.pty("run", "short.yml")
    #expect(pty.waitUntil { $0.text.contains("Ended after") })
    #expect(comesToRest(pty))
    pty.send("q")
    #expect(pty.waitUntil { $0.ending == .exited(1) })
  }

  @Test func aRunInWhichEverythingIsPaused() throws {
    let pty = try place.pty("run", "long.yml")
    #expect(pty.waitUntil { _ in !ProcessTable.processes(with: marker).isEmpty })
    // A key acts on what is drawn: both bars must have been.
    #expect(pty.waitUntil { $0.text.contains("━━━") && $0.text.contains("0 of 10000") })
    // One with what depends on it, and the one below: all are tagged, then paused together.
    pty.send("gcjcp")
    #expect(pty.waitUntil { $0.text.contains("PAUSED") })
    #expect(comesToRest(pty))
    pty.send("qq")
    #expect(pty.waitUntil { $0.ending == .exited(3) })
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func aRunThatIsDrainedBeforeAnythingBegins() throws {
    try place.write(
      "slots: 1\njobs: { first: { run: 'while [ ! -e go ]; do sleep 0.02; done' }, second: { run: 'true', needs: [first] } }",
      to: "drain.yml")
    let pty = try place.pty("run", "drain.yml")
    #expect(pty.waitUntil { $0.text.contains("━━━") })
    pty.send("P")
    #expect(pty.waitUntil { $0.text.contains("DRAIN") })
    try place.write("", to: "go")
    #expect(pty.waitUntil { $0.text.contains("draining") })
    #expect(comesToRest(pty))
    pty.send("P")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
  }
}
