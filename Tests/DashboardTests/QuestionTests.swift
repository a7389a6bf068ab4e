import Foundation
import JobModel
import Screen
import Testing

@testable import Dashboard

/// When a question is asked, what answers it, and when it must not be asked.
struct QuestionTests {
  private static let failure = JobFailure(.exit(1), "exit 1")

  /// Jobs `0`, `1` and so on, in these states.
  private func bench(_ states: [JobState], options: DashboardOptions = DashboardOptions(timeZone: .gmt)) -> Bench {
    var builder = RunBuilder(states.indices.map { .shell("\($0)") })
    for (index, state) in states.enumerated() where state != .waiting {
      if state.isActive || state.isTerminal { builder.move("\(index)", .executing) }
      if state != .executing { builder.move("\(index)", state) }
    }
    return Bench(builder, options: options)
  }

  private func tagged(_ states: [JobState]) -> Bench {
    var bench = bench(states)
    for index in states.indices {
      bench.select("\(index)")
      bench.press(.character(" "))
    }
    return bench
  }

  private static let backingOff = JobState.backingOff(until: .seconds(9), number: 1, limit: 1, after: failure)

  // MARK: Quitting

  @Test(arguments: [.executing, .paused(started: true), backingOff, .ready(for: .slot)] as [JobState])
  func quittingAsksWhileAnyJobWouldLoseItsTurn(state: JobState) {
    var bench = bench([state, .waiting])
    bench.press(.character("q"))
    #expect(bench.model.prompt == .quit)
    #expect(bench.effects.isEmpty)
  }

  @Test func quittingARunInWhichNothingExecutesNorWillAsksNothing() {
    var bench = bench([.paused(started: false), .succeeded(upToDate: false), .waiting])
    bench.press(.character("q"))
    #expect(bench.model.prompt == nil)
    #expect(bench.commands == [.stop(.terminate, by: .person)])
  }

  @Test func onlyAYesOrTheSameKeyQuits() {
    for (key, quits, isOpen) in [
      (Key.character("y"), true, false), (.character("Y"), true, false), (.character("q"), true, false),
      (.character("n"), false, false), (.character("N"), false, false), (.escape, false, false),
      (.enter, false, true), (.character("x"), false, true), (.down, false, true),
    ] {
      var bench = bench([.executing])
      bench.press(.character("q"), key)
      #expect(bench.commands == (quits ? [.stop(.terminate, by: .person)] : []), "\(key)")
      #expect((bench.model.prompt == .quit) == isOpen, "\(key)")
    }
  }

  @Test func theQuestionStaysWhileTheRunGoesOn() {
    var bench = bench([.executing, .executing])
    bench.press(.character("q"))
    bench.play { $0.move("0", .succeeded(upToDate: false)) }
    #expect(bench.model.prompt == .quit)
    bench.play { $0.move("1", .failed(Self.failure, allowed: false)) }
    #expect(bench.model.prompt == nil)
  }

  @Test func aSecondQuitKillsEvenBeforeTheRunHasSaidThatItStops() {
    var bench = bench([.executing])
    bench.press(.character("q"), .character("y"), .character("q"))
    #expect(bench.commands == [.stop(.terminate, by: .person), .stop(.kill, by: .person)])
    bench.press(.character("q"))
    #expect(bench.effects.last == .leave(.abandoned))
  }

  @Test func aRunThatIsBeingKilledIsLeftByTheNextQuit() {
    var bench = bench([.executing])
    bench.play { $0.state(.stopRequested(.kill, by: .signal)) }
    bench.press(.character("q"))
    #expect(bench.effects == [.leave(.abandoned)])
  }

  @Test func quittingShowsTheLiveRunAgain() {
    var bench = bench([.executing])
    bench.model.setFrozen(true, at: .seconds(1))
    bench.press(.character("q"), .character("y"))
    #expect(!bench.model.isFrozen)
  }

  // MARK: Ending several jobs

  @Test func endingJobsOfWhichNoneExecutesAsksNothing() {
    var bench = tagged([.waiting, .ready(for: .slot), .paused(started: false)])
    bench.press(.character("x"))
    #expect(bench.model.prompt == nil && bench.commands.count == 1)
  }

  @Test func aJobThatIsBeingEndedIsNoReasonToAsk() {
    var bench = tagged([.executing, .waiting, .waiting])
    bench.play { $0.cancel("0") }
    bench.press(.character("x"))
    #expect(bench.model.prompt == nil && bench.commands == [.cancel([JobID(1), JobID(2)], by: .person)])
  }

  @Test func endingOneJobAsksNothing() {
    for key in [Key.character("x"), .character("X")] {
      var bench = bench([.executing, .executing])
      bench.select("1")
      bench.press(key)
      #expect(bench.model.prompt == nil && bench.commands.count == 1)
    }
  }

  @Test func endingSeveralAsksByEitherKeyAndPausingThemDoesNot() {
    var cancelling = tagged([.executing, .waiting])
    cancelling.press(.character("x"))
    #expect(cancelling.model.prompt == .confirm(.cancel, [JobID(0), JobID(1)]) && cancelling.commands.isEmpty)
    var killing = tagged([.executing, .executing, .waiting])
    killing.press(.character("X"))
    #expect(killing.model.prompt == .confirm(.kill, [JobID(0), JobID(1)]) && killing.commands.isEmpty)
    var pausing = tagged([.executing, .waiting])
    pausing.press(.character("p"))
    #expect(pausing.model.prompt == nil && pausing.commands.count == 1)
  }

  @Test func onlyAYesEndsSeveral() {
    for (key, ends, isOpen) in [
      (Key.character("y"), true, false), (.character("Y"), true, false), (.enter, false, true),
      (.character("n"), false, false), (.character("N"), false, false), (.escape, false, false),
      (.character("q"), false, false), (.character("x"), false, true), (.down, false, true),
    ] {
      var bench = tagged([.executing, .executing])
      bench.press(.character("x"), key)
      #expect(bench.commands.count == (ends ? 1 : 0), "\(key)")
      #expect((bench.model.prompt == .confirm(.cancel, [JobID(0), JobID(1)])) == isOpen, "\(key)")
    }
  }

  @Test func theQuestionStaysWhileOneOfItsJobsExecutes() {
    var bench = tagged([.executing, .executing])
    bench.press(.character("x"))
    bench.play { $0.move("0", .succeeded(upToDate: false)) }
    #expect(bench.model.prompt == .confirm(.cancel, [JobID(1)]))
    bench.play { $0.move("1", .succeeded(upToDate: false)) }
    #expect(bench.model.prompt == nil)
  }

  @Test func aQuestionIsAboutTheJobsThatItNamed() {
    var bench = tagged([.executing, .executing, .executing])
    bench.press(.character("x"))
    bench.model.tags = []
    bench.select("2")
    bench.play { $0.move("0", .succeeded(upToDate: false)) }
    bench.press(.character("y"))
    #expect(bench.commands == [.cancel([JobID(1), JobID(2)], by: .person)])
  }

  // MARK: Jobs that the screen does not name

  @Test(
    arguments: [
      ("x", .executing), ("X", .executing), ("p", .executing), ("r", .failed(failure, allowed: false)),
      ("]", .waiting),
    ] as [(Character, JobState)])
  func besideAFullLogOfTheProgramAKeyAsks(_ key: Character, _ state: JobState) {
    var bench = bench([state, .waiting])
    bench.select("0")
    bench.play { $0.state(.programLog(LogLine(.stdout, "printed"))) }
    bench.press(.character("L"), .character("L"), .character("l"), .character(key))
    #expect(bench.model.showsProgram && bench.commands.isEmpty)
    #expect(bench.frame().text(row: 23).contains(" 0, not on the screen?"))
    bench.press(.character("y"))
    #expect(bench.commands.count == 1)
  }

  // MARK: On a screen that is too small for any pane

  private static let small = Size(width: 20, height: 4)

  @Test func whereNothingIsShownNoKeyActsOnTheRun() {
    var ready = Job.shell("asks")
    ready.approval = "Go?"
    var builder = RunBuilder([.shell("a"), .shell("b"), ready])
    for name in ["a", "b"] { builder.move(name, .executing) }
    builder.move("b", .failed(Self.failure, allowed: false))
    builder.move("asks", .ready(for: .person))
    for name in ["a", "b", "asks"] {
      var bench = Bench(builder)
      bench.select(name)
      bench.send(.resized(Self.small))
      for key in "xXprRaP+-[]b:/yWi" { bench.press(.character(key)) }
      bench.press(.control("r"), .function(9), .enter, .character("y"))
      #expect(bench.commands.isEmpty && bench.model.prompt == nil, "\(name)")
      #expect(bench.frame().text(row: 0) == "needs 30 x 5")
      bench.send(.resized(Size(width: 80, height: 24)))
      bench.press(.character("P"))
      #expect(bench.commands == [.setDraining(true)])
    }
  }

  @Test(arguments: ["x", "a", "/", ":"] as [Character])
  func aPromptGoesWithTheScreenThatShowsIt(_ key: Character) {
    var asking = Job.shell("asks")
    asking.approval = "Go?"
    var builder = RunBuilder([.shell("a"), .shell("b"), asking])
    for name in ["a", "b"] { builder.move(name, .executing) }
    builder.move("asks", .ready(for: .person))
    var bench = Bench(builder)
    bench.model.tags = [JobID(0), JobID(1)]
    bench.press(.character(key))
    #expect(bench.model.prompt != nil)
    bench.send(.resized(Self.small))
    #expect(bench.model.prompt == nil)
    bench.press(.character("y"), .enter)
    #expect(bench.commands.isEmpty)
  }

  @Test func theQuestionToQuitIsShownOnAnyScreen() {
    var bench = bench([.executing])
    bench.send(.resized(Self.small))
    bench.press(.character("q"))
    #expect(bench.frame().text == "q quits, Esc stays.\n1 job is running.\n\n")
    bench.press(.escape)
    #expect(bench.frame().text(row: 0) == "needs 30 x 5")
    bench.press(.character("q"), .character("q"))
    #expect(bench.commands == [.stop(.terminate, by: .person)])
    // What a third one would kill can't be seen.
    bench.press(.character("q"))
    #expect(bench.effects.count == 1)
    for size in [Size(width: 0, height: 0), Size(width: 1, height: 1)] {
      bench = self.bench([.executing])
      bench.send(.resized(size))
      bench.press(.character("q"))
      #expect(bench.frame().text == (size.width == 0 ? "" : "q"))
    }
  }

  @Test func aRunThatHasEndedIsLeftFromAnyScreen() {
    var bench = bench([.failed(Self.failure, allowed: false)])
    bench.send(.resized(Self.small))
    bench.press(.character("q"))
    #expect(bench.effects == [.leave(.quit)])
  }

  // MARK: Beside the questions

  @Test func aClickDoesNotPassAQuestion() {
    var bench = bench([.executing, .executing, .executing])
    bench.select("0")
    let rows = bench.model.order.rows
    bench.press(.character("q"))
    let list = Layout(bench.model).list
    for row in rows.indices { bench.send(.mouse(MouseEvent(.click, x: list.x, y: list.y + row))) }
    #expect(bench.cursor == "0" && bench.model.prompt == .quit)
    bench.press(.escape)
    for row in rows.indices { bench.send(.mouse(MouseEvent(.click, x: list.x, y: list.y + row))) }
    #expect(bench.cursor != "0")
  }

  @Test func withoutTheMouseAReportOfItDoesNothing() {
    var bench = bench([.executing, .executing])
    bench.select("0")
    bench.model.hasMouse = false
    let list = Layout(bench.model).list
    for row in 0..<2 { bench.send(.mouse(MouseEvent(.click, x: list.x, y: list.y + row))) }
    #expect(bench.cursor == "0")
  }

  private func announcing(_ states: [JobState]) -> Bench {
    var options = DashboardOptions(keepOpen: .always, source: "g")
    options.notice = .message
    return bench(states, options: options)
  }

  private func notices(_ bench: Bench) -> Int {
    bench.effects.count { if case .notify = $0 { true } else { false } }
  }

  @Test func theEndIsAnnouncedOnceAndAgainAfterARetry() {
    var bench = announcing([.executing])
    bench.play { $0.move("0", .failed(Self.failure, allowed: false)) }
    #expect(notices(bench) == 1)
    bench.play { $0.state(.slotsChanged(3)) }
    #expect(notices(bench) == 1)
    bench.play { $0.move("0", .waiting) }
    bench.play { $0.move("0", .executing, attempt: 2) }
    #expect(notices(bench) == 1)
    bench.play { $0.move("0", .succeeded(upToDate: false)) }
    #expect(notices(bench) == 2)
  }

  @Test func aRunWithoutJobsAnnouncesNothing() {
    var options = DashboardOptions(keepOpen: .always, source: "g")
    options.notice = .message
    var model = Model(run: Run(), size: Size(width: 80, height: 24), options: options)
    let start = RunStart(id: "1", name: "g", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 0)
    let event = JobEvent(seq: 0, time: .zero, fact: .runStarted(start))
    #expect(!model.isOver)
    #expect(Update.apply(.facts([event]), to: &model, now: .zero).isEmpty)
    #expect(model.isOver)
  }

  @Test func oneSlotIsTheLeast() {
    var bench = bench([.executing])
    bench.play { $0.state(.slotsChanged(1)) }
    bench.press(.character("-"))
    #expect(bench.commands.isEmpty && bench.model.notice?.text == "one slot is the least")
  }

  @Test func aFinishedRunIsRetriedNoMore() {
    var bench = bench([.failed(Self.failure, allowed: false)])
    bench.play { $0.state(.runFinished(RunSummary())) }
    bench.press(.character("r"))
    #expect(bench.commands.isEmpty)
  }

  @Test func aPriorityAtItsEndSendsNothing() {
    var bench = bench([.waiting])
    bench.select("0")
    for _ in 0..<4 {
      bench.press(.character("]"))
      guard case .setPriority(let ids, let level)? = bench.commands.last else { continue }
      bench.play { run in for id in ids { run.state(.priorityChanged(id, level)) } }
    }
    #expect(bench.commands.count == 2)
    #expect(bench.model.notice?.text == "already at the highest priority")
  }
}
