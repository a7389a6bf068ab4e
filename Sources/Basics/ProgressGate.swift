/// A rate limit for progress: at most one report per key and interval; the newest one held back follows at its end.
package struct ProgressGate<Key: Hashable & Comparable, Report> {
  private let interval: Duration
  private var last: [Key: Duration] = [:]
  private var held: [Key: Report] = [:]
  /// The instant at which the oldest report held back is due, nil without one; later ones are at most one interval late.
  package private(set) var nextWake: Duration?

  package init(interval: Duration = .milliseconds(100)) { self.interval = interval }

  /// Returns the report if it may be made now, else nil and holds it back.
  package mutating func report(_ report: Report, of key: Key, now: Duration) -> Report? {
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
  package mutating func flush(_ key: Key) -> Report? {
    defer {
      last[key] = nil
      if held.isEmpty { nextWake = nil }
    }
    return held.removeValue(forKey: key)
  }

  /// Takes the reports that are due, by key.
  package mutating func due(now: Duration) -> [(Key, Report)] {
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
