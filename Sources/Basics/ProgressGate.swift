/// A rate limit for progress: at most one report per key and interval; the newest one held back follows at its end.
@usableFromInline package struct ProgressGate<Key: Hashable & Comparable, Report> {
  @usableFromInline let interval: Duration
  @usableFromInline var last: [Key: Duration] = [:]
  @usableFromInline var held: [Key: Report] = [:]
  /// The due time of the oldest held report, nil without one; later ones are at most one interval late.
  @usableFromInline package internal(set) var nextWake: Duration?

  @inlinable package init(interval: Duration = .milliseconds(100)) { self.interval = interval }

  /// Returns the report if it may be made now, else nil and holds it back.
  @inlinable package mutating func report(_ report: Report, of key: Key, now: Duration) -> Report? {
    guard let last = last[key], now - last < interval else {
      self.last[key] = now
      held[key] = nil
      if held.isEmpty { nextWake = nil }
      return report
    }
    held[key] = report
    nextWake = nextWake.map { min($0, last + interval) } ?? last + interval
    return nil
  }

  /// Forgets a key whose work ends; returns the report held back for it.
  @inlinable package mutating func flush(_ key: Key) -> Report? {
    defer {
      last[key] = nil
      if held.isEmpty { nextWake = nil }
    }
    return held.removeValue(forKey: key)
  }

  @inlinable package mutating func due(now: Duration) -> [(Key, Report)] {
    guard let wake = nextWake, wake <= now else { return [] }
    var due: [(Key, Report)] = []
    nextWake = nil
    for (key, report) in held.sorted(by: { $0.key < $1.key }) {
      let time = (last[key] ?? .zero) + interval
      if time <= now {
        due.append((key, report))
        held[key] = nil
        last[key] = now
      } else {
        nextWake = nextWake.map { min($0, time) } ?? time
      }
    }
    return due
  }
}
