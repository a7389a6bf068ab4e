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
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap { Int32($0) }
    let session = getsid(0)
    for descriptor in all ?? Array(STDIN_FILENO...STDERR_FILENO) {
      let isStandard = descriptor <= STDERR_FILENO
      // Keys may come from another descriptor, and the screen has its own. The terminals of jobs are of other sessions.
      guard tcgetsid(descriptor) == session || isStandard && isatty(descriptor) == 1 else { continue }
      dup2(null, descriptor)
      if !isStandard { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }
    close(null)
    _ = terminal_front_leave()
  }
}
