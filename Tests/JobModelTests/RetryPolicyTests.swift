import JobModel
import Testing

@Suite struct RetryPolicyTests {
  @Test func exponentialWaitsDoubleUpToTheCap() {
    let policy = RetryPolicy(max: 9, initial: .seconds(1), cap: .seconds(10))
    #expect((1...6).map { policy.delay(beforeRetry: $0, random: 0.9) } == [1, 2, 4, 8, 10, 10].map { .seconds($0) })
  }

  @Test func constantWaitsStayTheSame() {
    let policy = RetryPolicy(max: 9, backoff: .constant, initial: .seconds(3), cap: .seconds(10))
    #expect([1, 2, 50].map { policy.delay(beforeRetry: $0, random: 0) } == Array(repeating: .seconds(3), count: 3))
  }

  @Test func noWaitIsLongerThanTheCap() {
    for backoff in RetryPolicy.Backoff.allCases {
      let policy = RetryPolicy(max: 1, backoff: backoff, initial: .seconds(9), cap: .seconds(2))
      #expect(policy.delay(beforeRetry: 1, random: 0) == .seconds(2))
    }
  }

  @Test func jitterDrawsFromHalfToTheWhole() {
    let policy = RetryPolicy(max: 1, initial: .seconds(8), jitter: true)
    #expect(policy.delay(beforeRetry: 1, random: 0) == .seconds(4))
    #expect(policy.delay(beforeRetry: 1, random: 0.5) == .seconds(6))
    #expect(policy.delay(beforeRetry: 1, random: 0.999_999) < .seconds(8))
  }

  @Test func aLargeNumberOfRetriesTakesNoTimeAndDoesNotOverflow() {
    let policy = RetryPolicy(max: .max, initial: .zero, cap: .seconds(1 << 60))
    #expect(policy.delay(beforeRetry: .max, random: 0) == .zero)
    let long = RetryPolicy(max: .max, initial: .milliseconds(1), cap: .seconds(Int64.max / 2))
    #expect(long.delay(beforeRetry: 1_000_000, random: 0) == .seconds(Int64.max / 2))
    #expect(long.delay(beforeRetry: 0, random: 0) == .milliseconds(1))
  }

  @Test(arguments: [
    (JobFailure.Cause.exit(1), [RetryPolicy.Cause.exit]), (.signal(9), [.signal]), (.network, [.network]),
    (.timedOut, [.timeout]), (.checksum, [.checksum]), (.http(500), [.serverError]), (.http(599), [.serverError]),
    (.http(404), [.clientError]), (.http(429), [.clientError, .tooManyRequests]), (.launch, []), (.file, []),
    (.simulated, []),
  ])
  func aRestrictedPolicyRetriesItsCausesOnly(cause: JobFailure.Cause, named: [RetryPolicy.Cause]) {
    let failure = JobFailure(cause, "x")
    #expect(RetryPolicy(max: 1).allows(failure))
    for only in RetryPolicy.Cause.allCases {
      #expect(RetryPolicy(max: 1, only: [only]).allows(failure) == named.contains(only))
    }
    #expect(!RetryPolicy(max: 1, only: []).allows(failure))
  }

  @Test func exitStatusesArePartOfTheRestriction() {
    let policy = RetryPolicy(max: 1, exits: [75])
    #expect(policy.allows(JobFailure(.exit(75), "x")) && !policy.allows(JobFailure(.exit(1), "x")))
    #expect(!policy.allows(JobFailure(.signal(75), "x")) && !policy.allows(JobFailure(.network, "x")))
    let both = RetryPolicy(max: 1, only: [.network], exits: [75])
    #expect(both.allows(JobFailure(.exit(75), "x")) && both.allows(JobFailure(.network, "x")))
    #expect(!both.allows(JobFailure(.exit(1), "x")))
  }

  @Test func aPatternAllowsWhatItsLineWasFoundFor() {
    let policy = RetryPolicy(max: 1, patterns: ["reset"])
    #expect(policy.allows(JobFailure(.exit(1), "x"), outputMatches: true))
    #expect(!policy.allows(JobFailure(.exit(1), "x")))
    let both = RetryPolicy(max: 1, only: [.timeout], patterns: ["reset"])
    #expect(both.allows(JobFailure(.timedOut, "x")) && both.allows(JobFailure(.exit(1), "x"), outputMatches: true))
    #expect(!both.allows(JobFailure(.exit(1), "x")))
  }

  @Test func aRestrictionToNothingIsNoFreedom() {
    let failure = JobFailure(.exit(1), "x")
    #expect(!RetryPolicy(max: 1, only: []).allows(failure))
    #expect(RetryPolicy(max: 1, only: []).allows(failure, outputMatches: true))
    #expect(RetryPolicy(max: 1).allows(failure))
  }

  @Test func theLastDoublingEndsAtTheCap() {
    let policy = RetryPolicy(max: 9, initial: .seconds(3), cap: .seconds(7))
    #expect((1...3).map { policy.delay(beforeRetry: $0, random: 0) } == [3, 6, 7].map { .seconds($0) })
    let even = RetryPolicy(max: 9, initial: .seconds(4), cap: .seconds(8))
    #expect((1...3).map { even.delay(beforeRetry: $0, random: 0) } == [4, 8, 8].map { .seconds($0) })
  }

  @Test func jitterIsOfTheDoubledWait() {
    let policy = RetryPolicy(max: 9, initial: .seconds(2), cap: .seconds(30), jitter: true)
    #expect(policy.delay(beforeRetry: 3, random: 0) == .seconds(4))
    #expect(policy.delay(beforeRetry: 3, random: 0.5) == .seconds(6))
  }
}
