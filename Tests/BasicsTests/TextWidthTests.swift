import Basics
import Foundation
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

  /// The first and the last of each range, and their neighbours.
  @Test(
    arguments: [
      (0x1F, 1), (0x20, 1), (0x7E, 1), (0x2FF, 1), (0x300, 0), (0x36F, 0), (0x370, 1), (0x10FF, 1), (0x1100, 2),
      (0x115F, 2), (0x1160, 0), (0x11FF, 0), (0x1200, 1), (0x2328, 1), (0x2329, 2), (0x232A, 2), (0x232B, 1),
      (0x2E7F, 1), (0x2E80, 2), (0x303E, 2), (0x303F, 1), (0x3040, 1), (0x3041, 2), (0xA4CF, 2), (0xA4D0, 1),
      (0xA95F, 1), (0xA960, 2), (0xA97C, 2), (0xA97D, 1), (0xABFF, 1), (0xAC00, 2), (0xD7A3, 2), (0xD7A4, 1),
      (0xD7AF, 1), (0xD7B0, 0), (0xD7FF, 0), (0xF8FF, 1), (0xF900, 2), (0xFAFF, 2), (0xFB00, 1), (0xFE0F, 0),
      (0xFE10, 2), (0xFE19, 2), (0xFE1A, 1), (0xFE2F, 0), (0xFE30, 2), (0xFE6B, 2), (0xFE6C, 1), (0xFF00, 1),
      (0xFF01, 2), (0xFF60, 2), (0xFF61, 1), (0xFFDF, 1), (0xFFE0, 2), (0xFFE6, 2), (0xFFE7, 1), (0x16FDF, 1),
      (0x16FE0, 2), (0x17000, 2), (0x18D08, 2), (0x1AFEF, 1), (0x1AFF0, 2), (0x1AFFE, 2), (0x1B000, 2), (0x1B2FB, 2),
      (0x1B2FC, 1), (0x1F200, 2), (0x1F265, 2), (0x1F266, 1), (0x20000, 2), (0x2FFFD, 2), (0x2FFFE, 1), (0x30000, 2),
      (0x3FFFD, 2), (0x3FFFE, 1), (0x1F1E6, 1), (0x1F1FF, 1), (0x1F600, 2),
      // Formats that are drawn before digits, and others.
      (0x0600, 1), (0x0605, 1), (0x06DD, 1), (0x070F, 1), (0x08E2, 1), (0x110BD, 1), (0x110CD, 1), (0x061C, 0),
      (0x200B, 0), (0x2060, 0),
    ] as [(UInt32, Int)])
  func aScalarIsAsWideAsItsRange(_ value: UInt32, _ width: Int) throws {
    #expect(TextWidth.of(try #require(Unicode.Scalar(value))) == width)
  }

  @Test(
    arguments: [
      (0x061B, false), (0x061C, true), (0x061D, false), (0x200D, false), (0x200E, true), (0x200F, true),
      (0x2010, false),
      (0x2029, false), (0x202A, true), (0x202E, true), (0x202F, false), (0x2065, false), (0x2066, true), (0x2069, true),
      (0x206A, false),
    ] as [(UInt32, Bool)])
  func theBidirectionalControlsReorder(_ value: UInt32, _ isReordering: Bool) throws {
    #expect(TextWidth.isReordering(try #require(Unicode.Scalar(value))) == isReordering)
  }

  @Test(
    arguments: [
      (0x1F, false), (0x20, true), (0x7E, true), (0x7F, false), (0x80, false), (0x9F, false), (0xA0, true),
      (0xAD, false),
      (0xAE, true), (0x200B, false), (0x200C, true), (0x200D, true), (0x200E, false),
    ] as [(UInt32, Bool)])
  func theJoinersArePrintableAndOtherInvisibleScalarsAreNot(_ value: UInt32, _ isPrintable: Bool) throws {
    #expect(TextWidth.isPrintable(try #require(Unicode.Scalar(value))) == isPrintable)
  }
}
