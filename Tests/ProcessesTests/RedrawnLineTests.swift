import Operations
import Testing

@testable import Processes

/// What a terminal shows of a line that is drawn again.
struct RedrawnLineTests {
  private func line(_ chunks: [String]) -> OperationLogLine? {
    var splitter = LineSplitter(.standardOutput)
    var lines: [OperationLogLine] = []
    for chunk in chunks { lines += splitter.feed(Array(chunk.utf8)).lines }
    return lines.first ?? splitter.finish()
  }

  @Test(arguments: [
    ("10%\r42%\n", "42%"),
    // As a terminal shows it: what is not overwritten stays.
    ("a longer line\rshort\n", "shortger line"),
    ("a longer line\r\u{1B}[Kshort\n", "short"),
    ("a longer line\rshort\u{1B}[K\n", "short"),
    ("a longer line\r\u{1B}[2Kshort\n", "short"),
    ("spinner |\u{1B}[2K\u{1B}[1Gdone\n", "done"),
    ("0/12\u{8}\u{8}\u{8}\u{8}1/12\n", "1/12"),
    ("Password: x\u{8} \u{8}\n", "Password:"),
    ("ab\u{1B}[2Dxy\u{1B}[1Cz\n", "xy z"),
    ("[    ]\r[==\n", "[==  ]"),
    ("one\ttwo\rONE\n", "ONE     two"),
    ("padded       \rpad\n", "padded"),
    ("héllo wörld\rHÉ\n", "HÉllo wörld"),
    ("\u{1B}]0;title\u{7}50%\r60%\n", "60%"),
    ("\u{1B}[?25l10%\r20%\u{1B}[?25h\n", "20%"),
    ("twice\r\r\n", "twice"),
    ("\u{8}\u{8}x\n", "x"),
    ("old\u{1B}[Jx\rnew\u{1B}[J\n", "new"),
  ])
  func aRedrawnLineIsWhatATerminalShows(written: String, shown: String) {
    #expect(line([written])?.text == shown)
    // However the bytes arrive.
    var splitter = LineSplitter(.standardOutput)
    let bytewise = written.utf8.flatMap { splitter.feed([$0]).lines }
    // A sequence to the left that comes in pieces is seen only where the line has moved back before.
    if written.contains("\r") || written.contains("\u{8}") { #expect(bytewise.map(\.text) == [shown]) }
  }

  @Test func colorsStayOnTheirCells() {
    #expect(line(["\u{1B}[32mok\u{1B}[0m rest\rno\n"])?.text == "no rest")
    #expect(line(["plain\r\u{1B}[1m\u{1B}[31mbold\u{1B}[0m\n"])?.text == "\u{1B}[1m\u{1B}[31mbold\u{1B}[0mn")
  }

  @Test func aRedrawnLineThatNeverEndsTakesBoundedMemory() {
    var splitter = LineSplitter(.standardOutput)
    for round in 0..<200 {
      _ = splitter.feed(Array("\r\(round) ".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 1000))
      _ = splitter.feed([UInt8](repeating: UInt8(ascii: "y"), count: 10_000))
    }
    let line = splitter.finish()
    #expect(line?.isCut == true)
    #expect((line?.text.utf8.count ?? .max) <= LineSplitter.limit)
    #expect(line?.text.hasPrefix("199 xxx") == true)
  }

  @Test func anEscapeSequenceWithoutAnEndHidesNoMoreThanItself() {
    var splitter = LineSplitter(.standardOutput)
    _ = splitter.feed(Array("\r\u{1B}]0;".utf8))
    for _ in 0..<1000 { _ = splitter.feed([UInt8](repeating: UInt8(ascii: "t"), count: 100)) }
    #expect(splitter.feed(Array("\nnext\n".utf8)).lines.last?.text == "next")
  }

  @Test func aFloodOfRedrawsKeepsTheNewestOnly() {
    var splitter = LineSplitter(.standardOutput)
    let output = splitter.feed(Array((0..<10_000).map { "\r\($0)" }.joined().utf8))
    #expect(output.redraws.count <= RedrawnLine.window)
    #expect(output.redraws.last?.text == "9998")
  }
}
