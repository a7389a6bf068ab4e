import JobFiles
import JobModel
import Testing

/// Typed values, and the advice for what is none.
struct ValueReaderTests {
  // MARK: Numbers and flags

  @Test(arguments: [("0x10", 16), ("0xfF", 255), ("0o17", 15), ("12", 12), ("007", 7)])
  func aWholeNumberMayHaveABase(written: String, number: Int) throws {
    #expect(try graph("slots: \(written)\njobs: { a: { run: ls } }").slots == number)
  }

  @Test(arguments: ["0x", "0x-1", "0x+1", "0o9", "0xg", "1e3", "1_000", "0b1"])
  func anythingElseIsNoWholeNumber(written: String) {
    #expect(
      faults("slots: \(written)\njobs: { a: { run: ls } }") == [
        "1:8: slots takes a whole number, 1 or more; this is '\(written)'"
      ])
  }

  @Test func quotedTextThatIsNoNumberNeedsMoreThanNoQuotes() {
    #expect(
      faults(job: "run: ls, retry: 'many'") == [
        "2:24: retry takes a whole number, 0 to 1000000; this is the text 'many'"
      ])
  }

  @Test(arguments: [
    ("True", true), ("TRUE", true), ("true", true), ("False", false), ("FALSE", false), ("false", false),
  ])
  func aFlagHasTheFormsOfYAML(written: String, flag: Bool) throws {
    let head = "defaults: { allow_failure: \(!flag) }"
    #expect(try job("run: ls\nallow_failure: \(written)", head: head).allowFailure == flag)
  }

  @Test(arguments: [
    ("'true'", "the text 'true': write true without quotes"), ("'No'", "the text 'No': write false without quotes"),
    ("ON", "'ON': write true"), ("off", "'off': write false"), ("1", "'1': write true"), ("0", "'0': write false"),
    ("tRUE", "'tRUE': write true"), ("2", "'2'"),
  ])
  func aWordForAFlagIsTranslated(written: String, words: String) {
    #expect(faults(job: "run: ls, tty: \(written)") == ["2:22: tty takes true or false; this is \(words)"])
  }

  @Test(arguments: [("0", 0), ("1", 1), ("1.0", 1), ("1e-1", 0.1), ("0.25", 0.25), ("'${n}'", 0.5)])
  func aShareIsADecimalNumber(written: String, rate: Double) throws {
    let work = try job("simulate: { fail_rate: \(written) }", head: "vars: { n: 0.5 }").work
    #expect(work == .simulate(SimulatedWork(failRate: rate)))
  }

  @Test(arguments: [
    ("100%", "'100%': write 1.0"), ("0%", "'0%': write 0.0"), ("101%", "'101%'"), ("-5%", "'-5%'"), ("x%", "'x%'"),
    ("'0.5'", "the text '0.5'"), ("1.1", "'1.1'"), ("-0.1", "'-0.1'"), ("inf", "'inf'"), ("0x0", "'0x0'"),
  ])
  func whatIsNoShareIsRefused(written: String, words: String) {
    #expect(
      faults(job: "simulate: { fail_rate: \(written) }") == [
        "2:31: simulate.fail_rate takes a number from 0 to 1; this is \(words)"
      ])
  }

  // MARK: Maps

  @Test(arguments: [
    ("['=x']", "a list"), ("[':x']", "a list"), ("[x]", "a list"), ("[[A]]", "a list"), ("[]", "a list"),
    ("['A=b c']", "a list: write 'A: b c' instead of '- A=b c'"),
    ("['LANG:   C']", "a list: write 'LANG: C' instead of '- LANG:   C'"),
    ("[{ A: b }]", "a list: write its lines without '- '"),
    ("A=b/c.d-e", "'A=b/c.d-e': write '{ A: b/c.d-e }'"), ("A=b c", "'A=b c'"),
  ])
  func aMapInAnotherFormIsTranslated(written: String, words: String) {
    #expect(faults(job: "run: ls, env: \(written)") == ["2:22: env takes a map of names to values; this is \(words)"])
  }

  @Test(arguments: [
    ("{ a: b }", true), ("{ a: b, c: d }", true), ("{ a: b, c: d, e: f }", false),
  ])
  func aSmallMapMayBeTextWithoutQuotes(written: String, isLikely: Bool) {
    let advice = isLikely ? ": quote text that holds ': ' or begins with '{'" : ""
    #expect(
      faults(job: "run: \(written)") == [
        "2:13: run takes a command for sh as text, or a program and its arguments as a list; this is a map\(advice)"
      ])
  }

  @Test(arguments: [
    ("# none", "write \"\" for an empty value"), ("", "write \"\" for an empty value"),
    ("#", "'#' begins a comment in YAML, so put the text in quotes"),
    ("#fff", "'#' begins a comment in YAML, so put the text in quotes"),
  ])
  func aCommentInPlaceOfAValueMayBeText(written: String, advice: String) {
    #expect(
      faults("jobs:\n  a:\n    run: ls\n    env:\n      A: \(written)\n") == ["5:9: env.A is empty: \(advice)"])
  }

  // MARK: Paths

  @Test func onlyAHomeFolderIsNotExpanded() throws {
    #expect(faults(job: "run: ls, dir: '~'") == ["2:22: dir: '~' is not expanded here: write ${env.HOME}"])
    #expect(faults(job: "run: ls, dir: ~/") == ["2:22: dir: '~' is not expanded here: write ${env.HOME}/"])
    guard case .shell(let work) = try job("run: ls\ndir: ~ann/x").work else { throw UnexpectedWork() }
    #expect(work.directory == "/jobs/~ann/x")
  }
}
