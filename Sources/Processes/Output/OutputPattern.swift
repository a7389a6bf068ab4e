import Foundation
import Operations

/// A regular expression that is searched for in the output of a job.
///
/// The text and the time of a search are bounded: patterns whose time grows faster than the text are easily written.
/// Not for the engine's queue, the UI's queue or the thread of all processes.
package struct OutputPattern: Sendable {
  /// The part of a line that is searched, in UTF-16 units; a screen shows no more of it.
  static let width = 1024
  /// The CPU time that the search of one piece of output may take.
  static let budget = Duration.milliseconds(50)
  /// The addition to the budget for each line of a piece.
  static let lineBudget = Duration.microseconds(100)

  private let expression: NSRegularExpression

  /// The search used up its CPU time.
  struct BudgetExceeded: Error {}

  /// Nil if `pattern` is not a regular expression.
  package init?(_ pattern: String) {
    guard let expression = try? NSRegularExpression(pattern: pattern) else { return nil }
    self.expression = expression
  }

  var groups: Int { expression.numberOfCaptureGroups }

  /// The first or the last match in the beginning of `text`; throws if the thread's CPU time reaches `end`.
  func search(_ text: NSString, forLast: Bool, until end: Duration) throws(BudgetExceeded) -> NSTextCheckingResult? {
    var match: NSTextCheckingResult?
    var isLate = false
    let range = NSRange(location: 0, length: min(text.length, Self.width))
    // Called for each match, and periodically during a search.
    expression.enumerateMatches(in: text as String, options: .reportProgress, range: range) { found, _, stop in
      if let found { match = found }
      if match != nil, !forLast {
        stop.pointee = true
      } else if Self.cpuTime >= end {
        isLate = true
        stop.pointee = true
      }
    }
    if isLate { throw BudgetExceeded() }
    return match
  }

  /// A text without its escape sequences, as a terminal shows it.
  package static func visible(_ text: String) -> String {
    text.utf8.contains(0x1B) ? RedrawnLine(Array(text.utf8)).plain : text
  }

  /// The CPU time of this thread: a busy machine must not make a pattern look slow.
  static var cpuTime: Duration { .now(on: CLOCK_THREAD_CPUTIME_ID) }
}

/// A search in each line of an output, until one line matches.
package struct OutputWatch: Sendable {
  /// The key in the job file that contains the patterns.
  let key: String
  let patterns: [OutputPattern]
  /// Called once, on the queue of the output, after the matching line was logged.
  ///
  /// `isFound` is false if the search used up its CPU time. The search ends with this call.
  let told: @Sendable (_ isFound: Bool) -> Void

  package init(_ key: String, _ patterns: [OutputPattern], told: @escaping @Sendable (_ isFound: Bool) -> Void) {
    self.key = key
    self.patterns = patterns
    self.told = told
  }

  /// Whether a line matches.
  func finds(_ lines: [OperationLogLine]) throws(OutputPattern.BudgetExceeded) -> Bool {
    let end = OutputPattern.cpuTime + OutputPattern.budget + OutputPattern.lineBudget * lines.count
    for line in lines where line.source != .note {
      let text = OutputPattern.visible(line.text) as NSString
      for pattern in patterns {
        let match = try pattern.search(text, forLast: false, until: end)
        if match != nil { return true }
      }
    }
    return false
  }

  /// The note for the log after an abandoned search.
  var note: OperationLogLine {
    OperationLogLine(
      text: "the pattern of \(key) took more than \(OutputPattern.budget) on this output; it is not matched any more",
      source: .note)
  }
}
