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
}
