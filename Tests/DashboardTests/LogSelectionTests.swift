import JobModel
import Screen
import Testing

@testable import Dashboard

/// Selecting in the log with the mouse.
struct LogSelectionTests {
  /// The column of the log's text, after time and mark.
  private static let start = 10

  /// Sends a mouse event at a cell of the log's text, on a row counted from the log's first.
  private func send(_ action: MouseEvent.Action, _ cell: Int, _ row: Int, _ bench: inout Bench) {
    bench.send(.mouse(MouseEvent(action, x: Self.start + cell, y: Layout(bench.model).log.y + row)))
  }

  private func drag(from: (Int, Int), to: (Int, Int), _ bench: inout Bench) {
    send(.click, from.0, from.1, &bench)
    send(.drag, to.0, to.1, &bench)
    send(.release, to.0, to.1, &bench)
  }

  private func selected(_ bench: Bench) -> String {
    let log = Layout(bench.model).log
    let frame = bench.frame(ScreenTraits(isASCII: false, palette: .sixteen))
    return (log.y..<log.maxY).map { y in
      frame.rows[y].filter { $0.style == Style(attributes: .reverse) }.map(\.text).joined()
    }.filter { !$0.isEmpty }.joined(separator: "|")
  }

  @Test func aDragSelectsFromCellToCellAndCopiesOnRelease() {
    var bench = Bench.talker(["first line", "second line", "third line"])
    send(.click, 6, 0, &bench)
    #expect(selected(bench) == "")
    send(.drag, 4, 2, &bench)
    #expect(selected(bench) == "line|second line|third")
    #expect(bench.copies.isEmpty)
    send(.release, 4, 2, &bench)
    #expect(bench.copies == ["line\nsecond line\nthird"])
    #expect(bench.model.notice?.text == "copied 3 lines, 22 bytes")
    bench.press(.escape)
    #expect(selected(bench) == "" && bench.model.focus == .log)
  }

  @Test func backwardsIsTheSame() {
    var bench = Bench.talker(["first line", "second line"])
    drag(from: (2, 1), to: (6, 0), &bench)
    #expect(bench.copies == ["line\nsec"])
  }

  @Test func timesNamesAndOtherPanesAreNeverSelected() {
    var bench = Bench.talker(["one", "two"], size: Size(width: 120, height: 40))
    let log = Layout(bench.model).log
    bench.send(.mouse(MouseEvent(.click, x: 1, y: log.y)))
    bench.send(.mouse(MouseEvent(.drag, x: 119, y: log.y + 1)))
    bench.send(.mouse(MouseEvent(.release, x: 119, y: log.y + 1)))
    #expect(bench.copies == ["one\ntwo"])
  }

  @Test func aClickPutsTheCursorAndSelectsNothing() {
    var bench = Bench.talker((0..<50).map { "line \($0)" })
    send(.click, 3, 2, &bench)
    send(.release, 3, 2, &bench)
    #expect(bench.copies.isEmpty)
    #expect(bench.model.focus == .log && !bench.model.log.follows)
    bench.press(.character("y"))
    #expect(bench.copies == ["line \(50 - Layout(bench.model).log.height + 2)"])
  }

  @Test func aDoubleClickCopiesTheWord() {
    var bench = Bench.talker(["see (src/main.swift:3:1), or not."])
    for cell in [5, 1, 29, 3] { send(.doubleClick, cell, 0, &bench) }
    #expect(bench.copies == ["src/main.swift:3:1", "see", "not"])
  }

  @Test func draggingBeyondTheEdgesScrolls() {
    var bench = Bench.talker((0..<100).map { "line \($0)" })
    let height = Layout(bench.model).log.height
    send(.click, 0, 0, &bench)
    for _ in 0..<5 { send(.drag, 0, -2, &bench) }
    #expect(bench.model.log.top.line < 100 - height)
    send(.release, 0, -2, &bench)
    let first = 100 - height - 10
    #expect(bench.copies.last?.split(separator: "\n").first == "line \(first)")
    #expect(bench.copies.last?.split(separator: "\n").last == "l")
    send(.click, 0, 1, &bench)
    for _ in 0..<5 { send(.drag, 3, height, &bench) }
    send(.release, 3, height, &bench)
    #expect(bench.copies.last?.split(separator: "\n").last == "line")
    #expect(bench.copies.last?.split(separator: "\n").count == height + 4)
  }

  @Test func aWrappedLineIsSelectedAsOne() {
    let text = String(repeating: "0123456789", count: 10)
    var bench = Bench.talker([text])
    bench.press(.character("w"))
    drag(from: (65, 0), to: (5, 1), &bench)
    #expect(bench.copies == [String(text.dropFirst(65).prefix(10))])
  }

  @Test func wideGraphemesAndMarksAreTakenWhole() {
    var bench = Bench.talker(["漢字 e\u{301}tude 👩‍👩‍👧!"])
    // The right half of 字 to the accented letter.
    drag(from: (3, 0), to: (5, 0), &bench)
    #expect(bench.copies == ["字 e\u{301}"])
    #expect(selected(bench) == "字 e\u{301}")
    drag(from: (12, 0), to: (13, 0), &bench)
    #expect(bench.copies.last == "👩‍👩‍👧!")
  }

  @Test func newLinesDoNotMoveWhatIsBeingSelected() {
    var bench = Bench.talker((0..<50).map { "line \($0)" })
    send(.click, 0, 0, &bench)
    let text = bench.model.currentLine?.entry.line.text
    bench.play { run in for number in 0..<LogRing.capacity + 50 { run.log("talker", "new \(number)") } }
    send(.drag, 99, 0, &bench)
    send(.release, 99, 0, &bench)
    #expect(bench.copies == [text])
  }

  @Test func aDragThatBeganElsewhereSelectsNothing() {
    var bench = Bench.talker(["one", "two"])
    bench.send(.mouse(MouseEvent(.click, x: 10, y: Layout(bench.model).list.y)))
    send(.drag, 2, 1, &bench)
    send(.release, 2, 1, &bench)
    #expect(bench.copies.isEmpty && bench.model.focus == .list)
  }
}

/// The cells of a selection, line by line.
struct LogSelectionCellTests {
  private typealias Spot = LogSelection.Spot

  private func selection(_ anchor: (Int, Int), _ head: (Int, Int)) -> LogSelection {
    var selection = LogSelection(at: Spot(line: anchor.0, cell: anchor.1))
    selection.head = Spot(line: head.0, cell: head.1)
    selection.isMade = true
    return selection
  }

  @Test(arguments: [
    (9, 5, 0..<0), (10, 5, 2..<5), (10, 2, 2..<2), (10, 1, 1..<1), (11, 3, 0..<3), (11, 0, 0..<0), (12, 5, 0..<2),
    (12, 1, 0..<1), (13, 5, 0..<0),
  ])
  func linesBetweenTheFirstAndTheLastAreWhole(_ line: Int, _ count: Int, _ cells: Range<Int>) {
    #expect(selection((10, 2), (12, 1)).cells(of: line, count: count) == cells)
    #expect(selection((12, 1), (10, 2)).cells(of: line, count: count) == cells)
  }

  @Test func inOneLineBothEndsAreIncluded() {
    #expect(selection((10, 3), (10, 1)).cells(of: 10, count: 9) == 1..<4)
    #expect(selection((10, 3), (10, 3)).cells(of: 10, count: 9) == 3..<4)
    #expect(selection((10, 3), (10, 9)).cells(of: 10, count: 9) == 3..<9)
  }

  @Test func aClickAloneSelectsNothingAndAWordIsWhole() {
    let click = LogSelection(at: Spot(line: 10, cell: 2))
    #expect(click.isOpen && !click.isMade && click.cells(of: 10, count: 9) == 0..<0)
    let word = LogSelection(3..<7, of: 10)
    #expect(!word.isOpen && word.isMade && word.cells(of: 10, count: 9) == 3..<7)
  }
}
