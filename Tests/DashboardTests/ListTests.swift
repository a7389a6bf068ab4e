import JobModel
import Screen
import Support
import Testing

@testable import Dashboard

struct ListTests {
  @Test func attentionSortsFailuresFirstAndEndedJobsLast() {
    let bench = Bench(RichRun.builder())
    let ranks = bench.model.order.rows.map { bench.model.index.classes[$0.index].attention }
    #expect(ranks == ranks.sorted())
    #expect(Array(bench.rows.prefix(4)) == ["lint", "sign", "stubborn", "assets"])
    #expect(bench.rows.last == "release-notes")
  }

  @Test func theOrderKeptFactByFactIsTheOrderSortedAnew() {
    var random = SplitMix(seed: 11)
    let jobs = (0..<200).map { Job.shell("job-\($0)") }
    for sort in SortColumn.allCases {
      var bench = Bench(RunBuilder(jobs))
      bench.model.order.setSort(sort, inverted: random.next() % 2 == 0)
      for round in 0..<60 {
        bench.play { run in
          run.at(Double(round))
          for _ in 0..<3 { randomFact(&run, &random) }
        }
      }
      var anew = JobOrder()
      anew.setSort(sort, inverted: bench.model.order.isInverted)
      anew.update(bench.model.run, bench.model.index, bench.model.filtered, now: bench.now)
      #expect(bench.model.order.rows == anew.rows, "\(sort)")
    }
  }

  @Test func jobsFilteredWithEachChangeAreTheJobsFilteredAnew() {
    var random = SplitMix(seed: 12)
    var bench = Bench(RunBuilder((0..<200).map { Job.shell("job-\($0)") }))
    bench.model.setFilter(JobFilter("state:running"))
    for round in 0..<60 {
      bench.play { run in
        run.at(Double(round))
        for _ in 0..<3 { randomFact(&run, &random) }
      }
    }
    var anew = FilteredJobs()
    anew.setFilter(bench.model.filter)
    anew.update(bench.model.run, bench.model.index)
    #expect(!bench.model.order.rows.isEmpty)
    #expect(Set(bench.model.order.rows) == Set(bench.model.run.ids.filter(anew.admits)))
  }

  private func randomFact(_ run: inout RunBuilder, _ random: inout SplitMix) {
    let name = "job-\(random.next() % 200)"
    guard let id = run.run.id(named: name) else { return }
    switch random.next() % 6 {
    case 0, 1: if !run.run[id].state.isActive { run.move(name, .executing) }
    case 2: run.move(name, .succeeded(upToDate: false))
    case 3: run.move(name, .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    case 4: run.progress(name, Int64(random.next() % 100), of: 100, .steps)
    default: run.state(.priorityChanged(id, .high))
    }
  }

  @Test func sortKeysGoRoundTheColumnsAndInvertTurnsTheOrder() {
    var bench = Bench(RichRun.builder())
    bench.press(.character(">"))
    #expect(bench.model.order.sort == .name)
    #expect(bench.rows.first == "announce")
    bench.press(.character("I"))
    #expect(bench.rows.first == "warm-cache")
    bench.press(.character("<"), .character("I"))
    #expect(bench.model.order.sort == .attention)
    for _ in SortColumn.allCases { bench.press(.function(6)) }
    #expect(bench.model.order.sort == .attention)
  }

  // MARK: Filter

  @Test(arguments: [
    ("BUILD", ["build[mac]", "build[linux]"]),
    ("state:failed", ["lint", "sign", "flaky-bench"]),
    ("state:timed", ["sign"]),
    ("kind:download", ["assets", "fetch"]),
    ("kind:download !fetch", ["assets"]),
    ("state:skipped tag", ["tag"]),
    ("!kind:shell !state:executing", ["warm-cache", "notify"]),
    ("no such job", []),
  ])
  func aFilterShowsWhatAllItsWordsAdmit(_ filter: String, _ names: [String]) {
    var bench = Bench(RichRun.builder())
    bench.press(.character("/"))
    bench.type(filter)
    #expect(bench.rows == names)
    #expect(bench.frame().text(row: 23).contains("\(names.count)/26"))
    bench.press(.enter)
    #expect(bench.frame().text.contains("\(names.count)/26"))
    bench.press(.escape)
    #expect(bench.rows.count == 24)
  }

  @Test func aFilterFollowsTheFacts() {
    var bench = Bench(RichRun.builder())
    bench.press(.character("/"))
    bench.type("state:ready")
    bench.press(.enter)
    #expect(bench.rows == ["build[mac]", "index"])
    bench.play { $0.move("index", .executing) }
    #expect(bench.rows == ["build[mac]"])
    bench.play { $0.move("digest", .ready(for: .slot)) }
    #expect(bench.rows == ["build[mac]", "digest"])
  }

  @Test func escapeWhileTypingClearsTheFilter() {
    var bench = Bench(RichRun.builder())
    bench.press(.function(3))
    bench.type("lint")
    #expect(bench.rows == ["lint"])
    bench.press(.escape)
    #expect(bench.rows.count == 24)
    #expect(bench.model.prompt == nil)
  }

  @Test func pastedTextIsTypedAsOneLineWithoutControls() {
    var bench = Bench(RichRun.builder())
    bench.press(.character("/"))
    bench.send(.paste("li\u{1B}n\nt"))
    #expect(bench.rows == ["lint"])
  }

  @Test func aCursorThatNobodyMovedGoesToAnExecutingJob() {
    var bench = Bench(RunBuilder([.shell("first"), .shell("second"), .shell("third")], slots: 1))
    bench.play { $0.move("first", .ready(for: .slot)) }
    #expect(bench.cursor == "first")
    bench.play { $0.move("second", .executing) }
    #expect(bench.cursor == "second")
    bench.play {
      $0.at(1)
      $0.move("third", .executing)
    }
    #expect(bench.cursor == "second")
    bench.play { $0.move("second", .succeeded(upToDate: false)) }
    #expect(bench.cursor == "third")
  }

  @Test func aCursorThatAPersonMovedStaysOnAWaitingJob() {
    var bench = Bench(RunBuilder([.shell("first"), .shell("second")], slots: 1))
    bench.select("first")
    bench.play { $0.move("second", .executing) }
    #expect(bench.cursor == "first")
  }

  @Test func aHiddenJobGivesTheCursorToOneThatIsShown() {
    var bench = Bench(RichRun.builder())
    bench.select("lint")
    bench.press(.character("/"))
    bench.type("fetch")
    #expect(bench.cursor == "fetch")
  }

  /// `alpha` and `beta`, which execute and have written; a filter shows what executes, and `beta` fails after these keys.
  private func hidden(after keys: [Key]) -> Bench {
    var builder = RunBuilder([.shell("alpha"), .shell("beta")])
    for name in ["alpha", "beta"] {
      builder.move(name, .executing)
      for number in 0..<40 { builder.log(name, "\(name) \(number)") }
    }
    var bench = Bench(builder)
    bench.press(.character("/"))
    bench.type("state:run")
    bench.press(.enter)
    for key in keys { bench.press(key) }
    bench.play { $0.move("beta", .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    #expect(bench.rows == ["alpha"])
    return bench
  }

  @Test(
    arguments: [
      [], [.tab, .up], [.enter, .tab, .up], [.character("l"), .up], [.enter, .character("?")],
    ] as [[Key]])
  func aTakenCursorStaysOnAJobThatAFilterComesToHide(_ keys: [Key]) {
    var bench = hidden(after: [.character("j")] + keys)
    let isRead = keys.contains(.up)
    #expect(bench.cursor == "beta" && bench.model.log.follows == !isRead)
    #expect(!isRead || bench.model.currentLine?.entry.line.text == "beta 38")
    bench.press(.character("x"))
    #expect(bench.commands.isEmpty)
  }

  @Test func aKeyOnAHiddenJobAsksAndTheFirstStepGoesToARow() {
    var bench = hidden(after: [.character("j")])
    bench.press(.character("r"))
    #expect(bench.commands.isEmpty && bench.model.prompt == .confirm(.retry, [JobID(1)]))
    #expect(bench.frame().text(row: 23).contains("Retry beta, not on the screen?"))
    bench.press(.escape, .character("j"))
    #expect(bench.cursor == "alpha")
  }

  @Test func aFreeCursorLeavesAJobThatAFilterComesToHide() {
    var bench = hidden(after: [])
    bench.play { $0.move("beta", .executing) }
    #expect(!bench.model.isCursorTaken && bench.cursor == "alpha")
    bench.play { $0.move("alpha", .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    #expect(bench.cursor == "beta")
  }

  @Test(arguments: [[.enter], [.enter, .tab], [.tab]] as [[Key]])
  func aJobThatIsReadKeepsTheCursorWhenItIsSkipped(_ keys: [Key]) {
    var builder = RunBuilder([.shell("a"), .shell("b", needs: [JobNeed(JobID(0))])])
    builder.move("a", .executing)
    var bench = Bench(builder)
    bench.select("b")
    for key in keys { bench.press(key) }
    bench.play {
      $0.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
      $0.move("b", .skipped(because: .job(JobID(0))))
    }
    #expect(bench.cursor == "b")
    bench.press(.escape)
    #expect(bench.cursor == "a" && bench.model.page == .list && bench.model.focus == .list)
  }

  // MARK: Moving

  @Test func movingStaysWithinTheListAndKeepsTheCursorOnTheScreen() {
    var bench = Bench(RunBuilder((0..<100).map { .shell("job-\($0)") }))
    bench.press(.up)
    #expect(bench.cursor == "job-0")
    bench.press(.character("G"))
    #expect(bench.cursor == "job-99")
    #expect(bench.frame().text.contains("job-99"))
    bench.press(.down)
    #expect(bench.cursor == "job-99")
    bench.press(.character("g"), .pageDown)
    #expect(bench.cursor == "job-10")
    bench.press(.control("d"), .control("u"), .character("j"), .character("k"), .home)
    #expect(bench.cursor == "job-0")
  }

  @Test func theWheelScrollsTheListAndLeavesTheCursorOnItsJob() {
    var bench = Bench(RunBuilder((0..<100).map { .shell("job-\($0)") }))
    bench.press(.down)
    bench.send(.mouse(MouseEvent(.wheelDown, x: 10, y: 6)))
    bench.send(.mouse(MouseEvent(.wheelDown, x: 10, y: 6)))
    #expect(bench.model.top == 6)
    #expect(bench.cursor == "job-1")
    bench.press(.down)
    #expect(bench.cursor == "job-2")
    #expect(bench.model.top <= 2)
  }

  @Test func aClickSelectsAndADoubleClickZooms() {
    var bench = Bench(RichRun.builder())
    bench.send(.mouse(MouseEvent(.click, x: 20, y: 6)))
    #expect(bench.cursor == "assets")
    bench.send(.mouse(MouseEvent(.doubleClick, x: 20, y: 6)))
    #expect(bench.model.page == .zoom)
  }

  @Test func aClickOnAColumnsTitleSortsByItAndASecondTurnsTheOrder() {
    var bench = Bench(RichRun.builder())
    let titles = bench.frame().text(row: 2)
    for (word, sort) in [
      ("JOB", SortColumn.name), ("TIME", .time), ("LEFT", .eta), ("STATUS", .progress),
    ] {
      guard let place = titles.range(of: word) else {
        Issue.record("no \(word)")
        continue
      }
      let x = titles.distance(from: titles.startIndex, to: place.lowerBound)
      bench.send(.mouse(MouseEvent(.click, x: x, y: 2)))
      #expect(bench.model.order.sort == sort)
      #expect(!bench.model.order.isInverted)
    }
    bench.send(.mouse(MouseEvent(.click, x: 0, y: 2)))
    bench.send(.mouse(MouseEvent(.click, x: 0, y: 2)))
    #expect(bench.model.order.sort == .attention && bench.model.order.isInverted)
  }

  @Test func aClickOnAKeyOfTheBottomLinePressesIt() throws {
    for width in [40, 80, 200] {
      var bench = Bench(RichRun.builder(), size: Size(width: width, height: 24))
      bench.select("fetch")
      let hints = Footer.hints(bench.model, width: width)
      let line = bench.frame().text(row: 23)
      for hint in hints { #expect(line.contains("\(hint.key) \(hint.word)")) }
      let cancel = try #require(hints.first { $0.command == .cancel })
      bench.send(.mouse(MouseEvent(.click, x: cancel.x + 1, y: 23)))
      let fetch = try #require(bench.builder.run.id(named: "fetch"))
      #expect(bench.commands == [.cancel([fetch], by: .person)])
      let help = try #require(hints.first { $0.command == .help })
      bench.model.notice = nil
      bench.send(.mouse(MouseEvent(.click, x: help.x + help.width - 3, y: 23)))
      #expect(bench.model.page == .help)
    }
  }

  @Test func theMouseIsGivenBackAndThenDoesNothing() {
    var bench = Bench(RichRun.builder())
    bench.press(.character("m"))
    #expect(bench.effects == [.setMouse(false)])
    bench.send(.mouse(MouseEvent(.click, x: 20, y: 6)))
    #expect(bench.cursor == "lint")
  }

  // MARK: Columns

  @Test(arguments: 30...240)
  func columnsNeverOverlapAndNeverLeaveTheList(_ width: Int) {
    for longest in [1, 8, 20, 60] {
      for isTree in [false, true] {
        let columns = Columns(width: width, longestName: longest, isTree: isTree)
        let ends = [columns.time, columns.left].compactMap(\.self)
        #expect(columns.status >= Columns.name + 8 && columns.status + 10 <= (ends.first ?? width))
        #expect(ends == ends.sorted() && ends.allSatisfy { $0 < width })
      }
    }
  }

  @Test(arguments: [(40, 12), (80, 24), (120, 40), (200, 60)])
  func theStatusBeginsInOneColumnHoweverLongANameIs(_ width: Int, _ height: Int) throws {
    let name = "integration-tests[ubuntu-22.04, py3.9, postgres-15, and a value that no row has room for, ever, at all]"
    var builder = RunBuilder([.shell("a"), .shell(name)])
    for job in ["a", name] { builder.move(job, .executing) }
    builder.at(2.5)
    for job in ["a", name] { builder.move(job, .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    let rows = Bench(builder, size: Size(width: width, height: height)).frame().text.split(separator: "\n")
      .filter { $0.hasPrefix(" ! ") }.prefix(2)
    let places = rows.map { row in row.range(of: "exit 1").map { row.distance(from: row.startIndex, to: $0.lowerBound) }
    }
    #expect(places[0] == places[1] && places[0] != nil, "\(rows)")
    #expect(rows.contains { $0.contains(" ! int") && $0.contains("..") })
  }

  @Test func theLastLineSummarizesTheRowsBelow() {
    let bench = Bench(RichRun.builder())
    #expect(bench.frame().text(row: 14).contains("v 13 more: 7 waiting, 2 ready"))
  }
}
