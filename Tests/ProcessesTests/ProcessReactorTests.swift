import CProcess
import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// What a process has told its delegate.
private final class Listener: ChildDelegate {
  struct Heard {
    var pid: pid_t = 0
    var bytes: [ProcessStream: Int] = [:]
    var said = ""
    /// What is to be called for each chunk that is held.
    var chunks: [ProcessStream: [@Sendable () -> Void]] = [:]
    var exits: [ProcessExit] = []
  }

  let heard = Lock(Heard())
  private let held: [ProcessStream]

  init(held: [ProcessStream]) { self.held = held }

  func childBegan(_ pid: pid_t) { heard.withLock { $0.pid = pid } }

  func childWrote(_ bytes: [UInt8], to stream: ProcessStream, consumed: @escaping @Sendable () -> Void) {
    heard.withLock { heard in
      heard.bytes[stream, default: 0] += bytes.count
      if stream == .stdout { heard.said += String(decoding: bytes.prefix(1000), as: UTF8.self) }
      heard.chunks[stream, default: []].append(consumed)
    }
    if !held.contains(stream) { consumed() }
  }

  func childStopped(by signal: Int32?) {}
  func childEnded(_ exit: ProcessExit) { heard.withLock { $0.exits.append(exit) } }
}

/// A small process, with commands straight to the reactor of all processes.
private final class Program: Sendable {
  let pid: pid_t
  private let number: UInt64
  private let heard: Lock<Listener.Heard>

  /// Starts a script; the chunks of the streams in `held` are consumed by `consume` only.
  init(
    _ script: String, grace: Duration = ProcessLaunch.endlessGrace, remoteGrace: Duration? = nil,
    held: [ProcessStream] = []
  ) throws {
    let listener = Listener(held: held)
    heard = listener.heard
    var launch = ProcessLaunch(["/bin/sh", "-c", script], grace: grace)
    launch.remoteGrace = remoteGrace
    number = try ProcessSupervisor.shared.launch(launch, delegate: listener)
    pid = heard.withLock(\.pid)
  }

  func send(_ command: ProcessReactor.Command) { ProcessSupervisor.shared.reactor.send(command, to: number) }

  /// Consumes a chunk of a stream, the first by default.
  func consume(_ stream: ProcessStream, chunk: Int = 1) {
    let consumed = heard.withLock { heard in (heard.chunks[stream] ?? []).prefix(chunk).last }
    consumed?()
  }

  func chunks(_ stream: ProcessStream) -> Int { heard.withLock { $0.chunks[stream]?.count ?? 0 } }
  func bytes(_ stream: ProcessStream) -> Int { heard.withLock { $0.bytes[stream] ?? 0 } }

  /// The lines of its standard output.
  var lines: [String] { heard.withLock { $0.said.split(separator: "\n").map(String.init) } }
  func says(_ lines: [String]) -> Bool { eventually { self.lines == lines } }

  var exits: [ProcessExit] { heard.withLock(\.exits) }

  /// How it ends; nil if it does not.
  func end() -> ProcessExit? {
    _ = eventually { !exits.isEmpty }
    return exits.first
  }

  /// Kills it and takes what it has written, after a test whose program goes on.
  func abandon() {
    kill(pid, SIGKILL)
    let isOver = eventually {
      for stream in ProcessStream.allCases { consume(stream, chunk: chunks(stream)) }
      return !exits.isEmpty
    }
    #expect(isOver && exits == [.signalled(SIGKILL)])
  }
}

@Suite struct ProcessReactorTests {
  /// Says "C" when it is continued, and does `trap` at its stop signal.
  private static func trapping(_ trap: String) -> String {
    "trap '\(trap)' TERM; trap 'echo C' CONT; echo up; while :; do sleep 1; done"
  }

  // MARK: Output

  @Test func allOutputIsRead() throws {
    let program = try Program("head -c 30000000 /dev/zero; exit 3")
    #expect(program.end() == .exited(3))
    #expect(program.bytes(.stdout) == 30_000_000)
  }

  @Test func aStreamThatIsNotConsumedHoldsNoOtherUp() throws {
    let program = try Program(
      "head -c 300000 /dev/zero & head -c 300000 /dev/zero >&2; wait", held: [.stdout])
    #expect(eventually { program.bytes(.stderr) == 300_000 })
    #expect(eventually { program.chunks(.stdout) == 1 } && program.exits == [])
    let isOver = eventually {
      program.consume(.stdout, chunk: program.chunks(.stdout))
      return !program.exits.isEmpty
    }
    #expect(isOver && program.bytes(.stdout) == 300_000)
    #expect(program.exits == [.exited(0)])
  }

  /// Commands take effect in their order: a new chunk of one stream tells that the command before it has been obeyed.
  @Test func aChunkIsConsumedOnce() throws {
    let program = try Program(
      "head -c 300000 /dev/zero & head -c 300000 /dev/zero >&2; wait", held: [.stdout, .stderr])
    #expect(eventually { program.chunks(.stdout) == 1 && program.chunks(.stderr) == 1 })
    program.consume(.stdout)
    #expect(eventually { program.chunks(.stdout) == 2 })
    program.consume(.stdout)
    program.consume(.stderr)
    #expect(eventually { program.chunks(.stderr) == 2 })
    #expect(program.chunks(.stdout) == 2)
    program.abandon()
  }

  /// The end of another process, whose descendant gets time to write, tells that the time for this one's output is over.
  @Test func theEndWaitsUntilTheLastChunkIsConsumed() throws {
    let program = try Program("echo last", held: [.stdout])
    #expect(eventually { program.chunks(.stdout) == 1 && ProcessTable.state(of: program.pid) == "Z" })
    let later = try Program("sleep 3600 & exit 4")
    #expect(later.end() == .exited(4))
    #expect(program.exits == [])
    program.consume(.stdout)
    #expect(program.end() == .exited(0))
  }

  /// As above, but a process that no scan finds keeps the pipe open, which then reports nothing more.
  @Test func aStrangerWithThePipeDoesNotHoldUpTheEnd() throws {
    let program = try Program(
      """
      env -i setsid sleep 3600 &
      until read -r name </proc/$!/comm && [ "$name" = sleep ]; do :; done
      echo $!; exit 3
      """, held: [.stdout])
    #expect(eventually { program.chunks(.stdout) == 1 && ProcessTable.state(of: program.pid) == "Z" })
    let stranger = try #require(program.lines.first.flatMap { pid_t($0) })
    defer { kill(stranger, SIGKILL) }
    let later = try Program("sleep 3600 & exit 4")
    #expect(later.end() == .exited(4))
    #expect(program.exits == [])
    program.consume(.stdout)
    #expect(program.end() == .exited(3))
    #expect(ProcessTable.isAlive(stranger))
  }

  /// The poller refuses descriptors that it watches already, as it refuses all of them above the system's limit.
  @Test func aChildThatThePollerRefusesIsReadAndEnds() throws {
    let registry = ProcessRegistry()
    let reactor = ProcessReactor(
      registry: registry, processScan: ProcessScan(registry: registry, cookie: ProcessTable.marker()))
    var spawned = Processes.ChildProcess.Spawned()
    for failure in [spawned.stdout.open(), spawned.stderr.open()] { try #require(failure == 0) }
    let script = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; exit 3"
    let leader = try Support.ChildProcess(
      ["sh", "-c", script], descriptors: [0, spawned.stdout.writer, spawned.stderr.writer])
    spawned.process = cprocess_child(pid: leader.pid, descriptor: cprocess_open(leader.pid), slot: nil)
    let listener = Listener(held: [])
    func child(_ number: UInt64) -> Processes.ChildProcess {
      Processes.ChildProcess(
        number: number, spawned, launch: ProcessLaunch(["sh"]), launchedAt: 0, delegate: listener)
    }
    reactor.watch(child(.max >> 2))
    let refused = child(try #require(registry.beginLaunch()))
    registry.register(refused)
    reactor.watch(refused)
    #expect(eventually { listener.heard.withLock { !$0.exits.isEmpty } })
    let heard = listener.heard.withLock { $0 }
    #expect(heard.exits == [.exited(3)] && heard.bytes == [.stdout: 300_000, .stderr: 300_000])
  }

  // MARK: Stopping

  @Test func aPausedProgramGetsItsStopSignal() throws {
    let program = try Program("exec sleep 3600")
    program.send(.pause)
    #expect(eventually { ProcessTable.isStopped(program.pid) })
    program.send(.stop)
    #expect(program.end() == .signalled(SIGTERM))
  }

  @Test func aSecondStopIsNone() throws {
    let program = try Program(Self.trapping("echo T"))
    #expect(program.says(["up"]))
    program.send(.stop)
    #expect(program.says(["up", "T", "C"]))
    program.send(.stop)
    program.send(.resume)
    #expect(program.says(["up", "T", "C", "C"]))
    program.abandon()
  }

  @Test func aProgramThatIsBeingStoppedIsNotPaused() throws {
    // The shell itself must not wait until what it says of a child is read.
    let writer = "(trap '' TERM; exec head -c 300000 /dev/zero >&2) & exec 2>/dev/null; "
    let program = try Program(writer + Self.trapping("echo T"), held: [.stderr])
    #expect(program.says(["up"]) && eventually { program.chunks(.stderr) == 1 })
    program.send(.stop)
    #expect(program.says(["up", "T", "C"]))
    program.send(.pause)
    // What was in the pipe is read after the pause has been refused.
    program.consume(.stderr)
    #expect(eventually { program.chunks(.stderr) == 2 })
    #expect(ProcessTable.state(of: program.pid) != "T")
    program.abandon()
  }

  @Test(arguments: [.zero, .seconds(-1), .milliseconds(10)] as [Duration])
  func afterTheGraceAProgramIsKilled(grace: Duration) throws {
    let program = try Program("trap '' TERM; echo up; while :; do sleep 1; done", grace: grace)
    #expect(program.says(["up"]))
    program.send(.stop)
    #expect(program.end() == .signalled(SIGKILL))
  }

  private static let hasPython = Shell("python3 -c ''").run().exit == .exited(0)

  /// A tracer that asks to be told of the end of a process, and does not listen, holds that process in its end.
  @Test(.enabled(if: hasPython, "python3 traces the process"))
  func whatCannotBeKilledIsAbandoned() throws {
    let program = try Program("sleep 3600 & echo $!; wait")
    #expect(eventually { program.lines.count == 1 })
    let descendant = try #require(program.lines.first.flatMap { pid_t($0) })
    let tracer = try Program(
      """
      exec python3 -c 'import ctypes, signal
      ptrace = ctypes.CDLL(None).ptrace
      ptrace.argtypes = [ctypes.c_long] * 4
      print(ptrace(0x4206, \(descendant), 0, 0x40), flush=True)
      signal.pause()'
      """)
    #expect(tracer.says(["0"]))
    program.send(.kill)
    #expect(program.end() == .signalled(SIGKILL))
    #expect(ProcessTable.state(of: descendant) == "t")
    tracer.send(.kill)
    #expect(tracer.end() == .signalled(SIGKILL))
    #expect(eventually { !ProcessTable.isAlive(descendant) })
  }

  /// A debugger learns of the end first, and the parent when the debugger has waited for the process or ends.
  @Test(.enabled(if: hasPython, "python3 traces the process"))
  func anEndThatADebuggerHoldsBackIsSeenLater() throws {
    let program = try Program("exec sleep 3600")
    let tracer = try Program(
      """
      exec python3 -c 'import ctypes, signal
      ptrace = ctypes.CDLL(None).ptrace
      ptrace.argtypes = [ctypes.c_long] * 4
      print(ptrace(0x4206, \(program.pid), 0, 0), flush=True)
      signal.pause()'
      """)
    #expect(tracer.says(["0"]))
    kill(program.pid, SIGKILL)
    #expect(eventually { ProcessTable.state(of: program.pid) == "Z" })
    // After a later end, the reactor has had the event of this one.
    let later = try Program("exit 4")
    #expect(later.end() == .exited(4))
    #expect(program.exits == [])
    tracer.send(.kill)
    #expect(tracer.end() == .signalled(SIGKILL))
    #expect(program.end() == .signalled(SIGKILL))
  }

  @Test func aGraceIsThatOfItsProgram() throws {
    let patient = try Program(Self.trapping("echo T"))
    let hasty = try Program(Self.trapping("echo T"), grace: .milliseconds(10))
    for program in [patient, hasty] {
      #expect(program.says(["up"]))
      program.send(.stop)
    }
    #expect(hasty.end() == .signalled(SIGKILL))
    #expect(patient.says(["up", "T", "C"]) && patient.exits == [])
    patient.abandon()
    #expect(hasty.exits.count == 1)
  }

  // MARK: What has something on other machines

  @Test func aKillLetsAProgramEndWhatItHasElsewhere() throws {
    let program = try Program(Self.trapping("exit 4"), remoteGrace: ProcessLaunch.endlessGrace)
    #expect(program.says(["up"]))
    program.send(.kill)
    #expect(program.end() == .exited(4))
  }

  @Test func aSecondKillDoesNotShortenThat() throws {
    let program = try Program(Self.trapping("echo T"), remoteGrace: ProcessLaunch.endlessGrace)
    #expect(program.says(["up"]))
    program.send(.kill)
    #expect(program.says(["up", "T", "C"]))
    program.send(.kill)
    program.send(.resume)
    #expect(program.says(["up", "T", "C", "C"]))
    program.abandon()
  }

  @Test func thenItIsKilled() throws {
    let program = try Program("trap '' TERM; echo up; while :; do sleep 1; done", remoteGrace: .milliseconds(10))
    #expect(program.says(["up"]))
    program.send(.kill)
    #expect(program.end() == .signalled(SIGKILL))
  }

  // MARK: Times

  @Test func theNextCheckForStoppedProgramsIsTwoSecondsLater() {
    #expect(ProcessReactor.stopCheck(after: 5) == 2_000_000_005)
  }

  @Test func whileAnEndedChildStaysOrphansAreLookedForLessOften() {
    let second: UInt64 = 1_000_000_000
    #expect(ProcessReactor.reapInterval(after: second, isInVain: true) == 2 * second)
    #expect(ProcessReactor.reapInterval(after: 64 * second, isInVain: true) == 64 * second)
    #expect(ProcessReactor.reapInterval(after: 64 * second, isInVain: false) == second)
  }

  @Test(
    arguments: [
      (.seconds(-1), 0), (.nanoseconds(-1), 0), (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1500), 1_500_000_000),
      (.seconds(1_000_000_000), 1_000_000_000_000_000_000), (.seconds(1_000_000_001), 1_000_000_000_000_000_000),
    ] as [(Duration, UInt64)])
  func aTimeInNanosecondsIsNeitherNegativeNorTooLong(time: Duration, nanoseconds: UInt64) {
    #expect(time.nanoseconds == nanoseconds)
  }
}
