import Screen
import Testing

@testable import Dashboard

@Suite struct LineEditorTests {
  /// The cursor is `|`.
  private func editor(_ text: String) -> LineEditor {
    let parts = text.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    var editor = LineEditor(parts.joined())
    for _ in parts.dropFirst().joined() { editor.take(.left) }
    return editor
  }

  @Test(
    arguments: [
      ("|", .character("a"), "a|"), ("ab|", .character("é"), "abé|"), ("ab|", .backspace, "a|"),
      ("ab|", .delete, "ab|"),
      ("ab|", .control("h"), "a|"), ("|", .backspace, "|"), ("ab|", .control("u"), "|"),
      ("one two|", .control("w"), "one |"), ("one two  |", .control("w"), "one |"), ("one |", .control("w"), "|"),
      ("|", .control("w"), "|"), ("ab|", .up, "ab|"), ("ab|", .control("x"), "ab|"), ("ab|", .function(3), "ab|"),
      ("a|b", .character("x"), "ax|b"), ("ab|", .left, "a|b"), ("|ab", .left, "|ab"), ("a|b", .control("b"), "|ab"),
      ("|ab", .right, "a|b"), ("ab|", .right, "ab|"), ("|ab", .control("f"), "a|b"), ("a|b", .home, "|ab"),
      ("a|b", .control("a"), "|ab"), ("a|b", .end, "ab|"), ("a|b", .control("e"), "ab|"), ("a|b", .backspace, "|b"),
      ("|ab", .backspace, "|ab"), ("a|b", .delete, "a|"), ("|ab", .delete, "|b"), ("ab|cd", .control("u"), "|cd"),
      ("ab|cd", .control("k"), "ab|"), ("one tw|o", .control("w"), "one |o"), ("漢|字", .left, "|漢字"),
      ("漢|字", .right, "漢字|"), ("e\u{301}|👍🏽", .delete, "e\u{301}|"), ("👨‍👩‍👧‍👦|x", .backspace, "|x"),
    ] as [(String, Key, String)])
  func aKeyEditsAtTheCursor(_ before: String, _ key: Key, _ after: String) {
    var editor = editor(before)
    editor.take(key)
    #expect(editor.head + "|" + editor.tail == after)
    #expect(editor.text == editor.head + editor.tail)
  }

  @Test func textIsPastedAtTheCursor() {
    var editor = editor("a|b")
    editor.insert("x\ty")
    #expect(editor.head == "ax y" && editor.tail == "b")
  }

  @Test(
    arguments: [
      ("a b\tc\nd", "a b c d"), ("make\n", "make"), ("\n\nmake\n\n", "make"), ("a\n\n\tb", "a b"), ("a  b ", "a  b "),
      ("\n", ""), ("é\u{2028}漢", "é 漢"),
    ])
  func pastedTextIsOneLineOfItsWords(_ text: String, _ line: String) {
    var editor = LineEditor("")
    editor.insert(text)
    #expect(editor.text == line)
  }

  @Test func aLineHasAtMostTwoHundredCharacters() {
    var editor = LineEditor("")
    editor.insert(String(repeating: "a", count: 199))
    editor.take(.character("b"))
    #expect(editor.text.count == 200 && editor.text.last == "b")
    editor.take(.character("c"))
    #expect(editor.text.count == 200 && editor.text.last == "b")
  }
}
