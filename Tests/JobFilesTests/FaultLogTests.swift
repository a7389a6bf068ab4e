import Testing

@testable import JobFiles

/// What is kept of the faults and warnings of files.
struct FaultLogTests {
  private func source(_ text: String) -> SourceText { SourceText(checked: Array(text.utf8)) }

  private func log(_ text: String = "a: b\nc: d\ne: f\ng: h\n") -> FaultLog {
    FaultLog(file: "f", source: source(text))
  }

  private func place(_ line: Int, _ column: Int, file: Int = 0) -> Place {
    Place(line: line, column: column, file: file)
  }

  @Test func warningsTakeNoPlaceOfFaults() {
    let log = log()
    for number in 0..<100 { log.warn(.start, "w\(number)") }
    #expect(log.isEmpty)
    for number in 0..<100 { log.add(.start, "f\(number)") }
    #expect(!log.isEmpty)
    #expect(log.list.count == 200)
    #expect(!log.isCut)
    log.add(.start, "one more")
    #expect(log.isCut)
    #expect(log.list.count == 201)
  }

  @Test func warningsThatAreManyAreDroppedAndHideNoFault() {
    let log = log()
    log.warn(place(1, 1), "again")
    log.warn(place(1, 2), "again")
    for number in 0..<99 { log.warn(place(2, 1), "w\(number)") }
    log.warn(place(3, 1), "late")
    // A known one has room wherever it stands.
    log.warn(place(3, 2), "again")
    #expect(!log.isCut)
    #expect(log.list.count == 102)
    #expect(!log.list.contains { $0.message == "late" })
    log.add(place(4, 1), "a fault")
    #expect(log.list.last?.message == "a fault")
  }

  @Test func aFaultIsKeptOncePerPlace() {
    let log = log()
    for _ in 0..<3 { log.add(place(1, 2), "x") }
    log.warn(place(1, 2), "x")
    #expect(log.list.map(\.isWarning).count { $0 } == 1)
    #expect(log.list.count == 2)
  }

  @Test func theLineThatThereAreMoreIsNoWarning() throws {
    let log = log()
    log.warn(place(2, 3), "w")
    for number in 0..<101 { log.add(.start, "f\(number)") }
    let last = try #require(log.list.last)
    #expect(last == JobFileFault(file: "f", line: 2, column: 3, message: "and more: only 100 faults are reported"))
    #expect(last.lines(width: 80) == ["f:2:3: and more: only 100 faults are reported"])
  }

  @Test func moreThanThreeOfOneMessageAreOne() {
    let log = log()
    for line in 1...3 { log.add(place(line, 1), "x") }
    #expect(log.list.map { "\($0)" } == ["f:1:1: x", "f:2:1: x", "f:3:1: x"])
    log.add(place(4, 1), "x")
    #expect(log.list.map { "\($0)" } == ["f:1:1: x (and 3 more like it, the next on line 2)"])
  }

  @Test func theNextOfOneMessageMayBeInAnotherFile() {
    let log = log()
    log.add(FaultLog.File(name: "g", source: source("a\nb\nc\nd\n"), directory: "/"))
    log.add(place(1, 1), "x")
    for line in 2...4 { log.add(place(line, 1, file: 1), "x") }
    #expect(log.list.map { "\($0)" } == ["f:1:1: x (and 3 more like it, the next on line 2 of g)"])
  }

  @Test func aPlaceBehindTheEndMovesToIt() {
    let log = log("a: b\nc")
    log.add(FaultLog.File(name: "g", source: source("é"), directory: "/"))
    log.add(place(2, 2), "at the end")
    log.add(place(2, 9), "behind it")
    log.add(place(7, 1), "below it")
    log.add(place(1, 3, file: 1), "behind another")
    #expect(
      log.list.map { "\($0)" } == ["f:2:2: at the end", "f:2:2: behind it", "f:2:2: below it", "g:1:2: behind another"])
  }

  @Test func theLinesOfAFileAreShownUnlessItIsHidden() {
    let log = log()
    log.add(FaultLog.File(name: "g", source: source("secret"), directory: "/", isShown: false))
    log.add(place(1, 1), "x")
    log.add(place(1, 1, file: 1), "x")
    #expect(log.list.map { $0.excerpt?.after } == ["a: b", nil])
    #expect(log.list.map(\.file) == ["f", "g"])
  }

  @Test func aPlaceOfAnotherFileIsNamedWithIt() {
    let log = log()
    log.add(FaultLog.File(name: "g", source: source("x"), directory: "/"))
    #expect(log.words(place(1, 2), from: place(3, 4)) == "line 1, column 2")
    #expect(log.words(place(1, 2, file: 1), from: place(3, 4)) == "g, line 1, column 2")
    #expect(log.words(place(1, 2), from: place(3, 4, file: 1)) == "f, line 1, column 2")
  }
}
