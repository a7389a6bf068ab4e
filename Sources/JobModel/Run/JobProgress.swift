import Basics

/// The progress of an attempt, in bytes or in steps of its own.
package struct JobProgress: Sendable, Equatable {
  package enum Unit: String, Sendable {
    case bytes
    case steps
  }

  package var done: Int64
  /// Nil while it is unknown.
  package var total: Int64?
  package var unit: Unit

  package init(done: Int64, total: Int64?, unit: Unit) {
    self.done = done
    self.total = total
    self.unit = unit
  }

  /// Nothing done of an unknown whole; after another progress, that none is known any more.
  package var isUnknown: Bool { done == 0 && total == nil }

  /// From 0 to 1; nil while the total is unknown.
  package var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return Swift.min(1, Swift.max(0, Double(done) / Double(total)))
  }
}

/// The rate of an attempt over its last minute, for a sparkline.
package struct RateHistory: Sendable, Equatable {
  package static let capacity = 60

  /// Units of progress a second, one sample a second, the oldest first.
  package internal(set) var samples: [Float] = []
  var begun: Duration?
  var done: Int64 = 0

  mutating func clear() { self = RateHistory() }

  /// Each second since the last sample gets the mean rate of that time.
  mutating func report(_ now: Int64, at time: Duration) {
    guard let begun, now >= done else {
      begun = time
      done = now
      return
    }
    let seconds = (time - begun) / .seconds(1)
    guard seconds >= 1 else { return }
    let rate = Float((Double(now) - Double(done)) / seconds)
    samples += repeatElement(rate, count: min(Self.capacity, Int(clamping: seconds)))
    if samples.count > Self.capacity { samples.removeFirst(samples.count - Self.capacity) }
    self.begun = time
    done = now
  }
}
