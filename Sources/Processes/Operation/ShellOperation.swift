import Foundation
import Operations
import Synchronization

/// Runs a program in its own session and process group, and finishes when every process of that job has ended.
///
/// The result is the exit of the program and the collected output. The operation fails with a `ShellFailure` if the
/// exit is not an accepted one (0 by default), with a `ProcessError` if the program could not be started or wrote too
/// much, and with a `CancellationError` if it was cancelled, regardless of the exit.
///
/// Processes that the program leaves behind get the stop signal, then SIGKILL: none outlives the operation. Cancelling
/// sends the stop signal to the group, and SIGKILL when the grace is over.
public final class ShellOperation: ResultOperation<ShellResult>, ControllableOperation, ChildDelegate,
  @unchecked Sendable
{
  // Safe: the lock guards the state, and only the thread of all processes uses the sinks and the masks.

  private enum Phase {
    case waiting(isPaused: Bool)
    /// The check before the start is in progress.
    case checking(isPaused: Bool)
    /// Executing, but paused before the program was started; `resume()` starts it.
    case held
    case launching(asked: [ProcessReactor.Command])
    case launched(number: UInt64)
  }

  private struct State {
    var phase = Phase.waiting(isPaused: false)
    var processIdentifier: Int32?
    var exit: ProcessExit?
    /// The reason that the program was stopped: it has written too much.
    var excess: ProcessError?
    var mustKill = false
    /// The signal from elsewhere that has stopped the program.
    var stopSignal: Int32?
    /// Nil once it has begun.
    var check: OutputCheck?
    var isUpToDate = false
    /// The size of the terminal that the program is started with; nil without a terminal.
    var terminal: TerminalSize?
  }

  /// A step carried out outside the lock.
  private enum Step {
    case check(OutputCheck)
    case launch
    case finish(Outcome)
  }

  private let launch: ProcessLaunch
  private let accepted: AcceptedExits
  private let shellOutput: ShellOutput?
  /// The deliveries of the streams whose lines are passed to closures.
  private let deliveries: [LineDelivery]
  private let check: OutputCheck?
  private var standardOutput: OutputSink
  private var standardError: OutputSink
  /// The masks of both streams, if the launch has secrets.
  private var outputMask: SecretMask.Stream?
  private var errorMask: SecretMask.Stream?
  private let process = Lock(State())

  /// Creates an operation from a launch, for programs that need another stop signal or grace than the default.
  ///
  /// Output that goes to the log becomes lines, in order, each cut at 4 KiB. A redrawn line, usually one with a
  /// carriage return, is logged as a terminal would show it. Progress in the format of a well-known tool is reported: a
  /// redrawn `42%`, or `[3/8]` at the beginning of lines. Reading from a stream continues only while observers of the
  /// log have at most 16 chunks of 64 KiB to handle. All lines come before the end.
  ///
  /// The operation's name is the command; set another one to change it.
  public convenience init(
    _ launch: ProcessLaunch, output: ProcessOutput = .log, error: ProcessOutput? = .log,
    accepting accepted: AcceptedExits = .success
  ) {
    var launch = launch
    launch.mergesError = error == nil
    let log = ShellOutput(file: nil, progress: nil, clock: .system)
    self.init(
      launch, OutputSink(output, log, keepsEnd: false), OutputSink(error ?? .discarded, log, keepsEnd: true),
      accepting: accepted)
    name = launch.commandLine
  }

  /// Creates an operation that sends all output to the log, and keeps its first `logLimit` bytes in a file at
  /// `logPath`.
  ///
  /// The file is created at the first byte. Lines that match the regular expression `progress`, with one group (a
  /// percentage) or two (done, total), report progress instead of the formats of well-known tools. `watches` search the
  /// lines. If `check` finds nothing to do, the program is not started, and the operation succeeds. Unless
  /// `keepsShortLog`, no file is created for up to 4 KiB of output if the program succeeds and the lines of the log
  /// contain every byte.
  package convenience init(
    _ launch: ProcessLaunch, logPath: String?, logLimit: Int = LogFile.defaultLimit, keepsShortLog: Bool = true,
    progress: String?, watches: [OutputWatch] = [], check: OutputCheck? = nil, clock: any OperationClock = .system
  ) {
    let log = ShellOutput(
      file: logPath.map { LogFile(path: $0, limit: logLimit) }, keepsShort: keepsShortLog, progress: progress,
      watches: watches, clock: clock)
    self.init(launch, .log(log, end: nil), .log(log, end: nil), accepting: .success, check: check)
  }

  private init(
    _ launch: ProcessLaunch, _ standardOutput: OutputSink, _ standardError: OutputSink,
    accepting accepted: AcceptedExits, check: OutputCheck? = nil
  ) {
    self.launch = launch
    self.check = check
    self.accepted = accepted
    self.standardOutput = standardOutput
    self.standardError = standardError
    outputMask = launch.secrets.map(SecretMask.Stream.init)
    errorMask = outputMask
    shellOutput = standardOutput.log ?? standardError.log
    deliveries = [standardOutput.lines, standardError.lines].compactMap(\.self)
    process.withLock { process in
      process.check = check
      process.terminal = launch.terminal
    }
  }

  /// The number of the program's process, which leads the group; nil before it was started, kept after its end.
  public var processIdentifier: Int32? { process.withLock(\.processIdentifier) }

  /// Whether the program was not started because the check before the start found nothing to do.
  package var isUpToDate: Bool { process.withLock(\.isUpToDate) }

  /// How the program ended, even if the operation was cancelled or failed; nil before, and if it was not started.
  public var exit: ProcessExit? { process.withLock(\.exit) }

  /// Starts the program; the queue calls it.
  public override func main() {
    let step = process.withLock { process -> Step? in
      guard case .waiting(let isPaused) = process.phase else { return .launch }
      if !isPaused { return nextStep(&process) }
      process.phase = .held
      return nil
    }
    perform(step)
  }

  /// Begins the check or, after it, the start of the program; called under the lock.
  private func nextStep(_ process: inout State) -> Step {
    if let check = process.check.take() {
      process.phase = .checking(isPaused: false)
      return .check(check)
    }
    process.phase = .launching(asked: [])
    return .launch
  }

  private func perform(_ step: Step?) {
    switch step {
    case .check(let check):
      Self.checks().async { self.checked(check.begin { self.isCancelled }) }
    case .launch: start(launch)
    case .finish(let outcome): finish(outcome)
    case nil: break
    }
  }

  /// Not a global queue: once used, dispatch's global pool wakes every second to count its threads.
  private static func checks() -> DispatchQueue { DispatchQueue(label: "opdash.check", qos: .userInitiated) }

  private func checked(_ answer: OutputCheck.Answer) {
    if !isCancelled { log(note: answer.note) }
    let step = process.withLock { process -> Step? in
      // A cancellation from here on finds the program launching or the operation held.
      if isCancelled { return .finish(.failure(CancellationError())) }
      if answer.isUpToDate {
        process.isUpToDate = true
        return .finish(.success(ShellResult()))
      }
      guard case .checking(isPaused: true) = process.phase else { return nextStep(&process) }
      process.phase = .held
      return nil
    }
    perform(step)
  }

  private func log(note: String?) {
    if let note { log([OperationLogLine(text: note, source: .note)]) }
  }

  private func start(_ launch: ProcessLaunch) {
    var launch = launch
    launch.terminal = process.withLock(\.terminal)
    do throws(ProcessError) {
      let number = try ProcessSupervisor.shared.launch(launch, delegate: self)
      // Sent under the lock, like every later command, so that none overtakes another.
      process.withLock { process in
        if case .launching(let commands) = process.phase {
          for command in commands { ProcessSupervisor.shared.reactor.send(command, to: number) }
        }
        process.phase = .launched(number: number)
      }
    } catch {
      finish(.failure(error))
    }
  }

  func childBegan(_ pid: pid_t) {
    process.withLock { $0.processIdentifier = pid }
    post(.launched(pid: pid))
  }

  func childWrote(_ bytes: [UInt8], to stream: ProcessStream, consumed: @escaping @Sendable () -> Void) {
    let masked: [UInt8]
    switch stream {
    case .stdout: masked = outputMask?.mask(bytes) ?? bytes
    case .stderr: masked = errorMask?.mask(bytes) ?? bytes
    }
    if masked.isEmpty { consumed() } else { give(masked, from: stream, consumed: consumed) }
  }

  /// Passes on the output that the masks held back.
  private func endMasks() {
    for (stream, bytes) in [(ProcessStream.stdout, outputMask?.end()), (.stderr, errorMask?.end())] {
      if let bytes, !bytes.isEmpty { give(bytes, from: stream) {} }
    }
  }

  private func give(_ bytes: [UInt8], from stream: ProcessStream, consumed: @escaping @Sendable () -> Void) {
    switch stream {
    case .stdout: standardOutput.take(bytes, from: stream, for: self, consumed: consumed, tooLong: stop)
    case .stderr: standardError.take(bytes, from: stream, for: self, consumed: consumed, tooLong: stop)
    }
  }

  /// Stops the program because of `fault`: it has written more than it may.
  private func stop(because fault: String) {
    let error = ProcessError(.outputTooLong, "\(launch.programName): \(fault)")
    process.withLock { process in
      guard process.excess == nil else { return }
      process.excess = error
      ask(.stop, &process)
    }
  }

  func childEnded(_ exit: ProcessExit) {
    process.withLock { $0.exit = exit }
    endMasks()
    let result = ShellResult(
      exit: exit, standardOutput: standardOutput.collected(), standardError: standardError.collected())
    (standardOutput, standardError) = (.discarded, .discarded)
    afterOutput(0, of: result) {
      let outcome = self.outcome(of: result)
      guard let check = self.check, case .success = outcome else { return self.finish(outcome) }
      Self.checks().async {
        self.log(note: check.end())
        self.finish(outcome)
      }
    }
  }

  /// Calls `body` once all output has been logged or passed to its closures.
  private func afterOutput(_ number: Int, of result: ShellResult, _ body: @escaping @Sendable () -> Void) {
    if number < deliveries.count {
      deliveries[number].finish { self.afterOutput(number + 1, of: result, body) }
    } else if let shellOutput {
      let hasSucceeded = if case .success = outcome(of: result) { true } else { false }
      shellOutput.finish(for: self, hasSucceeded: hasSucceeded, body)
    } else {
      body()
    }
  }

  private func outcome(of result: ShellResult) -> Outcome {
    if isCancelled { return .failure(CancellationError()) }
    if let excess = process.withLock(\.excess) { return .failure(excess) }
    if accepted.contains(result.exit) { return .success(result) }
    return .failure(ShellFailure(program: launch.programName, result: result))
  }

  /// Posts that something other than `pause()` has stopped the program, often the program itself, or that it continues.
  func childStopped(by signal: Int32?) {
    let isNew = process.withLock { exchange(&$0.stopSignal, with: signal) != signal }
    if isNew { post(signal.map(OperationEvent.stopped) ?? .continued) }
  }

  /// Sends the stop signal; the queue calls it.
  public override func didCancel() {
    let isHeld = process.withLock { process in
      if case .held = process.phase { return true }
      ask(process.mustKill ? .kill : .stop, &process)
      return false
    }
    if isHeld { finish(.failure(CancellationError())) }
  }

  /// Cancels the operation, and kills every process of the job at once, including processes that left its group.
  public func kill() {
    process.withLock { $0.mustKill = true }
    cancel()
    process.withLock { ask(.kill, &$0) }
  }

  /// Stops every process of the job until `resume()`; before the start, keeps the program from being started.
  ///
  /// Has no effect once the operation is cancelled.
  public func pause() {
    process.withLock { process in
      switch process.phase {
      case .waiting: process.phase = .waiting(isPaused: true)
      case .checking: process.phase = .checking(isPaused: true)
      case .held, .launching, .launched: ask(.pause, &process)
      }
    }
  }

  /// Ends a pause.
  public func resume() {
    let step = process.withLock { process -> Step? in
      switch process.phase {
      case .waiting: process.phase = .waiting(isPaused: false)
      case .checking: process.phase = .checking(isPaused: false)
      case .held where !isCancelled: return nextStep(&process)
      case .held: break
      case .launching, .launched: ask(.resume, &process)
      }
      return nil
    }
    perform(step)
  }

  /// Sets the size of the program's terminal; the kernel notifies the program by SIGWINCH.
  ///
  /// Callable from any thread. Before the start, sets the initial size. Has no effect on a program without a terminal,
  /// and after the end.
  public func resizeTerminal(to size: TerminalSize) {
    process.withLock { process in
      guard process.terminal != nil else { return }
      process.terminal = size
      ask(.resize(size), &process)
    }
  }

  /// Called under the lock.
  private func ask(_ command: ProcessReactor.Command, _ process: inout State) {
    switch process.phase {
    case .waiting, .checking, .held: break
    case .launching(let commands): process.phase = .launching(asked: commands + [command])
    case .launched(let number): ProcessSupervisor.shared.reactor.send(command, to: number)
    }
  }
}
