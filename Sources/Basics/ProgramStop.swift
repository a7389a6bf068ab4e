import Foundation

/// The signal that ends a program's process group or cluster job, and the time until SIGKILL.
package struct ProgramStop: Sendable, Hashable {
  package var signal: Int32
  package var grace: Duration

  package init(signal: Int32 = SIGTERM, grace: Duration = .seconds(5)) {
    self.signal = signal
    self.grace = grace
  }
}
