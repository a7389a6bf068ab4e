import Basics
import Testing

struct TextLinesTests {
  @Test(
    arguments: [
      ("", []), ("a", ["a"]), ("a\nb", ["a", "b"]), ("a\nb\n", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]),
      ("a\r\n\r\nb", ["a", "", "b"]), ("\n", [""]), ("\r\n", [""]), ("a\rb\n", ["a\rb"]), ("a\r", ["a\r"]),
      ("a\r\r\n", ["a\r"]), ("a\u{2028}b\u{0B}c\n", ["a\u{2028}b\u{0B}c"]), ("\n\u{301}a", ["", "\u{301}a"]),
    ] as [(String, [Substring])])
  func aLineEndsWithALineFeedAlone(_ text: String, _ lines: [Substring]) {
    #expect(text.lines == lines)
    #expect(("x" + text + "x").dropFirst().dropLast().lines == lines)
  }
}
