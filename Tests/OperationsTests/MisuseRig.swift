import Foundation
import Support
import Testing

@testable import Operations

/// What the tests of misuse share.
enum MisuseRig {
  /// The exit status of a process in which a call did not return.
  static let hung: Int32 = 42

  /// Waits in an exit test for the end that another thread brings about; ends the process with `hung` if none comes.
  static func awaitTheEnd() -> Never {
    _ = eventually { false }
    exit(hung)
  }

  /// The text of a process that has ended as an exit test wanted.
  static func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  /// Ends an exit test's process with `hung` if it has not ended by itself.
  static func giveUpLater() {
    Thread.detachNewThread {
      _ = eventually { false }
      exit(hung)
    }
  }
}

extension DependencyQueue {
  /// As `add(_:)`, where a cycle is not expected.
  func addAll(_ operations: Operation...) {
    do { try add(operations) } catch { Issue.record(error) }
  }
}
