import JobModel
import Screen
import Support
import Testing

@testable import Dashboard

struct MergedLogTests {
  private func bench(_ names: [String] = ["a", "b", "c"], size: Size = Size(width: 80, height: 24)) -> Bench {
    var builder = RunBuilder(names.map { .shell($0) })
    builder.at(1)
    for name in names { builder.move(name, .executing) }
    return Bench(builder, size: size)
  }

  private func texts(_ bench: Bench) -> [String] {
    guard let lines = bench.model.lines else { return [] }
    return (0..<lines.count).map { lines[$0].entry.line.text }
  }

  private func play(_ bench: inout Bench, _ lines: [(String, String)]) {
    bench.play { run in for (name, text) in lines { run.log(name, text) } }
  }

  @Test func linesAreInTheOrderOfTheirEventsWithTheirJobs() {
    var bench = bench()
    play(&bench, [("b", "one"), ("a", "two"), ("b", "three")])
    bench.press(.character("L"))
    play(&bench, [("c", "four"), ("a", "five")])
    #expect(texts(bench) == ["one", "two", "three", "four", "five"])
    let log = Layout(bench.model).log
    #expect(bench.frame().text(row: log.y) == " 00:01.0 b     one")
    #expect(bench.frame().text(row: log.y + 3) == " 00:01.0 c     four")
    bench.press(.character("L"))
    #expect(texts(bench) == ["two", "five"])
  }

  @Test func aLogCollectedLaterEqualsOneAppendedLineByLine() {
    var early = bench()
    early.press(.character("L"))
    var late = bench()
    var random = SplitMix(seed: 7)
    for _ in 0..<60 {
      let lines = (0..<100).map { (["a", "b", "c"][Int(random.next() % 3)], "line \($0) \(random.next() % 100)") }
      play(&early, lines)
      play(&late, lines)
    }
    late.press(.character("L"))
    #expect(texts(early).count == MergedLog.capacity)
    #expect(texts(early) == texts(late))
    #expect(early.model.lines?.total == 6000)
    #expect(late.model.lines?.total == 6000)
  }

  @Test func theLinesOfTenThousandJobsAreCollectedOnce() {
    let names = (0..<10_000).map { "job-\($0)" }
    var builder = RunBuilder(names.map { .shell($0) })
    for id in 0..<10_000 {
      builder.state(.jobState(JobID(id), .executing, attempt: 1, pid: nil))
      builder.state(.jobLog(JobID(id), attempt: 1, LogLine(.stdout, "hello \(id)")))
    }
    var bench = Bench(builder)
    bench.press(.character("L"))
    let gathering = bench.model.merged?.collection
    #expect(texts(bench).count == MergedLog.capacity && texts(bench).last == "hello 9999")
    for round in 0..<10 {
      bench.play { run in
        for id in 0..<1000 {
          run.state(.jobLog(JobID(id * 10 + round), attempt: 1, LogLine(.stdout, "again \(id)")))
          if round == 9 { run.state(.jobState(JobID(id), .succeeded(upToDate: false), attempt: 1, pid: nil)) }
        }
      }
    }
    #expect(bench.model.merged?.collection == gathering)
    #expect(bench.model.lines?.total == 20_000 && texts(bench).last == "again 999")
  }

  @Test func theMergedLogIsBoundedInBytes() {
    var bench = bench()
    bench.press(.character("L"))
    let long = String(repeating: "x", count: 4000)
    for _ in 0..<10 { play(&bench, (0..<100).map { _ in ("a", long) }) }
    #expect(texts(bench).reduce(0) { $0 + $1.utf8.count } <= MergedLog.byteCapacity)
    #expect(texts(bench).count > 200)
  }

  @Test func theTaggedOrElseTheFilteredJobsAreMerged() {
    var bench = bench()
    play(&bench, [("a", "1"), ("b", "2"), ("c", "3")])
    bench.press(.character("L"))
    #expect(texts(bench) == ["1", "2", "3"])
    bench.press(.character("/"))
    bench.type("!b")
    bench.press(.enter)
    #expect(texts(bench) == ["1", "3"])
    bench.select("c")
    bench.press(.character(" "))
    #expect(texts(bench) == ["3"])
    #expect(bench.frame().text.contains(" log: 1 tagged job "))
    bench.press(.character("U"))
    #expect(texts(bench) == ["1", "3"])
  }

  @Test func aJobThatEntersTheFilterAddsItsLines() {
    var bench = bench()
    play(&bench, [("a", "1"), ("b", "2")])
    bench.press(.character("/"))
    bench.type("state:failed")
    bench.press(.enter, .character("L"))
    #expect(texts(bench).isEmpty)
    bench.play { run in
      run.log("b", "3")
      run.move("b", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    }
    #expect(texts(bench) == ["2", "3"])
  }

  @Test func aFrozenDisplayTakesNoLinesAndHasThemAllAfterwards() {
    var bench = bench()
    bench.press(.character("L"), .character("Z"))
    play(&bench, [("a", "1"), ("b", "2")])
    #expect(texts(bench).isEmpty)
    bench.press(.character("Z"))
    play(&bench, [("c", "3")])
    #expect(texts(bench) == ["1", "2", "3"])
  }

  @Test func theReaderStaysOnTheirLineFromOneLogToTheOther() {
    var bench = bench()
    for number in 0..<60 { play(&bench, [("a", "a\(number)"), ("b", "b\(number)")]) }
    bench.select("a")
    bench.press(.tab, .pageUp, .pageUp)
    let line = bench.model.currentLine?.seq
    bench.press(.character("L"))
    #expect(bench.model.currentLine?.seq == line)
    bench.press(.up)
    #expect(bench.model.currentLine?.job == JobID(1))
    bench.press(.character("L"))
    #expect(bench.cursor == "b")
    #expect(bench.model.currentLine?.job == JobID(1))
  }

  @Test func enterGoesToTheJobOfTheLine() {
    var bench = bench()
    play(&bench, [("a", "1"), ("b", "2"), ("c", "3")])
    bench.press(.character("L"), .tab, .up, .enter)
    #expect(bench.cursor == "b")
    #expect(bench.model.focus == .list && bench.model.page == .list)
    #expect(texts(bench).count == 3)
  }

  @Test func aJobOnTheWholeScreenHasItsOwnLog() {
    var bench = bench()
    play(&bench, [("a", "1"), ("b", "2")])
    bench.select("b")
    bench.press(.character("L"), .enter)
    #expect(texts(bench) == ["2"])
    bench.press(.escape)
    #expect(texts(bench) == ["1", "2"])
  }

  @Test func searchCoversTheLinesOfAllJobsAndSaysWhenItWraps() {
    var bench = bench()
    for number in 0..<30 { play(&bench, [("a", "x\(number)"), ("b", "match \(number)")]) }
    bench.press(.character("L"), .tab, .character("/"))
    bench.type("MATCH")
    bench.press(.enter)
    #expect(bench.frame().text(row: Layout(bench.model).logBar.y).contains("/MATCH 30 of 30"))
    bench.press(.character("n"))
    #expect(bench.frame().text(row: Layout(bench.model).logBar.y).contains("/MATCH 1 of 30"))
    #expect(bench.model.notice?.text == "past the end: the first match")
    bench.press(.character("N"))
    #expect(bench.model.notice?.text == "past the top: the last match")
  }

  @Test func aLongNameIsElidedInAColumnOfSteadyWidth() {
    var bench = bench(["integration-tests-eu-west-1", "b"], size: Size(width: 80, height: 24))
    play(&bench, [("integration-tests-eu-west-1", "one"), ("b", "two")])
    bench.press(.character("L"))
    let log = Layout(bench.model).log
    let rows = (0..<2).map { bench.frame().text(row: log.y + $0) }
    #expect(rows[0].hasPrefix(" 00:01.0 integra..-west-1 ") || rows[0].contains(".."))
    #expect(rows[0].distance(of: "one") == rows[1].distance(of: "two"))
  }

  @Test func linesThatHaveLeftMemoryAreCountedAndTheirFolderNamed() {
    var bench = bench(["a", "b"], size: Size(width: 120, height: 24))
    bench.press(.character("L"))
    for _ in 0..<50 { play(&bench, (0..<100).map { ("a", "\($0)") }) }
    let bar = bench.frame().text(row: Layout(bench.model).logBar.y)
    #expect(bar.contains("log: 2 jobs") && bar.contains("1000 older in /state/r1/logs") && bar.contains("5000 lines"))
  }

  // MARK: Its bounds

  /// An empty merged log of one job, to which lines of these lengths are added.
  private func appended(_ lengths: [Int]) -> MergedLog {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    var log = MergedLog(MergedLog.Scope(tags: [], filter: .everything), collection: 1, builder.run) { _ in true }
    for (number, length) in lengths.enumerated() {
      let text = ("\(number) " + String(repeating: "x", count: length)).prefix(length)
      builder.log("a", String(text))
      log.append(LogLine(.stdout, String(text)), of: JobID(0), in: builder.run[JobID(0)].log)
    }
    return log
  }

  @Test(arguments: [(262, 262), (263, 262), (300, 262)])
  func linesLeaveWhenTheirBytesAreTooMany(_ lines: Int, _ kept: Int) {
    // 262 lines of 4000 bytes are just below the capacity.
    let log = appended(Array(repeating: 4000, count: lines))
    #expect(log.count == kept && log.total == lines)
    #expect(log[0].entry.line.text.hasPrefix("\(lines - kept) ") && log[kept - 1].entry.number == lines - 1)
  }

  @Test func aLineThatIsTooLargeStaysAlone() {
    let log = appended([10, MergedLog.byteCapacity + 1])
    #expect(log.count == 1 && log[0].entry.number == 1)
    #expect(appended([MergedLog.byteCapacity + 1, 10]).count == 1)
  }

  @Test(arguments: [(4000, 4000), (4001, 4000), (6000, 4000), (6001, 4000), (6002, 4000), (9000, 4000)])
  func theNewestLinesStay(_ lines: Int, _ kept: Int) {
    let log = appended(Array(repeating: 8, count: lines))
    #expect(log.count == kept && log.total == lines)
    #expect((0..<kept).allSatisfy { log[$0].entry.line.text.hasPrefix("\(lines - kept + $0) ") })
  }

  @Test func onlyJobsOfTheScopeAreHeldAndCounted() {
    var builder = RunBuilder([.shell("a"), .shell("b"), .shell("c")])
    for name in ["a", "b", "c"] {
      builder.move(name, .executing)
      builder.log(name, "of \(name)")
    }
    builder.state(.programLog(LogLine(.stdout, "of the program")))
    let tags: Set<JobID> = [JobID(0), JobID(2)]
    let some = MergedLog(
      MergedLog.Scope(tags: tags, filter: .everything), collection: 1, builder.run, admits: tags.contains)
    #expect((0..<4).map { some.holds(JobID($0)) } == [true, false, true, false])
    #expect(some.jobs == 2 && some.total == 2 && (0..<2).map { some[$0].entry.line.text } == ["of a", "of c"])
    let all = MergedLog(MergedLog.Scope(tags: [], filter: .everything), collection: 1, builder.run) { _ in true }
    #expect(all.jobs == 3 && all.total == 4 && all[3].job == nil)
    let filtered = MergedLog(MergedLog.Scope(tags: [], filter: JobFilter("a")), collection: 1, builder.run) { _ in true
    }
    #expect(filtered.total == 3 && !filtered.scope.hasProgram)
  }

  @Test func anUnfinishedLineIsReplacedInItsPlaceOrAtTheEnd() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    for name in ["a", "b"] { builder.move(name, .executing) }
    var log = MergedLog(MergedLog.Scope(tags: [], filter: .everything), collection: 1, builder.run) { _ in true }
    func add(_ name: String, _ line: LogLine) {
      builder.log(name, line.text, line.stream, isUnfinished: line.isUnfinished)
      guard let id = builder.run.id(named: name) else { return }
      log.append(line, of: id, in: builder.run[id].log)
    }
    func texts() -> [String] { (0..<log.count).map { log[$0].entry.line.text } }
    add("a", LogLine(.stdout, "10%", isUnfinished: true))
    add("a", LogLine(.stdout, "20%", isUnfinished: true))
    #expect(texts() == ["20%"] && log.total == 1)
    add("b", LogLine(.stdout, "b"))
    add("a", LogLine(.stdout, "30%", isUnfinished: true))
    #expect(texts() == ["30%", "b"] && log.total == 2)
    add("a", LogLine(.stderr, "err"))
    add("a", LogLine(.stdout, "40%", isUnfinished: true))
    #expect(texts() == ["b", "err", "40%"] && log.total == 3)
    add("a", LogLine(.stdout, "", isUnfinished: true))
    #expect(texts() == ["b", "err"] && log.total == 2)
    add("a", LogLine(.stdout, "end"))
    #expect(texts() == ["b", "err", "end"] && log.total == 3)
  }
}

extension String {
  fileprivate func distance(of text: String) -> Int? {
    range(of: text).map { distance(from: startIndex, to: $0.lowerBound) }
  }
}
