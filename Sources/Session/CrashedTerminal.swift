import CTerminal

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
