import JobModel
import Screen
import Testing

@testable import Dashboard

struct ErrorWordsTests {
  @Test(arguments: [
    "error: cannot find 'x' in scope", "main.c:3:1: error: expected ';'", "ERROR: failed to build", "[error] no route",
    "error[E0308]: mismatched types", "E: Unable to locate package foo", "npm ERR! code ENOENT", "[ERR] gone",
    "Traceback (most recent call last):", "TypeError: x is not a function", "java.lang.NullPointerException: null",
    "fatal: not a git repository", "panic: runtime error: index out of range", "thread 'main' panicked at src/main.rs",
    "Segmentation fault (core dumped)", "sh: 1: foo: command not found", "cat: x: No such file or directory",
    "mkdir: Permission denied", "main.o: undefined reference to `foo'", "Undefined symbols for architecture arm64",
    "--- FAIL: TestX (0.00s)", "not ok 3 - adds", "3 tests failed", "1 error generated.", "make: *** [all] Error 2",
    "0 warnings, 1 error", "failures: 0, errors: 1", "level=error msg=\"gone\"", "Error.", "error: none of the files",
    "Uncaught ReferenceError: y is not defined", "Assertion failed: (a == b)", "Killed: out of memory",
    "Test Case 'T.x' failed (0.1 seconds)", "curl: (7) Connection refused",
  ])
  func aLineThatReportsAnErrorIsMatched(_ line: String) {
    #expect(ErrorWords.areIn(line))
  }

  @Test(arguments: [
    "", "all is well", "0 errors", "no errors found", "0 failed, 12 passed", "errors: 0", "failures=0", "failed: 0 ok",
    "no test failed", "without error", "\"error\": null, \"ok\": true", "gcc -Werror -c main.c", "--fail-fast is on",
    "Compiling src/errors/mod.rs", "errors.go is fine", "Compiling error_handler.swift", "a non-fatal thing",
    "continue-on-error: true", "error-free", "x.error is read", "handleError is called", "value is undefined",
    "terror and errors_total", "failover done", "Exception-safe", "12 tests, 0 failures", "Compiling MyError.swift",
    "0 tests failed", "exit code E", "https://x.test/error", "erroré",
  ])
  func aLineWithoutAnErrorIsNotMatched(_ line: String) {
    #expect(!ErrorWords.areIn(line))
  }

  private func bench(_ facts: (inout RunBuilder) -> Void) -> Bench {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.at(1)
    builder.move("a", .executing)
    builder.move("b", .executing)
    facts(&builder)
    return Bench(builder)
  }

  @Test func theKeyGoesToTheFirstLineWithAnError() {
    var bench = bench { run in
      for number in 0..<40 { run.log("a", "line \(number)") }
      run.log("a", "warning: odd", .stderr)
      run.log("a", "error: the first")
      for number in 0..<40 { run.log("a", "error \(number)") }
    }
    bench.press(.character("E"))
    #expect(bench.model.currentLine?.entry.line.text == "error: the first")
    #expect(bench.model.focus == .log && !bench.model.log.follows)
    #expect(bench.model.notice?.text == "the first error")
  }

  @Test func withoutAnErrorTheFirstLineOfStderrIsShown() {
    var bench = bench { run in
      run.log("a", "line")
      run.log("a", "it went wrong", .stderr)
      run.log("a", "again", .stderr)
    }
    bench.press(.character("E"))
    #expect(bench.model.currentLine?.entry.line.text == "it went wrong")
    #expect(bench.model.notice?.text.contains("first of stderr") == true)
  }

  @Test func withoutAnErrorTheLogDoesNotMove() {
    var bench = bench { $0.log("a", "0 errors") }
    bench.press(.character("E"))
    #expect(bench.model.log.follows && bench.model.focus == .list)
    #expect(bench.model.notice?.text == "no error here")
  }

  @Test func theFirstErrorIsOfTheShownAttempt() {
    var bench = bench { run in
      run.log("a", "error: old")
      run.move("a", .backingOff(until: .seconds(2), number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
      run.move("a", .executing)
      run.log("a", "fine")
      run.log("a", "error: new")
    }
    bench.press(.character("E"))
    #expect(bench.model.currentLine?.entry.line.text == "error: new")
    bench.press(.character("g"), .character("E"))
    #expect(bench.model.currentLine?.entry.line.text == "error: old")
  }

  @Test func inTheMergedLogTheFirstErrorIsOfAnyJob() {
    var bench = bench { run in
      run.log("a", "fine")
      run.log("b", "fatal: b")
      run.log("a", "fatal: a")
    }
    bench.press(.character("L"), .character("E"))
    #expect(bench.model.currentLine?.entry.line.text == "fatal: b")
  }
}
