import Testing

@testable import JobFiles

/// The advice for words of other tools, with what is made of their values.
struct ForeignKeysTests {
  private func advice(_ key: String, _ value: String, in tools: ForeignKeys = .job) -> ForeignKeys.Advice? {
    let node = YAMLNode(content: .scalar(value, isPlain: true), place: .start, end: .start)
    return tools.advice(for: YAMLEntry(key: key, place: .start, value: node))
  }

  @Test(arguments: [
    ("timeout-minutes", "30", "write 'timeout: 30m'"), ("timeout_minutes", "0.5", "write 'timeout: 0.5m'"),
    ("timeoutSeconds", "1", "write 'timeout: 1s'"), ("timeout.ms", "5", "write 'timeout: 5ms'"),
    ("timeout-minutes", "0", "write 'timeout' with its unit, as in 'timeout: 10m'"),
    ("timeout-minutes", "-1", "write 'timeout' with its unit, as in 'timeout: 10m'"),
    ("timeout-minutes", "soon", "write 'timeout' with its unit, as in 'timeout: 10m'"),
    ("timeout-minutes", "", "write 'timeout' with its unit, as in 'timeout: 10m'"),
  ])
  func aTimeGetsItsUnit(key: String, value: String, sentence: String) {
    #expect(advice(key, value)?.sentence == sentence)
  }

  @Test(arguments: [
    ("retries", "0", "write 'retry: 0'"), ("retries", "999", "write 'retry: 999'"),
    ("retries", "1000", "write 'retry'"),
    ("retries", "-1", "write 'retry'"), ("retries", "", "write 'retry'"),
    // The first attempt is no retry.
    ("attempts", "1", "write 'retry: 0', the attempts after the first"),
    ("max_attempts", "999", "write 'retry: 998', the attempts after the first"), ("attempts", "0", "write 'retry'"),
    ("attempts", "1000", "write 'retry'"), ("attempts", "many", "write 'retry'"),
  ])
  func aNumberOfAttemptsIsOneOfRetries(key: String, value: String, sentence: String) {
    #expect(advice(key, value)?.sentence == sentence)
  }

  @Test(arguments: [
    ("stop_grace_period", "30", "write 'stop: { grace: 30s }'"), ("grace", "1m", "write 'stop: { grace: 1m }'"),
    ("grace", "", "write 'stop: { grace: 5s }'"), ("signal", "", "write 'stop: { signal: INT }'"),
    ("killsignal", "HUP", "write 'stop: { signal: HUP }'"),
    ("ready_log_line", "", "write 'service: { ready: { output: … } }'"),
    // Short enough to be repeated in the advice, and not.
    ("ready_log_line", "0123456789012345678", "write 'service: { ready: { output: 0123456789012345678 } }'"),
    ("ready_log_line", "01234567890123456789", "write 'service: { ready: { output: … } }'"),
  ])
  func aValueIsPutIntoItsAdvice(key: String, value: String, sentence: String) {
    #expect(advice(key, value)?.sentence == sentence)
  }

  @Test(arguments: [
    ("periodseconds", "5", "write 'every: 5s'"), ("period_seconds", "", "write 'every: 10s'"),
    ("timeoutSeconds", "", "write 'timeout: 30s'"), ("timeoutSeconds", "500ms", "write 'timeout: 500ms'"),
  ])
  func aTimeOfAProbeGetsItsUnit(key: String, value: String, sentence: String) {
    #expect(advice(key, value, in: .ready)?.sentence == sentence)
  }

  @Test func theMarksInAKeyDoNotCount() {
    for key in ["dependson", "DEPENDS_ON", "depends-on", "depends.on", "_Depends-On."] {
      #expect(advice(key, "a")?.key == "needs")
    }
    #expect(advice("depends on", "a") == nil)
  }

  @Test func aVeryLongKeyIsNoWord() {
    func key(_ length: Int) -> String { "depends" + String(repeating: "_", count: length - 9) + "on" }
    #expect(advice(key(49), "a")?.sentence == "write 'needs'")
    #expect(advice(key(50), "a") == nil)
  }
}
