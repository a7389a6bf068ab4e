import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct CommandTests {
  private static let failure = JobFailure(.exit(1), "exit 1")
  private static let zooms: Set<Command> = [.zoomIn, .zoomOut, .zoomAll]
  private static let scrubs: Set<Command> = [.scrubBack, .scrubForward]
  /// What an executing job of a run without output, failures, tags and questions can't do.
  private static let usual: Set<Command> = zooms.union(scrubs).union([
    .detach,
    .copyAll, .copyPath, .next, .previous, .retry, .retryDependents, .retryFailed, .raise, .lower, .approve, .untag,
    .fold, .nextFailure, .watch, .hold, .showStack,
  ])

  /// `a` in the first state, and `b`, which needs it; the cursor is on `a`.
  private func model(
    _ first: JobState, _ second: JobState = .waiting, slots: Int = 6, units: Int = 2, cursor: Int = 0,
    _ facts: JobFact...
  ) -> Model {
    var builder = RunBuilder(
      [.shell("a"), .shell("b", needs: [JobNeed(JobID(0))])], slots: slots, pools: ["net": units])
    for (name, state) in [("a", first), ("b", second)] where state != .waiting {
      if state.isFailure { builder.move(name, .executing) }
      builder.move(name, state)
    }
    for fact in facts { builder.state(fact) }
    var model = Model(run: builder.run, size: Size(width: 80, height: 24))
    FramePreparation.prepare(&model, now: .zero)
    model.isCursorTaken = true
    model.moveCursor(to: JobID(cursor))
    FramePreparation.prepare(&model, now: .zero)
    return model
  }

  private func disabled(_ model: Model) -> Set<Command> { Set(Command.all.filter { !$0.isEnabled(in: model) }) }

  // MARK: Jobs and the run

  @Test func anExecutingAndAWaitingJobCanBeEndedAndPaused() {
    #expect(disabled(model(.executing)) == Self.usual)
    #expect(
      disabled(model(.executing, cursor: 1)) == Self.usual.subtracting([.raise, .lower]).union([.kill]))
  }

  @Test func aFailedJobCanOnlyBeRetriedWhileTheRunIsNotStopped() {
    let ended: Set<Command> = [.cancel, .kill, .pause]
    let retries: Set<Command> = [.retry, .retryDependents, .retryFailed]
    let failed = JobState.failed(Self.failure, allowed: false)
    #expect(disabled(model(failed)) == Self.usual.subtracting(retries.union([.nextFailure])).union(ended))
    let stopping = model(failed, .executing, .stopRequested(.terminate, by: .person))
    #expect(disabled(stopping) == Self.usual.subtracting([.nextFailure]).union(ended).union([.drain]))
    let allowed = model(.failed(Self.failure, allowed: true), .executing)
    #expect(disabled(allowed) == Self.usual.subtracting([.retry, .retryDependents]).union(ended))
  }

  @Test func aRunThatIsOverHasNoSlotsToChange() {
    let over = model(.failed(Self.failure, allowed: false), .skipped(because: .job(JobID(0))))
    #expect(
      disabled(over)
        == Self.usual.subtracting([.retry, .retryDependents, .retryFailed, .fold, .nextFailure])
        .union([.cancel, .kill, .pause, .drain, .moreSlots, .fewerSlots, .morePool, .fewerPool]))
  }

  @Test func oneSlotAndOneUnitAreTheLeastAndAnyNumberTheMost() {
    #expect(disabled(model(.executing, slots: 1, units: 1)) == Self.usual.union([.fewerSlots, .fewerPool]))
    #expect(disabled(model(.executing, slots: Run.unlimited)) == Self.usual.union([.moreSlots]))
  }

  @Test func questionsTagsAndThePastAreOfferedWhereTheyAre() {
    #expect(
      disabled(model(.ready(for: .person)))
        == Self.usual.subtracting([.approve, .raise, .lower]).union([.kill]))
    var model = model(.executing)
    model.tags = [JobID(0)]
    #expect(disabled(model) == Self.usual.subtracting([.untag]))
    model.tags = []
    model.hasPast = true
    #expect(disabled(model) == Self.usual.subtracting([.scrubBack]))
    model.show(model.run, at: .zero)
    #expect(
      disabled(model)
        == Self.usual.subtracting(Self.scrubs)
        .union([.cancel, .kill, .pause, .drain, .moreSlots, .fewerSlots, .morePool, .fewerPool]))
  }

  @Test func aRunThatHasNotBegunHasNothingToActOn() {
    var model = Model(run: Run(), size: Size(width: 80, height: 24))
    model.hasPast = true
    FramePreparation.prepare(&model, now: .zero)
    #expect(
      disabled(model)
        == Self.usual.union([
          .copy, .copyPath, .zoom, .tag, .tagDependents, .tagAll, .cancel, .kill, .pause, .fewerSlots, .morePool,
          .fewerPool,
        ]))
  }

  // MARK: The screen

  @Test func onlyTheTimelineIsZoomedAndOnlyTheListIsSorted() {
    var timeline = model(.executing)
    timeline.setPanel(.timeline)
    FramePreparation.prepare(&timeline, now: .zero)
    #expect(
      disabled(timeline) == Self.usual.subtracting(Self.zooms).union([.sortNext, .sortPrevious, .invert]))
  }

  @Test func withoutALogThereIsNoneToRead() {
    let log: Set<Command> = [.range, .follow, .firstError, .wrap, .times, .nextPane, .merged]
    var model = model(.executing)
    model.log.extent = .off
    #expect(disabled(model) == Self.usual.union(log).union([.left, .right]))
    model.setPanel(.tree)
    FramePreparation.prepare(&model, now: .zero)
    #expect(disabled(model) == Self.usual.union(log).union([.sortNext, .sortPrevious, .invert]))
    // `b` is above `a`, and can be folded.
    model.moveCursor(to: JobID(1))
    #expect(Command.fold.isEnabled(in: model))
  }

  @Test func outputAndMatchesCanBeCopiedAndWalked() {
    var model = model(.executing, .waiting, .jobLog(JobID(0), attempt: 1, LogLine(.stdout, "x")))
    #expect(disabled(model) == Self.usual.subtracting([.copyAll, .copyPath]))
    model.log.query = "x"
    model.log.search(model.lines)
    #expect(disabled(model) == Self.usual.subtracting([.copyAll, .copyPath, .next, .previous]))
    model.log.extent = .off
    for command in [Command.next, .previous] {
      #expect(command.request(&model, .zero).isEmpty && model.notice?.text == "no log is shown")
      #expect(model.log.currentMatch == nil && command.word(in: model) == nil)
    }
  }

  @Test func aZoomedJobHasNeitherRowsNorAMergedLog() {
    var model = model(.executing)
    model.page = .zoom
    let rows: Set<Command> = [.tagAll, .zoom, .sortNext, .sortPrevious, .invert]
    #expect(disabled(model) == Self.usual.union(rows).union([.merged, .log]))
  }

  @Test func onTheHelpPageOnlyMovingAndLeavingWork() {
    var model = model(.executing)
    model.page = .help
    let enabled: Set<Command> = [
      .up, .down, .pageUp, .pageDown, .halfUp, .halfDown, .first, .last, .back, .help, .quit, .redraw, .mouse, .list,
      .tree, .timeline, .critical, .events,
    ]
    #expect(disabled(model) == Set(Command.all).subtracting(enabled))
  }

  // MARK: Words

  private func words(_ actions: [Command], _ model: Model) -> [String?] { actions.map { $0.word(in: model) } }

  @Test func theBottomLineNamesWhatTheKeysDoInTheList() {
    let model = model(.executing)
    #expect(
      words([.copy, .range, .follow, .copyPath, .firstError, .merged, .copyAll, .wrap, .next], model)
        == [nil, nil, nil, nil, nil, nil, nil, nil, nil])
    #expect(
      words([.filter, .cancel, .pause, .retry, .kill, .tag, .untag, .back, .zoom, .fold, .log, .nextPane], model)
        == ["filter", "cancel", "pause", nil, "kill", "tag", nil, nil, "zoom", nil, "log", "pane"])
    #expect(
      words([.treeOrList, .list, .tree, .timeline, .critical, .events], model)
        == ["tree", nil, nil, "timeline", "critical", "events"])
    #expect(
      words([.zoomIn, .zoomOut, .zoomAll, .palette, .help, .quit, .scrubBack, .scrubForward, .drain, .up], model)
        == [nil, nil, nil, "actions", "help", "quit", nil, nil, "drain", nil])
    #expect(words([.moreSlots, .fewerSlots, .approve, .retryFailed], model) == ["slots", nil, nil, nil])
    let failed = JobState.failed(Self.failure, allowed: false)
    let skips = self.model(failed, .skipped(because: .job(JobID(0))))
    #expect(words([.retry, .retryDependents], skips) == ["retry + skipped", nil])
    #expect(words([.retry, .retryDependents], self.model(failed, .waiting)) == ["retry", nil])
    let cancelled = self.model(failed, .cancelled(by: .person))
    #expect(words([.retry, .retryDependents], cancelled) == ["retry", "retry + dependents"])
    #expect(words([.retryDependents], self.model(.executing, cursor: 1)) == [nil])
  }

  @Test func theBottomLineNamesWhatTheKeysDoInTheLog() {
    var model = model(
      .executing, .waiting, .jobLog(JobID(0), attempt: 1, LogLine(.stdout, "x", isCut: true)),
      .jobLog(JobID(0), attempt: 1, LogLine(.stdout, "y")))
    model.focus = .log
    let actions: [Command] = [.copy, .range, .follow, .copyPath, .firstError, .merged, .copyAll, .wrap, .next, .filter]
    #expect(
      words(actions, model)
        == ["copy line", "range", nil, nil, "error", "merged", "copy all", "wrap", nil, "search"])
    let layout = Layout(model)
    LogScroll.beginReading(&model, layout)
    model.log.cursor = model.lines?.first?.seq ?? 0
    model.log.mark = model.lines?.last?.seq
    model.log.query = "x"
    model.log.search(model.lines)
    #expect(
      words(actions, model) == ["copy 2 lines", nil, "follow", "path", nil, nil, nil, "wrap", "next", "search"])
    #expect(words([.back], model) == ["end range"])
    model.log.mark = nil
    #expect(words([.back, .zoom], model) == [nil, "zoom"])
    model.showLog(of: .merged)
    #expect(words([.merged, .zoom], model) == ["one job", "its job"])
  }

  @Test func theBottomLineNamesTheWayBack() {
    var model = model(.executing)
    model.setFilter(JobFilter("a"))
    #expect(words([.back], model) == ["clear filter"])
    model.focus = .log
    #expect(words([.back], model) == [nil])
    model.page = .zoom
    #expect(words([.back, .zoom, .tag, .log, .treeOrList, .timeline], model) == ["back", nil, nil, nil, nil, nil])
  }

  @Test func theWordsFollowThePanelAndTheState() {
    var model = model(.paused(started: false), .paused(started: false))
    #expect(words([.pause], model) == ["resume"])
    model.tags = [JobID(0), JobID(1)]
    #expect(words([.pause], model) == ["resume"])
    var mixed = self.model(.paused(started: false))
    mixed.tags = [JobID(0), JobID(1)]
    #expect(words([.pause], mixed) == ["pause"])
    model.setPanel(.tree)
    #expect(words([.treeOrList, .list, .tree, .timeline, .zoomIn], model) == ["list", nil, nil, "timeline", nil])
    model.setPanel(.timeline)
    #expect(words([.treeOrList, .list, .timeline], model) == ["tree", "list", nil])
    #expect(words([.zoomIn, .zoomOut, .zoomAll], model) == ["in", "out", nil])
    model.window.zoom(by: -1, width: 12, now: .seconds(100), end: .seconds(100))
    #expect(words([.zoomAll], model) == ["all"])
    #expect(words([.drain], self.model(.executing, .waiting, .drainChanged(true))) == ["start again"])
    let over = self.model(.failed(Self.failure, allowed: false), .skipped(because: .job(JobID(0))))
    #expect(words([.retryFailed, .fold], over) == ["retry all failed", "expand"])
    model.hasPast = true
    model.show(model.run, at: .zero)
    #expect(words([.scrubBack, .scrubForward], model) == ["back", "forward"])
  }

  @Test func aCommandThatIsNotEnabledIsNotAskedForItsWord() {
    let command = Command(
      "never", .showing, [], "", isEnabled: { _ in false },
      word: { _ in
        Issue.record("asked for its word")
        return "never"
      }, change: { _, _ in })
    #expect(command.word(in: model(.executing)) == nil)
  }

  @Test func theWordOfAKeyIsOfTheJobsOnWhichItActs() {
    let once = Job(name: "once", work: .operation(OperationWork(className: "Parse", visibility: .whole)))
    var builder = RunBuilder([.shell("a"), once])
    for name in ["a", "once"] { builder.move(name, .executing) }
    builder.move("a", .paused(started: true))
    var bench = Bench(builder)
    bench.model.tags = [JobID(0), JobID(1)]
    #expect(Command.pause.word(in: bench.model) == "resume")
    bench.press(.character("p"))
    #expect(bench.commands == [.resume([JobID(0)])])
    var dependents = RunBuilder([.shell("a"), .shell("b"), .shell("c", needs: [JobNeed(JobID(1))])])
    for name in ["a", "b"] { dependents.move(name, .executing) }
    dependents.move("a", .failed(Self.failure, allowed: false))
    dependents.move("c", .cancelled(by: .person))
    bench = Bench(dependents)
    bench.model.tags = [JobID(0), JobID(1)]
    #expect(words([.retry, .retryDependents], bench.model) == ["retry", nil])
  }

  @Test func aFoldedRowIsExpandedAndAnOpenOneFolded() {
    var over = model(.failed(Self.failure, allowed: false), .skipped(because: .job(JobID(0))))
    over.order.toggle(JobID(0))
    #expect(Command.fold.word(in: over) == "fold")
    over.focus = .log
    #expect(Command.fold.word(in: over) == nil)
    over.setPanel(.tree)
    FramePreparation.prepare(&over, now: .zero)
    over.moveCursor(to: JobID(1))
    #expect(Command.fold.word(in: over) == "fold")
    over.tree.toggle(JobID(1))
    #expect(Command.fold.word(in: over) == "expand")
  }

  // MARK: Refusals

  @Test(
    arguments: [
      (.cancel, "this job has ended"), (.pause, "nothing to pause"), (.kill, "this job is not running"),
      (.raise, "only a job that has not started has a priority"),
      (.lower, "only a job that has not started has a priority"), (.approve, "no job waits for approval"),
      (.untag, "nothing is tagged"), (.fold, "no row is under it"), (.zoomIn, "that is for the timeline, 3"),
      (.next, "nothing is searched: press /"), (.previous, "nothing is searched: press /"), (.range, "no log is shown"),
      (.merged, "no log is shown"), (.left, "no log is shown"), (.nextPane, "there is one pane"),
      (.scrubBack, "the run is not recorded: there is no past to show"),
      (.scrubForward, "this is the present; , shows the past"), (.moreSlots, "no slot to add"),
      (.fewerSlots, "one slot is the least"), (.fewerPool, "one unit is the least of pool net"),
      (.copy, "nothing to copy"), (.copyAll, "nothing to copy"), (.tagAll, "no job here"), (.zoom, "no job here"),
      (.tag, "no job here"), (.sortNext, "only the list is sorted"), (.invert, "only the list is sorted"),
      (.retry, "this job has not failed"), (.retryDependents, "this job has not failed"),
      (.retryFailed, "no job has failed"), (.help, ""),
      (.detach, "this run ends with its terminal; opdash run --detach starts one that does not"),
    ] as [(Command, String)])
  func aRefusalSaysWhy(_ action: Command, _ text: String) {
    #expect(action.refusal(in: model(.succeeded(upToDate: false))) == text)
  }

  @Test func theRunOfAnotherProgramIsLeftWithoutAQuestion() {
    var model = model(.executing)
    model.attachment = .readOnly
    for action in [Command.quit, .detach] {
      #expect(action.request(&model, .zero) == [.leave(.quit)])
      #expect(model.prompt == nil)
    }
    #expect(Command.cancel.request(&model, .zero).isEmpty)
    #expect(model.notice?.text == "attached with --read-only: the run can't be changed from here")
    model.attachment = .full
    #expect(Command.cancel.request(&model, .zero) == [.send(.cancel([JobID(0)], by: .person))])
  }

  @Test func aRefusalNamesTheStateOfTheRun() {
    var job = Job.shell("a", uses: ["net": 1])
    job.inputs = ["/a.c"]
    var builder = RunBuilder([job], slots: 1, pools: ["net": 1])
    builder.move("a", .executing)
    builder.state(.stopRequested(.terminate, by: .signal))
    let closed: [Command] = [.drain, .watch]
    let sizes: [Command] = [.moreSlots, .fewerSlots, .morePool, .fewerPool]
    var bench = Bench(builder)
    for command in closed { #expect(command.refusal(in: bench.model) == "the run is stopping") }
    #expect(Command.fewerSlots.refusal(in: bench.model) == "one slot is the least")
    bench.play { $0.move("a", .cancelled(by: .signal)) }
    for command in closed + sizes {
      #expect(!command.isEnabled(in: bench.model) && command.refusal(in: bench.model) == "the run has ended")
    }
  }

  @Test func whereTheFilterMatchesNothingThereIsNoJob() {
    var model = model(.executing)
    model.setFilter(JobFilter("zzz"))
    model.seeksMatch = true
    FramePreparation.prepare(&model, now: .zero)
    for command in Command.all where command.jobs != nil && command != .approve {
      model.notice = nil
      #expect(command.request(&model, .zero).isEmpty && model.notice?.text == "no job here", "\(command)")
    }
  }

  @Test func theRefusalIsAboutTheTaggedJob() {
    let once = Job(name: "b", work: .operation(OperationWork(className: "Parse", visibility: .whole)))
    var builder = RunBuilder([.shell("a"), once])
    builder.move("b", .executing)
    var bench = Bench(builder)
    bench.select("b")
    bench.model.tags = [JobID(0)]
    #expect(Command.kill.refusal(in: bench.model) == "this job is not running")
  }

  @Test func theRefusalOfARetryIsAboutTheTaggedJob() {
    var model = model(.failed(Self.failure, allowed: false), .skipped(because: .job(JobID(0))))
    model.tags = [JobID(1)]
    for action in [Command.retry, .retryDependents] {
      #expect(action.refusal(in: model) == "b was skipped because of a: r on a retries both")
    }
  }

  @Test func aFailureThatWasAllowedIsNotAmongTheFailedJobs() {
    let model = model(.failed(Self.failure, allowed: true), .executing)
    #expect(Command.retryFailed.refusal(in: model) == "no job has failed")
  }

  @Test func aJobThatIsBeingStoppedIsNotCancelledAgain() {
    func stopping(_ canceller: JobState.Canceller, _ facts: JobFact...) -> Bench {
      var builder = RunBuilder([.shell("a"), .shell("b")])
      builder.move("a", .executing)
      builder.cancel("a", by: canceller)
      for fact in facts { builder.state(fact) }
      var bench = Bench(builder)
      bench.select("a")
      bench.press(.character("x"))
      return bench
    }
    var bench = stopping(.person)
    #expect(bench.commands.isEmpty && bench.model.notice?.text == "it is being stopped: X kills it")
    bench.model.notice = nil
    let line = bench.frame().text(row: 23)
    #expect(line.contains(" X kill") && !line.contains("cancel"))
    bench.model.tags = [JobID(0), JobID(1)]
    bench.press(.character("x"))
    #expect(bench.commands == [.cancel([JobID(1)], by: .person)])
    bench.model.tags = []
    bench.press(.character("X"))
    #expect(bench.commands.last == .kill([JobID(0)]))
    bench.play { $0.cancel("a", kill: true) }
    for (key, text) in [(Key.character("X"), "it is being killed"), (.character("x"), "it is being stopped")] {
      bench.press(key)
      #expect(bench.commands.count == 2 && bench.model.notice?.text == text)
    }
    // Another attempt would follow.
    #expect(stopping(.restart).commands == [.cancel([JobID(0)], by: .person)])
  }

  /// `a`, the attempt of which is being ended at its limit, and `b`.
  private func exceeding(_ finally: FinalCondition? = nil, _ facts: (inout RunBuilder) -> Void = { _ in }) -> Bench {
    var job = Job.shell("a")
    job.finally = finally
    var builder = RunBuilder([job, .shell("b"), .shell("c")])
    builder.move("b", .executing)
    facts(&builder)
    if !builder.run[JobID(0)].state.isActive { builder.move("a", .executing) }
    builder.cancel("a", by: .timeout)
    var bench = Bench(builder)
    bench.select("a")
    return bench
  }

  private static func close(_ run: inout RunBuilder) {
    run.move("b", .failed(failure, allowed: false))
    run.move("c", .cancelled(by: .policy))
  }

  /// The schedule knows whether another attempt would have followed.
  @Test func aPersonPreventsTheAttemptAfterOneThatExceedsItsLimit() {
    func stop(_ run: inout RunBuilder) {
      run.state(.stopRequested(.terminate, by: .timeout))
      run.at(1)
    }
    for var bench in [exceeding(), exceeding(nil, Self.close), exceeding(.always), exceeding(.always, stop)] {
      #expect(bench.frame().text(row: 23).contains(" x cancel "))
      bench.press(.character("x"))
      #expect(bench.commands == [.cancel([JobID(0)], by: .person)])
      #expect(bench.model.notice?.text == "a: no other attempt follows")
      bench.play { $0.cancel("a") }
      bench.press(.character("x"))
      #expect(bench.commands.count == 1 && bench.model.notice?.text == "it is being stopped: X kills it")
    }
  }

  @Test(arguments: [FinalCondition?.none, .always])
  func anAttemptThatTheTimeLimitOfTheRunEndsIsTheLast(_ finally: FinalCondition?) {
    var bench = exceeding(finally) { run in
      run.move("a", .executing)
      run.at(1)
      run.state(.stopRequested(.terminate, by: .timeout))
    }
    bench.press(.character("x"))
    #expect(bench.commands.isEmpty && bench.model.notice?.text == "it is being stopped: X kills it")
  }

  @Test func jobsThatExceedTheirLimitsAreNamedApart() {
    var bench = exceeding()
    bench.model.tags = [JobID(0), JobID(1)]
    bench.press(.character("x"), .character("y"))
    #expect(bench.commands == [.cancel([JobID(0), JobID(1)], by: .person)])
    #expect(bench.model.notice?.text == "cancelling b; a: no other attempt follows")
  }

  @Test func aRetryIsRefusedByTheStateOfTheRun() {
    let failed = JobState.failed(Self.failure, allowed: false)
    let stopping = model(failed, .executing, .stopRequested(.terminate, by: .person))
    let finished = model(failed, .executing, .runFinished(RunSummary()))
    for action in [Command.retry, .retryDependents, .retryFailed] {
      #expect(action.refusal(in: stopping) == "the run is stopping")
      #expect(action.refusal(in: finished) == "the run has ended")
    }
    let skipped = model(failed, .skipped(because: .job(JobID(0))), cursor: 1)
    var unfolded = skipped
    unfolded.order.toggle(JobID(0))
    unfolded.moveCursor(to: JobID(1))
    #expect(Command.retry.refusal(in: unfolded) == "b was skipped because of a: r on a retries both")
    #expect(Command.retryDependents.refusal(in: unfolded) == "b was skipped because of a: r on a retries both")
  }

  @Test func theRetryOfASkippedJobIsNotPromisedInARunThatStops() {
    var builder = RunBuilder([.shell("a"), .shell("b", needs: [JobNeed(JobID(0))]), .shell("c")])
    for name in ["a", "c"] { builder.move(name, .executing) }
    builder.move("a", .failed(Self.failure, allowed: false))
    builder.move("b", .skipped(because: .job(JobID(0))))
    builder.state(.stopRequested(.terminate, by: .signal))
    var bench = Bench(builder)
    for (name, key) in [("b", "r"), ("b", "R"), ("a", "r")] {
      bench.model.notice = nil
      bench.select(name)
      bench.press(.character(Character(key)))
      #expect(bench.model.notice?.text == "the run is stopping")
    }
  }

  // MARK: A frozen display

  /// A display of `a` and `b` that was frozen before these facts.
  private func frozen(
    _ state: JobState, _ others: [Job] = [.shell("b")], _ facts: (inout RunBuilder) -> Void
  ) -> Bench {
    var builder = RunBuilder([.shell("a")] + others)
    builder.move("a", .executing)
    if state != .executing { builder.move("a", state) }
    for job in others { builder.move(job.name, .executing) }
    var bench = Bench(builder)
    bench.select("a")
    bench.press(.character("Z"))
    bench.play(facts)
    #expect(bench.model.isFrozen && bench.cursor == "a")
    bench.effects = []
    return bench
  }

  @Test func keysOfAFrozenDisplayAnswerFromTheLiveRun() {
    var bench = frozen(.executing) { $0.move("a", .failed(Self.failure, allowed: false)) }
    let line = bench.frame().text(row: 23)
    #expect(line.contains(" r retry ") && !line.contains("cancel") && !line.contains("pause"))
    for (key, text) in [
      ("x", "this job has ended"), ("X", "this job is not running"), ("p", "nothing to pause"),
      ("]", "only a job that has not started has a priority"),
    ] as [(Character, String)] {
      bench.press(.character(key))
      #expect(bench.commands.isEmpty && bench.model.notice?.text == text)
    }
    bench.press(.character("r"), .control("r"))
    #expect(bench.commands == [.retry([JobID(0)], withDependents: false), .retry([JobID(0)], withDependents: false)])
    #expect(bench.model.isFrozen && bench.model.run[JobID(0)].state == .executing)
  }

  @Test func aFrozenDisplayPausesAndRaisesTheLiveJob() {
    var paused = frozen(.executing) { $0.move("a", .paused(started: true)) }
    #expect(paused.frame().text(row: 23).contains(" p resume "))
    paused.press(.character("p"))
    #expect(paused.commands == [.resume([JobID(0)])] && paused.model.notice?.text == "resuming a")
    var raised = frozen(.ready(for: .slot)) { $0.state(.priorityChanged(JobID(0), .high)) }
    raised.press(.character("]"))
    #expect(raised.commands == [.setPriority([JobID(0)], JobPriority.high.raised)])
  }

  @Test func theQuestionOfAFrozenDisplayIsAboutTheLiveJobs() {
    var bench = frozen(.executing, [.shell("b"), .shell("c")]) { $0.move("c", .succeeded(upToDate: false)) }
    bench.model.tags = [JobID(0), JobID(1), JobID(2)]
    bench.press(.character("x"))
    #expect(bench.model.prompt == .confirm(.cancel, [JobID(0), JobID(1)]))
    #expect(bench.frame().text(row: 23).contains("Cancel a, b, 2 running?"))
    bench.play { $0.move("a", .paused(started: true)) }
    bench.play { $0.move("b", .succeeded(upToDate: false)) }
    #expect(bench.model.prompt == .confirm(.cancel, [JobID(0)]))
    bench.press(.character("y"))
    #expect(bench.commands == [.cancel([JobID(0)], by: .person)] && bench.model.isFrozen)
  }

  @Test func aQuestionToApproveShowsThePresent() {
    var late = Job.shell("late")
    late.approval = "Go on?"
    var bench = frozen(.executing) { run in
      run.state(.jobAdded(JobID(2), late))
      run.move("late", .ready(for: .person))
    }
    #expect(bench.frame().text(row: 23).contains(" a approve "))
    bench.press(.character("a"))
    #expect(!bench.model.isFrozen && bench.model.prompt == .confirm(.approve, [JobID(2)]))
    #expect(bench.frame().text(row: 23).contains("Approve late: Go on?"))
  }

  // MARK: The past

  /// Runs in which each action can act on something.
  private static let runs: [[JobState]] = [
    [.executing, .waiting], [.failed(failure, allowed: false), .skipped(because: .job(JobID(0)))],
    [.ready(for: .person), .waiting], [.paused(started: true), .waiting],
  ]

  @Test(arguments: Command.all, runs) func noKeyActsOnWhatIsOver(_ action: Command, _ states: [JobState]) {
    for isReplay in [true, false] {
      var model = model(states[0], states[1])
      model.isReplay = isReplay
      if !isReplay { model.show(model.run, at: .zero) }
      FramePreparation.prepare(&model, now: .zero)
      guard action != .quit else { continue }
      var effects = action.request(&model, .zero)
      effects += Update.apply(.input(.key(.character("y"))), to: &model, now: .zero)
      // How it is played again is no change of the run.
      let sent = effects.compactMap { if case .send(let command) = $0 { command } else { nil } }
      #expect(sent.allSatisfy { [.holdReplay(true), .skipToFailure].contains($0) && isReplay }, "\(action)")
      if action.changesRun || isReplay && action == .detach {
        let place = isReplay ? "this is a replay: its run can't be changed" : "End returns to the present"
        #expect(action.refusal(in: model).hasSuffix(place), "\(action)")
      }
    }
  }

  @Test func aQuestionDoesNotOutliveThePresent() {
    var model = model(.ready(for: .person))
    model.wantedPast = .zero
    _ = Command.approve.request(&model, .zero)
    #expect(model.prompt == .confirm(.approve, [JobID(0)]))
    _ = Update.apply(.past(model.run, at: .zero), to: &model, now: .zero)
    #expect(model.isPast && model.prompt == nil)
  }

  @Test func aReplayIsLeftAndThePastsRunCanBeQuit() {
    var model = model(.executing)
    model.isReplay = true
    #expect(Command.quit.request(&model, .zero) == [.leave(.quit)])
    model.isReplay = false
    model.show(model.run, at: .zero)
    #expect(Command.quit.request(&model, .zero).isEmpty && model.prompt == .quit)
  }
}
