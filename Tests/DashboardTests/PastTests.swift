import Basics
import JobModel
import Screen
import Support
import Testing

@testable import Dashboard

/// Folds the recorded events anew for each instant, and answers when it is told to.
@MainActor private final class FoldedPast: RunPast {
  private nonisolated let events: [JobEvent]
  private nonisolated let questions = Lock<[(time: Duration, answer: @MainActor @Sendable (Run?) -> Void)]>([])
  var isReadable = true
  /// The instants that were asked for.
  private(set) var asked: [Duration] = []

  nonisolated init(_ events: [JobEvent]) { self.events = events }

  nonisolated func note(_ events: [JobEvent]) {}

  nonisolated func find(_ time: Duration, _ receive: @escaping @MainActor @Sendable (Run?) -> Void) {
    questions.withLock { $0.append((time, receive)) }
  }

  func answer() {
    let pending = questions.withLock { questions in
      defer { questions = [] }
      return questions
    }
    for question in pending {
      asked.append(question.time)
      var run = Run()
      for event in events where event.time <= question.time { run.apply(event) }
      question.answer(isReadable ? run : nil)
    }
  }
}

@MainActor struct PastTests {
  private let past: FoldedPast
  private let stage: Stage

  /// `a` ended at 40 s, `b` failed at 90 s, `c` executes at 95 s.
  init() throws {
    var run = RunBuilder(["a", "b", "c"].map { .shell($0) })
    run.at(1)
    for name in ["a", "b", "c"] { run.move(name, .executing) }
    run.at(40)
    run.move("a", .succeeded(upToDate: false))
    run.log("c", "early")
    run.at(90)
    run.move("b", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    run.log("c", "late")
    past = FoldedPast(run.events)
    stage = try Stage(run, size: Size(width: 100, height: 24), now: .seconds(95), past: past)
  }

  private func back(_ presses: Int) {
    for _ in 0..<presses {
      stage.press(.character(","))
      past.answer()
      stage.clock.advance(by: .milliseconds(60))
    }
  }

  private func row(_ name: String) -> String? { stage.line(with: " \(name)  ") }

  @Test func aKeyShowsTheRunAsItWas() {
    #expect(row("b")?.contains("exit 1") == true)
    back(15)
    #expect(row("b")?.contains("exit 1") == false)
    #expect(row("a")?.contains("ok") == true)
    #expect(stage.text.contains("PAST: the run at 1:2"))
    back(50)
    #expect(row("a")?.contains("ok") == false)
    #expect(stage.text.contains("0 of 3 done"))
  }

  @Test func theLogOfAPastInstantHasNoLaterLine() {
    stage.press(.character("L"))
    #expect(stage.text.contains("late"))
    back(20)
    #expect(stage.text.contains("early") && !stage.text.contains("late"))
    back(60)
    #expect(!stage.text.contains("early"))
  }

  @Test(arguments: Panel.allCases) func everyViewShowsThePast(_ panel: Panel) {
    stage.press(panel.key)
    let live = stage.text
    back(30)
    #expect(stage.text.contains("PAST") && stage.text != live)
    stage.press(.end)
    #expect(!stage.text.contains("PAST"))
  }

  @Test func endShowsTheLiveRunAgainWithWhatHasHappenedSince() {
    back(70)
    stage.play(at: 105) { $0.move("c", .succeeded(upToDate: false)) }
    #expect(row("c")?.contains("ok") == false)
    stage.press(.end)
    #expect(row("c")?.contains("ok") == true)
    #expect(!stage.text.contains("PAST"))
  }

  @Test func forwardFromTheLastInstantIsLive() {
    back(2)
    #expect(stage.text.contains("PAST"))
    for _ in 1...4 {
      stage.press(.character("."))
      past.answer()
    }
    #expect(!stage.text.contains("PAST"))
  }

  @Test func theBeginningIsTheFirstInstant() {
    back(130)
    #expect(past.asked.min() == .zero)
    #expect(stage.text.contains("PAST: the run at 0"))
  }

  @Test func aHeldKeyAsksForOneInstantAtATimeAndEndsAtTheNewest() {
    for _ in 1...10 { stage.press(.character(",")) }
    past.answer()
    past.answer()
    stage.clock.advance(by: .milliseconds(60))
    #expect(past.asked.count == 2)
    #expect(past.asked.last == .seconds(85))
    #expect(stage.text.contains("PAST: the run at 1:25"))
  }

  @Test func anAnswerThatComesAfterTheReturnToThePresentIsDropped() {
    stage.press(.character(","))
    stage.press(.character("Z"))
    stage.press(.character("Z"))
    past.answer()
    #expect(!stage.text.contains("PAST"))
  }

  @Test func aRecordThatCannotBeReadIsSaidToBe() {
    past.isReadable = false
    stage.press(.character(","))
    past.answer()
    #expect(stage.text.contains("the record of this run can't be read"))
    #expect(!stage.text.contains("PAST"))
  }

  @Test func withoutARecordTheKeySaysWhy() throws {
    let stage = try Stage(RunBuilder([.shell("a")]), now: .seconds(10))
    stage.press(.character(","))
    #expect(stage.text.contains("the run is not recorded: there is no past to show"))
  }

  @Test func aJobThatWasAddedLaterIsNotInThePast() throws {
    var run = RunBuilder([.shell("a")])
    run.at(1)
    run.move("a", .executing)
    run.at(50)
    run.state(.jobAdded(JobID(1), .shell("late")))
    let past = FoldedPast(run.events)
    let stage = try Stage(run, size: Size(width: 100, height: 24), now: .seconds(60), past: past)
    stage.press(.end, .character(" "))
    for _ in 1...40 {
      stage.press(.character(","))
      past.answer()
      stage.clock.advance(by: .milliseconds(60))
    }
    #expect(stage.text.contains("PAST") && !stage.text.contains("late"))
    stage.press(.character("x"), .escape, .end)
    #expect(stage.text.contains("late"))
  }

  /// A minute of a run of `first` jobs, in which `late` was added at an instant.
  private func growing(_ first: [Job], late: Double) throws -> (past: FoldedPast, stage: Stage) {
    var run = RunBuilder(first)
    run.at(1)
    for job in first { run.move(job.name, .executing) }
    run.at(late)
    run.state(.jobAdded(JobID(first.count), .shell("late")))
    run.move("late", .executing)
    for line in 1...30 { run.log("late", "line \(line)") }
    let past = FoldedPast(run.events)
    let stage = try Stage(run, size: Size(width: 100, height: 24), now: .seconds(60), past: past)
    stage.clock.advance(by: .seconds(1))
    return (past, stage)
  }

  @Test func aLogThatIsReadLeavesTheInstantBeforeItsJob() throws {
    let (past, stage) = try growing([], late: 50)
    stage.press(.tab, .up)
    #expect(stage.text.contains("line 2"))
    for _ in 1...70 {
      stage.press(.character(","))
      past.answer()
      stage.clock.advance(by: .milliseconds(60))
    }
    #expect(stage.text.contains("PAST") && !stage.text.contains("line 2"))
    stage.press(.end)
    #expect(stage.text.contains("late"))
  }

  @Test func aLogThatIsReadHasNoLineOfALaterInstant() throws {
    var run = RunBuilder([.shell("a")])
    run.at(1)
    run.move("a", .executing)
    for (time, word) in [(2.0, "early"), (50, "late")] {
      run.at(time)
      for number in 1...30 { run.log("a", "\(word) \(number)") }
    }
    let past = FoldedPast(run.events)
    let stage = try Stage(run, size: Size(width: 100, height: 24), now: .seconds(60), past: past)
    stage.press(.tab, .up)
    #expect(stage.text.contains("late 30"))
    for _ in 1...20 {
      stage.press(.character(","))
      past.answer()
      stage.clock.advance(by: .milliseconds(60))
    }
    #expect(stage.text.contains("early 30") && !stage.text.contains("late"))
  }

  @Test func aQuestionAboutAJobThatThePastLacksIsWithdrawn() throws {
    let (past, stage) = try growing([.shell("a")], late: 60.9)
    for key in "A,x" { stage.terminal.send(.key(.character(key))) }
    past.answer()
    stage.clock.advance(by: .milliseconds(60))
    #expect(stage.text.contains("PAST") && !stage.text.contains("late"))
    stage.press(.character("y"))
    #expect(stage.feed.commands.isEmpty)
  }

  @Test func aKeyRightAfterThePastHasComeActsOnItsRows() throws {
    let (past, stage) = try growing([.shell("a")], late: 60.9)
    stage.terminal.send(.key(.character(",")))
    past.answer()
    // No frame has shown the past yet.
    stage.terminal.send(.key(.down))
    stage.clock.advance(by: .milliseconds(60))
    #expect(stage.text.contains("PAST") && !stage.text.contains("late"))
  }

  @Test func theHeaderSaysThatARunIsNoLongerRecorded() {
    stage.dashboard.showUnrecorded("the disk is full")
    stage.clock.advance(by: .milliseconds(60))
    #expect(stage.text.contains("the disk is full"))
    stage.clock.advance(by: .seconds(10))
    #expect(stage.line(0).contains("not recorded"))
  }
}
