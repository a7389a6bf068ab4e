import Basics
import JobModel

/// What every attempt passes at its start, on whatever thread, and what an end of the run closes.
///
/// Attempts are admitted ahead of the free slots, and the operation queue starts the next one as soon as another has ended.
/// So the end that closes the run closes the gate before anybody knows of it, and the engine closes it before it states the
/// fact: each attempt has either passed before and is stated before, or never executes.
final class AttemptGate: Sendable {
  /// Which attempts may still start.
  enum Stand: Comparable {
    case open
    /// Only those of `finally`.
    case final
    case none
  }

  private enum Place {
    case ahead
    case passed
    /// It has passed, and the engine knows.
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
    /// The attempts that have ended in a way that closes the run, as far as is known without the engine.
    var holds: Set<Int> = []
  }

  private let state = Lock(State())

  /// Whether an attempt has ended of which the engine has not decided whether it closes the run.
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

  /// Closes the gate for all but the jobs of `finally` until `leave` is called: the attempt has ended, and closes the run
  /// unless the engine knows better.
  func hold(_ ticket: Int) {
    state.withLock { state in
      if state.attempts[ticket] != nil { state.holds.insert(ticket) }
    }
  }

  /// Lets all attempts pass again that no hold keeps back.
  func open() { state.withLock { $0.stand = .open } }

  /// Closes the gate this far, at least.
  func close(to stand: Stand) { state.withLock { $0.stand = max($0.stand, stand) } }

  /// The attempts that have passed the gate and that the engine has not been told of, in their order; told by this.
  func takePassed() -> [Int] {
    state.withLock { state in
      let passed = state.attempts.filter { $0.value.place == .passed && $0.value.startsAtOnce }.keys.sorted()
      for ticket in passed { state.attempts[ticket]?.place = .told }
      return passed
    }
  }

  /// Notes that the start of an attempt is stated.
  func tell(_ ticket: Int) { state.withLock { $0.attempts[ticket]?.place = .told } }

  /// Whether the attempt was turned back and will not execute.
  func hasRefused(_ ticket: Int) -> Bool { state.withLock { $0.attempts[ticket]?.place == .refused } }

  /// Removes an attempt of which the engine has decided what its end means.
  func leave(_ ticket: Int) {
    state.withLock { state in
      state.attempts[ticket] = nil
      state.holds.remove(ticket)
    }
  }
}

/// What the end of an attempt does to the run, as far as it is known when the attempt is admitted.
struct EndRule: Equatable, Sendable {
  var policy: RetryPolicy
  /// Whether the policy has no retry left.
  var isLast: Bool
  /// Whether a success is a failure too: that of a service while it is needed.
  var successCloses: Bool

  /// Whether it closes the run; `excess` is the limit because of which the engine has cancelled it.
  ///
  /// True also where the engine alone knows that it does not.
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
