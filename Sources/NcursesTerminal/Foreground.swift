import CTerminal
import Dispatch

/// The terminal's foreground process group, which the shell makes this process's or another one.
package enum Foreground {
  /// Calls `body` on the main queue once no other process group is in the foreground of the terminal, unless `condition`
  /// no longer holds.
  ///
  /// Polls: not every shell sends SIGCONT to a job that it makes the foreground while it executes.
  @MainActor package static func wait(
    for descriptor: Int32, while condition: @escaping @MainActor () -> Bool, _ body: @escaping @MainActor () -> Void
  ) {
    DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(200)) {
      MainActor.assumeIsolated {
        guard condition() else { return }
        if terminal_is_taken(descriptor) { return wait(for: descriptor, while: condition, body) }
        body()
      }
    }
  }
}
