import Basics
import JobModel
import Screen
import Support
import Testing

@testable import Dashboard

/// The dashboard on a recording terminal, with a manual clock.
@MainActor
struct DashboardTests {
  private static func pair() -> RunBuilder { RunBuilder([.shell("a"), .shell("b", needs: [JobNeed(JobID(0))])]) }

  @Test func nothingIsArmedWhileNothingMoves() throws {
    let stage = try Stage(Self.pair())
    stage.clock.advance(by: .seconds(5))
    #expect(stage.feed.alarms.isEmpty)
    #expect(stage.frames == 1)
  }

  @Test func keysThatAreTypedAheadActOnTheRowsThatTheEarlierOnesLeave() throws {
    func commands(_ keys: [Key]) throws -> [JobCommand] {
      let stage = try Stage(RunBuilder(["one", "two", "three"].map { .shell($0) }))
      stage.clock.advance(by: .seconds(1))
      let frames = stage.frames
      for key in keys { stage.terminal.send(.key(key)) }
      // In one burst: only the first key has a frame.
      #expect(stage.frames == frames + 1)
      return stage.feed.commands
    }
    func typed(_ text: String) -> [Key] { text.map { .character($0) } }
    #expect(try commands(typed("/thr") + [.enter, .character("x")]) == [.cancel([JobID(2)], by: .person)])
    #expect(try commands(typed("/t") + [.down, .enter, .character("x")]) == [.cancel([JobID(2)], by: .person)])
    #expect(
      try commands(typed("jx") + typed("gx")) == [.cancel([JobID(1)], by: .person), .cancel([JobID(0)], by: .person)])
    #expect(try commands(typed("I>jx")) == [.cancel([JobID(0)], by: .person)])
  }

  @Test func aKeyRightAfterEscapeActsOnTheRowsThatEscapeLeaves() throws {
    let stage = try Stage(RunBuilder(["one", "two", "three"].map { .shell($0) }))
    stage.type("/tw")
    stage.press(.enter)
    stage.terminal.send(.alt(.character("G")))
    stage.terminal.send(.key(.character("x")))
    #expect(stage.feed.commands == [.cancel([JobID(2)], by: .person)])
  }

  @Test func aKeyTypedAheadFindsItsJobOnTheScreen() throws {
    let stage = try Stage(RunBuilder((0..<60).map { .shell("job-\($0)") }))
    stage.clock.advance(by: .seconds(1))
    for key in [Key.character("G"), .character("x")] { stage.terminal.send(.key(key)) }
    // Without the question before a key acts on a job that is not on the screen.
    #expect(stage.feed.commands == [.cancel([JobID(59)], by: .person)])
  }

  @Test func aPausedRunDoesNotTick() throws {
    let stage = try Stage(Self.pair())
    stage.play(at: 1) { $0.move("a", .executing) }
    stage.play(at: 2) { $0.move("a", .paused(started: true)) }
    #expect(stage.feed.alarms.isEmpty)
    let shown = stage.frames
    stage.clock.advance(by: .seconds(60))
    #expect(stage.frames == shown)
  }

  @Test func aMeasuredJobTicksOnceASecondOnTheSecond() throws {
    let stage = try Stage(Self.pair())
    stage.play(at: 1.3) {
      $0.move("a", .executing)
      $0.progress("a", 1, of: 10, .steps)
    }
    #expect(stage.feed.alarms == [.seconds(2)])
    let shown = stage.frames
    stage.clock.advance(by: .seconds(10))
    #expect(stage.frames == shown + 10)
  }

  @Test func aSilentTransferLosesItsRateAndItsTimeLeft() throws {
    let stage = try Stage(RunBuilder([.shell("dl")]), size: Size(width: 140, height: 24))
    stage.play(at: 1) {
      $0.move("dl", .executing)
      $0.progress("dl", 0, of: 10_000_000)
    }
    stage.play(at: 2) { $0.progress("dl", 2_000_000, of: 10_000_000) }
    #expect(stage.line(0).contains("2.0 MB at 2.0 MB/s") && stage.line(0).contains(" left"), "\(stage.text)")
    #expect(stage.text.contains("2.0 of 10 MB  2.0 MB/s") && stage.text.contains(" 0:04 left"), "\(stage.text)")
    stage.clock.advance(by: .seconds(6))
    #expect(!stage.text.contains("MB/s") && !stage.text.contains(" left"), "\(stage.text)")
    #expect(stage.text.contains("2.0 of 10 MB  0 B/s"), "\(stage.text)")
  }

  @Test func aBarWithoutAMeasureMovesFourTimesASecondWhileItIsSeen() throws {
    let stage = try Stage(Self.pair(), size: Size(width: 80, height: 40))
    stage.play(at: 1) { $0.move("a", .executing) }
    let shown = stage.frames
    stage.clock.advance(by: .seconds(5))
    #expect(stage.frames == shown + 20)
    // The help page covers the bar, and leaves the clock.
    stage.press(.character("?"))
    let covered = stage.frames
    stage.clock.advance(by: .seconds(5))
    #expect(stage.frames == covered + 5)
  }

  @Test func tenThousandFactsCostOneFrame() throws {
    let stage = try Stage.idle(100)
    let drawn = stage.frames {
      for round in 0..<100 {
        stage.feed.play { run in
          for _ in 0..<100 { run.log("job-\(round)", "a line") }
        }
      }
      stage.feed.play { $0.move("job-7", .paused(started: false)) }
      stage.clock.advance(by: .seconds(1))
    }
    #expect(drawn == 1)
  }

  @Test func factsKeepTheirPace() throws {
    let stage = try Stage.idle(300)
    let drawn = stage.frames {
      for number in 0..<200 {
        stage.feed.play { $0.move("job-\(number)", .paused(started: false)) }
        stage.clock.advance(by: .milliseconds(5))
      }
    }
    // In one second, a frame every 50 ms.
    #expect((19...21).contains(drawn))
  }

  @Test func aHeldKeySharesItsAnswers() throws {
    let stage = try Stage.idle(1200)
    let drawn = stage.frames {
      for _ in 0..<1000 {
        stage.terminal.send(.key(.down))
        stage.clock.advance(by: .milliseconds(1))
      }
      stage.clock.advance(by: .milliseconds(10))
    }
    // In one second, an answer every 8 ms; the last key is answered too.
    #expect((124...127).contains(drawn))
    #expect(stage.line(with: "log: job-1000") != nil)
  }

  @Test func aPasteOfKeysIsTwoAnswers() throws {
    let stage = try Stage.idle(1200)
    let shown = stage.frames
    for _ in 0..<1000 { stage.terminal.send(.key(.down)) }
    stage.clock.advance(by: .milliseconds(20))
    #expect(stage.frames - shown == 2)
    #expect(stage.line(with: "log: job-1000") != nil)
  }

  @Test func aKeyIsAnsweredAtOnceWhileFactsStream() throws {
    let stage = try Stage.idle(300)
    for number in 0..<100 {
      stage.feed.play { $0.move("job-\(number)", .paused(started: false)) }
      // Keys are pressed at every age of the last frame.
      stage.clock.advance(by: .milliseconds(Int64(9 + number % 7)))
      let shown = stage.frames
      stage.terminal.send(.key(number % 2 == 0 ? .down : .up))
      #expect(stage.frames == shown + 1)
    }
  }

  @Test func aKeyIsAnsweredAmidAHundredThousandFacts() async throws {
    let feed = RecordingFeed(RunBuilder((0..<1000).map { .shell("job-\($0)") }), step: .milliseconds(1))
    let terminal = RecordingTerminal()
    let dashboard = TerminalDashboard(
      feed: feed, terminal: terminal, traits: ScreenTraits(isASCII: true, palette: .none), clock: feed.clock)
    try dashboard.run { _ in }
    feed.play { run in
      for number in 0..<100_000 {
        run.state(.jobLog(JobID(number % 1000), attempt: 0, LogLine(.stdout, "line \(number)")))
      }
      run.move("job-999", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    }
    terminal.type("/")
    let answer = try #require(terminal.shown?.text)
    #expect(answer.contains("Esc clear") && !answer.contains("1 failed"), "\(answer)")
    #expect(
      await soon {
        feed.clock.advance(by: .milliseconds(100))
        return terminal.shown?.text.contains("1 failed") == true
      })
    dashboard.close()
  }

  @Test func theForecastOfALargeRunIsMadeInThePartsOfSeveralFrames() throws {
    let count = PathForecast.frequentLimit + 1
    let stage = try Stage(RunBuilder((0..<count).map { .shell("job-\($0)") }, slots: 2))
    stage.terminal.send(.key(.character("4")))
    #expect(stage.terminal.shown?.text.contains("ends at") == false)
    #expect(stage.terminal.shown?.text.contains("estimating") == true)
    let shown = stage.frames
    stage.clock.advance(by: FrameSchedule.frameInterval * 3)
    #expect(stage.frames == shown + 3)
    #expect(stage.terminal.shown?.text.contains("ends at") == true)
    // It is whole, and nothing moves.
    stage.clock.advance(by: .seconds(10))
    #expect(stage.frames == shown + 3)
    // A list needs none, and asks for no frame.
    stage.terminal.send(.key(.character("1")))
    stage.clock.advance(by: .seconds(60))
    #expect(stage.frames == shown + 4)
  }

  /// A schedule of fewer jobs can't be asked about the new one.
  @Test func aJobThatJoinsALargeRunDropsTheScheduleWithTheNextFrame() throws {
    var builder = RunBuilder((0...PathForecast.frequentLimit).map { .shell("job-\($0)") }, slots: 2)
    var path = PathForecast()
    for _ in 0..<3 { path.update(builder.run, JobIndex(builder.run), now: .zero, .schedule) }
    #expect(path.schedule != nil)
    let id = JobID(builder.run.jobs.count)
    builder.state(.jobAdded(id, .shell("late")))
    path.update(builder.run, JobIndex(builder.run), now: .zero, .schedule)
    #expect(builder.run.jobs.count == id.index + 1 && path.schedule == nil)
  }

  @Test func aResizeAndTheMouseAreAnsweredAtOnce() throws {
    let stage = try Stage.idle(300)
    for input in [
      TerminalInput.mouse(MouseEvent(.wheelDown, x: 10, y: 6)), .resized(Size(width: 90, height: 30)),
      .mouse(MouseEvent(.click, x: 10, y: 5)),
    ] {
      stage.clock.advance(by: .milliseconds(9))
      let shown = stage.frames
      stage.terminal.send(input)
      #expect(stage.frames == shown + 1)
    }
  }

  @Test func aKeyIsAnsweredAtOnceAfterAPause() throws {
    let stage = try Stage(RichRun.builder())
    stage.clock.advance(by: .milliseconds(700))
    let shown = stage.frames
    stage.terminal.send(.key(.down))
    #expect(stage.frames == shown + 1)
  }

  @Test func anAnswerGoesAwayByItselfOnce() throws {
    let stage = try Stage(Self.pair())
    stage.press(.character("+"))
    #expect(stage.text.contains("one slot more"))
    stage.clock.advance(by: .seconds(5))
    #expect(!stage.text.contains("one slot more"))
    #expect(stage.feed.alarms.isEmpty)
  }

  @Test func theCursorStaysOnItsJobWhenTheOrderChanges() throws {
    let stage = try Stage(RunBuilder((0..<5).map { .shell("job-\($0)") }))
    stage.press(.down, .down)
    #expect(stage.line(with: "log: job-2") != nil)
    stage.play(at: 1) { $0.move("job-4", .executing) }
    stage.play(at: 2) { $0.move("job-4", .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    stage.play(at: 3) { $0.move("job-2", .executing) }
    stage.play(at: 4) { $0.move("job-2", .succeeded(upToDate: false)) }
    #expect(stage.line(with: "log: job-2") != nil)
    stage.press(.character("x"))
    #expect(stage.feed.commands.isEmpty)
  }

  @Test func aCursorThatNobodyMovedLeavesAnEndedJob() throws {
    let stage = try Stage(Self.pair())
    #expect(stage.line(with: "log: a") != nil)
    stage.play(at: 1) { $0.move("a", .executing) }
    stage.play(at: 2) {
      $0.move("a", .succeeded(upToDate: false))
      $0.move("b", .executing)
    }
    #expect(stage.line(with: "log: b") != nil)
  }

  @Test func titleAndMarkAreWrittenOnlyWhenTheyChange() throws {
    let stage = try Stage(Self.pair())
    #expect(stage.terminal.titles == ["release: running 0/2"])
    stage.press(.down, .up, .down)
    stage.play(at: 1) { $0.move("a", .executing) }
    #expect(stage.terminal.titles.count == 1)
    #expect(stage.terminal.progress == [RecordingTerminal.Progress(0)])
    stage.play(at: 2) { $0.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    #expect(stage.terminal.titles.last == "release: running 1/2, 1 failed")
    #expect(stage.terminal.progress.last == RecordingTerminal.Progress(0, failed: true))
  }

  @Test func aFrozenDisplayStandsStillAndTheRunGoesOn() throws {
    let stage = try Stage(Self.pair())
    stage.play(at: 1) { $0.move("a", .executing) }
    stage.press(.character("Z"))
    #expect(stage.text.contains("FROZEN"))
    stage.play(at: 2) { $0.move("a", .succeeded(upToDate: false)) }
    #expect(stage.text.contains("FROZEN") && stage.line(0).contains("0 of 2 done"))
    #expect(stage.feed.alarms.isEmpty)
    // Drawing for a key doesn't advance the times either.
    let job = stage.line(with: "> a ")
    stage.clock.advance(by: .seconds(10))
    stage.press(.character("?"), .escape)
    #expect(job != nil && stage.line(with: "> a ") == job)
    stage.press(.character("Z"))
    #expect(stage.line(0).contains("1 of 2 done"))
  }

  @Test func leavingClosesTheTerminalEndsTheSubscriptionAndSaysSoOnce() throws {
    let stage = try Stage(Self.pair(), options: DashboardOptions(keepOpen: .onFailure))
    stage.play(at: 1) { $0.move("a", .executing) }
    stage.play(at: 2) {
      $0.move("a", .succeeded(upToDate: false))
      $0.move("b", .succeeded(upToDate: true))
    }
    #expect(stage.departures == [.complete])
    #expect(!stage.terminal.isOpen)
    #expect(stage.terminal.closings == 1)
    #expect(stage.feed.cancellations >= 1)
    #expect(stage.feed.alarms.isEmpty)
    #expect(stage.line(0).contains("DONE"))
  }

  @Test func aTerminalThatGoesAwayEndsTheDashboard() throws {
    let stage = try Stage(RichRun.builder())
    stage.terminal.send(.closed)
    #expect(stage.departures == [.terminalClosed])
    #expect(stage.feed.alarms.isEmpty)
  }

  @Test func aRunningDashboardLivesUntilItHasLeft() throws {
    let terminal = RecordingTerminal()
    let clock = ManualOperationClock()
    weak var dashboard: TerminalDashboard?
    var departures: [Departure] = []
    do {
      let running = TerminalDashboard(
        feed: RecordingFeed(Self.pair()), terminal: terminal, traits: ScreenTraits(isASCII: true, palette: .none),
        clock: clock)
      try running.run { departures.append($0) }
      dashboard = running
    }
    clock.advance(by: .seconds(1))
    terminal.type("?")
    #expect(terminal.shown?.text.contains("Moving") == true)
    terminal.send(.closed)
    #expect(departures == [.terminalClosed])
    #expect(dashboard == nil)
  }

  @Test func comingBackFromSuspensionDrawsTheScreenWhole() throws {
    let stage = try Stage(RichRun.builder())
    stage.dashboard.suspend()
    #expect(stage.terminal.suspensions == 1)
    #expect(stage.terminal.invalidations == 1)
  }

  @Test func ctrlCInAPromptIsThePromptsOnce() throws {
    let stage = try Stage(RichRun.builder())
    for key in ["/", ":", "q"] {
      stage.type(key)
      #expect(stage.dashboard.prompt.take())
      #expect(!stage.dashboard.prompt.take())
      stage.dashboard.closePrompt()
      stage.clock.advance(by: .milliseconds(60))
      #expect(stage.line(23).contains("? help"), "\(key)")
      #expect(!stage.dashboard.prompt.take())
    }
    #expect(stage.feed.commands.isEmpty && stage.departures.isEmpty)
  }

  @Test func whatAKeyDoesWithTheTerminalIsDoneOnce() throws {
    let stage = try Stage(Self.pair())
    #expect(stage.terminal.hasMouse)
    stage.press(.character("y"), .character("m"), .control("l"))
    #expect(stage.terminal.copied == ["true"] && !stage.terminal.hasMouse && stage.terminal.invalidations == 1)
    stage.press(.character("m"))
    #expect(stage.terminal.hasMouse && stage.feed.commands.isEmpty)
  }

  @Test func aNoticeEndsWhereTheRunsTimeStandsStill() throws {
    let stage = try Stage(Self.pair())
    stage.feed.end = .seconds(3)
    stage.clock.advance(by: .seconds(5))
    stage.press(.character("m"))
    #expect(stage.text.contains("the mouse is the terminal's"))
    stage.clock.advance(by: .seconds(4))
    #expect(!stage.text.contains("the mouse is the terminal's") && stage.feed.alarms.isEmpty)
  }

  @Test func theMouseIsLeftToATerminalThatIsToKeepIt() throws {
    let stage = try Stage(Self.pair(), options: DashboardOptions(usesMouse: false, timeZone: .gmt))
    #expect(!stage.terminal.hasMouse)
  }

  @Test func theEndIsAnnouncedAsThePersonWants() throws {
    var options = DashboardOptions(keepOpen: .always, timeZone: .gmt)
    options.notice = .bell
    let stage = try Stage(Self.pair(), options: options)
    stage.play(at: 1) {
      $0.move("a", .succeeded(upToDate: false))
      $0.move("b", .succeeded(upToDate: false))
    }
    #expect(stage.terminal.notices == ["bell: release: done 2/2"] && stage.departures.isEmpty)
  }

  @Test func aDashboardThatIsClosedSaysNothingAndTakesNothing() throws {
    let stage = try Stage(Self.pair())
    stage.play(at: 1) { $0.move("a", .executing) }
    stage.dashboard.close()
    #expect(!stage.terminal.isOpen && stage.departures.isEmpty && stage.feed.alarms.isEmpty)
    #expect(stage.feed.cancellations >= 1)
    let shown = stage.frames
    stage.dashboard.suspend()
    stage.dashboard.showUnrecorded("gone")
    stage.dashboard.close()
    #expect(stage.frames == shown && stage.terminal.suspensions == 0 && stage.terminal.closings == 1)
  }

  @Test func aRunThatIsOverIsShownAndLeftAtOnce() throws {
    var run = Self.pair()
    for name in ["a", "b"] { run.move(name, .succeeded(upToDate: false)) }
    let stage = try Stage(run)
    #expect(stage.departures == [.complete] && stage.frames == 1 && stage.terminal.closings == 1)
    #expect(stage.terminal.titles == ["release: done 2/2"])
    #expect(stage.terminal.progress == [RecordingTerminal.Progress(nil)])
  }

  @Test func anErrorOfTheTerminalIsThrown() {
    struct NoTerminal: Error {}
    let terminal = RecordingTerminal()
    terminal.failure = NoTerminal()
    let dashboard = TerminalDashboard(
      feed: RecordingFeed(Self.pair()), terminal: terminal, traits: ScreenTraits(isASCII: true, palette: .none),
      clock: ManualOperationClock())
    #expect(throws: NoTerminal.self) { try dashboard.run { _ in } }
  }
}
