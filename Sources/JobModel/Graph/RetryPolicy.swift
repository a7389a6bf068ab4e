/// When and how often a failed attempt is followed by another.
package struct RetryPolicy: Sendable, Equatable {
  package enum Backoff: String, Sendable, CaseIterable {
    case constant
    case exponential
  }

  /// A class of failures that a policy can be restricted to, by its name in the job file.
  package enum Cause: String, Sendable, CaseIterable {
    case exit
    case signal
    case network
    case timeout
    case serverError = "5xx"
    case clientError = "4xx"
    case tooManyRequests = "429"
    case checksum
  }

  /// How many retries follow the first attempt.
  package var max: Int
  package var backoff: Backoff
  package var initial: Duration
  package var cap: Duration
  /// Whether each wait is drawn evenly from half of it to the whole.
  package var jitter: Bool
  /// Nil means any failure.
  package var only: Set<Cause>?

  package static let never = RetryPolicy(max: 0)

  package init(
    max: Int, backoff: Backoff = .exponential, initial: Duration = .seconds(1), cap: Duration = .seconds(30),
    jitter: Bool = false, only: Set<Cause>? = nil
  ) {
    self.max = max
    self.backoff = backoff
    self.initial = initial
    self.cap = cap
    self.jitter = jitter
    self.only = only
  }

  package func allows(_ failure: JobFailure) -> Bool {
    guard let only else { return true }
    return !only.isDisjoint(with: failure.retryCauses)
  }

  /// The wait before retry `number` (1 is the first); `random` is in 0 ..< 1 and is used only with jitter.
  package func delay(beforeRetry number: Int, random: Double) -> Duration {
    var delay = Swift.min(initial, cap)
    if backoff == .exponential, delay > .zero {
      var left = number - 1
      while left > 0, delay < cap {
        // Doubling from beyond half of the cap could overflow.
        delay = delay > cap / 2 ? cap : delay * 2
        left -= 1
      }
    }
    return jitter ? delay * (0.5 + random / 2) : delay
  }
}
