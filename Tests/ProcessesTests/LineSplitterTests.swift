import Operations
import Testing

@testable import Processes

@Suite struct LineSplitterTests {
  private func lines(_ chunks: [String]) -> [String] {
    var splitter = LineSplitter(.standardOutput)
    var lines = chunks.flatMap { splitter.feed(Array($0.utf8)).lines }
    if let last = splitter.finish() { lines.append(last) }
    return lines.map(\.text)
  }

  @Test func aLineIsTheSameHoweverItsBytesArrive() {
    let text = "one\ntwö\n\nthree"
    #expect(lines([text]) == ["one", "twö", "", "three"])
    var splitter = LineSplitter(.standardOutput)
    var bytewise = text.utf8.flatMap { splitter.feed([$0]).lines }
    if let last = splitter.finish() { bytewise.append(last) }
    #expect(bytewise.map(\.text) == ["one", "twö", "", "three"])
  }

  @Test func aCarriageReturnBeforeTheLineFeedIsDropped() {
    #expect(lines(["a\r\nb\r\n"]) == ["a", "b"])
  }

  @Test func aLineIsCutAtFourKibibytesAndSaysSo() {
    var splitter = LineSplitter(.standardError)
    let cut = splitter.feed(Array(repeating: UInt8(ascii: "x"), count: 10_000) + Array("\nnext\n".utf8)).lines
    #expect(cut.map(\.text.utf8.count) == [4096, 4])
    #expect(cut.map(\.isCut) == [true, false])
  }

  @Test func aCutNeverLeavesHalfAScalar() {
    var splitter = LineSplitter(.standardOutput)
    let line = splitter.feed(Array(("x" + String(repeating: "ö", count: 4000) + "\n").utf8)).lines
    #expect(line.first?.text.unicodeScalars.contains("\u{FFFD}") == false)
    #expect(line.first?.text.utf8.count == 4095)
  }

  @Test func aProgressLineThatNeverEndsShowsItsLastState() {
    var splitter = LineSplitter(.standardOutput)
    for percent in 0..<5000 { #expect(splitter.feed(Array("\rdone \(percent)".utf8)).lines.isEmpty) }
    #expect(splitter.finish()?.text.hasSuffix("done 4999") == true)
  }

  @Test func anUnfinishedLineIsGivenAgainOnlyWhereItHasChanged() {
    var splitter = LineSplitter(.standardOutput)
    #expect(splitter.takeUnfinished() == nil)
    _ = splitter.feed(Array("Password? ".utf8))
    #expect(splitter.hasNews)
    #expect(
      splitter.takeUnfinished() == OperationLogLine(text: "Password? ", source: .standardOutput, isUnfinished: true))
    #expect(!splitter.hasNews)
    #expect(splitter.takeUnfinished() == nil)
    _ = splitter.feed(Array("*".utf8))
    #expect(splitter.takeUnfinished()?.text == "Password? *")
    #expect(splitter.feed(Array("\n".utf8)).lines == [OperationLogLine(text: "Password? *", source: .standardOutput)])
    #expect(splitter.finish() == nil)
  }

  @Test func anErasedLineIsGivenOnceMoreWithoutText() {
    var splitter = LineSplitter(.standardOutput)
    _ = splitter.feed(Array("working".utf8))
    #expect(splitter.takeUnfinished()?.text == "working")
    _ = splitter.feed(Array("\r\u{1B}[K".utf8))
    #expect(splitter.finish() == OperationLogLine(text: "", source: .standardOutput, isUnfinished: true))
    #expect(splitter.finish() == nil)
  }

  @Test func halfAScalarIsNotShown() {
    var splitter = LineSplitter(.standardOutput)
    _ = splitter.feed(Array("caf".utf8) + [0xC3])
    #expect(splitter.takeUnfinished()?.text == "caf")
    _ = splitter.feed([0xA9])
    #expect(splitter.takeUnfinished()?.text == "café")
  }

  // MARK: Redraws and unfinished lines

  @Test func theNewestTextIsSearchedFirst() {
    var output = LineSplitter.Output(lines: [.init(text: "a"), .init(text: "b", isUnfinished: true)])
    output.redraws = [(0, "r0"), (0, "r1"), (1, "r2"), (2, "r3")]
    var seen: [String] = []
    output.searchNewestFirst { text, line, isRedraw in
      seen.append("\(text) \(line) \(isRedraw)")
      return false
    }
    #expect(seen == ["r3 2 true", "b 1 true", "r2 1 true", "a 0 false", "r1 0 true", "r0 0 true"])
    for last in ["r3", "b", "r2"] {
      var texts: [String] = []
      output.searchNewestFirst { text, _, _ in
        texts.append(text)
        return text == last
      }
      #expect(texts.last == last)
    }
  }

  @Test func eachRedrawIsThatOfItsLine() {
    var splitter = LineSplitter(.standardError)
    let output = splitter.feed(Array("a\n\r1%\r2%\nx\n\r3%\r4%".utf8))
    #expect(output.lines.map(\.text) == ["a", "2%", "x"])
    #expect(output.redraws.map(\.text) == ["1%", "2%", "3%"])
    #expect(output.redraws.map(\.line) == [1, 1, 3])
    #expect(output.lines.allSatisfy { $0.source == .standardError && !$0.isUnfinished })
    #expect(splitter.ended == 3)
  }

  @Test func aLineThatIsDrawnAgainAsItWasIsNoNews() {
    var splitter = LineSplitter(.standardOutput)
    _ = splitter.feed(Array("\rab".utf8))
    #expect(splitter.takeUnfinished()?.text == "ab")
    _ = splitter.feed(Array("\rab".utf8))
    #expect(splitter.hasNews)
    #expect(splitter.takeUnfinished() == nil)
    #expect(!splitter.hasNews)
  }

  @Test func theNextLineMayBeginAsTheLastOneDid() {
    var splitter = LineSplitter(.standardOutput)
    _ = splitter.feed(Array("a".utf8))
    #expect(splitter.takeUnfinished()?.text == "a")
    #expect(splitter.feed(Array("\n".utf8)).lines.map(\.text) == ["a"])
    #expect(!splitter.hasNews)
    #expect(splitter.feed([]).lines.isEmpty)
    #expect(!splitter.hasNews)
    _ = splitter.feed(Array("a".utf8))
    #expect(splitter.takeUnfinished()?.text == "a")
  }

  @Test func atTheEndHalfAScalarIsShownAsWhatItIs() {
    var splitter = LineSplitter(.standardOutput)
    _ = splitter.feed(Array("caf".utf8) + [0xC3])
    #expect(splitter.finish() == OperationLogLine(text: "caf\u{FFFD}", source: .standardOutput))
    #expect(splitter.ended == 1)
  }

  @Test func theLimitHoldsForTheBytesOfAllPieces() {
    var splitter = LineSplitter(.standardOutput)
    for count in [4000, 96] { _ = splitter.feed([UInt8](repeating: UInt8(ascii: "x"), count: count)) }
    #expect(splitter.takeUnfinished()?.isCut == false)
    for _ in 0..<2 { _ = splitter.feed(Array("yz".utf8)) }
    let line = splitter.finish()
    #expect(line?.isCut == true)
    #expect(line?.text == String(repeating: "x", count: 4096))
  }
}
