import Basics

/// The fourteen classes of job states that a reader tells apart, each with its letter, its words and its rank.
package enum StateClass: UInt8, Sendable, CaseIterable {
  case failed
  case timedOut
  case executing
  /// A service that can be used.
  case serving
  /// The job executes or is paused, and its end was requested.
  case stopping
  case paused
  case backingOff
  case ready
  case waiting
  case allowedFailure
  case cancelled
  case skipped
  case succeeded
  case upToDate

  package init(_ state: JobState) {
    self =
      switch state {
      case .waiting: .waiting
      case .ready: .ready
      case .executing: .executing
      case .serving: .serving
      case .paused: .paused
      case .backingOff: .backingOff
      case .succeeded(let upToDate): upToDate ? .upToDate : .succeeded
      case .failed(_, allowed: true): .allowedFailure
      case .failed(let failure, allowed: false): failure.cause.isOfTime ? .timedOut : .failed
      case .cancelled: .cancelled
      case .skipped: .skipped
      }
  }

  /// The rank in a list sorted by attention, 0 first.
  package var attention: Int {
    switch self {
    case .failed, .timedOut: 0
    case .stopping: 1
    case .executing, .serving: 2
    case .paused, .backingOff: 3
    case .ready: 4
    case .waiting: 5
    case .cancelled: 6
    case .allowedFailure: 7
    case .skipped: 8
    case .succeeded, .upToDate: 9
    }
  }

  package var isTerminal: Bool { isBad || attention >= 6 }

  /// Whether the run has failed because of such a job.
  package var isBad: Bool { attention == 0 }

  /// The letter before a job's name; the ASCII form is also used by plain lines.
  package func letter(isASCII: Bool) -> String { isASCII ? texts.ascii : texts.letter }

  /// The word that a person reads, as in `12 ok, 11 waiting`.
  package var word: String { texts.word }

  /// The word of `job_state` events, which has no finer classes.
  package var eventWord: String { texts.event }

  /// The end of a sentence that begins with the job's name, as in `skipped because build timed out`.
  package var ending: String { texts.ending }

  private var texts: Texts { Self.texts[Int(rawValue)] }

  private typealias Texts = (letter: String, ascii: String, word: String, event: String, ending: String)

  /// In the order of the cases.
  private static let texts: [Texts] = [
    ("✗", "!", "failed", "failed", "failed"),
    ("T", "T", "timed out", "failed", "timed out"),
    ("▶", ">", "running", "executing", "has not ended"),
    ("◉", "@", "serving", "serving", "has not ended"),
    ("■", "s", "stopping", "executing", "has not ended"),
    ("‖", "|", "paused", "paused", "has not ended"),
    ("↻", "z", "retrying", "backing_off", "has not ended"),
    ("○", "o", "ready", "ready", "has not ended"),
    ("·", ".", "waiting", "waiting", "has not ended"),
    ("~", "~", "allowed to fail", "failed", "failed"),
    ("⊘", "c", "cancelled", "cancelled", "was cancelled"),
    ("»", "x", "skipped", "skipped", "was skipped"),
    ("✓", "+", "ok", "succeeded", "succeeded"),
    ("=", "=", "up to date", "succeeded", "succeeded"),
  ]

  /// The words for this class in a filter's `state:`.
  package var names: [String] { Self.names[Int(rawValue)] }

  /// As `names`, for a job of this class in this state.
  package func names(in state: JobState) -> [String] {
    state == .skipped(because: .manual) ? names + ["not-started", "not_started"] : names
  }

  private static let names = allCases.map { state -> [String] in
    let more = state == .backingOff ? ["backing-off"] : state == .upToDate ? ["ok"] : []
    return [state.eventWord, state.word.escaping([" ": "-"]), state.word.escaping([" ": "_"])] + more
  }
}

extension JobState {
  /// The word in `job_state` events.
  package var word: String { StateClass(self).eventWord }
}

extension JobFailure.Cause {
  /// Whether a limit of time has ended it.
  fileprivate var isOfTime: Bool { self == .timedOut || self == .timeLimit }
}
