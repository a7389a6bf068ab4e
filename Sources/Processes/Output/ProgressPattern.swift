import Foundation
import Operations

/// Reads progress from a job's output: one group is a percentage, two are done and total.
package struct ProgressPattern: Sendable {
  static let width = OutputPattern.width
  /// Numbers of this size and above don't count as progress; all numbers below are exact.
  static let limit = 1e15

  private let pattern: OutputPattern

  /// Nil if `pattern` isn't a regular expression with one or two groups.
  init?(_ pattern: String) {
    guard let pattern = OutputPattern(pattern), (1...2).contains(pattern.groups) else { return nil }
    self.pattern = pattern
  }

  enum Finding: Equatable {
    case progress(OperationProgress)
    case nothing
    case budgetExceeded
  }

  /// The progress in the newest text that shows any; texts are searched as a terminal shows them, without colors.
  func newest(in output: LineSplitter.Output) -> Finding {
    let end = OutputPattern.cpuTime + OutputPattern.budget
    var finding = Finding.nothing
    output.searchNewestFirst { text, _, _ in
      finding = search(OutputPattern.visible(text), until: end)
      return finding != .nothing
    }
    return finding
  }

  /// The progress that `text` shows, if it is found before the thread's CPU time reaches `end`.
  func search(_ text: String, until end: Duration) -> Finding {
    let text = text as NSString
    do throws(OutputPattern.BudgetExceeded) {
      return try pattern.search(text, forLast: true, until: end).flatMap { progress(of: $0, in: text) }
        .map(Finding.progress) ?? .nothing
    } catch {
      return .budgetExceeded
    }
  }

  private func progress(of match: NSTextCheckingResult, in text: NSString) -> OperationProgress? {
    let numbers = (1...pattern.groups).compactMap { group -> Double? in
      let range = match.range(at: group)
      return range.location == NSNotFound ? nil : Double(text.substring(with: range))
    }
    guard numbers.count == pattern.groups, let done = numbers.first, done >= 0, done < Self.limit else { return nil }
    return Self.counts(done, of: numbers.count == 2 ? numbers[1] : 100)
      .map { OperationProgress(completed: $0.done, total: $0.total) }
  }

  /// Whole numbers as they are, numbers with fractions as a percentage; nil if the total does not count as progress.
  static func counts(_ done: Double, of total: Double) -> (done: Int64, total: Int64)? {
    guard total > 0, total < limit else { return nil }
    if done == done.rounded(), total == total.rounded() { return (Int64(done), Int64(total)) }
    // Only the whole is 100.
    return (Int64(min(100, done * 100 / total)), 100)
  }
}
