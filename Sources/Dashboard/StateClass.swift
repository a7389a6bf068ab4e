import JobModel

/// What a job's state looks like at a glance: one letter, one colour, one word, one place in the order of attention.
enum StateClass: UInt8, CaseIterable {
  case failed
  case timedOut
  case executing
  case paused
  case backingOff
  case ready
  case waiting
  case allowedFailure
  case cancelled
  case skipped
  case succeeded
  case upToDate

  init(_ state: JobState) {
    self =
      switch state {
      case .waiting: .waiting
      case .ready: .ready
      case .executing: .executing
      case .paused: .paused
      case .backingOff: .backingOff
      case .succeeded(let upToDate): upToDate ? .upToDate : .succeeded
      case .failed(_, allowed: true): .allowedFailure
      case .failed(let failure, allowed: false): failure.cause == .timedOut ? .timedOut : .failed
      case .cancelled: .cancelled
      case .skipped: .skipped
      }
  }

  /// Failed, executing, held, ready, waiting, done.
  var attention: Int {
    switch self {
    case .failed, .timedOut: 0
    case .executing: 1
    case .paused, .backingOff: 2
    case .ready: 3
    case .waiting: 4
    case .allowedFailure, .cancelled, .skipped, .succeeded, .upToDate: 5
    }
  }

  var isTerminal: Bool { attention == 0 || attention == 5 }

  /// Whether what is shown of it changes as time goes by.
  var isLive: Bool { self == .executing || self == .backingOff }

  /// The word of the list's last line, as in `12 ok, 11 waiting`.
  var word: String {
    switch self {
    case .failed: "failed"
    case .timedOut: "timed out"
    case .executing: "running"
    case .paused: "paused"
    case .backingOff: "backing off"
    case .ready: "ready"
    case .waiting: "waiting"
    case .allowedFailure: "allowed"
    case .cancelled: "cancelled"
    case .skipped: "skipped"
    case .succeeded: "ok"
    case .upToDate: "up to date"
    }
  }

  /// What a filter's `state:` may say for it, besides `word` and the words of events.
  var names: [String] {
    switch self {
    case .failed: ["failed"]
    case .timedOut: ["failed", "timed-out", "timed_out"]
    case .executing: ["executing", "running"]
    case .paused: ["paused"]
    case .backingOff: ["backing_off", "backing-off", "retrying"]
    case .ready: ["ready"]
    case .waiting: ["waiting"]
    case .allowedFailure: ["failed", "allowed"]
    case .cancelled: ["cancelled"]
    case .skipped: ["skipped"]
    case .succeeded: ["succeeded", "ok"]
    case .upToDate: ["succeeded", "ok", "up-to-date", "up_to_date"]
    }
  }
}
