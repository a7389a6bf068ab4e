/// How fast a job went, second by second: enough of it for a small picture.
package struct RateHistory: Sendable, Equatable {
  package static let capacity = 60

  /// Units of progress a second, one sample a second, the oldest first.
  package private(set) var samples: [Float] = []
  private var begun: Duration?
  private var done: Int64 = 0

  mutating func clear() { self = RateHistory() }

  /// After a silence of seconds, each of them counts with the mean over all.
  mutating func report(_ now: Int64, at time: Duration) {
    guard let begun, now >= done else {
      begun = time
      done = now
      return
    }
    let seconds = (time - begun) / .seconds(1)
    guard seconds >= 1 else { return }
    let rate = Float(Double(now - done) / seconds)
    samples += repeatElement(rate, count: min(Self.capacity, Int(seconds)))
    if samples.count > Self.capacity { samples.removeFirst(samples.count - Self.capacity) }
    self.begun = time
    done = now
  }
}
