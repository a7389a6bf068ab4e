import Foundation
import JobModel

/// Reads progress from a job's output: one group is per cent, two are done and total.
struct ProgressPattern {
  private let expression: NSRegularExpression

  /// Nil where it is no regular expression with one or two groups; the job file has been checked for that.
  init?(_ pattern: String) {
    guard let expression = try? NSRegularExpression(pattern: pattern),
      (1...2).contains(expression.numberOfCaptureGroups)
    else { return nil }
    self.expression = expression
  }

  /// What the last line that tells progress tells.
  func last(in lines: [LogLine]) -> JobProgress? {
    for line in lines.reversed() {
      if let progress = progress(in: line.text) { return progress }
    }
    return nil
  }

  private func progress(in text: String) -> JobProgress? {
    let matches = expression.matches(in: text, range: NSRange(text.startIndex..., in: text))
    guard let match = matches.last else { return nil }
    let numbers = (1...expression.numberOfCaptureGroups).compactMap { group in
      Range(match.range(at: group), in: text).flatMap { Double(text[$0]) }
    }
    guard numbers.count == expression.numberOfCaptureGroups, let done = numbers.first, done >= 0, done < 1e15 else {
      return nil
    }
    let total = numbers.count == 2 ? numbers[1] : 100
    guard total > 0, total < 1e15 else { return nil }
    return JobProgress(done: Int64(done.rounded()), total: Int64(total.rounded()), unit: .steps)
  }
}
