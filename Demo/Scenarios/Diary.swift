import Foundation
import Operations

/// When what happened, in seconds since the first look at it; from any thread.
final class Diary: Sendable {
  private let origin = Lock<ContinuousClock.Instant?>(nil)
  private let entries = Lock<[String: Duration]>([:])

  /// Time runs from here.
  func begin() { origin.withLock { $0 = .now } }

  /// Only the first note of an event counts.
  func note(_ event: String) {
    let now = origin.withLock { $0 }.map { ContinuousClock.now - $0 } ?? .zero
    entries.withLock { if $0[event] == nil { $0[event] = now } }
  }

  /// Nil for what has not happened.
  subscript(event: String) -> Duration? { entries.withLock { $0[event] } }

  /// As a person reads it; `never` for what has not happened.
  func text(_ event: String) -> String { self[event].map(Self.seconds) ?? "never" }

  static func seconds(_ time: Duration) -> String {
    let hundredths = Int((time / .milliseconds(10)).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
  }
}
