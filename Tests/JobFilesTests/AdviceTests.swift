import Testing

/// The values that messages propose.
struct AdviceTests {
  @Test(arguments: [
    ("10", "10s, or 10m for minutes"), ("10 minutes", "10m"), ("1 hour, 30 mins", "1h30m"), ("1h30", "1h30m"),
    ("2m 5", "2m5s"), ("90 Sec", "90s"), ("1.5 hours", "1.5h"), ("250 msecs", "250ms"), ("2 days", "48h"),
    ("00:01:30", "1m30s"), ("02:00:00", "2h"), ("5:30", "5m30s"), ("PT10M", "10m"), ("-5s", "5s"),
    ("1:02:03", "1h2m3s"), ("1-02:03:04", "26h3m4s"), ("0-00:00:05", "5s"), ("2-00", "48h"), ("4000 days", "96000h"),
  ])
  func aDurationOfAnotherFormIsTranslated(written: String, advice: String) {
    #expect(faults(job: "run: ls, timeout: '\(written)'") == ["2:26: '\(written)' is not a duration: write \(advice)"])
  }

  @Test(arguments: [
    "soon", "5 parsecs", "1m 1h", "s", "99999999999999999999", "5 5", "1:2:3:4", "1..5s", "9999999 days", "4001 days",
    "1 day 5", "00:00", "0-00", "PT", "",
  ])
  func anythingElseGetsTheExamples(written: String) {
    #expect(
      faults(job: "run: ls, timeout: '\(written)'") == [
        "2:26: '\(written)' is not a duration: write 500ms, 8s, 10m or 1h30m"
      ])
  }

  @Test(arguments: ["100000h1ms", "99999999h", "99999999999999999999h"])
  func aDurationThatIsTooLongHearsTheLimit(written: String) {
    let advice = "2:26: timeout takes at most 100000h; this is '\(written)'"
    #expect(faults(job: "run: ls, timeout: \(written)") == [advice])
  }

  @Test(arguments: [
    (#"(\d+"#, 0, "this '(' is never closed"), (#"a(b(c)"#, 1, "this '(' is never closed"),
    (#"(\d+))"#, 5, "this ')' closes no group"), (#"\(\d+)"#, 5, "this ')' closes no group"),
    (#"(\d+)[a"#, 5, "this '[' is never closed"), (#"*(\d+)"#, 0, "'*' has nothing before it to repeat"),
    (#"(+)"#, 1, "'+' has nothing before it to repeat"), (#"(\d+)|?"#, 6, "'?' has nothing before it to repeat"),
    (#"(\d+)\"#, 5, "it ends with '\\', which begins an escape"),
    (#"{(\d+)}"#, 0, "this '{' begins no number of repetitions"), (#"[(](\d+"#, 3, "this '(' is never closed"),
  ])
  func aFaultOfAPatternHasItsPlaceInThePattern(pattern: String, offset: Int, message: String) {
    let found = faults(job: "run: ls, progress: '\(pattern)'")
    #expect(found.count == 1)
    #expect(
      found.first?.hasPrefix("2:\(28 + offset): '\(pattern)' is not a regular expression: \(message): ") == true,
      "\(found)")
  }

  @Test(arguments: [
    ("depends_on: [b]", "needs"), ("dependsOn: [b]", "needs"), ("depends-on: b", "needs"), ("requires: [b]", "needs"),
    ("after: b", "needs"), ("deps: [b]", "needs"), ("cwd: src", "dir"), ("working-directory: src", "dir"),
    ("working_dir: src", "dir"), ("workdir: src", "dir"), ("directory: src", "dir"), ("environment: { A: b }", "env"),
    ("continue-on-error: true", "allow_failure"), ("ignore_errors: true", "allow_failure"),
    ("ignore_error: true", "allow_failure"), ("timeout-minutes: 30", "timeout: 30m"),
    ("timeout_seconds: 90", "timeout: 90s"), ("retries: 3", "retry: 3"), ("max_attempts: 3", "retry: 2"),
    ("stop_grace_period: 30s", "stop: { grace: 30s }"), ("stop_signal: SIGINT", "stop: { signal: SIGINT }"),
  ])
  func aWordOfAnotherToolIsTranslated(written: String, word: String) {
    let found = faults("jobs:\n  a: { run: ls, \(written) }\n  b: { run: ls }\n")
    let key = written.prefix { $0 != ":" }
    #expect(found.count == 1, "\(found)")
    #expect(found.first?.hasPrefix("2:17: unknown key '\(key)': write '\(word)'") == true, "\(found)")
  }

  @Test(arguments: [
    "cmd: ls", "command: ls", "script: ls", "exec: ls", "bash: ls", "commands: ls", "command: [ls, -l]",
  ])
  func aWordForRunIsReadAsRun(written: String) {
    let key = written.prefix { $0 != ":" }
    // Nothing is said of a job without work.
    #expect(faults(job: written) == ["2:8: unknown key '\(key)': write 'run'"])
  }

  @Test(arguments: [
    ("strategy: { matrix: { os: [linux] } }", "write 'matrix: { NAME: [value, …] }' in the job"),
    ("foreach: [a, b]", "write 'matrix: { NAME: [value, …] }' in the job"),
    ("only: [main]", "write 'if' with the condition for it to run"),
    ("unless: x", "write 'if' with the opposite"),
  ])
  func aWordForWhatHasItsOwnKeyNamesThat(written: String, advice: String) {
    let key = written.prefix { $0 != ":" }
    #expect(faults(job: "run: ls, \(written)") == ["2:17: unknown key '\(key)': \(advice)"])
  }

  @Test func theValueOfAWordOfAnotherToolIsReadToo() {
    #expect(
      faults("tasks:\n  a: { script: ls, depends_on: [c], cwd: ~/x }\n") == [
        "1:1: unknown key 'tasks': write 'jobs'", "2:8: unknown key 'script': write 'run'",
        "2:20: unknown key 'depends_on': write 'needs'",
        "2:33: unknown job 'c' in needs: add the job, or delete the need", "2:37: unknown key 'cwd': write 'dir'",
        "2:42: dir: '~' is not expanded here: write ${env.HOME}/x",
      ])
  }
}
