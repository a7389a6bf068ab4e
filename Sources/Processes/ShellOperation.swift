import Foundation
import Operations
import Synchronization

/// Runs a program in a session and process group of its own, and finishes when every process of that job has ended.
///
/// The result is the exit of the program itself, also after a cancellation, or a `ProcessError` if it could not be started.
/// Processes that the program leaves behind get the stop signal, then SIGKILL: none outlives the operation. Cancelling sends
/// the stop signal to the group, and SIGKILL when the grace is over.
public final class ShellOperation: ResultOperation<ProcessExit>, ControllableOperation, @unchecked Sendable {
  // Safe: the only mutable state is behind the lock.

  /// A piece of output; the next piece of its stream is read only after `consumed` was called, from any thread.
  public typealias OutputHandler =
    @Sendable (
      _ stream: ProcessStream, _ bytes: [UInt8], _ consumed: @escaping @Sendable () -> Void
    ) -> Void

  private enum Phase {
    case waiting(isPaused: Bool)
    /// Executing, but paused before the program was started; `resume()` starts it.
    case held
    case launching(asked: [ProcessReactor.Command])
    case launched(number: UInt64)
  }

  private enum Output {
    case log(ShellOutput)
    case handler(OutputHandler)
  }

  private struct State {
    var phase = Phase.waiting(isPaused: false)
    var processIdentifier: Int32?
    var mustKill = false
    /// The signal of someone else that has stopped the program.
    var stopSignal: Int32?
    var whenStopped: (@Sendable (Int32?) -> Void)?
  }

  private let launch: ProcessLaunch
  private let output: Output
  private let process = Lock(State())

  /// Makes an operation whose output becomes lines of its log, in order, each line cut at 4 KiB.
  ///
  /// A line that is drawn again, after a carriage return as a rule, is logged as a terminal would show it. Progress that is
  /// printed in the form of a well-known tool is reported: a redrawn `42%`, or `[3/8]` at the beginning of lines.
  /// A stream is read on only while observers of the log have at most 16 pieces of 64 KiB to handle. All lines come before
  /// the end.
  public convenience init(_ launch: ProcessLaunch) { self.init(launch, logPath: nil, progress: nil) }

  /// Makes an operation whose output goes to `output`, which is called on the one thread of all processes and must not block.
  ///
  /// Every piece is given in order and before the result.
  public init(_ launch: ProcessLaunch, output: @escaping OutputHandler) {
    self.launch = launch
    self.output = .handler(output)
  }

  /// As with `init(_:)`; the bytes are kept in a file, made at the first one, and lines that match a regular expression with
  /// one group (per cent) or two (done, total) report progress, instead of those of well-known tools.
  package init(
    _ launch: ProcessLaunch, logPath: String?, progress: String?, clock: any OperationClock = .system
  ) {
    self.launch = launch
    output = .log(ShellOutput(logPath: logPath, progress: progress, clock: clock))
  }

  /// The number of the program's process, which leads the group; nil before it was started, kept after its end.
  public var processIdentifier: Int32? { process.withLock(\.processIdentifier) }

  /// Starts the program; the queue calls it.
  public override func main() {
    let isPaused = process.withLock { process in
      guard case .waiting(let isPaused) = process.phase else { return false }
      process.phase = isPaused ? .held : .launching(asked: [])
      return isPaused
    }
    if !isPaused { start(launch) }
  }

  private func start(_ launch: ProcessLaunch) {
    let result = ProcessSupervisor.shared.launch(
      launch,
      launched: { pid in process.withLock { $0.processIdentifier = pid } },
      output: { stream, bytes, consumed in
        switch self.output {
        case .log(let output): output.take(bytes, from: stream, for: self, consumed: consumed)
        case .handler(let handler): handler(stream, bytes, consumed)
        }
      },
      stopped: { self.stopped(by: $0) }, ended: { self.end($0) })
    switch result {
    case .failure(let error): finish(.failure(error))
    case .success(let number):
      // Sent under the lock, as every later command is, so that none overtakes another.
      process.withLock { process in
        if case .launching(let commands) = process.phase {
          for command in commands { ProcessSupervisor.shared.reactor.send(command, to: number) }
        }
        process.phase = .launched(number: number)
      }
    }
  }

  private func end(_ exit: ProcessExit) {
    guard case .log(let output) = output else { return finish(.success(exit)) }
    output.finish(for: self) { self.finish(.success(exit)) }
  }

  /// Has `body` called with the signal when something else than `pause()` has stopped the program, often the program itself,
  /// and with nil when it continues: on the thread of all processes, up to two seconds late.
  package func whenStopped(_ body: @escaping @Sendable (Int32?) -> Void) { process.withLock { $0.whenStopped = body } }

  private func stopped(by signal: Int32?) {
    let body = process.withLock { process in
      if process.stopSignal == signal { return nil as (@Sendable (Int32?) -> Void)? }
      process.stopSignal = signal
      return process.whenStopped
    }
    body?(signal)
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

  /// Cancels, and kills every process of the job at once, those that left its group included.
  public func kill() {
    process.withLock { $0.mustKill = true }
    cancel()
    process.withLock { ask(.kill, &$0) }
  }

  /// Stops every process of the job until `resume()`; before the start, keeps the program from being started.
  ///
  /// Without effect once the operation is cancelled.
  public func pause() {
    process.withLock { process in
      if case .waiting = process.phase { process.phase = .waiting(isPaused: true) } else { ask(.pause, &process) }
    }
  }

  /// Ends a pause.
  public func resume() {
    let mustLaunch = process.withLock { process in
      switch process.phase {
      case .waiting: process.phase = .waiting(isPaused: false)
      case .held where !isCancelled:
        process.phase = .launching(asked: [])
        return true
      case .held: break
      case .launching, .launched: ask(.resume, &process)
      }
      return false
    }
    if mustLaunch { start(launch) }
  }

  /// Called under the lock.
  private func ask(_ command: ProcessReactor.Command, _ process: inout State) {
    switch process.phase {
    case .waiting, .held: break
    case .launching(let commands): process.phase = .launching(asked: commands + [command])
    case .launched(let number): ProcessSupervisor.shared.reactor.send(command, to: number)
    }
  }
}
