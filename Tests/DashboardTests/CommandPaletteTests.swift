import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct CommandPaletteTests {
  private func bench(_ query: String, width: Int = 80, height: Int = 24) -> Bench {
    var bench = Bench(RunBuilder([.shell("a")]), size: Size(width: width, height: height))
    bench.press(.character(":"))
    bench.type(query)
    return bench
  }

  private func found(_ query: String) -> [Command] {
    CommandPalette.matches(query, in: bench("").model).map(\.command)
  }

  @Test func descriptionsThatBeginWithTheFirstWordPrecede() {
    #expect(found("to").prefix(3) == [.firstError, .first, .last])
    #expect(found("DRAIN") == [.drain] && found("zz").isEmpty)
    #expect(found("start drain") == [.drain] && found("drain zz").isEmpty)
  }

  @Test func theSectionIsSearchedTooAndThePaletteIsNoMatch() {
    let moving: [Command] = [
      .back, .nextPane, .up, .down, .pageUp, .pageDown, .halfUp, .halfDown, .first, .last, .left, .right,
      .nextFailure,
    ]
    #expect(found("moving") == moving)
    #expect(found("").prefix(3) == [.cancel, .retry, .approve] && Set(found("")).count == found("").count)
    #expect(!found("").contains(.palette) && !found("every").contains(.palette))
  }

  @Test func namesAndKeysAreSearchedToo() {
    #expect(found("more-slots") == [.moreSlots] && found("fewer slots") == [.fewerSlots])
    #expect(found("retry-failed") == [.retryFailed])
    #expect(found("x").first == .cancel && found("X").first == .kill && found("f8").first == .retry)
    #expect(found("pgup").first == .pageUp && found("^r").first == .retryFailed && found("!") == [.nextFailure])
  }

  @Test func aBoxStandsAboveTheBottomLine() {
    let frame = bench("drain").frame()
    let blanks = String(repeating: " ", count: 8)
    let line = String(repeating: "-", count: 62)
    let empty = blanks + "|" + String(repeating: " ", count: 62) + "|"
    #expect(
      (18..<23).map { frame.text(row: $0) } == [
        blanks + "+- actions " + String(repeating: "-", count: 52) + "+",
        (blanks + "| drain: start nothing new").padded(to: 69) + "P |", empty, empty, blanks + "+" + line + "+",
      ])
    #expect((8..<72).allSatisfy { frame[$0, 19].style.attributes.contains(.reverse) == (9..<71).contains($0) })
    let none = bench("zz").frame()
    #expect(none.text(row: 19) == (blanks + "| no such action").padded(to: 71) + "|")
  }

  @Test func aLowScreenHasABoxWithoutABorder() {
    let frame = bench("drain", width: 30, height: 5).frame()
    #expect(frame.text(row: 1) == "  drain: start nothing ..  P")
    #expect(frame.text(row: 2).isEmpty && frame.text(row: 4) == " :drain")
  }
}
