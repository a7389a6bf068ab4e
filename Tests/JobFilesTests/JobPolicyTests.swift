import JobModel
import Testing

@Suite struct JobPolicyTests {
  private func retry(_ value: String, head: String = "") throws -> RetryPolicy {
    try job("run: a\nretry: \(value)", head: head).retry
  }

  // MARK: The delays of retries

  @Test(
    arguments: [
      ("1ms", .milliseconds(1)), ("999ms", .milliseconds(999)), ("1s", .seconds(1)), ("1001ms", .seconds(1)),
    ] as [(String, Duration)])
  func aCapCutsTheUsualInitialDelay(cap: String, initial: Duration) throws {
    #expect(try retry("{ max: 1, cap: \(cap) }").initial == initial)
  }

  @Test(
    arguments: [("29s", .seconds(30)), ("30s", .seconds(30)), ("31s", .seconds(31))] as [(String, Duration)])
  func theUsualCapCutsNoInitialDelay(initial: String, cap: Duration) throws {
    #expect(try retry("{ max: 1, initial: \(initial) }").cap == cap)
  }

  @Test func anInitialDelayMayBeTheCapAndNoLonger() throws {
    let policy = try retry("{ max: 1, initial: 2s, cap: 2s }")
    #expect(policy.initial == .seconds(2) && policy.cap == .seconds(2))
    let fault = "2:23: retry.initial (2s1ms) is longer than retry.cap (2s): raise cap or lower initial"
    #expect(faults(job: "run: a, retry: { max: 1, initial: 2001ms, cap: 2s }") == [fault])
  }

  @Test func waitsMayBeNothing() throws {
    let policy = try retry("{ max: 1, initial: 0, cap: 0 }")
    #expect(policy.initial == .zero && policy.cap == .zero)
  }

  // MARK: The number of retries

  @Test func aNumberIsTheMostRetries() throws {
    #expect(try retry("0") == .never)
    #expect(try retry("1000000") == RetryPolicy(max: 1_000_000))
    #expect(faults(job: "run: a, retry: 1000001").count == 1)
    #expect(faults(job: "run: a, retry: { max: 1000001 }").count == 1)
  }

  @Test(arguments: ["{ cap: 5s }", "{ maxx: 2 }", "{ max: many }"])
  func aMissingOrWrongNumberOfRetriesIsOneFault(value: String) {
    #expect(faults(job: "run: a, retry: \(value)").count == 1)
  }

  // MARK: Defaults

  @Test func aJobsOwnSettingsAreCompletedByTheDefaults() throws {
    let head = "defaults: { retry: { max: 3, cap: 10s, jitter: true }, env: { A: old, B: b }, stop: { grace: 9s } }"
    let policy = try retry("{ initial: 5s, cap: 20s }", head: head)
    #expect(policy == RetryPolicy(max: 3, initial: .seconds(5), cap: .seconds(20), jitter: true))
    #expect(try retry("0", head: head).max == 0)
    let work = try work("run: a\nenv: { A: a }\nstop: { signal: INT }", head: head)
    #expect(work.environment["A"] == "a" && work.environment["B"] == "b")
    #expect(work.stop == ShellWork.Stop(signal: 2, grace: .seconds(9)))
  }

  @Test func aServiceHasNoTimeLimitOfTheDefaults() throws {
    let head = "defaults: { timeout: 5s, silence: 6s }"
    let service = "run: a\nservice: true"
    #expect(try job(service, head: head).timeout == nil && work(service, head: head).silence == nil)
    let own = "run: a\ntimeout: 7s"
    #expect(try job("run: a", head: head).timeout == .seconds(5) && job(own, head: head).timeout == .seconds(7))
    #expect(try work(own, head: head).silence == .seconds(6))
  }

  // MARK: Progress

  @Test func aPatternOfProgressHasOneOrTwoGroups() throws {
    #expect(try work(#"{ run: a, progress: '(\d)(?:x)' }"#, head: "").progress == #"(\d)(?:x)"#)
    #expect(try work(#"{ run: a, progress: '(\d)(\d)' }"#, head: "").progress == #"(\d)(\d)"#)
    let fault =
      "2:26: progress takes a regular expression with one group (per cent) or two (done, total); this one has 3: "
      + "write (?:…) for those that are no number"
    #expect(faults(job: "run: a, progress: '(a)(b)(c)'") == [fault])
  }

  /// The program of the job of a file with this body.
  private func work(_ body: String, head: String) throws -> ShellWork {
    guard case .shell(let work) = try job(body, head: head).work else { throw NoProgram() }
    return work
  }

  private struct NoProgram: Error {}
}
