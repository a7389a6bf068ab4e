import Testing

@testable import JobFiles

/// The texts and operators of a condition.
struct ConditionScannerTests {
  private typealias Part = ConditionScanner.Part

  /// All parts up to the first fault.
  private func parts(_ text: String) -> [Part] {
    var scanner = ConditionScanner(text)
    var parts: [Part] = []
    while let part = scanner.next() {
      parts.append(part)
      if case .fault = part { break }
    }
    return parts
  }

  private func bare(_ text: String) -> Part { .operand(text, isBare: true) }

  @Test func operatorsNeedNoBlanks() {
    #expect(
      parts("a!=b&&c||!d==e") == [
        bare("a"), .comparison("!="), bare("b"), .junction("&&"), bare("c"), .junction("||"), .negation, bare("d"),
        .comparison("=="), bare("e"),
      ])
    #expect(
      parts("'4'=='5'&&\"6\"||''!='7'") == [
        .operand("4", isBare: false), .comparison("=="), .operand("5", isBare: false), .junction("&&"),
        .operand("6", isBare: false), .junction("||"), .operand("", isBare: false), .comparison("!="),
        .operand("7", isBare: false),
      ])
  }

  @Test func blanksAroundTextsDoNotCount() {
    #expect(parts("\t a \r\n") == [bare("a")])
    #expect(parts("").isEmpty)
    #expect(parts(" \n").isEmpty)
  }

  @Test(arguments: [
    ("${a b}=='c'", "${a b}"), ("${} x", "${}"), ("x${a=b}y z", "x${a=b}y"), ("$${ x", "$${"), ("$${a}b c", "$${a}b"),
    ("${jobs.b[${matrix.v}].p} x", "${jobs.b[${matrix.v}].p}"), ("${open == 4", "${open == 4"), ("a$b c", "a$b"),
  ])
  func aReferenceBelongsToItsTextAsAWhole(text: String, first: String) {
    #expect(parts(text).first == bare(first))
  }

  @Test(arguments: [
    ("a === b", "'===' has one '=' too many: delete it", "=="),
    ("a !== b", "'!==' has one '=' too many: delete it", "=="),
    ("a !! b", "'!!' changes nothing: delete both", "!!"),
    ("a =b", "'=' compares nothing: write '==', or put the text in quotes", "="),
    ("a 'b'c", "text continues after 'b': put the whole text in quotes", "b"),
    ("a \"b", "this \" is never closed: write another \" where the text ends", "\""),
    ("a b\"c", "\" stands inside a text: put the whole text in quotes", "\""),
    ("a ~b", "'~' is not an operator: texts are compared with == and != only; put the text in quotes", "~"),
    ("a <b", "'<' is not an operator: texts are compared with == and != only; put the text in quotes", "<"),
    ("a f(b)", "'f(…)' is a function, and if has none: compare texts with == and !=", "f"),
  ])
  func whatIsNoPartOfAConditionIsAFault(text: String, message: String, written: String) {
    #expect(parts(text) == [bare("a"), .fault(message, written)])
  }

  @Test func onlyOperatorsHaveASign() {
    #expect(parts("!a == 'b' || c").map(\.sign) == ["!", nil, "==", nil, "||", nil])
  }
}
