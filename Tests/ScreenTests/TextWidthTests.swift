import Foundation
import Screen
import Support
import Testing

@Suite struct TextWidthTests {
  @Test(arguments: [
    ("", 0), ("a", 1), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("ß", 1),
    ("漢", 2), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("ｱ", 1), ("Ａ", 2), ("。", 2), ("　", 2),
    ("█", 1), ("─", 1), ("▏", 1), ("⣿", 1), ("✓", 1), ("●", 1), ("…", 1), ("§", 1), ("α", 1), ("Ж", 1),
    ("😀", 2), ("🚀", 2), ("✅", 2), ("⚡", 2), ("❤", 1), ("❤️", 2), ("☀️", 2), ("☀", 1), ("▶️", 2), ("1️⃣", 2),
    ("👍🏽", 2), ("👨‍👩‍👧‍👦", 2), ("🏳️‍🌈", 2), ("🏴󠁧󠁢󠁳󠁣󠁴󠁿", 2), ("🇩🇪", 2), ("🇩🇪🇯🇵", 4), ("🇩", 1),
    ("\u{200B}", 0), ("\u{FEFF}", 0), ("\u{301}", 0), ("\u{200D}", 0), ("\u{7}", 1), ("\u{7F}", 1), ("\0", 0),
    ("\u{E0B0}", 1), ("\u{FFFD}", 1), ("น้ำ", 2), ("नि", 2), ("a漢b", 4), ("\u{AD}", 1),
  ])
  func aTextIsAsWideAsItsCells(_ text: String, _ width: Int) {
    #expect(TextWidth.of(text) == width)
    #expect(TextWidth.of(text) == text.reduce(0) { $0 + TextWidth.of($1) })
  }

  @Test(arguments: ["\u{1B}", "\u{7}", "\u{9B}", "\r\n", "\u{2028}", "\u{202E}", "\u{2066}", "\u{200F}", "\u{61C}"])
  func controlsAreNotPrintable(_ text: String) {
    #expect(text.allSatisfy { !TextWidth.isPrintable($0) })
  }

  @Test(arguments: [
    "\u{61C}", "\u{200B}", "\u{200E}", "\u{200F}", "\u{202E}", "\u{2060}", "\u{2064}", "\u{2066}", "\u{FEFF}",
    "\u{E0001}", "\u{E0041}", "\u{E007F}", "\u{AD}", "\u{2028}",
  ])
  func invisibleCharactersAreNotPrintable(_ text: String) {
    #expect(text.unicodeScalars.allSatisfy { $0.isInvisible && !TextWidth.isPrintable($0) })
  }

  @Test(arguments: ["a", " ", "é", "漢", "👨‍👩‍👧‍👦", "\u{E0B0}", "e\u{301}"])
  func drawnCharactersArePrintable(_ text: String) {
    #expect(text.allSatisfy { TextWidth.isPrintable($0) })
  }
}
