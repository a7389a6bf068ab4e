import Foundation

/// Removes the signal handlers that curses installs when it opens.
///
/// Curses replaces only default actions. Other signals are not restored, because the program may install handlers of its
/// own at the same time.
package struct SignalHandlers {
  private let free: [Int32]

  package init() {
    free = [SIGINT, SIGTERM, SIGTSTP, SIGWINCH].filter { number in
      var action = sigaction()
      return sigaction(number, nil, &action) == 0 && Self.isDefault(action)
    }
  }

  package func restore() {
    for number in free { signal(number, SIG_DFL) }
  }

  private static func isDefault(_ action: sigaction) -> Bool {
    guard action.sa_flags & Int32(SA_SIGINFO) == 0 else { return false }
    #if canImport(Darwin)
    return action.__sigaction_u.__sa_handler == nil
    #else
    return action.__sigaction_handler.sa_handler == nil
    #endif
  }
}
