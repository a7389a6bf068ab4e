import CDispatch
import Dispatch
import Runtime

/// The calls that lead to the calling code, from the program's debug information.
package enum CallStack {
  package struct Frame: Sendable, Equatable, CustomStringConvertible {
    package let function: String
    /// The path of the function's file.
    package let file: String
    /// The line of the call, from 1.
    package let line: Int

    /// The function and, in brackets, the file without its folders, and the line.
    package var description: String { "\(function) (\(file.split(separator: "/").last ?? ""):\(line))" }
  }

  /// The calls that lead here, innermost first, without calls of the library and calls of unknown location.
  ///
  /// Takes milliseconds, because it reads the debug information.
  static func here() -> [Frame] {
    let symbols = try? Backtrace.capture(limit: 64).symbolicated()
    return (symbols?.frames ?? []).compactMap { frame in
      guard let symbol = frame.symbol, let place = symbol.sourceLocation, place.line > 0,
        !place.path.hasPrefix("/<compiler"), !isOurs(place.path)
      else { return nil }
      return Frame(function: symbol.name, file: place.path, line: place.line)
    }
  }

  /// Whether a file belongs to the implementation of the check.
  private static func isOurs(_ path: String) -> Bool {
    ["CallStack.swift", "UIQueue.swift", "UIState.swift"].contains {
      path.hasSuffix("Sources/Operations/MainQueue/\($0)")
    }
  }

  /// The label of the queue that the calling code runs on, in quotes, or words for a thread without a queue.
  static var queueLabel: String {
    let label = String(cString: dispatch_queue_get_label(nil))
    return label.isEmpty ? "a thread without a queue" : "the queue '\(label)'"
  }
}
