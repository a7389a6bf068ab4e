import CTerminal
import Foundation

/// A process for the shell to wait for, so that a run can leave its terminal and continue.
@MainActor
package enum TerminalFront {
  /// Puts a process in front; does nothing if none can be made.
  ///
  /// To be called while there is one thread.
  package static func begin() { _ = terminal_front_begin() }

  package static var isThere: Bool { terminal_front() != 0 }

  /// Gives the terminal, which must have been restored, back to the shell, and continues without one.
  static func leave() {
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    for descriptor in STDIN_FILENO...STDERR_FILENO where isatty(descriptor) == 1 { dup2(null, descriptor) }
    close(null)
    _ = terminal_front_leave()
  }
}
