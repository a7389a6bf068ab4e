import Testing

@testable import Session
@testable import opdash

struct JobFileChainTests {
  /// The variable after this file has run itself so often.
  private func variable(_ file: String, times: Int, _ text: String? = nil) throws -> String? {
    var text = text
    for _ in 0..<times { text = try chain(text).adding(file) }
    return text
  }

  private func chain(_ text: String?) -> JobFileChain {
    JobFileChain(Environment(variables: text.map { [JobFileChain.variable: $0] } ?? [:]))
  }

  private func refusal(_ file: String, _ text: String?) -> String? {
    do throws(UsageError) {
      _ = try chain(text).adding(file)
      return nil
    } catch { return error.message }
  }

  @Test func aFileThatRunsItselfIsRefusedAfterEightRuns() throws {
    let seven = try variable("/w/a.yml", times: 7)
    #expect(refusal("/w/a.yml", seven) == nil)
    #expect(
      refusal("/w/a.yml", try variable("/w/a.yml", times: 1, seven))
        == "/w/a.yml runs itself, 8 runs deep: /w/a.yml -> /w/a.yml and so on; "
        + "a job must not start opdash with a file that is being run")
  }

  @Test func filesThatRunOneAnotherAreRefusedWithTheirChain() throws {
    var text: String?
    for _ in 0..<4 {
      text = try variable("/w/a.yml", times: 1, text)
      text = try variable("/w/b.yml", times: 1, text)
    }
    let chain = "/w/a.yml -> /w/b.yml -> /w/a.yml and so on"
    #expect(refusal("/w/a.yml", text)?.hasPrefix("/w/a.yml runs itself, 8 runs deep: \(chain);") == true)
    #expect(refusal("/w/c.yml", text) == nil)
  }
}
