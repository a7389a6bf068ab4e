/// A rate limit for progress: at most one report per key and interval; the newest one held back follows when its time comes.
@usableFromInline package struct ProgressGate<Key: Hashable & Comparable, Report> {
  @usableFromInline let interval: Duration
  @usableFromInline var last: [Key: Duration] = [:]
  @usableFromInline var held: [Key: Report] = [:]
  /// When the oldest report held back may go, nil if none is; later ones may go with it, at most one interval late.
  @usableFromInline package internal(set) var nextWake: Duration?

  @inlinable package init(interval: Duration = .milliseconds(100)) { self.interval = interval }

  /// The report, if it may go now.
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

  /// The report held back for a key whose work ends, which is forgotten.
  @inlinable package mutating func flush(_ key: Key) -> Report? {
    defer {
      last[key] = nil
      if held.isEmpty { nextWake = nil }
    }
    return held.removeValue(forKey: key)
  }

  /// The reports whose time has come, by key.
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
