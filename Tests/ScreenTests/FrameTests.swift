import Screen
import Support
import Testing

@Suite struct FrameTests {
  private func frame(_ width: Int = 10, _ height: Int = 2) -> Frame { Frame(Size(width: width, height: height)) }

  /// Every wide grapheme has its second half beside it, and no half stands alone.
  private func halvesMatch(_ frame: Frame) -> Bool {
    frame.rows.allSatisfy { row in
      row.indices.allSatisfy { x in
        let isWide = TextWidth.of(row[x].text) == 2
        let hasHalf = x + 1 < row.count && row[x + 1].isContinuation
        return isWide == hasHalf && (x > 0 || !row[x].isContinuation)
      }
    }
  }

  @Test func textIsPutFromItsColumnOn() {
    var frame = frame()
    #expect(frame.put("abc", x: 2, y: 1) == 3)
    #expect(frame.text == "\n  abc")
  }

  @Test func textEndsAtItsLimitAndAtTheEdge() {
    var frame = frame(5)
    #expect(frame.put("abcdefgh", x: 0, y: 0, limit: 3) == 3)
    #expect(frame.put("abcdefgh", x: 3, y: 1) == 2)
    #expect(frame.text == "abc\n   ab")
  }

  @Test func textBeforeTheEdgeIsCutThere() {
    var frame = frame(5)
    frame.put("abcdefgh", x: -2, y: 0)
    frame.put("漢字漢字", x: -1, y: 1)
    #expect(frame.text == "cdefg\n 字漢")
    #expect(halvesMatch(frame))
  }

  @Test(arguments: [-1, 2, 99])
  func aRowThatIsNotThereTakesNothing(_ y: Int) {
    var frame = frame()
    #expect(frame.put("abc", x: 0, y: y) == 0)
    #expect(frame == self.frame())
  }

  @Test func aWideGraphemeThatWouldBeCutIsABlank() {
    var frame = frame(5)
    #expect(frame.put("漢字漢", x: 0, y: 0) == 5)
    #expect(frame.put("漢字", x: 0, y: 1, limit: 3) == 3)
    #expect(frame.text == "漢字\n漢")
    #expect(frame[4, 0] == .blank)
    #expect(halvesMatch(frame))
  }

  @Test(arguments: 0..<6)
  func aWideGraphemeThatIsHalfOverwrittenIsABlank(_ x: Int) {
    var one = frame(6, 1)
    one.put("漢字漢", x: 0, y: 0)
    one.put("x", x: x, y: 0)
    #expect(halvesMatch(one))
    var two = frame(6, 1)
    two.put("漢字漢", x: 0, y: 0)
    two.put("界", x: x, y: 0)
    #expect(halvesMatch(two))
    var three = frame(6, 1)
    three.put("漢字漢", x: 0, y: 0)
    three.fill(Rect(x: x, y: 0, width: 1, height: 1), "-")
    #expect(halvesMatch(three))
  }

  @Test func aControlCharacterIsShownAsAMark() {
    var frame = frame(6, 1)
    frame.put("a\u{1B}[\u{9B}\r\n", x: 0, y: 0)
    #expect(frame.text == "a\u{FFFD}[\u{FFFD}\u{FFFD}")
  }

  @Test func aVeryLongGraphemeIsReplaced() {
    var frame = frame(6, 1)
    frame.put("a" + String(repeating: "\u{301}", count: 500) + "b", x: 0, y: 0)
    #expect(frame.text == "\u{FFFD}b")
  }

  @Test func aFillStaysWithinTheFrame() {
    var frame = frame(4, 3)
    frame.fill(Rect(x: -2, y: -2, width: 4, height: 4), "#")
    frame.fill(Rect(x: 3, y: 2, width: 9, height: 9), "-")
    frame.fill(Rect(x: 9, y: 9, width: 2, height: 2), "!")
    #expect(frame.text == "##\n##\n   -")
  }

  @Test func aRestyleKeepsTheText() {
    var frame = frame(4, 2)
    frame.put("abcd", x: 0, y: 0)
    frame.restyle(Rect(x: -1, y: -1, width: 3, height: 2)) { $0.attributes.insert(.reverse) }
    #expect(frame.text(row: 0) == "abcd")
    #expect(frame.rows[0].map { $0.style.attributes } == [.reverse, .reverse, [], []])
    #expect(frame.rows[1].allSatisfy { $0 == .blank })
  }

  @Test func onlyChangedRowsAreNamed() {
    let before = frame(4, 4)
    var after = before
    after.put("x", x: 0, y: 1)
    after.restyle(Rect(x: 3, y: 3, width: 1, height: 1)) { $0.foreground = .indexed(1) }
    #expect(after.rowsChanged(since: before) == [1, 3])
    #expect(after.rowsChanged(since: after).isEmpty)
    #expect(after.rowsChanged(since: frame(5, 4)) == [0, 1, 2, 3])
  }

  @Test func aJobsColoursLieOverTheRowsOwn() {
    var frame = frame(10, 1)
    let used = frame.put(JobText("ab\u{1B}[31mcd"), x: 1, y: 0, limit: 3, style: Style(.standard, on: .indexed(4)))
    #expect(used == 3)
    #expect(frame.text == " abc")
    #expect(frame[1, 0].style == Style(.standard, on: .indexed(4)))
    #expect(frame[3, 0].style == Style(.indexed(1), on: .indexed(4)))
  }

  @Test func aNegativeSizeIsZero() {
    let frame = Frame(Size(width: -3, height: -1))
    #expect(frame.size == Size(width: 0, height: 0))
    #expect(frame.text == "")
  }

  @Test(arguments: ["\u{200B}", "\u{61C}", "\u{202E}", "\u{2060}", "\u{FEFF}", "\u{E0041}\u{E0042}", "\u{AD}"])
  func noInvisibleCharacterStandsInACell(_ hidden: String) {
    var frame = Frame(Size(width: 8, height: 1))
    frame.put("na\(hidden)me", x: 0, y: 0)
    #expect(!frame.rows[0].contains { $0.text.unicodeScalars.contains(where: \.isInvisible) })
  }

  @Test(arguments: ["abcd", "ab漢"])
  func aLimitBeginsAtTheColumnThatIsGiven(_ text: String) {
    var frame = frame(5, 1)
    #expect(frame.put(text, x: -1, y: 0, limit: 2) == 2)
    #expect(frame.text == "b")
    #expect(frame.put(text, x: 5, y: 0) == 0 && frame.put(text, x: 0, y: 0, limit: 0) == 0)
    #expect(frame.put(text, x: 0, y: 0, limit: -1) == 0 && frame.text == "b")
    #expect(frame.put(text, x: 3, y: 0, limit: .max) == 2 && frame.text == "b  ab")
  }

  @Test func graphemesWithoutWidthAreLeftOut() {
    var frame = frame(4, 1)
    #expect(frame.put("\u{200B}a\u{200B}b", x: 0, y: 0) == 2)
    #expect(frame.text == "ab")
  }

  @Test func aWideGraphemeBeforeTheEdgeLeavesItsStyle() {
    var frame = frame(3, 1)
    let red = Style(.indexed(1))
    frame.put("漢a", x: -1, y: 0, style: red)
    #expect(frame.rows[0] == [Cell(" ", red), Cell("a", red), .blank])
    frame.put("漢", x: 2, y: 0, style: red)
    #expect(frame.rows[0][2] == Cell(" ", red))
    frame.put("漢", x: -2, y: 0)
    #expect(frame.rows[0][0] == Cell(" ", red))
  }

  @Test func aJobsLineEndsWhereAWideGraphemeDoesNotFit() {
    var frame = frame(10, 1)
    #expect(frame.put(JobText("ab\u{1B}[31m漢\u{1B}[mc"), x: 0, y: 0, limit: 3) == 3)
    #expect(frame.text == "ab")
    #expect(frame.put(JobText("ab\u{1B}[31mcd\u{1B}[me"), x: 0, y: 0, limit: 4) == 4)
    #expect(frame.text == "abcd")
  }

  @Test func theCursorHasACellOrNone() {
    var frame = frame()
    #expect(frame.cursor == nil)
    frame.cursor = (3, 1)
    #expect(frame.cursor?.x == 3 && frame.cursor?.y == 1)
    frame.cursor = nil
    #expect(frame == self.frame())
  }

  @Test func aCellIsInARectangleUpToItsLast() {
    let rect = Rect(x: 2, y: 3, width: 4, height: 2)
    #expect(rect.maxX == 6 && rect.maxY == 5 && !rect.isEmpty)
    for (x, y, isInside) in [
      (2, 3, true), (5, 4, true), (1, 3, false), (6, 3, false), (2, 2, false), (2, 5, false), (5, 3, true),
      (2, 4, true),
    ] {
      #expect(rect.contains(x: x, y: y) == isInside, "\(x) \(y)")
    }
    #expect(Rect(x: 0, y: 0, width: 0, height: 1).isEmpty && Rect(x: 0, y: 0, width: 1, height: -2).isEmpty)
    #expect(Rect(x: 0, y: 0, width: -3, height: 1).width == 0)
  }
}
