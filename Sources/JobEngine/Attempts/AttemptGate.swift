import Basics
import JobModel

/// The gate that every attempt passes at its start, on any thread, and that the end of a run closes.
///
/// Attempts are admitted ahead of the free slots, and the operation queue starts the next one as soon as another has
/// ended. The end that closes the run therefore closes the gate before any observer sees that end, and the engine
/// closes the gate before it states the fact: each attempt either passed earlier and is stated earlier, or never
/// executes.
final class AttemptGate: Sendable {
  /// The attempts that may still start.
  enum Stand: Comparable {
    case open
    /// Only attempts of `finally` jobs.
    case final
    case none
  }

  private enum Place {
    case ahead
    case passed
    /// Passed, and its start is stated.
    case told
    case refused
  }

  private struct Attempt {
    let isFinal: Bool
    /// Whether it executes from its start on; the cluster starts the others later.
    let startsAtOnce: Bool
    var place = Place.ahead
  }

  private struct State {
    var stand = Stand.open
    var attempts: [Int: Attempt] = [:]
    /// Attempts whose end probably closes the run; the engine decides.
    var holds: Set<Int> = []
  }

  private let state = Lock(State())

  /// Whether the engine has yet to decide whether an ended attempt closes the run.
  var isHeld: Bool { state.withLock { !$0.holds.isEmpty } }

  /// Adds an attempt; to be called before its operation is in a queue.
  func add(_ ticket: Int, isFinal: Bool, startsAtOnce: Bool = true) {
    state.withLock { $0.attempts[ticket] = Attempt(isFinal: isFinal, startsAtOnce: startsAtOnce) }
  }

  /// Whether the attempt may execute; asked once, when it would.
  func pass(_ ticket: Int) -> Bool {
    state.withLock { state in
      guard let attempt = state.attempts[ticket] else { return false }
      let passes =
        switch state.stand {
        case .open: attempt.isFinal || state.holds.isEmpty
        case .final: attempt.isFinal
        case .none: false
        }
      state.attempts[ticket]?.place = passes ? .passed : .refused
      return passes
    }
  }

  /// Closes the gate for all but `finally` jobs until `leave`.
  ///
  /// The end of this attempt closes the run unless the engine decides otherwise.
  func hold(_ ticket: Int) {
    state.withLock { state in
      if state.attempts[ticket] != nil { state.holds.insert(ticket) }
    }
  }

  /// Lets all attempts pass again, except the ones that a hold keeps back.
  func open() { state.withLock { $0.stand = .open } }

  /// Closes the gate this far, at least.
  func close(to stand: Stand) { state.withLock { $0.stand = max($0.stand, stand) } }

  /// The attempts that have passed the gate, that the engine does not know to have started and that could not pass it
  /// now, in order.
  ///
  /// The call marks them as known. An attempt that could still pass may have passed after the close, and after an end
  /// that is not stated yet.
  func takePassed() -> [Int] {
    state.withLock { state in
      let passed = state.attempts.filter { _, attempt in
        attempt.place == .passed && attempt.startsAtOnce && (state.stand == .none || !attempt.isFinal)
      }.keys.sorted()
      for ticket in passed { state.attempts[ticket]?.place = .told }
      return passed
    }
  }

  /// Notes that the start of an attempt is stated.
  func tell(_ ticket: Int) { state.withLock { $0.attempts[ticket]?.place = .told } }

  /// Whether the gate turned the attempt back, so that it does not execute.
  func hasRefused(_ ticket: Int) -> Bool { state.withLock { $0.attempts[ticket]?.place == .refused } }

  /// Removes an attempt whose end the engine has handled.
  func leave(_ ticket: Int) {
    state.withLock { state in
      state.attempts[ticket] = nil
      state.holds.remove(ticket)
    }
  }
}

/// Decides whether the end of an attempt closes the run, from values known at its admission.
struct EndRule: Equatable, Sendable {
  var policy: RetryPolicy
  /// Whether the policy has no retry left.
  var isLast: Bool
  /// Whether a success counts as a failure: a service that ends while jobs need it.
  var successCloses: Bool

  /// Whether the outcome closes the run; `excess` is the limit that made the engine cancel the attempt.
  ///
  /// Errs on the side of true: the engine opens the gate again.
  func closesRun(_ outcome: AttemptOutcome, excess: JobFailure?, outputMatches: Bool) -> Bool {
    switch outcome {
    case .failed(let failure): closesRun(failure, outputMatches)
    case .cancelled: excess.map { closesRun($0, outputMatches) } ?? false
    case .succeeded: successCloses
    case .upToDate: false
    }
  }

  private func closesRun(_ failure: JobFailure, _ outputMatches: Bool) -> Bool {
    isLast || !policy.allows(failure, outputMatches: outputMatches)
  }
}
