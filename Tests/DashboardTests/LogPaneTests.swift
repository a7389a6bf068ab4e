import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct LogPaneTests {
  private func log(_ bench: Bench) -> (bar: String, first: String) {
    let layout = Layout(bench.model)
    return (bench.frame().text(row: layout.logBar.y), bench.frame().text(row: layout.log.y))
  }

  @Test func aLogWithoutLinesSaysWhy() {
    var bench = Bench(RunBuilder([.shell("a"), .shell("b")]))
    #expect(log(bench).first == " not started yet")
    bench.press(.character("L"))
    #expect(log(bench).first == " no output yet")
    bench.press(.character("L"))
    bench.play { $0.move("a", .executing) }
    #expect(log(bench).first == " no output yet")
    bench.play { $0.move("a", .succeeded(upToDate: false)) }
    #expect(log(bench).first == " no output")
    bench.press(.character("g"))
    #expect(log(bench).first == " not started yet")
    bench.play { $0.move("b", .cancelled(by: .person)) }
    #expect(log(bench).first == " not executed")
    bench.press(.character("L"))
    #expect(log(bench).first == " no output")
    bench.press(.character("L"))
    let empty = Bench(RunBuilder([]))
    #expect(log(empty).bar == "-- log " + String(repeating: "-", count: 73) && log(empty).first.isEmpty)
  }

  @Test func theFailureOfAJobWithoutOutputIsWhole() {
    let words = (1...40).map { "word\($0)" }.joined(separator: " ")
    func text(_ states: JobState...) -> String {
      var bench = Bench(RunBuilder([.shell("a")]))
      for state in states { bench.play { $0.move("a", state) } }
      let layout = Layout(bench.model)
      let rows = (0..<layout.log.height).map { bench.frame().text(row: layout.log.y + $0) }
      return rows.joined().split(separator: " ").joined(separator: " ")
    }
    let failure = JobFailure(.error, words)
    #expect(text(.failed(failure, allowed: false)) == "no output: \(words)")
    #expect(text(.executing, .failed(failure, allowed: true)) == "no output: \(words)")
    #expect(
      text(.executing, .backingOff(until: .seconds(9), number: 1, limit: 2, after: failure)) == "no output: \(words)")
  }

  @Test func linesWithWideLettersKeepTheirColumns() {
    let digits = (0..<180).map { String($0 % 10) }
    // Two of five columns have a wide letter.
    let mixed = digits.enumerated().map { [1: "漢", 2: ""][$0 % 5] ?? $1 }
    var bench = Bench.talker([mixed.joined(), digits.joined()])
    let area = Layout(bench.model).log
    for _ in 0..<12 {
      let frame = bench.frame(ScreenTraits(isASCII: false, palette: .none))
      for x in (area.maxX - 70)..<(area.maxX - 2) where frame[x, area.y].text.first?.isNumber == true {
        #expect(frame[x, area.y] == frame[x, area.y + 1], "\(bench.model.log.shift)")
      }
      bench.press(.right)
    }
  }

  @Test func theBarNamesJobAttemptAndLength() {
    var bench = Bench.talker(["x"])
    #expect(log(bench).bar.hasPrefix("-- log: talker #1 ---") && log(bench).bar.hasSuffix("- following  1 line --"))
    #expect(log(bench).bar.count == 80)
    bench.press(.character("w"), .tab, .up)
    #expect(log(bench).bar.hasPrefix("== log: talker #1 ===") && log(bench).bar.hasSuffix("= wrap  1 line =="))
    bench.press(.character("/"))
    bench.type("x")
    #expect(log(bench).bar.hasSuffix("= /x 1  wrap  1 line =="))
    bench.press(.enter)
    #expect(log(bench).bar.hasSuffix("= /x 1 of 1  wrap  1 line =="))
  }

  @Test func aWideSearchLeavesTheNameOfTheJob() {
    for width in 30...80 {
      var bench = Bench.talker(["x"], size: Size(width: width, height: 24))
      bench.model.log.extent = .full
      bench.model.log.query = "漢字漢字漢字漢字"
      FramePreparation.prepare(&bench.model, now: bench.now)
      #expect(log(bench).bar.contains("log: talker #1 "), "\(width)")
    }
  }

  @Test func ofManyJobsTheBarSaysWhose() {
    var bench = Bench(RunBuilder([.shell("a"), .shell("b")]))
    bench.press(.character("L"))
    #expect(log(bench).bar.hasPrefix("-- log: 2 jobs ---"))
    bench.model.setFilter(JobFilter("a"))
    FramePreparation.prepare(&bench.model, now: bench.now)
    #expect(log(bench).bar.hasPrefix("-- log: 1 found job ---"))
    bench.model.tags = [JobID(0), JobID(1)]
    FramePreparation.prepare(&bench.model, now: bench.now)
    #expect(log(bench).bar.hasPrefix("-- log: 2 tagged jobs ---"))
  }

  @Test func linesOfOlderAttemptsAndNotesAreDim() {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    builder.log("a", "old")
    builder.move("a", .backingOff(until: .zero, number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
    builder.move("a", .executing)
    for (text, stream) in [("out", LogLine.Stream.stdout), ("err", .stderr), ("note", .note)] {
      builder.log("a", text, stream)
    }
    let bench = Bench(builder)
    let y = Layout(bench.model).log.y
    let frame = bench.frame()
    #expect(
      (0..<4).map { frame.text(row: y + $0) } == [
        " 00:00.0  old", " 00:00.0  out", " 00:00.0 |err", " 00:00.0 *note",
      ])
    #expect((0..<4).map { frame[10, y + $0].style.attributes } == [.dim, [], [], .dim])
    #expect(frame[1, y].style.attributes == .dim && frame[9, y + 2].style.attributes == .bold)
  }

  @Test func aLineThatGoesOnIsMarkedAtTheEdge() {
    let bench = Bench.talker([String(repeating: "x", count: 69), String(repeating: "x", count: 70)])
    let y = Layout(bench.model).log.y
    #expect(bench.frame().text(row: y) == " 00:01.0  " + String(repeating: "x", count: 69))
    #expect(bench.frame().text(row: y + 1) == " 00:01.0  " + String(repeating: "x", count: 68) + ">")
  }

  @Test func theFileOfACutLineIsSlidIntoView() {
    var bench = Bench.talker([])
    bench.play { $0.log("talker", String(repeating: "x", count: 200), isCut: true) }
    for _ in 0..<30 { bench.press(.right) }
    #expect(log(bench).first.hasSuffix("xx.. whole in /state/r1/logs/talker.0.1.log"))
    bench.press(.character("l"))
    for (width, end) in [(40, "<.. whole in /s..lker.0.1.log"), (33, "xx..")] {
      bench.send(.resized(Size(width: width, height: 24)))
      bench.model.log.shift = 0
      for _ in 0..<30 { bench.press(.right) }
      #expect(log(bench).first.hasSuffix(end))
    }
  }

  @Test func textLeftOfTheEdgeIsMarkedAsWell() {
    var bench = Bench.talker([String(repeating: "x", count: 90), "short", ""])
    bench.press(.right)
    let y = Layout(bench.model).log.y
    let rows = (0..<3).map { String(bench.frame().text(row: y + $0).dropFirst(10)) }
    #expect(rows == ["<" + String(repeating: "x", count: 67) + ">", "<", ""])
    #expect(bench.frame(GoldenTests.utf8)[10, y].text == "‹")
    bench.press(.character("w"))
    #expect(bench.frame().text(row: y + 1).hasSuffix(" " + String(repeating: "x", count: 21)))
  }

  @Test func aMarkedRangeIsBarredFromEndToEnd() {
    var bench = Bench.talker((0..<5).map { "line \($0)" })
    bench.press(.tab, .up, .character("v"), .up, .up)
    let frame = bench.frame()
    let y = Layout(bench.model).log.y
    #expect((0..<5).map { frame[60, y + $0].style.attributes == .reverse } == [false, true, true, true, false])
    #expect((0..<5).map { frame[0, y + $0].text } == [" ", ">", " ", " ", " "])
    bench.press(.tab)
    #expect((0..<5).allSatisfy { bench.frame()[60, y + $0].style == .plain })
  }
}
