import Foundation
import Operations

/// Runs a program in a session and process group of its own, and ends when all that it started has ended.
///
/// The result is how the program itself ended, also after a cancellation; a `ProcessError` if it could not be started. What
/// the program leaves behind is asked to end, then killed: nothing outlives the operation. Cancelling sends the stop signal
/// to the group, and SIGKILL when the grace is over.
public final class ShellOperation: ResultOperation<ProcessExit>, @unchecked Sendable {
  // Safe: the only mutable state is behind the lock.

  private enum Phase {
    /// Not started yet; what was asked for meanwhile.
    case waiting([ProcessReactor.Command])
    case launched(UInt64)
  }

  private let launch: ProcessLaunch
  private let launched: @Sendable (Int32) -> Void
  private let output: @Sendable (ProcessStream, [UInt8], @escaping @Sendable () -> Void) -> Void
  private let phase = Lock(Phase.waiting([]))

  /// An operation for `launch`.
  ///
  /// `launched` is told the process's number before any output, on the operation's thread, also where it turns out
  /// only after it that the program can't begin. `output` is given each piece of
  /// output, in order, on the one thread of all processes, so it must not block; the next piece of this stream is read only
  /// after `consumed` was called, from any thread. All output is given before the result.
  public init(
    _ launch: ProcessLaunch, launched: @escaping @Sendable (Int32) -> Void = { _ in },
    output:
      @escaping @Sendable (
        _ stream: ProcessStream, _ bytes: [UInt8], _ consumed: @escaping @Sendable () -> Void
      ) -> Void
  ) {
    self.launch = launch
    self.launched = launched
    self.output = output
  }

  /// Starts the program.
  public override func main() {
    let result = ProcessSupervisor.shared.launch(launch, launched: launched, output: output) { exit in
      self.finish(.success(exit))
    }
    switch result {
    case .failure(let error): finish(.failure(error))
    case .success(let number):
      let commands = phase.withLock { phase in
        guard case .waiting(let commands) = phase else { return [ProcessReactor.Command]() }
        phase = .launched(number)
        return commands
      }
      for command in commands { ProcessSupervisor.shared.send(command, to: number) }
    }
  }

  /// Sends the stop signal.
  public override func didCancel() { send(.stop) }

  /// Kills all processes of the job now, those that left its group included.
  public func kill() { send(.kill) }

  /// Stops all processes of the job until `resume()`; of no effect once the operation is cancelled.
  public func pause() { send(.pause) }

  /// Lets the processes go on after `pause()`.
  public func resume() { send(.resume) }

  private func send(_ command: ProcessReactor.Command) {
    let number: UInt64? = phase.withLock { phase in
      switch phase {
      case .launched(let number): return number
      case .waiting(let commands):
        phase = .waiting(commands + [command])
        return nil
      }
    }
    if let number { ProcessSupervisor.shared.send(command, to: number) }
  }
}
