import Foundation
import Operations

/// Reads progress from a job's output: one group is per cent, two are done and total.
///
/// A search is bounded in text and in time: patterns whose time grows faster than the text are easily written.
package struct ProgressPattern: Sendable {
  /// How much of a line is searched, in UTF-16 units; a screen shows no more of it.
  static let width = 1024
  /// The CPU time that the search of one piece of output may take.
  static let budget = Duration.milliseconds(50)

  private let expression: NSRegularExpression

  /// Nil where `pattern` is no regular expression with one or two groups.
  init?(_ pattern: String) {
    guard let expression = try? NSRegularExpression(pattern: pattern),
      (1...2).contains(expression.numberOfCaptureGroups)
    else { return nil }
    self.expression = expression
  }

  enum Finding: Equatable {
    case progress(OperationProgress)
    case nothing
    case budgetExceeded
  }

  /// The progress that the newest text with any tells; texts are searched as a terminal shows them, without colors.
  func newest(in output: LineSplitter.Output) -> Finding {
    let end = Self.cpuTime + Self.budget
    var finding = Finding.nothing
    output.searchNewestFirst { text, _, _ in
      finding = search(Self.visible(text), until: end)
      return finding != .nothing
    }
    return finding
  }

  /// A text without its escape sequences.
  package static func visible(_ text: String) -> String {
    text.utf8.contains(0x1B) ? RedrawnLine(Array(text.utf8)).plain : text
  }

  /// The progress that `text` tells, if it is found before the thread's CPU time is `end`.
  func search(_ text: String, until end: Duration) -> Finding {
    var match: NSTextCheckingResult?
    var isLate = false
    let text = text as NSString
    let range = NSRange(location: 0, length: min(text.length, Self.width))
    // Called for each match, and now and then while one is searched for.
    expression.enumerateMatches(in: text as String, options: .reportProgress, range: range) { found, _, stop in
      if let found { match = found }
      if Self.cpuTime >= end {
        isLate = true
        stop.pointee = true
      }
    }
    if isLate { return .budgetExceeded }
    return match.flatMap { progress(of: $0, in: text) }.map(Finding.progress) ?? .nothing
  }

  private func progress(of match: NSTextCheckingResult, in text: NSString) -> OperationProgress? {
    let numbers = (1...expression.numberOfCaptureGroups).compactMap { group -> Double? in
      let range = match.range(at: group)
      return range.location == NSNotFound ? nil : Double(text.substring(with: range))
    }
    guard numbers.count == expression.numberOfCaptureGroups, let done = numbers.first, done >= 0, done < 1e15 else {
      return nil
    }
    let total = numbers.count == 2 ? numbers[1] : 100
    guard total > 0, total < 1e15 else { return nil }
    if done == done.rounded(), total == total.rounded() {
      return OperationProgress(completed: Int64(done), total: Int64(total))
    }
    // Of numbers with fractions, per cent; 100 is the whole and nothing less.
    return OperationProgress(completed: Int64(min(100, done * 100 / total)), total: 100)
  }

  /// Of this thread: a busy machine must not make a pattern look slow.
  static var cpuTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
