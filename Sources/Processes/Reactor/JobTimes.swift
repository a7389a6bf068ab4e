/// The times when a job was alive, in clock ticks since the boot.
///
/// A process that started at another time descends from no job.
struct JobTimes {
  /// More spans than this lose the oldest gap between two of them.
  private static let maximumSpans = 256

  private var spans: [ClosedRange<UInt64>] = []
  /// The beginning of the span that has not ended.
  private var begin: UInt64?

  func contain(_ time: UInt64) -> Bool {
    if let begin, begin <= time { return true }
    return spans.contains { $0.contains(time) }
  }

  /// A job was launched, perhaps before others that are known already.
  mutating func begin(at time: UInt64) { begin = min(begin ?? time, time) }

  /// No job is alive any more.
  mutating func end(at time: UInt64) {
    guard let begin else { return }
    self.begin = nil
    spans.append(begin...max(begin, time))
    guard spans.count > Self.maximumSpans else { return }
    let oldest = spans.removeFirst()
    spans[0] = min(oldest.lowerBound, spans[0].lowerBound)...max(oldest.upperBound, spans[0].upperBound)
  }
}
