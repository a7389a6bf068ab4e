import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct LogColumnsTests {
  private func model(
    _ names: [String] = ["a", "b"], width: Int = 80, hasTerminal: Bool = false, prints: Bool = false
  ) -> Model {
    var jobs = names.map { Job.shell($0) }
    jobs[0].work = .shell(ShellWork(.script("true"), hasTerminal: hasTerminal))
    var builder = RunBuilder(jobs)
    if prints { builder.state(.programLog(LogLine(.stdout, "x"))) }
    var model = Model(run: builder.run, size: Size(width: width, height: 24))
    FramePreparation.prepare(&model, now: .zero)
    return model
  }

  private func columns(_ model: Model) -> LogColumns { LogColumns(model, Layout(model)) }

  @Test(arguments: [(LogReader.Times.relative, 9, 69), (.clock, 10, 68), (.off, 1, 77)])
  func theTextFollowsTheTimeAndABlank(_ times: LogReader.Times, _ width: Int, _ text: Int) {
    var model = model()
    model.log.times = times
    #expect(columns(model).timeWidth == width && columns(model).nameWidth == 0 && columns(model).textWidth == text)
  }

  @Test(arguments: [
    ("abc", 80, false, 5), ("abcdefghij", 80, false, 11), ("abcdefghijklmnopqrst", 80, false, 17),
    ("abcdefghijklmnopqrstuvwxyz", 119, false, 24), ("abcdefghijklmnopqrstuvwxyz", 80, false, 17),
    ("abc", 80, true, 8), ("abcdefghij", 80, true, 11),
  ])
  func namesTakeAFifthOfTheLogAtMost(_ name: String, _ width: Int, _ prints: Bool, _ cells: Int) {
    var model = model([name], width: width, prints: prints)
    model.showLog(of: .merged)
    let columns = columns(model)
    #expect(columns.nameWidth == cells && columns.textWidth == width - 9 - cells - 2)
    for (x, isName) in [(8, false), (9, true), (9 + cells - 1, true), (9 + cells, false)] {
      #expect(columns.isName(x) == isName, "\(x)")
    }
  }

  @Test func theLogOfOneJobHasNoNames() {
    let model = model()
    #expect((0..<80).allSatisfy { !columns(model).isName($0) })
  }

  @Test func aTerminalHasTheSizeOfTheLogOfOneJob() {
    var model = model(hasTerminal: true)
    #expect(model.terminalSize == Size(width: 69, height: 7))
    model.showLog(of: .merged)
    #expect(model.terminalSize == Size(width: 69, height: 7))
    model.isReplay = true
    #expect(model.terminalSize == nil)
    model.isReplay = false
    model.show(model.run, at: .zero)
    #expect(model.terminalSize == nil)
    model.setFrozen(false)
    #expect(model.terminalSize != nil)
    model.log.extent = .off
    #expect(model.terminalSize == nil)
    #expect(self.model().terminalSize == nil)
  }

  @Test func wrappedRowsAreNotShifted() {
    var model = model()
    model.log.shift = 8
    let lines = LogLines.even(["abc"])
    #expect(model.rows(lines, Layout(model)).shift == 8 && model.rows(lines, Layout(model)).width == 69)
    model.log.wraps = true
    #expect(model.rows(lines, Layout(model)).shift == 0 && model.rows(lines, Layout(model)).wraps)
  }
}
