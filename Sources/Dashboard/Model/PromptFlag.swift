import Basics

/// Whether a prompt is open, for the thread of a signal: Ctrl-C closes the prompt and does not stop the run.
package final class PromptFlag: Sendable {
  private let isOpen = Lock(false)

  package init() {}

  func set(_ isOpen: Bool) { self.isOpen.withLock { $0 = isOpen } }

  /// Returns whether a prompt is open; the next call returns false, so that a second Ctrl-C reaches the run in any case.
  package func take() -> Bool {
    isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
  }
}
