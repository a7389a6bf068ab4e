import Screen
import Testing

@testable import Dashboard

@Suite struct LineEditorTests {
  @Test(
    arguments: [
      ("", .character("a"), "a"), ("ab", .character("é"), "abé"), ("ab", .backspace, "a"), ("ab", .delete, "a"),
      ("ab", .control("h"), "a"), ("", .backspace, ""), ("ab", .control("u"), ""), ("one two", .control("w"), "one "),
      ("one two  ", .control("w"), "one "), ("one ", .control("w"), ""), ("", .control("w"), ""), ("ab", .up, "ab"),
      ("ab", .control("x"), "ab"), ("ab", .function(3), "ab"),
    ] as [(String, Key, String)])
  func aKeyEditsTheEndOfTheLine(_ before: String, _ key: Key, _ after: String) {
    var editor = LineEditor(before)
    editor.take(key)
    #expect(editor.text == after)
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
