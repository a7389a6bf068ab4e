import Foundation
import Support
import Testing

/// What random rounds have found, each by itself.
struct SoakFindingTests {
  private let place: Workplace
  private let marker = ProcessTable.marker()

  init() throws {
    place = try Workplace.napping(with: marker)
  }

  /// The thread sanitizer calls the handler of SIGABRT at once, even while the thread holds a lock of the sanitizer, for
  /// which the handler then waits.
  private static let signals = FaultHandling.isThreadSanitized ? [SIGKILL, SIGUSR1] : [SIGKILL, SIGABRT, SIGUSR1]

  /// Curses changes the modes some milliseconds before it writes anything.
  @Test(arguments: ["tui", "inline"], signals)
  func aSignalInTheMomentInWhichTheModesChangeRestoresThem(_ interface: String, _ signal: Int32) throws {
    for _ in 1...3 {
      let pty = try place.pty(words: ["run", "nap.yml", "--ui", interface])
      let modes = pty.initialModeNumbers
      let end = Date(timeIntervalSinceNow: Patience.seconds)
      // Without a pause, to be early enough.
      while pty.modeNumbers == modes, Date() < end {}
      kill(pty.child.pid, signal)
      #expect(pty.waitUntil { $0.ending == .signalled(signal) })
      #expect(pty.waitUntil { $0.modeNumbers == modes && $0.leftModes == [] }, "left on: \(pty.leftModes)")
    }
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
  }

  /// The restoration waits for a reader, the modes come first.
  @Test(arguments: ["tui", "inline"])
  func aKillInTheMiddleOfARestorationLeavesTheRestToTheGuardian(_ interface: String) throws {
    let cursorOff = 25
    // The restoration gives up after a tenth of a second: on a busy machine some kills come too late.
    let isInTheMiddle = try eventually {
      let pty = try place.pty(words: ["run", "nap.yml", "--ui", interface])
      let modes = pty.initialModeNumbers
      #expect(pty.waitUntil { $0.modeNumbers != modes && $0.leftModes.contains(cursorOff) })
      pty.clog()
      kill(pty.child.pid, SIGABRT)
      #expect(eventually { pty.modeNumbers == modes })
      kill(pty.child.pid, SIGKILL)
      #expect(pty.waitUntil { $0.ending != nil })
      #expect(pty.waitUntil { $0.leftModes == [] }, "left on: \(pty.leftModes)")
      #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
      #expect(pty.ending == .signalled(SIGKILL) || pty.ending == .signalled(SIGABRT))
      return pty.ending == .signalled(SIGKILL)
    }
    #expect(isInTheMiddle)
  }

  /// A child that is being started is a copy of the program until it executes its own.
  @Test func aChildThatIsBeingStartedIsNotTakenForTheProgram() throws {
    let jobs = (1...150).map { "  job\($0): { run: [\"true\"] }\n" }.joined()
    try place.write("slots: 4\njobs:\n\(jobs)", to: "many.yml")
    let run = try place.start("run", "many.yml", "--ui", "quiet")
    var wrong: Set<pid_t> = []
    while run.checkEnding() == nil {
      let program = ProcessTable.program(of: run.child.pid)
      if program != run.child.pid { wrong.insert(program) }
    }
    #expect(wrong.isEmpty)
    #expect(run.ending() == .exited(0))
  }
}
