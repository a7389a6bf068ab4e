import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct UpdateTests {
  private static let failure = JobFailure(.exit(1), "exit 1")

  private func bench(_ names: String, _ facts: (inout RunBuilder) -> Void = { _ in }) -> Bench {
    var builder = RunBuilder(names.map { .shell(String($0)) })
    facts(&builder)
    return Bench(builder)
  }

  private func tagged(_ names: String, _ facts: (inout RunBuilder) -> Void = { _ in }) -> Bench {
    var bench = bench(names, facts)
    bench.model.tags = Set(bench.model.run.ids)
    return bench
  }

  private func notice(_ bench: Bench) -> String? { bench.model.notice?.text }

  // MARK: Notices

  @Test func anAnswerStaysForFourSeconds() {
    var bench = bench("a")
    bench.now = .seconds(10)
    bench.press(.character("+"))
    #expect(bench.model.notice == Model.Notice(text: "one slot more", until: .seconds(14)))
    bench.now = .milliseconds(13_999)
    bench.send(.tick)
    #expect(bench.model.notice != nil)
    bench.now = .seconds(14)
    bench.send(.tick)
    #expect(bench.model.notice == nil)
  }

  @Test func whereFactsComeWithoutAPauseANoticeGoesTheSame() {
    var bench = bench("a") { $0.move("a", .executing) }
    bench.press(.character("+"))
    bench.play { run in
      run.at(5)
      run.log("a", "line")
    }
    #expect(bench.model.notice == nil)
  }

  @Test func aNoticeOfAFastReplayStaysFourSecondsOfAPersonsTime() {
    var bench = bench("a") { $0.move("a", .executing) }
    bench.model.speed = 100
    bench.press(.character("+"))
    bench.play { run in
      run.at(5)
      run.log("a", "line")
    }
    #expect(bench.model.notice != nil)
    bench.play { run in
      run.at(401)
      run.log("a", "line")
    }
    #expect(bench.model.notice == nil)
  }

  @Test(
    arguments: [
      (.enter, "the job has the whole screen: Esc goes back"),
      (.character("l"), "the log keeps its place on this page: Esc goes back"),
      (.character("L"), "this page has the log of one job: Esc goes back"),
      (.character(">"), "only the list is sorted"),
      (.character(" "), "a is tagged"),
    ] as [(Key, String)])
  func thePageOfAJobAnswersItsKeys(_ key: Key, _ text: String) {
    var bench = bench("ab") { $0.move("a", .executing) }
    bench.press(.enter, key)
    #expect(notice(bench) == text && bench.model.page == .zoom)
    #expect(bench.frame().text(row: 23).hasSuffix(text))
    #expect(bench.model.order.sort == .attention)
  }

  @Test func keysThatDoNothingOnTheHelpPageSayNothing() {
    var bench = bench("a")
    bench.press(.character("?"), .character("+"))
    #expect(bench.model.notice == nil && bench.effects.isEmpty && bench.model.page == .help)
    bench.press(.enter)
    #expect(bench.model.page == .list)
    bench.press(.character("?"), .character("q"))
    #expect(bench.model.page == .list && bench.model.prompt == nil && bench.effects.isEmpty)
  }

  @Test func whatIsPastedOutsideOfAPromptIsIgnored() {
    var bench = bench("a")
    bench.send(.paste("xq"))
    #expect(bench.effects.isEmpty && bench.model.filter.isEmpty && bench.model.prompt == nil)
    var running = self.bench("a") { $0.move("a", .executing) }
    running.press(.character("q"))
    running.send(.paste("y"))
    #expect(running.effects.isEmpty && running.model.prompt == .quit)
  }

  @Test func theMouseIsGivenAndTaken() {
    var bench = bench("a")
    bench.press(.character("m"))
    #expect(notice(bench) == "the mouse is the terminal's: select and copy" && !bench.model.hasMouse)
    bench.press(.character("m"))
    #expect(notice(bench) == "the mouse works here" && bench.model.hasMouse)
    #expect(bench.effects == [.setMouse(false), .setMouse(true)])
  }

  @Test func drawingAnewIsAnEffect() {
    var bench = bench("a")
    bench.press(.control("l"))
    #expect(bench.effects == [.redraw] && bench.model.notice == nil)
  }

  // MARK: Commands

  @Test(
    arguments: [
      ("+", "one slot more"), ("-", "one slot fewer"), ("P", "nothing new starts"), ("x", "cancelling a"),
      ("p", "pausing a"), ("X", "killing a"),
    ] as [(Character, String)])
  func aCommandIsSaid(_ key: Character, _ text: String) {
    var bench = bench("ab") { $0.move("a", .executing) }
    bench.press(.character(key))
    #expect(notice(bench) == text && bench.commands.count == 1)
  }

  @Test func severalJobsAreCounted() {
    var bench = tagged("abc") { $0.move("a", .paused(started: false)) }
    bench.press(.character("p"))
    #expect(notice(bench) == "pausing 2 jobs" && bench.commands == [.pause([JobID(1), JobID(2)])])
    var paused = tagged("ab") { for name in ["a", "b"] { $0.move(name, .paused(started: false)) } }
    paused.press(.character("p"))
    #expect(notice(paused) == "resuming 2 jobs" && paused.commands == [.resume([JobID(0), JobID(1)])])
    var failed = tagged("abc") { run in
      for name in ["a", "b"] {
        run.move(name, .executing)
        run.move(name, .failed(Self.failure, allowed: false))
      }
    }
    failed.press(.character("r"))
    #expect(notice(failed) == "retrying 2 jobs")
    failed.press(.character("R"))
    #expect(notice(failed) == "retrying 2 jobs and what depended on it")
    failed.press(.control("r"))
    #expect(notice(failed) == "retrying 2 jobs and the skipped dependents")
  }

  @Test func drainingIsTurnedOffAgain() {
    var bench = bench("a") { $0.state(.drainChanged(true)) }
    bench.press(.character("P"))
    #expect(notice(bench) == "jobs start again" && bench.commands == [.setDraining(false)])
  }

  @Test(arguments: [false, true])
  func theSameKeyBeginsAndEndsTheWatch(isOn: Bool) {
    var job = Job.shell("a")
    job.inputs = ["/a.c"]
    var builder = RunBuilder([job])
    if isOn { builder.state(.watchChanged(true, fault: nil)) }
    var bench = Bench(builder)
    bench.press(.character("W"))
    #expect(notice(bench) == (isOn ? "inputs are watched no longer" : "inputs are watched"))
    #expect(bench.commands == [.setWatching(!isOn)])
  }

  @Test func prioritiesThatDifferAreChangedTheLowestFirst() {
    var bench = tagged("abc") { run in
      run.state(.priorityChanged(JobID(0), .high))
      run.state(.priorityChanged(JobID(2), .veryHigh))
    }
    bench.press(.character("]"))
    #expect(notice(bench) == "3 jobs: priority up")
    #expect(bench.commands == [.setPriority([JobID(1)], .high), .setPriority([JobID(0)], .veryHigh)])
    bench.press(.character("["))
    #expect(notice(bench) == "3 jobs: priority down")
    bench.model.tags = [JobID(0), JobID(1)]
    bench.play { for id in 0..<2 { $0.state(.priorityChanged(JobID(id), .low)) } }
    bench.press(.character("["))
    #expect(notice(bench) == "2 jobs: priority very-low")
    #expect(bench.commands.last == .setPriority([JobID(0), JobID(1)], .veryLow))
    bench.play { for id in 0..<2 { $0.state(.priorityChanged(JobID(id), .veryLow)) } }
    let count = bench.commands.count
    bench.press(.character("["))
    #expect(notice(bench) == "already at the lowest priority" && bench.commands.count == count)
  }

  @Test func aPoolThatShrinksToWhatAJobNeedsIsChanged() {
    var builder = RunBuilder([.shell("a", uses: ["net": 2]), .shell("b")], pools: ["net": 4])
    builder.move("a", .ready(for: .slot))
    var bench = Bench(builder)
    bench.press(.character("("))
    #expect(notice(bench) == "pool net: 3 units")
    bench.play { $0.state(.poolChanged("net", 3)) }
    bench.press(.character("("))
    #expect(notice(bench) == "pool net: 2 units")
    bench.play { $0.state(.poolChanged("net", 2)) }
    bench.press(.character("("))
    #expect(notice(bench) == "a job needs 2 units of pool net at once" && bench.commands.count == 2)
    bench.play { $0.move("a", .cancelled(by: .person)) }
    bench.press(.character("("))
    #expect(notice(bench) == "pool net: 1 unit")
  }

  // MARK: The jobs that an action is for

  @Test func ofTheTargetsOnlyThoseThatItChangesAreChosen() {
    let bench = tagged("abcdefg") { run in
      for name in ["a", "b", "c"] { run.move(name, .executing) }
      run.move("b", .paused(started: true))
      run.move("c", .failed(Self.failure, allowed: false))
      run.move("d", .ready(for: .slot))
      run.move("e", .paused(started: false))
      run.move("f", .succeeded(upToDate: true))
    }
    func chosen(_ command: Command) -> [Int] { command.jobs?.chosen(in: bench.model).map(\.index) ?? [] }
    #expect(chosen(.cancel) == [0, 1, 3, 4, 6])
    #expect(chosen(.kill) == [0, 1])
    #expect(chosen(.pause) == [0, 3, 6])
    #expect(chosen(.retry) == [2, 5] && chosen(.retryDependents) == [2, 5])
    #expect(chosen(.raise) == [3, 6] && chosen(.lower) == [3, 6])
    #expect(chosen(.approve).isEmpty && chosen(.drain).isEmpty)
  }

  @Test(
    arguments: [
      (.cancel, "Cancel"), (.kill, "Kill"), (.pause, "Pause"), (.retry, "Retry"), (.retryDependents, "Retry"),
      (.approve, "Approve"), (.raise, "Raise"), (.lower, "Lower"),
    ] as [(Command, String)])
  func aQuestionBeginsWithItsVerb(_ command: Command, _ verb: String) {
    #expect(command.jobs?.verb([JobID(0)], bench("a").model) == verb)
    let paused = bench("a") { $0.move("a", .paused(started: false)) }
    #expect(Command.pause.jobs?.verb([JobID(0)], paused.model) == "Resume")
  }

  @Test func aCommandKeepsTheCursorOnItsJob() {
    var bench = bench("ab")
    bench.model.showsCursor = false
    bench.press(.character("x"))
    #expect(bench.model.isCursorTaken && bench.model.showsCursor)
  }

  // MARK: The end

  @Test(
    arguments: [
      (.policy, false), (.person, true), (.signal, true), (.timeout, true),
    ] as [(JobState.Canceller, Bool)])
  func aStopThatIsNoPolicysLeavesWithItsLastJob(_ canceller: JobState.Canceller, _ leaves: Bool) {
    var bench = bench("a") { $0.move("a", .executing) }
    bench.play { $0.state(.stopRequested(.terminate, by: canceller)) }
    #expect(bench.effects.isEmpty)
    bench.play { $0.move("a", .failed(Self.failure, allowed: false)) }
    #expect(bench.effects == (leaves ? [.leave(.stopped)] : []))
  }

  @Test(arguments: [false, true], [false, true]) func aStopOfALiveRunIsShownAtOnce(isPast: Bool, isReplay: Bool) {
    var bench = bench("a") { $0.move("a", .executing) }
    bench.model.isReplay = isReplay
    if isPast { bench.model.show(bench.model.run, at: .zero) } else { bench.press(.character("Z")) }
    bench.model.wantedPast = .zero
    bench.play { $0.state(.stopRequested(.terminate, by: .signal)) }
    #expect(bench.model.isFrozen == isReplay && (bench.model.wantedPast != nil) == isReplay)
    #expect(bench.frame().text(row: 2).hasPrefix(" Stopping 1 job: a"))
    // A person may freeze it again.
    if !isReplay { bench.press(.character("Z")) }
    bench.play { $0.state(.stopRequested(.kill, by: .signal)) }
    #expect(bench.model.isFrozen)
  }

  @Test func aReplayOfAStoppedRunStays() {
    var bench = bench("a") { $0.move("a", .executing) }
    bench.model.isReplay = true
    bench.play {
      $0.state(.stopRequested(.terminate, by: .person))
      $0.move("a", .failed(Self.failure, allowed: false))
    }
    #expect(bench.effects.isEmpty)
    bench.press(.character("q"))
    #expect(bench.effects == [.leave(.quit)])
  }

  @Test(arguments: [KeepOpen.always, .never]) func aReplayGoesOnToTheEndOfTheRecording(_ keepOpen: KeepOpen) {
    var bench = bench("a") { $0.state(.watchChanged(true, fault: nil)) }
    bench.model.isReplay = true
    bench.model.options.keepOpen = keepOpen
    for _ in 1...2 {
      bench.play { run in
        run.move("a", .executing)
        run.move("a", .succeeded(upToDate: false))
      }
      #expect(bench.effects.isEmpty && !bench.model.isOver && Command.hold.isEnabled(in: bench.model))
    }
    bench.play { $0.state(.stopRequested(.terminate, by: .person)) }
    bench.play { $0.state(.runFinished(RunSummary())) }
    #expect(bench.model.isOver && Header.word(bench.model) == "STOPPED")
    #expect(bench.frame().text(row: 2).hasPrefix(" Ended after "))
    #expect(bench.effects == (keepOpen == .never ? [.leave(.complete)] : []))
  }

  @Test func aReplayIsLeftWithoutAQuestion() {
    var bench = bench("a") { $0.move("a", .executing) }
    bench.model.isReplay = true
    bench.press(.character("q"))
    #expect(bench.effects == [.leave(.quit)] && bench.model.prompt == nil)
  }

  @Test(arguments: [true, false])
  func aReplayWithoutALaterFailureSaysSoAtItsEnd(_ isSought: Bool) {
    var bench = bench("ab") { $0.move("a", .executing) }
    bench.model.isReplay = true
    bench.press(.character("!"))
    bench.play { $0.move("a", .failed(Self.failure, allowed: false)) }
    #expect(bench.model.notice == nil)
    if isSought { bench.press(.character("!")) }
    bench.play { $0.move("b", .executing) }
    #expect(bench.model.notice == nil)
    bench.play { $0.move("b", .succeeded(upToDate: false)) }
    // A job may have been retried.
    #expect(bench.model.notice == nil && !bench.model.isOver)
    #expect(bench.frame().text(row: 2).hasPrefix(" Ended after "))
    bench.play { $0.state(.runFinished(RunSummary())) }
    #expect(bench.model.notice?.text == (isSought ? "no later failure: this is the end" : nil))
  }

  @Test func aReplayWhosePastIsShownIsNotMovedOn() {
    var bench = bench("ab") { run in
      run.move("a", .executing)
      run.move("a", .failed(Self.failure, allowed: false))
      run.move("b", .executing)
    }
    bench.model.isReplay = true
    bench.press(.character("!"))
    #expect(bench.commands == [.skipToFailure])
    bench.model.show(bench.model.run, at: .zero)
    bench.press(.down, .character("!"))
    #expect(bench.commands == [.skipToFailure] && bench.cursor == "a")
  }

  @Test func anEndThatIsStatedWithJobsLeftIsAnEnd() {
    var bench = bench("ab") { $0.move("a", .succeeded(upToDate: false)) }
    bench.play { $0.state(.runFinished(RunSummary())) }
    #expect(bench.effects == [.leave(.complete)])
  }

  @Test func besideAMergedLogTheProgramsOutputIsNotAnnounced() {
    var merged = bench("a")
    merged.press(.character("L"))
    merged.model.notice = nil
    merged.play { $0.state(.programLog(LogLine(.stdout, "x"))) }
    #expect(merged.model.notice == nil)
  }
}
