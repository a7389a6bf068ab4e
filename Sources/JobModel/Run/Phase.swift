/// A period of a job's history, which lasts until the next phase.
package struct Phase: Sendable, Equatable {
  package enum Kind: UInt8, Sendable, CaseIterable {
    case waiting
    case forSlot
    case forPool
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
        case .executing: .executing
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
  private var nanoseconds: Int64

  package init(_ kind: Kind, at start: Duration) {
    self.kind = kind
    nanoseconds = Int64(start / .nanoseconds(1))
  }

  package var start: Duration { .nanoseconds(nanoseconds) }
}

/// The phases of a job, in order.
package struct Phases: Sendable, Equatable {
  private var all: [Phase] = []

  package var count: Int { all.count }
  package subscript(place: Int) -> Phase { all[place] }
  package var last: Phase? { all.last }

  /// When the phase at `place` ended; nil for the current one.
  package func end(of place: Int) -> Duration? { place + 1 < all.count ? all[place + 1].start : nil }

  /// Replaces the last phase if that took no time, unless it is terminal or `executing`.
  mutating func begin(_ kind: Phase.Kind, at time: Duration) {
    let phase = Phase(kind, at: time)
    if let last = all.last, last.start == phase.start, !last.kind.isTerminal, last.kind != .executing {
      all[all.count - 1] = phase
    } else {
      all.append(phase)
    }
  }
}
