import Testing

@testable import Reports

@Suite struct HTMLTextTests {
  @Test(arguments: [
    (0.0, "0"), (12.5, "12.5"), (0.001, "0.001"), (0.0004, "0"), (0.0006, "0.001"), (-0.0004, "0"), (-0.5, "-0.5"),
    (-2, "-2"), (100, "100"), (1.25, "1.25"), (33.3333, "33.333"), (0.05, "0.05"), (10.01, "10.01"), (0.9999, "1"),
  ])
  func aNumberHasUpToThreeDecimals(_ value: Double, _ text: String) {
    #expect(HTMLText.number(value) == text)
  }

  @Test func aShareIsBetweenNothingAndTheWhole() {
    func percent(_ part: Double, _ whole: Double) -> String {
      HTMLText.percent(.seconds(part), of: .seconds(whole))
    }
    #expect(percent(5, 10) == "50" && percent(10, 10) == "100" && percent(0, 10) == "0")
    #expect(percent(11, 10) == "100" && percent(-1, 10) == "0")
    #expect(percent(1, 0) == "0" && percent(1, -1) == "0")
  }

  @Test(arguments: [
    ("", ""), ("plain é", "plain é"), ("a<b>&\"c\"'d'", "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;"),
    ("&amp;", "&amp;amp;"),
  ])
  func whatMeansSomethingInHTMLIsEscaped(_ text: String, _ escaped: String) {
    #expect(HTMLText.escaped(text) == escaped)
    #expect(HTMLText.shown(text) == escaped)
  }

  @Test(arguments: [
    ("plain <b>", "plain &lt;b&gt;"), ("\u{1B}[31mred\u{1B}[0m x", #"<span class="a1">red</span> x"#),
    ("\u{1B}[91mred\u{1B}[0m", #"<span class="a1">red</span>"#), ("\u{1B}[97mx", #"<span class="a7">x</span>"#),
    ("\u{1B}[1mbold\u{1B}[0m", #"<span class="ab">bold</span>"#),
    ("\u{1B}[1;32mx", #"<span class="a2 ab">x</span>"#), ("\u{1B}[38;5;15mx", #"<span class="a7">x</span>"#),
    ("\u{1B}[38;5;16mx", "x"), ("\u{1B}[4mx", "x"), ("", ""),
  ])
  func aLineKeepsItsBasicColoursAndBold(_ line: String, _ html: String) {
    #expect(HTMLText.line(line) == html)
  }
}
