import Basics
import CProcess
import Foundation

/// A process, told apart from a later one with the same number.
package struct ProcessIdentity: Sendable, Hashable {
  package var pid: Int32
  /// Clock ticks since the boot; 0 where unknown.
  package var startTime: UInt64
  /// The boot of the machine; empty if unknown.
  package var boot: String

  package static let current = of(getpid()) ?? ProcessIdentity(pid: getpid(), startTime: 0, boot: MachineBoot.id)

  /// Nil where no such process executes: one that has ended and that its parent has not waited for does not.
  package static func of(_ pid: Int32) -> ProcessIdentity? {
    look(at: pid).map { ProcessIdentity(pid: pid, startTime: $0.startTime, boot: MachineBoot.id) }
  }

  /// Like `of`, but nil for a process that isn't a child of this one: its number may have been reused.
  static func ofChild(_ pid: Int32) -> ProcessIdentity? {
    guard let found = look(at: pid), found.parent == getpid() else { return nil }
    return ProcessIdentity(pid: pid, startTime: found.startTime, boot: MachineBoot.id)
  }

  /// Whether this very process still executes; false where its start time is unknown.
  package var isAlive: Bool { startTime > 0 && ProcessIdentity.of(pid) == self }

  private static func look(at pid: Int32) -> (startTime: UInt64, parent: Int32)? {
    var info = cprocess_info()
    guard pid > 0, cprocess_look(pid, &info), !info.ended else { return nil }
    return (info.start_time, info.parent)
  }
}
