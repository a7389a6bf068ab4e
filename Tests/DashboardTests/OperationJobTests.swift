import JobModel
import Screen
import Testing

@testable import Dashboard

/// Jobs that are operations of a program's queue, which don't support some actions.
@MainActor struct OperationJobTests {
  private func model(
    _ state: JobState, canPause: Bool = false, visibility: OperationWork.Visibility = .whole
  ) -> Model {
    let work = OperationWork(className: "Parse", visibility: visibility, canPause: canPause)
    var builder = RunBuilder([Job(name: "parse", work: .operation(work))])
    builder.move("parse", .executing)
    if state != .executing { builder.move("parse", state) }
    var model = Model(run: builder.run, size: Size(width: 120, height: 40))
    FramePreparation.prepare(&model, now: .zero)
    return model
  }

  private func press(_ key: Character, _ model: Model) -> (effects: [Effect], answer: String?) {
    var model = model
    let effects = Update.apply(.input(.key(.character(key))), to: &model, now: .zero)
    return (effects, model.notice?.text)
  }

  private func offers(_ key: Character, _ model: Model) -> Bool {
    KeyMap.standard.command(for: .character(key))?.isEnabled(in: model) ?? false
  }

  @Test func anOperationThatHasFailedIsNotOfferedToRetryAndSaysWhy() {
    let failed = model(.failed(JobFailure(.error, "no"), allowed: false))
    #expect(!offers("r", failed) && !offers("R", failed))
    let (effects, answer) = press("r", failed)
    #expect(effects.isEmpty)
    #expect(answer == "an operation runs once; the program has to add a new one")
  }

  @Test func onlyAPausableOperationIsOfferedToPause() {
    let plain = model(.executing)
    #expect(!offers("p", plain))
    #expect(press("p", plain).answer?.contains("Parse has no way to pause") == true)
    let pausing = model(.executing, canPause: true)
    #expect(press("p", pausing).effects == [.send(.pause([JobID(0)]))])
  }

  @Test func anOperationIsCancelledAndNeverKilled() {
    let executing = model(.executing)
    #expect(press("x", executing).effects == [.send(.cancel([JobID(0)], by: .person))])
    #expect(!offers("X", executing))
    #expect(press("X", executing).effects.isEmpty)
  }

  @Test(arguments: [Size(width: 120, height: 40), Size(width: 80, height: 24), Size(width: 40, height: 12)])
  func theStackOfAnExecutingOperationIsAskedForAndItsLogShown(_ size: Size) {
    var executing = model(.executing)
    executing.size = size
    executing.log.extent = .off
    #expect(Update.apply(.input(.key(.character("b"))), to: &executing, now: .zero) == [.send(.showStack([JobID(0)]))])
    #expect(executing.showsLog && executing.log.follows)
    let ended = model(.succeeded(upToDate: false))
    #expect(!offers("b", ended))
    #expect(press("b", ended).answer == "this operation is not running")
  }

  @Test func aQueueWithoutALimitGetsOneBelowItsExecutingJobs() {
    var builder = RunBuilder(
      (0..<3).map { Job(name: "\($0)", work: .operation(OperationWork(className: "P", visibility: .whole))) },
      slots: Run.unlimited)
    for number in 0..<3 { builder.move("\(number)", .executing) }
    let model = Model(run: builder.run, size: Size(width: 80, height: 24))
    #expect(!offers("+", model))
    #expect(press("-", model).effects == [.send(.changeSlots(by: -1))])
    #expect(builder.run.slots(changedBy: -1) == 2)
  }

  @Test func theListMarksForeignOperations() {
    for (visibility, isForeign) in [(OperationWork.Visibility.whole, false), (.wrapped, true), (.end, true)] {
      let text = View.frame(
        model(.executing, visibility: visibility), ScreenTraits(isASCII: true, palette: .none), now: .zero
      ).text
      #expect(
        text.split(separator: "\n").contains { $0.contains(" > parse ") && $0.contains("tracked: ") } == isForeign)
    }
  }

  @Test func theZoomedPageSaysHowAnOperationIsObserved() {
    for (visibility, words) in [
      (OperationWork.Visibility.whole, "an AsyncOperation, seen whole"), (.wrapped, "no AsyncOperation: its start"),
      (.end, "no AsyncOperation, and not added"),
    ] {
      var zoomed = model(.executing, visibility: visibility)
      zoomed.page = .zoom
      let text = View.frame(zoomed, ScreenTraits(isASCII: true, palette: .none), now: .zero).text
      #expect(text.contains(words))
      #expect(text.contains("Parse"))
    }
  }
}
