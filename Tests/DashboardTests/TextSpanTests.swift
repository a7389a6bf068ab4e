import Screen
import Testing

@testable import Dashboard

@Suite struct TextSpanTests {
  private static let red = Style(.indexed(1))
  private let elision = Elision(isASCII: true)

  private func fitted(_ texts: [String], _ room: Int) -> [String] {
    texts.map { TextSpan($0) }.fitted(to: room, elision).map(\.text)
  }

  @Test func spansThatFitStayAsTheyAre() {
    let spans = [TextSpan("abc"), TextSpan("漢字", Self.red)]
    #expect(spans.width == 7)
    #expect(spans.fitted(to: 7, elision) == spans && spans.fitted(to: 8, elision) == spans)
    #expect([TextSpan]().width == 0)
  }

  @Test(arguments: [
    (7, ["abc", "de.."]), (6, ["abc", "d.."]), (4, ["abc", "d"]), (3, ["a.."]), (2, ["ab"]), (0, [""]),
  ])
  func theLastSpanThatIsShownIsElided(_ room: Int, _ texts: [String]) {
    #expect(fitted(["abc", "defgh", "x"], room) == texts)
  }

  @Test func aSpanThatEndsAtTheRoomIsElidedIfMoreFollows() {
    #expect(fitted(["abcd", "efgh"], 4) == ["ab.."])
    #expect(fitted(["abcd"], 4) == ["abcd"])
  }

  @Test func blanksAndPaddingFillUpToTheirWidth() {
    #expect(TextSpan.blanks(3).text == "   " && TextSpan.blanks(0).text.isEmpty && TextSpan.blanks(-2).text.isEmpty)
    #expect("ab".padded(to: 4) == "ab  " && "ab".padded(to: 2) == "ab" && "ab".padded(to: 1) == "ab")
    #expect("漢".padded(to: 4) == "漢  ")
  }

  @Test func linesStandBesideEachOther() {
    func lines(_ texts: String...) -> [[TextSpan]] { texts.map { [TextSpan($0)] } }
    func texts(_ lines: [[TextSpan]]) -> [String] { lines.map { $0.map(\.text).joined() } }
    #expect(texts(lines("a", "bcd").beside(lines("x"), at: 5)) == ["a    x", "bcd"])
    #expect(texts(lines("a").beside(lines("x", "y"), at: 3)) == ["a  x", "   y"])
    #expect(texts(lines("abcd").beside(lines("x"), at: 2)) == ["abcdx"])
    #expect(texts(([] as [[TextSpan]]).beside(lines("x"), at: 2)) == ["  x"])
  }

  @Test func spansAreWrittenOneAfterTheOther() {
    var frame = Frame(Size(width: 10, height: 2))
    #expect(frame.put([TextSpan("ab"), TextSpan("cd", Self.red), TextSpan("ef")], x: 1, y: 0, limit: 4) == 4)
    #expect(frame.text(row: 0) == " abcd")
    #expect(frame[2, 0].style == .plain && frame[3, 0].style == Self.red)
    #expect(frame.put([TextSpan("ab"), TextSpan("cd")], x: 0, y: 1, limit: 3) == 3)
    #expect(frame.text(row: 1) == "abc")
  }

  @Test func aTextMayEndAtACell() {
    var frame = Frame(Size(width: 10, height: 1))
    frame.put("漢b", endingAt: 6, y: 0, style: Self.red)
    #expect(frame.text == "   漢b" && frame[3, 0].style == Self.red)
  }
}
