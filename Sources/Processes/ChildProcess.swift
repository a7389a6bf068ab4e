import CProcess
import Foundation

/// One job's processes, from the launch to the end of the last one.
///
/// Everything but the constants is touched on the reactor's thread alone.
final class ChildProcess: @unchecked Sendable {
  // Safe: `guardianSlot` is written once, under the registry's lock, before the reactor hears of the child; the other
  // variables belong to the reactor's thread.

  /// How far the end of the job has come.
  enum Phase: Equatable {
    /// Nobody has asked for the end.
    case running
    /// The leader has ended; what it left may still write its last words.
    case draining
    /// The stop signal has been sent.
    case stopping
    /// SIGKILL has been sent, this often.
    case killing(times: Int)
    /// Of the job nobody is left, but a stranger holds its output open.
    case lettingGo
    /// All is told.
    case over
  }

  let number: UInt64
  let process: cprocess_child
  let launch: ProcessLaunch
  /// The file that the program is in.
  let program: String
  let output: @Sendable (ProcessStream, [UInt8], @escaping @Sendable () -> Void) -> Void
  let ended: @Sendable (Result<ProcessExit, ProcessError>) -> Void
  var guardianSlot = -1
  var stdout: OutputReader
  var stderr: OutputReader
  var phase = Phase.running
  /// How the leader ended, or why its program never began.
  var exit: Result<ProcessExit, ProcessError>?
  /// What tells of the ends of those that the leader left.
  var survivorDescriptors: [Int32] = []
  /// The sessions that were there when the stop signal was sent: what is started in them since cleans up.
  var askedSessions: Set<pid_t> = []
  /// When those that got away are looked for next.
  var lookInterval: UInt64 = 0
  /// How often in a row nobody could say whether anything is left.
  var doubts = 0
  let launchedAt: UInt64

  init(
    number: UInt64, process: cprocess_child, launch: ProcessLaunch, program: String, launchedAt: UInt64,
    stdout: OutputReader, stderr: OutputReader,
    output: @escaping @Sendable (ProcessStream, [UInt8], @escaping @Sendable () -> Void) -> Void,
    ended: @escaping @Sendable (Result<ProcessExit, ProcessError>) -> Void
  ) {
    self.number = number
    self.process = process
    self.launch = launch
    self.program = program
    self.launchedAt = launchedAt
    self.stdout = stdout
    self.stderr = stderr
    self.output = output
    self.ended = ended
  }

  var pid: pid_t { process.pid }
  /// What tells of the leader's end; -1 where the system needs none.
  var leaderDescriptor: Int32 { process.descriptor }

  /// The reader of a stream.
  subscript(stream: ProcessStream) -> OutputReader {
    get { stream == .stdout ? stdout : stderr }
    _modify { if stream == .stdout { yield &stdout } else { yield &stderr } }
  }

  /// Signals the group.
  ///
  /// Safe against a reused number: the leader is reaped last of all, so the number is the group's own.
  func signalGroup(_ signal: Int32) {
    // Before its program begins the leader may not have made the group yet.
    withUnsafePointer(to: process) { cprocess_await_program($0) }
    if kill(-pid, signal) != 0, exit == nil { _ = kill(pid, signal) }
  }

  /// Why the program never began, if it didn't; asked once, after the leader's end.
  func launchFailure() -> ProcessError? {
    let failure = withUnsafePointer(to: process) { cprocess_failure($0) }
    return failure == 0 ? nil : .launching(program, launch, failedWith: failure)
  }

  var isHeld: Bool { stdout.isHeld || stderr.isHeld }
  var hasOutput: Bool { stdout.isOpen || stderr.isOpen }

  func closeWriters() {
    stdout.closeWriter()
    stderr.closeWriter()
  }

  func closeOutput() {
    stdout.close()
    stderr.close()
  }

  func closeSurvivorDescriptors() {
    for descriptor in survivorDescriptors { _ = close(descriptor) }
    survivorDescriptors.removeAll()
  }
}
