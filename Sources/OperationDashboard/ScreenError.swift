import Basics
import Foundation
import Session

extension Dashboard {
  /// Why `run()` can't show the queue on the terminal.
  public struct ScreenError: LocalizedError, CustomStringConvertible, Sendable, Equatable {
    /// A sentence with the cause and the remedy.
    public let description: String

    /// The same sentence as `description`.
    public var errorDescription: String? { description }
  }
}

extension Dashboard.ScreenError {
  static let isTaken = Self(
    description: "another dashboard of this process has the terminal: run this one after it has ended, or with "
      + "options.interface = .plain")

  /// Replaces opdash's command-line options in the message with the library's options.
  init(_ error: any Error) {
    let words = (error as? UsageError)?.message ?? "\(error)"
    description = words.replacing("--ui tui", with: "interface .terminal")
      .replacing("use --ui plain", with: "use interface .plain").replacing("--ui plain", with: "interface .plain")
  }
}

/// The claim of the one dashboard of this process that may draw on its terminal.
enum ScreenClaim {
  private static let isTaken = Lock(false)

  /// Whether a dashboard draws now; then standard output may be a pipe that leads to it.
  static var isHeld: Bool { isTaken.withLock(\.self) }

  static func take() throws(Dashboard.ScreenError) {
    if isTaken.withLock({ exchange(&$0, with: true) }) { throw .isTaken }
  }

  static func release() { isTaken.withLock { $0 = false } }
}
