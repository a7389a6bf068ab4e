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
    case outOfMemory = "out-of-memory"
    case timeLimit = "time-limit"
    case nodeFailure = "node-failure"
    case preempted
    case lost
  }

  /// How many retries follow the first attempt.
  package var max: Int
  package var backoff: Backoff
  package var initial: Duration
  package var cap: Duration
  /// Whether each wait is drawn evenly from half of it to the whole.
  package var jitter: Bool
  /// The failures that are followed by a retry; nil means any, if `exits` and `patterns` are empty too.
  package var only: Set<Cause>?
  /// Exit statuses that are followed by a retry.
  package var exits: Set<Int32>
  /// Regular expressions: a failure is followed by a retry if a line of the attempt's output matches one.
  package var patterns: [String]

  package static let never = RetryPolicy(max: 0)

  package init(
    max: Int, backoff: Backoff = .exponential, initial: Duration = .seconds(1), cap: Duration = .seconds(30),
    jitter: Bool = false, only: Set<Cause>? = nil, exits: Set<Int32> = [], patterns: [String] = []
  ) {
    self.max = max
    self.backoff = backoff
    self.initial = initial
    self.cap = cap
    self.jitter = jitter
    self.only = only
    self.exits = exits
    self.patterns = patterns
  }

  /// Whether a retry may follow; `outputMatches` if a line of the attempt's output matched a pattern.
  package func allows(_ failure: JobFailure, outputMatches: Bool = false) -> Bool {
    if only == nil, exits.isEmpty, patterns.isEmpty { return true }
    return outputMatches || failure.exit.map(exits.contains) == true
      || only?.isDisjoint(with: failure.retryCauses) == false
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

extension JobFailure {
  package var retryCauses: Set<RetryPolicy.Cause> {
    switch cause {
    case .exit: [.exit]
    case .signal: [.signal]
    case .http(429): [.tooManyRequests, .clientError]
    case .http(let status): status >= 500 ? [.serverError] : [.clientError]
    case .network: [.network]
    case .timedOut: [.timeout]
    case .checksum: [.checksum]
    case .outOfMemory: [.outOfMemory]
    case .timeLimit: [.timeLimit]
    case .nodeFailure: [.nodeFailure]
    case .preempted: [.preempted]
    case .lost: [.lost]
    case .launch, .file, .simulated, .error, .approval: []
    }
  }
}
