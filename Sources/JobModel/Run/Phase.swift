import Basics

/// A period of a job's history, which lasts until the next phase.
package struct Phase: Sendable, Equatable {
  package enum Kind: UInt8, Sendable, CaseIterable {
    case waiting
    case forSlot
    case forPool
    case forPerson
    case forCluster
    case executing
    case paused
    case backingOff
    case succeeded
    case failed
    case cancelled
    case skipped

    package init(_ state: JobState) {
      self =
        switch state {
        case .waiting: .waiting
        case .ready(.slot): .forSlot
        case .ready(.pool): .forPool
        case .ready(.person): .forPerson
        case .ready(.cluster): .forCluster
        case .executing, .serving: .executing
        case .paused: .paused
        case .backingOff: .backingOff
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        case .skipped: .skipped
        }
    }

    /// Whether the job has ended.
    package var isTerminal: Bool { rawValue >= Kind.succeeded.rawValue }
  }

  package var kind: Kind
  /// Half the size of a `Duration`: every job of a run keeps a few of these.
  let nanoseconds: Int64

  package init(_ kind: Kind, at start: Duration) {
    self.kind = kind
    nanoseconds = start.nanoseconds
  }

  init(_ kind: Kind, nanoseconds: Int64) {
    self.kind = kind
    self.nanoseconds = nanoseconds
  }

  package var start: Duration { .nanoseconds(nanoseconds) }
}

/// The phases of a job, in order.
///
/// Of a job that is retried or paused for hours the older phases are merged in pairs, so that their number is bounded.
package struct Phases: Sendable, Equatable {
  package static let limit = 500

  var all: [Phase] = []
  /// The time of each kind that phases of another kind have taken over.
  var merged: [Phase.Kind: Duration] = [:]

  package var count: Int { all.count }
  package subscript(place: Int) -> Phase { all[place] }
  package var last: Phase? { all.last }

  /// When the phase at `place` ended; nil for the current one.
  package func end(of place: Int) -> Duration? { place + 1 < all.count ? all[place + 1].start : nil }

  /// The time to add to all phases of a kind, because phases were merged.
  package func correction(of kind: Phase.Kind) -> Duration { merged[kind] ?? .zero }

  /// Replaces the last phase if that took no time, unless it is terminal or `executing`.
  mutating func begin(_ kind: Phase.Kind, at time: Duration) {
    let phase = Phase(kind, at: time)
    if let last = all.last, last.start == phase.start, !last.kind.isTerminal, last.kind != .executing {
      all[all.count - 1] = phase
    } else {
      all.append(phase)
      if all.count > Self.limit { mergeOlderHalf() }
    }
  }

  /// Moves the begin of the current attempt earlier, but not before the preceding phase; returns its begin.
  mutating func beginAttempt(at time: Duration) -> Duration? {
    guard var place = all.lastIndex(where: { $0.kind == .executing }) else { return nil }
    while place >= 2, all[place - 1].kind == .paused, all[place - 2].kind == .executing { place -= 2 }
    let start = place > 0 ? max(all[place - 1].start, time) : time
    guard start < all[place].start else { return nil }
    all[place] = Phase(.executing, at: start)
    return start
  }

  /// Each pair becomes the longer phase of the two, but a pause stays: without it the attempt around it would look like two.
  private mutating func mergeOlderHalf() {
    let half = all.count / 4 * 2
    let pairs = stride(from: 0, to: half, by: 2).map { place in
      let (first, second) = (all[place], all[place + 1])
      let (time, next) = (second.start - first.start, all[place + 2].start - second.start)
      let keepsFirst = first.kind == .paused || (second.kind != .paused && time >= next)
      let (kept, lost, lostTime) = keepsFirst ? (first.kind, second.kind, next) : (second.kind, first.kind, time)
      merged[lost, default: .zero] += lostTime
      merged[kept, default: .zero] -= lostTime
      return Phase(kept, at: first.start)
    }
    all.replaceSubrange(..<half, with: pairs)
  }
}

extension Duration {
  /// At most 292 years.
  package var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
