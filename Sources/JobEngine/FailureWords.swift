import Foundation
import Operations

/// The user-facing text of an operation's error, in one place for all views.
package enum FailureWords {
  /// The first line of the error's description, at most 200 characters, because it is shown in a column.
  package static func of(_ error: any Error) -> String {
    let line = Operations.line(of: error)
    return line.count > 200 ? line.prefix(199) + "…" : line
  }

  /// Whether the error is a `URLError`.
  static func isOfURLSession(_ error: NSError) -> Bool { error.domain == "NSURLErrorDomain" }

  static let timedOut = -1001
}
