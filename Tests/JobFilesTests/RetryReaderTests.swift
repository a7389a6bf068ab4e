import JobModel
import Testing

/// The key `retry.only`.
struct RetryReaderTests {
  private func retry(_ only: String) throws -> RetryPolicy {
    try job("run: ls\nretry: { max: 1, only: \(only) }").retry
  }

  @Test func wholeNumbersAreExitStatuses() throws {
    let retry = try retry("[network, 75, 137]")
    #expect(retry.only == [.network])
    #expect(retry.exits == [75, 137])
    #expect(try self.retry("[255, 1]").exits == [255, 1])
  }

  @Test func theNumberOfAnAnswerIsACause() throws {
    let retry = try retry("[429, 5xx, 4xx]")
    #expect(retry.only == [.tooManyRequests, .serverError, .clientError])
    #expect(retry.exits.isEmpty)
  }

  @Test func anyExitIsACause() throws { #expect(try retry("exit").only == [.exit]) }

  @Test func aPatternIsOneOfItsOutput() throws {
    let retry = try retry("[{ output: 'try (again|later)' }, 2]")
    #expect(retry.patterns == ["try (again|later)"])
    #expect(retry.exits == [2])
    // With no cause at all, only these are retried.
    #expect(retry.only == nil)
    #expect(try self.retry("{ output: x }").patterns == ["x"])
    #expect(try self.retry("[{ output: x }, { output: y }, { output: x }]").patterns == ["x", "y"])
  }

  @Test func theListOfAJobReplacesThatOfTheDefaults() throws {
    let head = "defaults: { retry: { max: 1, only: [network, 3] } }"
    let retry = try job("run: ls\nretry: { only: [4] }", head: head).retry
    #expect(retry.only == nil)
    #expect(retry.exits == [4])
    #expect(try job("run: ls", head: head).retry.exits == [3])
  }

  private static let takes =
    "exit, signal, network, timeout, 5xx, 4xx, 429, checksum, out-of-memory, time-limit, node-failure, preempted, lost, an exit status from 1 to 255, or { output: PATTERN }"

  @Test(arguments: [
    ("[0]", "2:33: retry.only: the exit status 0 is a success, which is never retried: delete it"),
    ("[256]", "2:33: retry.only: '256' is not an exit status: write a number from 1 to 255"),
    ("[-1]", "2:33: retry.only: '-1' is not an exit status: write a number from 1 to 255"),
    ("[503]", "2:33: retry.only: 503 is not an exit status; for an answer of HTTP write 5xx"),
    ("[404]", "2:33: retry.only: 404 is not an exit status; for an answer of HTTP write 4xx"),
    ("[399]", "2:33: retry.only: '399' is not an exit status: write a number from 1 to 255"),
    ("[400]", "2:33: retry.only: 400 is not an exit status; for an answer of HTTP write 4xx"),
    ("[499]", "2:33: retry.only: 499 is not an exit status; for an answer of HTTP write 4xx"),
    ("[500]", "2:33: retry.only: 500 is not an exit status; for an answer of HTTP write 5xx"),
    ("[599]", "2:33: retry.only: 599 is not an exit status; for an answer of HTTP write 5xx"),
    ("[600]", "2:33: retry.only: '600' is not an exit status: write a number from 1 to 255"),
    ("[netwrok]", "2:33: retry.only takes \(takes); this is 'netwrok': did you mean 'network'?"),
    ("[[1]]", "2:33: retry.only takes \(takes); this is a list"),
    ("[{}]", "2:33: this item of retry.only is empty: write { output: PATTERN }"),
    ("[{ outptu: x }]", "2:35: unknown key 'outptu': did you mean 'output'?"),
    (
      "[{ output: 'a)' }]",
      "2:45: 'a)' is not a regular expression: this ')' closes no group: delete it, or write '\\)' for a bracket"
    ),
    ("[{ output: '' }]", "2:43: retry.only.output is empty: it takes a regular expression"),
    ("[]", "2:32: retry.only is empty, so nothing would be retried: it takes \(takes)"),
  ])
  func whatIsNoFailureIsRefused(only: String, fault: String) {
    #expect(faults(job: "run: ls, retry: { only: \(only), max: 1 }") == [fault])
  }
}
