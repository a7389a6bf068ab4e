import JobModel
import Testing

@testable import Dashboard

@Suite struct LogReaderTests {
  private typealias Place = LogReader.Place

  /// Reads the lines 10, 12 and 14, from this top on, with the cursor on the last.
  private func reader(top: Int) -> LogReader {
    var reader = LogReader()
    reader.read(.even(["a", "b", "c"]), top: Place(line: top, row: 0))
    return reader
  }

  /// The last three of `count` lines.
  private func live(_ count: Int) -> LogLines { .even((0..<count).map { "\($0)" }, capacity: 3) }

  // MARK: Reading

  @Test func readingBeginsOnTheLastLineOnce() {
    var reader = reader(top: 12)
    #expect(!reader.follows && reader.cursor == 14 && reader.top == Place(line: 12, row: 0))
    #expect(reader.held?.last?.seq == 14)
    reader.read(.even(["a"]), top: Place(line: 10, row: 0))
    #expect(reader.cursor == 14 && reader.top.line == 12 && reader.held?.count == 3)
    var none = LogReader()
    none.read(.even([]), top: Place(line: 0, row: 0))
    #expect(none.follows && none.held == nil)
  }

  @Test func followingForgetsRangeSelectionAndLines() {
    var reader = reader(top: 12)
    reader.mark = 10
    reader.selection = LogSelection(0..<1, of: 10)
    reader.follow()
    #expect(reader.follows && reader.mark == nil && reader.selection == nil && reader.held == nil)
  }

  @Test func leavingForgetsThePlaceAndKeepsTheSearch() {
    var reader = reader(top: 12)
    (reader.query, reader.currentMatch, reader.shift, reader.wraps) = ("a", 10, 8, true)
    reader.leave()
    #expect(reader.follows && reader.shift == 0 && reader.currentMatch == nil)
    #expect(reader.query == "a" && reader.wraps)
  }

  @Test(arguments: [(10, 14, 10...14), (14, 10, 10...14), (12, 12, 12...12)])
  func aRangeGoesFromTheMarkToTheCursor(_ mark: Int, _ cursor: Int, _ range: ClosedRange<Int>) {
    var reader = reader(top: 10)
    (reader.mark, reader.cursor) = (mark, cursor)
    #expect(reader.marked == range)
    reader.mark = nil
    #expect(reader.marked == nil)
  }

  @Test func rowsAreInTheOrderOfLinesThenOfRows() {
    let places = [(10, 0), (10, 1), (12, 0)].map { Place(line: $0, row: $1) }
    #expect(places[0] < places[1] && places[1] < places[2] && !(places[2] < places[1]) && !(places[0] < places[0]))
  }

  // MARK: Holding

  @Test func aLogThatFollowsHoldsNothing() {
    var reader = reader(top: 12)
    reader.follow()
    reader.held = live(3)
    reader.hold(live(4))
    #expect(reader.held == nil)
  }

  /// The first line of all that must stay is the page's top, the cursor, the mark or the begin of the selection.
  @Test(
    arguments: [
      (12, 14, nil, nil), (14, 12, nil, nil), (14, 14, 12, nil), (14, 14, nil, 12),
    ] as [(Int, Int, Int?, Int?)])
  func linesStayWhileTheOldestThatIsReadHasLeftMemory(_ top: Int, _ cursor: Int, _ mark: Int?, _ selected: Int?) {
    var reader = reader(top: top)
    (reader.cursor, reader.mark) = (cursor, mark)
    reader.selection = selected.map { LogSelection(0..<1, of: $0) }
    reader.hold(live(4))
    #expect(reader.held?.total == 4)
    reader.hold(live(5))
    #expect(reader.held?.total == 4)
    reader.top = Place(line: 14, row: 0)
    (reader.cursor, reader.mark, reader.selection) = (14, nil, nil)
    reader.hold(live(5))
    #expect(reader.held?.total == 5)
  }

  @Test func aPastInstantBeforeTheLinesReplacesThem() {
    var reader = reader(top: 12)
    reader.cursor = 12
    for past in [["a"], []] {
      reader.hold(.even(past))
      #expect(reader.held?.count == past.count)
    }
  }

  @Test func anotherSourceReplacesTheLines() {
    var reader = reader(top: 10)
    var ring = LogRing()
    ring.append(LogLine(.stdout, "x"), seq: 20, at: .zero, attempt: 1)
    reader.hold(LogLines(program: ring))
    #expect(reader.held?.source == .program)
  }

  // MARK: Searching

  private func searching(_ query: String, _ lines: LogLines) -> LogReader {
    var reader = LogReader()
    reader.query = query
    reader.search(lines)
    return reader
  }

  @Test func aMatchIsSoughtFromALineOnAndThenFromTheOtherEnd() {
    let reader = searching("x", .even(["x", "y", "X", "y", "axa"]))
    #expect(reader.matches == [10, 14, 18])
    for (line, forward, found, hasWrapped) in [
      (10, true, 14, false), (9, true, 10, false), (14, true, 18, false), (18, true, 10, true), (18, false, 14, false),
      (11, false, 10, false), (10, false, 18, true), (Int.max, true, 10, true), (.max, false, 18, false),
    ] {
      let match = reader.match(after: line, forward: forward)
      #expect(match?.line == found && match?.hasWrapped == hasWrapped, "\(line) \(forward)")
    }
    #expect(searching("z", .even(["x"])).match(after: 0, forward: true) == nil)
  }

  @Test func aMatchHasItsNumber() {
    var reader = searching("x", .even(["x", "y", "x"]))
    #expect(reader.matchNumber == nil)
    for (line, number) in [(10, 1), (14, 2), (12, nil)] as [(Int, Int?)] {
      reader.currentMatch = line
      #expect(reader.matchNumber == number)
    }
  }

  @Test func onlyLinesInMemoryMatch() {
    var reader = searching("1", live(3))
    #expect(reader.matches == [12])
    reader.search(live(4))
    #expect(reader.matches == [12])
    reader.search(live(5))
    #expect(reader.matches.isEmpty)
    reader.search(live(12))
    #expect(reader.matches == [30, 32])
  }

  @Test func onlyLinesOfTheShownInstantMatch() {
    let present = ["x", "y", "x", "x"]
    var reader = searching("x", .even(present))
    for (count, matches) in [(3, [10, 14]), (0, []), (1, [10]), (4, [10, 14, 16]), (2, [10]), (3, [10, 14])] {
      reader.search(.even(Array(present.prefix(count))))
      #expect(reader.matches == matches)
    }
    // The past has older lines too.
    reader = searching("1", live(12))
    #expect(reader.matches == [30, 32])
    reader.search(live(3))
    #expect(reader.matches == [12])
    reader = searching("x", .even(present, capacity: 1))
    reader.search(.even(present))
    #expect(reader.matches == [10, 14, 16])
  }

  @Test func anotherQueryOrSourceIsSearchedFromItsBegin() {
    let lines = LogLines.even(["x", "y", "x"])
    var reader = searching("x", lines)
    reader.query = "y"
    reader.search(lines)
    #expect(reader.matches == [12])
    var ring = LogRing()
    for seq in [3, 5] { ring.append(LogLine(.stdout, "y"), seq: seq, at: .zero, attempt: 1) }
    reader.search(LogLines(program: ring))
    #expect(reader.matches == [3, 5])
    reader.search(nil)
    #expect(reader.matches.isEmpty)
    reader.search(lines)
    #expect(reader.matches == [12])
    reader.query = ""
    reader.search(lines)
    #expect(reader.matches.isEmpty)
  }

  @Test func anUnfinishedLineIsSearchedAgain() {
    var ring = LogRing()
    func lines() -> LogLines { LogLines(JobID(0), ring) }
    ring.append(LogLine(.stdout, "x"), seq: 10, at: .zero, attempt: 1)
    ring.append(LogLine(.stderr, "x 1", isUnfinished: true), seq: 12, at: .zero, attempt: 1)
    ring.append(LogLine(.stdout, "x"), seq: 14, at: .zero, attempt: 1)
    var reader = searching("x", lines())
    #expect(reader.matches == [10, 12, 14])
    ring.append(LogLine(.stderr, "y", isUnfinished: false), seq: 16, at: .zero, attempt: 1)
    reader.search(lines())
    #expect(reader.matches == [10, 14])
    ring.append(LogLine(.stdout, "x"), seq: 18, at: .zero, attempt: 1)
    reader.search(lines())
    #expect(reader.matches == [10, 14, 18])
  }
}
