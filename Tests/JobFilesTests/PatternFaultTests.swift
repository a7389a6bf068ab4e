import Testing

@testable import JobFiles

/// Where a regular expression is wrong.
struct PatternFaultTests {
  private static let group = "this '(' is never closed: add ')', or write '\\(' for a bracket"
  private static let close = "this ')' closes no group: delete it, or write '\\)' for a bracket"
  private static let set = "this '[' is never closed: add ']', or write '\\[' for a bracket"
  private static let brace = "this '{' begins no number of repetitions: write '\\{' for a brace"
  private static let escape = "it ends with '\\', which begins an escape: write '\\\\' for a backslash"

  private static func nothing(_ mark: String) -> String {
    "'\(mark)' has nothing before it to repeat: write '\\\(mark)' for the character"
  }

  @Test(arguments: [
    // Of groups that are open the innermost is told.
    ("a(", 1, group), ("(a(b", 2, group), ("((a)", 0, group), ("(?:a)(", 5, group), ("(?", 0, group),
    ("()+)", 3, close), (")", 0, close), ("(a)b)", 4, close), (#"(\))\("# + ")", 6, close),
    // Sets may hold sets and escapes.
    ("[[a](", 0, set), ("[[a]](", 5, group), (#"[\]"#, 0, set), (#"[\]](b"#, 4, group),
    ("[a]+(", 4, group), ("[a", 0, set),
    ("a{", 1, brace), ("a{x}", 1, brace), ("a{2}(", 4, group), ("a{9,}(", 5, group), ("|{2}", 1, brace),
    ("({2}", 1, brace), ("é{é", 1, brace),
    ("*", 0, nothing("*")), ("a|+", 2, nothing("+")), ("(?*", 2, nothing("*")), ("(*)", 1, nothing("*")),
    (#"\d*)"#, 3, close), (#"a\"#, 1, escape), (#"\\\"#, 2, escape),
  ])
  func theFirstFaultHasItsPlace(pattern: String, offset: Int, message: String) {
    let fault = PatternFault(in: pattern)
    #expect(fault?.offset == offset)
    #expect(fault?.message == message)
  }

  @Test(arguments: [
    "", "a", "(a)", "(?:a)+", "[a(]*", "a{2}", "a{2,3}?", #"\(\[\*"#, "a|b", "[[a]b]", "(a|b)*", "a[]b",
  ])
  func aPatternWithoutFaultOfTheseKindsHasNone(pattern: String) {
    #expect(PatternFault(in: pattern)?.message == nil)
  }
}
