import CTerminal
import Foundation

/// Removes the signal handlers that curses installs when it opens.
///
/// Curses replaces only default actions. Other signals are not restored, because the program may install handlers of its
/// own at the same time.
package struct SignalHandlers {
  private let free: [Int32]

  package init() {
    free = [SIGINT, SIGTERM, SIGTSTP, SIGWINCH].filter { signal_is_default($0) != 0 }
  }

  package func restore() {
    for number in free { signal(number, SIG_DFL) }
  }
}
