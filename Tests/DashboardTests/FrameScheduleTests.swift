import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct FrameScheduleTests {
  private static func at(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

  private let idle = Bench(RunBuilder([.shell("a")])).model

  /// When the next frame is due, in milliseconds.
  private func due(_ frames: FrameSchedule, _ model: Model? = nil) -> Int? {
    frames.deadline(model ?? idle).map { Int($0 / .milliseconds(1)) }
  }

  // MARK: Facts and answers

  @Test func aFrameOfFactsWaitsForTheRestOfABurst() {
    var frames = FrameSchedule()
    #expect(due(frames) == nil)
    frames.wantFacts(at: Self.at(1000))
    #expect(due(frames) == 1005)
    frames.wantFacts(at: Self.at(1002))
    #expect(due(frames) == 1005)
    frames.drew(at: Self.at(1005), until: Self.at(1006))
    #expect(frames.lastFrame == Self.at(1005) && due(frames) == nil)
    frames.wantFacts(at: Self.at(1010))
    #expect(due(frames) == 1055)
    frames.drew(at: Self.at(1055), until: Self.at(1056))
    frames.wantFacts(at: Self.at(1100))
    #expect(due(frames) == 1105)
    frames.wantFacts(at: Self.at(1101))
    #expect(due(frames) == 1105)
  }

  @Test func anAnswerIsDueAtOnceAndSoonAfterTheLast() {
    var frames = FrameSchedule()
    frames.wantAnswer(at: Self.at(2000))
    #expect(due(frames) == 2000)
    frames.drew(at: Self.at(2000), until: Self.at(2003))
    frames.wantAnswer(at: Self.at(2004))
    #expect(due(frames) == 2011)
    frames.drew(at: Self.at(2011), until: Self.at(2012))
    frames.wantAnswer(at: Self.at(2020))
    #expect(due(frames) == 2020)
    frames.drew(at: Self.at(2020), until: Self.at(2021))
    frames.wantAnswer(at: Self.at(3000))
    #expect(due(frames) == 3000)
  }

  @Test func aFrameOfFactsDelaysNoAnswer() {
    var frames = FrameSchedule()
    frames.wantFacts(at: Self.at(1000))
    frames.drew(at: Self.at(1005), until: Self.at(1100))
    frames.wantAnswer(at: Self.at(1100))
    #expect(due(frames) == 1100)
    frames.drew(at: Self.at(1100), until: Self.at(1101))
    frames.wantFacts(at: Self.at(1150))
    frames.drew(at: Self.at(1160), until: Self.at(1190))
    frames.wantAnswer(at: Self.at(1190))
    #expect(due(frames) == 1190)
  }

  @Test func theEarlierOfTwoWishesCounts() {
    var frames = FrameSchedule()
    frames.drew(at: Self.at(1000), until: Self.at(1001))
    frames.wantFacts(at: Self.at(1010))
    #expect(due(frames) == 1050)
    frames.wantAnswer(at: Self.at(1020))
    #expect(due(frames) == 1020)
    frames.wantFacts(at: Self.at(1021))
    #expect(due(frames) == 1020)
  }

  @Test func aFrameIsDueFromItsInstantOn() {
    var frames = FrameSchedule()
    #expect(!frames.isDue(idle, at: Self.at(9999)))
    frames.wantFacts(at: Self.at(1000))
    #expect(!frames.isDue(idle, at: Self.at(1004)))
    #expect(frames.isDue(idle, at: Self.at(1005)) && frames.isDue(idle, at: Self.at(1006)))
  }

  // MARK: Time

  private func executing(isMeasured: Bool) -> Model {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    if isMeasured { builder.progress("a", 1, of: 10, .steps) }
    return Bench(builder).model
  }

  @Test(arguments: [(true, 1300, 2000), (true, 2000, 3000), (false, 1300, 1500), (false, 1500, 1750)])
  func aMovingRunIsDrawnAtTheNextStep(_ isMeasured: Bool, _ last: Int, _ next: Int) {
    var frames = FrameSchedule()
    let model = executing(isMeasured: isMeasured)
    #expect(due(frames, model) == nil)
    frames.drew(at: Self.at(last), until: Self.at(last))
    #expect(due(frames, model) == next)
  }

  @Test(arguments: [(1000, 5000), (4940, 5000), (4951, 5001), (4980, 5030)])
  func aNoticeGoesWhenItsTimeIsOver(_ last: Int, _ next: Int) {
    var frames = FrameSchedule()
    var model = idle
    model.notice = Model.Notice(text: "x", until: .seconds(5))
    frames.drew(at: Self.at(last), until: Self.at(last))
    #expect(due(frames, model) == next)
  }

  @Test(arguments: [(0, 1000), (999, 1000), (1000, 2000), (1001, 2000)])
  func theNextMultipleIsLater(_ time: Int, _ next: Int) {
    #expect(Self.at(time).next(.seconds(1)) == Self.at(next))
  }

  // MARK: A moving mark on the screen

  /// The one of fifty jobs that executes, sorted by name, and the height of the list.
  private func list(executing row: Int) -> (model: Model, height: Int) {
    let names = (10..<60).map { "job-\($0)" }
    var bench = Bench(RunBuilder(names.map { .shell($0) }))
    bench.model.order.setSort(.name, inverted: false)
    bench.select(names[0])
    bench.play { $0.move(names[row], .executing) }
    return (bench.model, Layout(bench.model).list.height)
  }

  @Test func aMarkBelowOrAboveTheRowsOnTheScreenDoesNotMove() {
    let height = list(executing: 0).height
    #expect(height > 2)
    #expect(FrameSchedule.isAnimated(list(executing: height - 1).model, at: .zero))
    #expect(!FrameSchedule.isAnimated(list(executing: height).model, at: .zero))
    var scrolled = list(executing: 1).model
    scrolled.top = 1
    #expect(FrameSchedule.isAnimated(scrolled, at: .zero))
    scrolled.top = 2
    #expect(!FrameSchedule.isAnimated(scrolled, at: .zero))
    scrolled.top = 60
    #expect(!FrameSchedule.isAnimated(scrolled, at: .zero))
  }

  @Test func onAFrozenDisplayNoMarkMoves() {
    var model = executing(isMeasured: false)
    model.setFrozen(true)
    #expect(!FrameSchedule.isAnimated(model, at: .zero))
  }

  @Test func onlyListAndTreeHaveBars() {
    var model = executing(isMeasured: false)
    for panel in Panel.allCases {
      model.panel = panel
      FramePreparation.prepare(&model, now: .zero)
      #expect(FrameSchedule.isAnimated(model, at: .zero) == (panel == .list || panel == .tree), "\(panel)")
    }
    model.panel = .list
    for (page, isAnimated) in [(Model.Page.list, true), (.zoom, false), (.help, false)] {
      model.page = page
      #expect(FrameSchedule.isAnimated(model, at: .zero) == isAnimated)
    }
    model.page = .list
    model.log.extent = .full
    #expect(!FrameSchedule.isAnimated(model, at: .zero))
  }
}
