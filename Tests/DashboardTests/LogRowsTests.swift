import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct LogRowsTests {
  private typealias Place = LogReader.Place

  /// The lines 10, 12, 14 and 16 in rows of four cells: three rows, one, one of an empty line, and two.
  private static var lines: LogLines { .even(["abcdefghij", "k", "", "lmnop"]) }
  private let wrapped = LogRows(lines: lines, width: 4, wraps: true, shift: 0)
  private let cut = LogRows(lines: lines, width: 4, wraps: false, shift: 2)
  private let none = LogRows(lines: LogLines.even([]), width: 4, wraps: true, shift: 0)

  private func place(_ line: Int, _ row: Int) -> Place { Place(line: line, row: row) }

  @Test(arguments: [(10, 3), (12, 1), (14, 1), (16, 2), (11, 1), (15, 2), (99, 1)])
  func aLineHasAsManyRowsAsItNeeds(_ line: Int, _ rows: Int) {
    #expect(wrapped.height(of: line) == rows)
    #expect(cut.height(of: line) == 1)
  }

  @Test(arguments: [(0, 0), (3, 0), (4, 1), (7, 1), (8, 2), (9, 2), (99, 2)])
  func aCellIsInTheRowThatHoldsIt(_ cell: Int, _ row: Int) {
    #expect(wrapped.row(of: 10, cell: cell) == row)
    #expect(cut.row(of: 10, cell: cell) == 0 && wrapped.row(of: 99, cell: cell) == 0)
  }

  @Test(arguments: [
    (10, 0, 0, 10, 0), (10, 0, 1, 10, 1), (10, 0, 2, 10, 2), (10, 0, 3, 12, 0), (10, 0, 4, 14, 0), (10, 0, 5, 16, 0),
    (10, 0, 6, 16, 1), (10, 0, 7, 16, 1), (10, 0, 99, 16, 1), (10, 0, -1, 10, 0), (16, 1, -1, 16, 0),
    (16, 1, -2, 14, 0), (16, 1, -3, 12, 0), (16, 1, -4, 10, 2), (16, 1, -6, 10, 0), (16, 1, -7, 10, 0),
    (10, 1, -1, 10, 0), (10, 1, 1, 10, 2), (10, 2, 1, 12, 0), (13, 0, 1, 16, 0), (99, 0, -1, 14, 0),
  ])
  func aMoveGoesRowByRowAndStaysInTheLog(_ line: Int, _ row: Int, _ by: Int, _ toLine: Int, _ toRow: Int) {
    #expect(wrapped.move(place(line, row), by: by) == place(toLine, toRow))
  }

  @Test(arguments: [(10, 1, 12), (10, 3, 16), (10, 4, 16), (16, -1, 14), (16, -3, 10), (16, -4, 10), (12, 0, 12)])
  func aLogThatIsCutMovesLineByLine(_ line: Int, _ by: Int, _ toLine: Int) {
    #expect(cut.move(place(line, 0), by: by) == place(toLine, 0))
  }

  @Test(arguments: [(0, 10, 0), (1, 16, 1), (2, 16, 0), (3, 14, 0), (6, 10, 1), (7, 10, 0), (8, 10, 0), (99, 10, 0)])
  func theLastPageEndsWithTheLastRow(_ height: Int, _ line: Int, _ row: Int) {
    #expect(wrapped.lastTop(height: height) == place(line, row))
  }

  @Test(arguments: [(10, 1, 10, 1), (10, 2, 10, 2), (10, 3, 10, 2), (9, 5, 10, 0), (13, 1, 14, 0), (99, 3, 16, 0)])
  func aPlaceThatIsNotInMemoryBecomesTheNearest(_ line: Int, _ row: Int, _ toLine: Int, _ toRow: Int) {
    #expect(wrapped.clamp(place(line, row)) == place(toLine, toRow))
  }

  @Test(arguments: [
    // A line on the page, one below it, a row and more below it, one above it, one that is taller than the page.
    (12, 0, 2, 14, 12, 0), (12, 0, 2, 12, 12, 0), (10, 2, 2, 14, 12, 0), (10, 0, 2, 16, 16, 0), (12, 0, 3, 16, 14, 0),
    (12, 0, 2, 10, 10, 1), (14, 0, 4, 10, 10, 0), (10, 0, 2, 10, 10, 0), (10, 1, 2, 10, 10, 1), (16, 1, 1, 14, 14, 0),
  ])
  func aPageMovesNoFartherThanItMust(
    _ line: Int, _ row: Int, _ height: Int, _ shown: Int, _ toLine: Int, _ toRow: Int
  ) {
    #expect(wrapped.top(place(line, row), showing: shown, height: height) == place(toLine, toRow))
  }

  private func page(_ rows: [LogRows.Row]) -> [String] {
    rows.map { row in
      "\(row.line.seq).\(row.number)\(row.isLast ? "" : "+") " + row.cells[row.range].map(\.text).joined()
    }
  }

  @Test func aPageHoldsTheRowsFromItsTopOn() {
    #expect(
      page(wrapped.page(from: place(10, 1), height: 4)) == ["10.1+ efgh", "10.2 ij", "12.0 k", "14.0 "])
    #expect(page(wrapped.page(from: place(10, 0), height: 2)) == ["10.0+ abcd", "10.1+ efgh"])
    #expect(page(wrapped.page(from: place(14, 0), height: 9)) == ["14.0 ", "16.0+ lmno", "16.1 p"])
    #expect(page(cut.page(from: place(10, 0), height: 9)) == ["10.0 cdefghij", "12.0 ", "14.0 ", "16.0 nop"])
    #expect(wrapped.page(from: place(10, 0), height: 0).isEmpty)
  }

  @Test(arguments: [(0, "a漢b漢", 0), (1, "漢b漢", 0), (2, "b漢", 1), (3, "b漢", 0), (5, "", 1), (6, "", 0), (9, "", 0)])
  func aRowBeginsAtItsColumn(_ shift: Int, _ text: String, _ blanks: Int) {
    let rows = LogRows(lines: LogLines.even(["a漢b漢"]), width: 4, wraps: false, shift: shift)
    let page = rows.page(from: place(10, 0), height: 1)
    #expect(self.page(page) == ["10.0 " + text] && page.map(\.blanks) == [blanks])
  }

  @Test func aLogWithoutLinesHasOnePlace() {
    #expect(none.first == place(0, 0) && none.clamp(place(4, 4)) == place(0, 0))
    #expect(none.move(place(4, 4), by: 3) == place(0, 0) && none.lastTop(height: 5) == place(0, 0))
    #expect(none.page(from: place(0, 0), height: 5).isEmpty && none.height(of: 3) == 1)
  }
}
