import CProcess
import Foundation

/// Follows one launch; the reactor's thread calls it, except for `childBegan`.
protocol ChildDelegate: AnyObject, Sendable {
  /// The program has begun; called on the thread that starts it.
  func childBegan(_ pid: pid_t)
  /// The next chunk of a stream, which continues once `consumed` was called, from any thread.
  func childWrote(_ bytes: [UInt8], to stream: ProcessStream, consumed: @escaping @Sendable () -> Void)
  /// The signal that has stopped the leader, and nil when the leader continues: up to two seconds late.
  func childStopped(by signal: Int32?)
  /// The leader and its descendants have ended; no other call follows.
  func childEnded(_ exit: ProcessExit)
}

/// The processes of one launch: the leader, which was started, and its descendants.
final class ChildProcess: @unchecked Sendable {
  // Safe: `guardianSlot` is written once, under the registry's lock, before the reactor knows the child; the other
  // variables are used on the reactor's thread only.

  enum Phase: Equatable {
    case running
    /// The leader has ended; its descendants may still write output.
    case draining
    /// The stop signal has been sent.
    case stopping
    /// SIGKILL has been sent this many times.
    case killing(times: Int)
    /// All processes have ended, but output is being handled, or an unrelated process holds the pipe open.
    case closing
    /// The delegate has been notified of the end.
    case over
  }

  /// A leader that has just been started.
  struct Spawned {
    var process = cprocess_child()
    /// A time just before the start, as in `cprocess_info`: no descendant started earlier.
    var startTime: UInt64 = 0
    var stdout = OutputPipe()
    var stderr = OutputPipe()
  }

  let number: UInt64
  let process: cprocess_child
  let startTime: UInt64
  let launch: ProcessLaunch
  let delegate: any ChildDelegate
  var guardianSlot = -1
  var stdout: OutputReader
  var stderr: OutputReader
  var phase = Phase.running
  /// Whether SIGTERM was sent, so that the program ends its remote processes before it is killed.
  var isEndingRemotes = false
  /// Whether the job was paused by command and not resumed.
  var isPaused = false
  /// How the leader ended.
  var exit: ProcessExit?
  /// The pidfds of descendants that have outlived the leader.
  var survivorDescriptors: [Int32] = []
  /// The sessions that have received the stop signal: processes started in them later are cleaning up.
  var stoppedSessions: Set<pid_t> = []
  /// The time until the next scan for processes that have left these sessions.
  var scanInterval: UInt64 = 0
  /// The number of consecutive doubtful scans.
  var doubts = 0
  let launchedAt: UInt64

  init(
    number: UInt64, _ spawned: Spawned, launch: ProcessLaunch, launchedAt: UInt64, delegate: any ChildDelegate
  ) {
    self.number = number
    process = spawned.process
    startTime = spawned.startTime
    self.launch = launch
    self.launchedAt = launchedAt
    stdout = OutputReader(spawned.stdout)
    stderr = OutputReader(spawned.stderr)
    self.delegate = delegate
  }

  var pid: pid_t { process.pid }
  /// The leader's pidfd.
  var leaderDescriptor: Int32 { process.descriptor }

  subscript(stream: ProcessStream) -> OutputReader {
    get { stream == .stdout ? stdout : stderr }
    _modify { if stream == .stdout { yield &stdout } else { yield &stderr } }
  }

  /// Signals the group.
  ///
  /// The group's number is not reused meanwhile: the leader is reaped last.
  func signalGroup(_ signal: Int32) { _ = kill(-pid, signal) }

  /// Whether a stop of the leader would have a cause other than this program.
  var mayStop: Bool { exit == nil && !isPaused }

  var isHeld: Bool { stdout.isHeld || stderr.isHeld }
  var hasOutput: Bool { stdout.isOpen || stderr.isOpen }

  func closeOutput() {
    stdout.close()
    stderr.close()
  }

  func closeSurvivorDescriptors() {
    for descriptor in survivorDescriptors { _ = close(descriptor) }
    survivorDescriptors.removeAll()
  }
}
