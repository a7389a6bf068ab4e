import Screen
import Testing

@Suite struct ElisionTests {
  private let elision = Elision(isASCII: false)

  @Test(arguments: [
    ("checkout", 8, "checkout"), ("checkout", 7, "checko…"), ("checkout", 2, "c…"), ("checkout", 1, "c"),
    ("checkout", 0, ""), ("checkout", -1, ""), ("漢字漢字", 5, "漢字…"), ("漢字漢字", 4, "漢…"), ("漢字", 1, ""),
    ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3, "👨‍👩‍👧‍👦…"), ("", 3, ""),
  ])
  func theBeginningIsKept(_ text: String, _ width: Int, _ expected: String) {
    #expect(elision.end(text, to: width) == expected)
  }

  @Test(arguments: [
    ("checkout", 8, "checkout"), ("checkout", 7, "che…out"), ("checkout", 6, "ch…out"), ("checkout", 3, "c…t"),
    ("checkout", 2, "c…"), ("checkout", 1, "c"), ("checkout", 0, ""), ("漢字漢字", 7, "漢…漢字"), ("漢字漢字", 6, "漢…字"),
  ])
  func bothEndsAreKept(_ text: String, _ width: Int, _ expected: String) {
    #expect(elision.middle(text, to: width) == expected)
  }

  @Test func theMarkMayBeAnother() {
    #expect(Elision(isASCII: true).mark == "..")
    #expect(Elision(mark: "...").end("checkout", to: 6) == "che...")
    #expect(Elision(mark: "..").middle("checkout", to: 7) == "ch..out")
    #expect(Elision(mark: "...").end("checkout", to: 2) == "ch")
  }

  @Test(arguments: [
    ("build[linux]", 12, "build[linux]"), ("integration[linux,arm64]", 20, "integr…[linux,arm64]"),
    ("integration[linux,arm64]", 17, "int…[linux,arm64]"), ("integration[linux,arm64]", 16, "integra…x,arm64]"),
    ("integration(eu)", 9, "inte…(eu)"), ("a[x](long-variant)b", 9, "a[x]…nt)b"), ("[variant-alone]", 9, "[var…one]"),
    ("integration-eu", 9, "inte…n-eu"), ("integration]", 9, "inte…ion]"), ("", 0, ""),
  ])
  func aNameKeepsItsVariant(_ text: String, _ width: Int, _ expected: String) {
    #expect(elision.name(text, to: width) == expected)
  }

  @Test(arguments: [
    (-1, "", ""), (0, "", ""), (1, "a", "b"), (2, "a", "b"), (3, "a漢", "漢b"), (4, "a漢b", "a漢b"), (9, "a漢b", "a漢b"),
  ])
  func anEndHoldsWholeGraphemesWithoutAMark(_ width: Int, _ prefix: String, _ suffix: String) {
    #expect(Elision.prefix("a漢b", width) == prefix)
    #expect(Elision.suffix("a漢b", width) == suffix)
  }

  @Test(arguments: 0..<30)
  func nothingIsEverWiderThanAsked(_ width: Int) {
    let text = "a漢b字👨‍👩‍👧‍👦c🇩🇪de\u{301}f漢字"
    for elided in [elision.end(text, to: width), elision.middle(text, to: width)] {
      #expect(TextWidth.of(elided) <= width)
    }
  }
}
