import Foundation
import Operations

/// The times of events since `begin`; from any thread.
final class Diary: Sendable {
  private let origin = Lock<ContinuousClock.Instant?>(nil)
  private let entries = Lock<[String: Duration]>([:])

  func begin() { origin.withLock { $0 = .now } }

  /// Records an event; only its first note counts.
  func note(_ event: String) {
    let now = origin.withLock { $0 }.map { ContinuousClock.now - $0 } ?? .zero
    entries.withLock { if $0[event] == nil { $0[event] = now } }
  }

  /// The time of an event; nil if it has not happened.
  subscript(event: String) -> Duration? { entries.withLock { $0[event] } }

  /// The time as text; `never` if it has not happened.
  func text(_ event: String) -> String { self[event].map(Self.seconds) ?? "never" }

  static func seconds(_ time: Duration) -> String {
    let hundredths = Int((time / .milliseconds(10)).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
  }
}
