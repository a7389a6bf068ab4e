import CTerminal
import Foundation
import JobModel
import NcursesTerminal

/// How the program ends after a session: with a status or, where a signal has stopped the run, by that signal.
///
/// A shell loop or `make` around the program ends after Ctrl-C only if the signal has ended the program.
package struct ProgramEnd: Sendable, Equatable {
  package let status: Int32
  /// The signal that ends the program instead of the status.
  package let signal: Int32?

  /// `cause` is the one that has stopped the run, if any.
  package init(_ status: Int32, of cause: StopSequence.Cause? = nil) {
    self.status = status
    signal = cause.flatMap { $0.isSignal && status == ExitStatus.signal($0.signal) ? $0.signal : nil }
  }

  /// After an error before anything has started: with the status of bad usage, or by SIGHUP if the terminal is gone.
  package init(before error: any Error) {
    if case TerminalError.hasHungUp = error {
      self.init(ExitStatus.signal(SIGHUP), of: .hangup)
    } else {
      self.init(ExitStatus.usage)
    }
  }

  /// Flushes and ends the process in order.
  package func perform() -> Never {
    fflush(nil)
    #if ADDRESS_SANITIZER
    // The leak checker is a handler of exit.
    if signal == nil { Foundation.exit(status) }
    #endif
    performAtOnce()
  }

  /// Restores the terminal and ends the process without a further write.
  ///
  /// Not by `exit`, whose handlers free what other threads still use.
  package func performAtOnce() -> Never {
    if let signal { terminal_end_by_signal(signal) }
    terminal_guard_restore()
    _exit(status)
  }
}

/// The terminal of a program that was killed.
package enum CrashedTerminal {
  /// Returns a function that restores the terminal that this program shows something on when it is killed.
  ///
  /// Call it in a process that is forked later, once this program has ended; it makes system calls only.
  package static func restorer() -> @convention(c) () -> Void {
    terminal_guard_share()
    return terminal_guard_restore_killed
  }
}
