import Screen
import Testing

@Suite struct ElideTests {
  @Test(arguments: [
    ("checkout", 8, "checkout"), ("checkout", 7, "checko…"), ("checkout", 2, "c…"), ("checkout", 1, "c"),
    ("checkout", 0, ""), ("checkout", -1, ""), ("漢字漢字", 5, "漢字…"), ("漢字漢字", 4, "漢…"), ("漢字", 1, ""),
    ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3, "👨‍👩‍👧‍👦…"), ("", 3, ""),
  ])
  func theBeginningIsKept(_ text: String, _ width: Int, _ expected: String) {
    #expect(Elide.end(text, to: width) == expected)
  }

  @Test(arguments: [
    ("checkout", 8, "checkout"), ("checkout", 7, "che…out"), ("checkout", 6, "ch…out"), ("checkout", 3, "c…t"),
    ("checkout", 2, "c…"), ("checkout", 1, "c"), ("checkout", 0, ""), ("漢字漢字", 7, "漢…漢字"), ("漢字漢字", 6, "漢…字"),
  ])
  func bothEndsAreKept(_ text: String, _ width: Int, _ expected: String) {
    #expect(Elide.middle(text, to: width) == expected)
  }

  @Test(arguments: [
    ("/a/b/job.log", 12, "/a/b/job.log"), ("/a/b/job.log", 8, "…job.log"), ("/a/b/job.log", 1, "g"), ("漢字", 3, "…字"),
    ("漢字", 2, ""),
  ])
  func theEndIsKept(_ text: String, _ width: Int, _ expected: String) {
    #expect(Elide.start(text, to: width) == (expected.isEmpty ? "…" : expected))
  }

  @Test func theMarkMayBeAnother() {
    #expect(Elide.end("checkout", to: 6, mark: "...") == "che...")
    #expect(Elide.middle("checkout", to: 7, mark: "..") == "ch..out")
    #expect(Elide.end("checkout", to: 2, mark: "...") == "ch")
  }

  @Test(arguments: 0..<30)
  func nothingIsEverWiderThanAsked(_ width: Int) {
    let text = "a漢b字👨‍👩‍👧‍👦c🇩🇪de\u{301}f漢字"
    for elided in [Elide.end(text, to: width), Elide.middle(text, to: width), Elide.start(text, to: width)] {
      #expect(TextWidth.of(elided) <= width)
    }
  }
}
