import JobModel
import Screen
import Testing

@testable import Dashboard

/// What the program itself wrote, in the log pane.
struct ProgramLogViewTests {
  private func bench() -> Bench {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.at(1)
    for name in ["a", "b"] { builder.move(name, .executing) }
    return Bench(builder, size: Size(width: 80, height: 24))
  }

  private func texts(_ bench: Bench) -> [String] {
    guard let lines = bench.model.lines else { return [] }
    return (0..<lines.count).map { lines[$0].entry.line.text }
  }

  private func print(_ bench: inout Bench, _ texts: String...) {
    bench.play { run in for text in texts { run.state(.programLog(LogLine(.stdout, text))) } }
  }

  @Test func theFirstLineIsAnnouncedWithItsKey() {
    var bench = bench()
    print(&bench, "one")
    #expect(bench.model.notice?.text == "the program has printed: L shows it")
    bench.model.notice = nil
    print(&bench, "two")
    #expect(bench.model.notice == nil)
  }

  @Test func itsLinesStandAmongThoseOfAllJobsInTheOrderOfTheEvents() {
    var bench = bench()
    bench.play { $0.log("a", "one") }
    print(&bench, "two")
    bench.press(.character("L"))
    bench.play { $0.log("b", "three") }
    print(&bench, "four")
    #expect(texts(bench) == ["one", "two", "three", "four"])
    let log = Layout(bench.model).log
    #expect(bench.frame().text(row: log.y + 1) == " 00:01.0 program  two")
    #expect(bench.frame().text(row: log.y + 2) == " 00:01.0 b        three")
    let bar = bench.frame().text(row: Layout(bench.model).logBar.y)
    #expect(bar.contains("log: 2 jobs and the program") && bar.contains("4 lines"))
  }

  @Test func theKeyGoesFromOneJobToAllToTheProgramAndBack() {
    var bench = bench()
    bench.play { $0.log("a", "one") }
    print(&bench, "two")
    bench.press(.character("L"))
    bench.press(.character("L"))
    #expect(texts(bench) == ["two"])
    #expect(bench.frame().text(row: Layout(bench.model).logBar.y).contains("log: output of the program"))
    // The cursor's job is another matter.
    bench.press(.down)
    #expect(texts(bench) == ["two"])
    bench.press(.up)
    bench.press(.character("L"))
    #expect(texts(bench) == ["one"])
  }

  @Test func withoutOutputTheKeyGoesFromOneJobToAllAndBack() {
    var bench = bench()
    bench.press(.character("L"))
    #expect(bench.model.showsMerged)
    bench.press(.character("L"))
    #expect(!bench.model.showsMerged && !bench.model.showsProgram)
  }

  @Test func aFilterOrTagsLeaveItsLinesOut() {
    var bench = bench()
    bench.play { $0.log("a", "one") }
    print(&bench, "two")
    bench.press(.character("L"))
    bench.press(.character(" "))
    #expect(texts(bench) == ["one"])
    #expect(!bench.frame().text(row: Layout(bench.model).logBar.y).contains("program"))
    bench.press(.character("U"))
    #expect(texts(bench) == ["one", "two"])
  }

  @Test func aLineOfTheProgramIsReadMarkedAndCopied() {
    var bench = bench()
    print(&bench, "one", "two", "three")
    bench.press(.character("L"))
    bench.press(.character("L"))
    bench.press(.tab)
    bench.press(.up)
    #expect(bench.model.currentLine?.entry.line.text == "two")
    bench.press(.character("y"))
    #expect(bench.copies == ["two"])
    bench.press(.character("E"))
    _ = bench.frame()
  }

  @Test func aLineOfTheProgramHasNeitherJobNorFile() {
    var bench = bench()
    bench.play { run in
      for number in 0...LogRing.capacity { run.state(.programLog(LogLine(.stdout, "\(number)"))) }
    }
    bench.press(.character("L"), .tab)
    #expect(bench.model.showsMerged && bench.model.currentLine != nil)
    for (key, text) in [(Key.enter, "no job here"), (.character("F"), "nothing to copy")] {
      bench.press(key)
      #expect(bench.model.notice?.text == text && bench.copies.isEmpty)
      bench.model.notice = nil
    }
    let line = bench.frame().text(row: 23)
    #expect(line.contains("copy line") && !line.contains("its job") && !line.contains(" path "))
  }

  @Test func aRunWithoutJobsHasLinesToCopy() {
    var bench = Bench(RunBuilder([]))
    print(&bench, "one", "two")
    bench.press(.character("L"), .tab)
    #expect(bench.model.cursor == nil && texts(bench) == ["one", "two"])
    bench.press(.character("y"), .character("Y"))
    #expect(bench.copies == ["two", "one\ntwo"])
  }
}
