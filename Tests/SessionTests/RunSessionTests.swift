import Basics
import Foundation
import JobModel
import Support
import Testing

@testable import Dashboard
@testable import Session

@Suite @MainActor struct RunSessionTests {
  @Test func aSessionIsReleasedWithItsOwner() throws {
    let output = Output(STDERR_FILENO)
    let display = RunSession.Display(
      .plain, of: "g", settings: Settings(), Environment(variables: [:]), output: output, errors: output)
    let feed = FakeFeed()
    var session: RunSession? = RunSession(feed, display: display, exit: { _ in })
    weak let released = session
    try session?.begin {}
    session = nil
    #expect(released == nil)
  }

  /// `/dev/full` is Linux's; elsewhere no file fails so.
  @Test(
    .enabled(if: access("/dev/full", W_OK) == 0),
    arguments: [(0, 1), (1, 1), (3, 3), (130, 130)] as [(Int32, Int32)])
  func aTraceThatCannotBeWrittenTurnsOnlyASuccessIntoAFailure(exit: Int32, status: Int32) async throws {
    let null = try Output.file("/dev/null")
    let display = RunSession.Display(
      .quiet, of: "g", settings: Settings(), Environment(variables: [:]), output: null, errors: null,
      files: [(.trace, try Output.file("/dev/full"))])
    let feed = FakeFeed()
    let statuses = Lock<[Int32]>([])
    let session = RunSession(feed, display: display, exit: { end in statuses.withLock { $0.append(end.status) } })
    try session.begin {}
    feed.begin(1)
    feed.post(.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil))
    var summary = RunSummary()
    summary.exit = exit
    feed.post(.runFinished(summary))
    #expect(await soon { statuses.withLock { !$0.isEmpty } })
    #expect(statuses.withLock { $0 } == [status])
    withExtendedLifetime(session) {}
  }

  // MARK: The end of a view

  @Test(arguments: [Departure.complete, .stopped, .quit])
  func aPersonWhoLeavesTheViewEndsTheRun(departure: Departure) async throws {
    let view = FakeView()
    let stage = try Stage(view)
    stage.feed.begin(1)
    stage.state(0, .succeeded(upToDate: false))
    view.leave(departure)
    #expect(stage.feed.commands == [.finish(signal: nil)])
    var errorsAtClosing: String?
    view.whenClosed = { errorsAtClosing = errorsAtClosing ?? stage.errors }
    var summary = RunSummary()
    summary.exit = 5
    stage.feed.post(.runFinished(summary))
    #expect(await soon { !stage.statuses.isEmpty })
    #expect(stage.statuses == [5])
    // The summary needs the terminal.
    #expect(errorsAtClosing?.isEmpty == true)
    #expect(stage.errors.hasSuffix("test: 1 ok in 0.0s\nclosing\n"))
    #expect(stage.output.isEmpty)
    #expect(stage.statusesAtCleanUp == [[]])
  }

  @Test(arguments: [(nil, 3), (.terminate, 143)] as [(StopSequence.Cause?, Int32)])
  func aPersonWhoDoesNotWaitLeavesWithTheWorkOpen(cause: StopSequence.Cause?, status: Int32) throws {
    let view = FakeView()
    let stage = try Stage(view)
    stage.feed.begin(1)
    stage.state(0, .executing)
    if let cause { stage.session?.receive(cause) }
    view.leave(.abandoned)
    #expect(stage.statuses == [status])
    #expect(view.closings > 0)
    #expect(stage.errors.hasSuffix("\nclosing\n"))
  }

  @Test func aTerminalThatIsClosedStopsTheRun() throws {
    let view = FakeView()
    let stage = try Stage(view)
    stage.feed.begin(1)
    stage.state(0, .executing)
    view.leave(.terminalClosed)
    #expect(stage.feed.commands == [.stop(.terminate, by: .signal)])
    #expect(stage.statuses.isEmpty && stage.errors.isEmpty)
  }

  @Test func aViewIsSuspendedWithTheSession() throws {
    let view = FakeView()
    let stage = try Stage(view)
    stage.session?.suspend()
    #expect(view.suspensions == 1)
    #expect(stage.session?.holdsTerminal == true)
    #expect(try Stage().session?.holdsTerminal == false)
  }

  /// The main queue does not come round: this test is on it.
  @Test func aViewOnABusyMachineIsNotTakenForOneWithoutAReader() async throws {
    let stage = try Stage(FakeView())
    stage.feed.begin(1)
    stage.state(0, .executing)
    stage.session?.receive(.terminate)
    stage.state(0, .cancelled(by: .signal))
    var summary = RunSummary()
    summary.exit = 143
    stage.feed.post(.runFinished(summary))
    #expect(eventually { stage.clock.due.contains(StopController.longestPatience) })
    stage.clock.advance(by: .seconds(5))
    #expect(stage.abandoned.withLock { $0 } == [])
    stage.clock.advance(by: .seconds(15))
    #expect(stage.abandoned.withLock { $0 } == [143])
  }

  @Test func aRunWhoseProgramIsGoneIsNotOffered() throws {
    let stage = try Stage(FakeView(), offer: "offer")
    stage.feed.begin(1)
    stage.state(0, .executing)
    stage.session?.lose("the program has ended")
    #expect(stage.errors.hasPrefix("opdash: the program has ended\n") && !stage.errors.contains("offer"))
    #expect(stage.statuses == [3])
  }

  // MARK: Ctrl-C

  /// The answer to the first may wait for a reader that does not come.
  @Test func ctrlCTwiceBeforeTheRunBeginsKillsBeforeItIsAnswered() throws {
    let folder = try TemporaryFolder()
    // Another file than the reports', whose lines come at any time.
    let errors = try Output.file(folder.file("errors").path())
    let display = RunSession.Display(
      .plain, of: "g", settings: Settings(), Environment(variables: [:]),
      output: try Output.file(folder.file("output").path()), errors: errors)
    let feed = FakeFeed()
    let session = RunSession(feed, display: display, exit: { _ in })
    for _ in 1...2 { session.receiveSignal(.interrupt) }
    let before = Lock<[[JobCommand]]>([])
    errors.beforeWriting { before.withLock { $0.append(feed.commands) } }
    try session.begin { feed.begin(1) }
    #expect(before.withLock { $0.first } == [.stop(.terminate, by: .signal), .stop(.kill, by: .signal)])
  }

  @Test func anInterruptClosesAPromptAndTheNextStopsTheRun() async throws {
    let view = FakeView()
    let stage = try Stage(view)
    stage.feed.begin(1)
    stage.state(0, .executing)
    view.prompt.set(true)
    stage.session?.receive(.interrupt)
    #expect(await soon { view.promptClosings == 1 })
    #expect(stage.feed.commands.isEmpty)
    stage.session?.receive(.interrupt)
    // From then on a prompt doesn't keep a signal from the run.
    view.prompt.set(true)
    stage.session?.receive(.interrupt)
    #expect(stage.feed.commands == [.stop(.terminate, by: .signal), .stop(.kill, by: .signal)])
    #expect(view.promptClosings == 1)
  }

  @Test func noOtherSignalClosesAPrompt() throws {
    let view = FakeView()
    let stage = try Stage(view)
    stage.feed.begin(1)
    stage.state(0, .executing)
    view.prompt.set(true)
    stage.session?.receive(.terminate)
    #expect(stage.feed.commands == [.stop(.terminate, by: .signal)])
  }

  @Test func anInterruptLeavesAViewWhoseRunIsCompleteAndCounts() throws {
    let stage = try Stage(FakeView())
    stage.feed.begin(1)
    stage.state(0, .succeeded(upToDate: false))
    stage.session?.receive(.interrupt)
    #expect(stage.feed.commands == [.finish(signal: nil)])
    // The job is retried meanwhile.
    stage.state(0, .executing)
    stage.session?.receive(.interrupt)
    #expect(stage.feed.commands.last == .stop(.terminate, by: .signal))
    #expect(stage.statuses.isEmpty)
    stage.session?.receive(.interrupt)
    #expect(stage.statuses == [130])
    #expect(stage.feed.commands.count == 2)
  }

  @Test func anInterruptLeavesAReplayAndChangesNothingInIt() async throws {
    let view = FakeView()
    let stage = try Stage(view, isReplay: true)
    stage.feed.begin(1)
    stage.state(0, .executing)
    stage.session?.receiveSignal(.interrupt)
    #expect(await soon { !stage.statuses.isEmpty })
    #expect(stage.statuses == [130] && stage.feed.commands == [] && view.closings > 0)
    #expect(stage.errors.isEmpty && stage.output.isEmpty)
  }

  @Test(arguments: [true, false]) func aReplayIsLeftByAPersonAlsoAfterItsEnd(isAtEnd: Bool) async throws {
    let view = FakeView()
    let stage = try Stage(view, isReplay: true)
    stage.feed.begin(1)
    stage.state(0, .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    if isAtEnd {
      stage.feed.post(.runFinished(RunSummary(of: stage.feed.run)))
      #expect(await soon { stage.feed.readers == 0 })
    }
    #expect(stage.statuses.isEmpty)
    view.leave(.quit)
    #expect(await soon { !stage.statuses.isEmpty })
    #expect(stage.statuses == [1] && stage.feed.commands == [] && stage.errors == "closing\n")
  }

  @Test func withoutAViewAnInterruptEndsAReplay() throws {
    let stage = try Stage(isReplay: true)
    stage.feed.begin(1)
    stage.session?.receive(.interrupt)
    #expect(stage.feed.commands == [.stop(.terminate, by: .signal)] && stage.statuses.isEmpty)
  }

  @Test func anotherSignalStopsARunThatIsComplete() throws {
    let stage = try Stage(FakeView())
    stage.feed.begin(1)
    stage.state(0, .succeeded(upToDate: false))
    stage.session?.receive(.terminate)
    #expect(stage.feed.commands.first == .stop(.terminate, by: .signal))
    #expect(stage.errors.isEmpty)
  }

  @Test func withoutAViewEachInterruptIsAnswered() throws {
    let stage = try Stage()
    stage.feed.begin(1)
    stage.state(0, .executing)
    stage.session?.receive(.interrupt)
    let first = "opdash: stopping; still running: job0. Ctrl-C again kills.\n"
    #expect(stage.errors == first)
    stage.session?.receive(.interrupt)
    #expect(stage.errors == first + "opdash: killing job0. Ctrl-C again leaves at once.\n")
    #expect(stage.statuses.isEmpty)
    stage.session?.receive(.interrupt)
    #expect(stage.statuses == [130])
    #expect(stage.statusesAtCleanUp == [[]])
  }

  @Test func aReaderThatIsGoneIsNotAnswered() throws {
    let stage = try Stage()
    stage.feed.begin(1)
    stage.state(0, .executing)
    stage.session?.receive(.outputClosed)
    #expect(stage.errors.isEmpty)
    #expect(stage.feed.commands == [.stop(.terminate, by: .signal)])
  }

  @Test(arguments: [true, false]) func onlyAnOutputThatTheRunNeedsEndsIt(endsWithOutput: Bool) async throws {
    let stage = try Stage(output: Output(open("/dev/full", O_WRONLY)), endsWithOutput: endsWithOutput)
    stage.feed.begin(1)
    stage.state(0, .succeeded(upToDate: false))
    #expect(await soon { !stage.feed.commands.isEmpty && !stage.errors.isEmpty })
    #expect(stage.errors.contains("can't write standard output"))
    #expect(stage.feed.commands.contains(.stop(.terminate, by: .signal)) == endsWithOutput)
  }

  // MARK: The end without a view

  @Test func withoutAViewTheRunEndsWithItsLastJob() async throws {
    let stage = try Stage()
    stage.feed.begin(1)
    stage.state(0, .succeeded(upToDate: false))
    #expect(await soon { !stage.feed.commands.isEmpty })
    #expect(stage.feed.commands == [.finish(signal: nil)])
    stage.feed.post(.runFinished(RunSummary()))
    #expect(await soon { !stage.statuses.isEmpty })
    #expect(stage.statuses == [0])
    #expect(stage.output.hasSuffix("test: 1 ok in 0.0s\nclosing\n"))
    #expect(stage.errors.isEmpty)
  }

  @Test func aViewOutlivesTheLastJob() async throws {
    let view = FakeView()
    let stage = try Stage(view, .plain)
    stage.feed.begin(1)
    stage.state(0, .succeeded(upToDate: false))
    #expect(await soon { stage.output.contains("+ job0") })
    view.leave(.quit)
    stage.feed.post(.runFinished(RunSummary()))
    #expect(await soon { !stage.statuses.isEmpty })
    #expect(stage.feed.commands == [.finish(signal: nil)])
    #expect(stage.output.hasSuffix("closing\n"))
  }

  @Test func theFinishNamesTheSignalThatStoppedTheRun() async throws {
    let stage = try Stage()
    stage.feed.begin(1)
    stage.state(0, .executing)
    stage.session?.receive(.interrupt)
    stage.feed.post(.stopRequested(.terminate, by: .signal))
    stage.state(0, .cancelled(by: .signal))
    #expect(await soon { stage.feed.commands.contains(.finish(signal: 2)) })
  }

  @Test func aSessionIsLeftOnce() throws {
    let stage = try Stage()
    stage.feed.begin(2)
    stage.state(0, .succeeded(upToDate: false))
    // A job has not ended.
    stage.session?.detach(stage.feed.run)
    #expect(stage.statuses == [3])
    stage.session?.detach(stage.feed.run)
    #expect(stage.statuses == [3] && stage.statusesAtCleanUp == [[]])
  }

  // MARK: What is told

  @Test func aRunThatIsNoLongerRecordedIsSaidSoAtOnce() async throws {
    let stage = try Stage()
    stage.session?.noteUnrecorded("the disk is full")
    #expect(await soon { !stage.errors.isEmpty })
    #expect(stage.errors == "opdash: the disk is full; the run goes on without being recorded\n")
  }

  @Test func aViewShowsThatARunIsNotRecordedAndTheSessionRepeatsItLast() async throws {
    let view = FakeView()
    let stage = try Stage(view)
    stage.feed.begin(1)
    stage.session?.noteUnrecorded("the disk is full")
    #expect(await soon { !view.reasons.isEmpty })
    #expect(view.reasons == ["the disk is full"])
    #expect(stage.errors.isEmpty)
    view.leave(.abandoned)
    #expect(stage.errors.hasSuffix("closing\nopdash: the disk is full; the run goes on without being recorded\n"))
  }

  @Test(arguments: [Settings.Interface.plain, .quiet])
  func theOfferIsTheLastLineOfARunThatIsRecorded(interface: Settings.Interface) async throws {
    for loss in [nil, "the disk is full"] {
      let stage = try Stage(nil, interface, loss: loss, offer: "offer")
      stage.feed.begin(1)
      stage.state(0, .succeeded(upToDate: false))
      stage.feed.post(.runFinished(RunSummary()))
      #expect(await soon { !stage.statuses.isEmpty })
      let text = interface == .plain ? stage.output : stage.errors
      #expect(text.contains("offer") == (loss == nil))
      if loss == nil { #expect(text.hasSuffix("closing\noffer\n")) }
    }
  }

  @Test func aRunThatIsNotRecordedAtItsEndIsSaidSoOnce() async throws {
    for isKnown in [false, true] {
      let stage = try Stage(loss: "the disk is full")
      stage.feed.begin(1)
      if isKnown { stage.session?.noteUnrecorded("the disk is full") }
      let said = isKnown ? "the run goes on without being recorded" : "the run is not recorded"
      if isKnown { #expect(await soon { !stage.errors.isEmpty }) }
      stage.session?.detach(stage.feed.run)
      #expect(stage.errors == "opdash: the disk is full; \(said)\n")
    }
  }

  @Test(.enabled(if: access("/dev/full", W_OK) == 0))
  func anOutputThatCannotBeWrittenStopsTheRunAndSaysWhy() async throws {
    let stage = try Stage(output: try Output.file("/dev/full"))
    stage.feed.begin(1)
    stage.state(0, .executing)
    #expect(await soon { !stage.feed.commands.isEmpty })
    #expect(stage.feed.commands == [.stop(.terminate, by: .signal)])
    #expect(stage.errors == "opdash: can't write /dev/full: No space left on device\n")
  }

  @Test func aClosedPipeStopsTheRunSilently() async throws {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    close(ends[0])
    defer { close(ends[1]) }
    let stage = try Stage(output: Output(ends[1]))
    stage.feed.begin(1)
    stage.state(0, .executing)
    #expect(await soon { !stage.feed.commands.isEmpty })
    #expect(stage.feed.commands == [.stop(.terminate, by: .signal)])
    #expect(stage.errors.isEmpty)
  }
}

/// A view that the test leaves.
@MainActor
private final class FakeView: LiveView {
  nonisolated let prompt = PromptFlag()
  private(set) var closings = 0
  private(set) var promptClosings = 0
  private(set) var suspensions = 0
  private(set) var reasons: [String] = []
  var whenClosed: () -> Void = {}
  private var whenDone: (@MainActor (Departure) -> Void)?

  func run(whenDone: @escaping @MainActor (Departure) -> Void) throws { self.whenDone = whenDone }
  func leave(_ departure: Departure) { whenDone?(departure) }
  func closePrompt() { promptClosings += 1 }
  func suspend() { suspensions += 1 }
  func showUnrecorded(_ reason: String) { reasons.append(reason) }

  func close() {
    closings += 1
    whenClosed()
  }
}

/// A session with its outputs in files and a clock that stands still.
@MainActor
private final class Stage {
  let feed: FakeFeed
  let clock = ManualOperationClock()
  let abandoned = Lock<[Int32]>([])
  private(set) var session: RunSession?
  private(set) var statuses: [Int32] = []
  private(set) var statusesAtCleanUp: [[Int32]] = []
  private let folder: TemporaryFolder

  init(
    _ view: FakeView? = nil, _ interface: Settings.Interface? = nil, output: Output? = nil, loss: String? = nil,
    offer: String? = nil, endsWithOutput: Bool = true, isReplay: Bool = false
  ) throws {
    feed = FakeFeed(isReplay: isReplay)
    folder = try TemporaryFolder()
    let display = RunSession.Display(
      interface ?? (view == nil ? .plain : .dashboard), of: "g", settings: Settings(), Environment(variables: [:]),
      output: try output ?? Output.file(folder.file("output").path()),
      errors: try Output.file(folder.file("errors").path()))
    session = RunSession(
      feed, display: display, view: view, closing: { _ in ["closing"] }, record: { loss }, offer: { _ in offer },
      cleanUp: { [weak self] in if let self { statusesAtCleanUp.append(statuses) } }, endsWithOutput: endsWithOutput,
      clock: clock,
      abandon: { [abandoned] end in abandoned.withLock { $0.append(end.status) } },
      exit: { [weak self] in self?.statuses.append($0.status) })
    try session?.begin {}
  }

  var output: String { text("output") }
  var errors: String { text("errors") }

  private func text(_ name: String) -> String { (try? String(contentsOf: folder.file(name), encoding: .utf8)) ?? "" }

  func state(_ id: Int, _ state: JobState) { feed.post(.jobState(JobID(id), state, attempt: 1, pid: nil)) }

  @Test func aRunThatIsLeftBeforeItsEndHasItsReport() throws {
    let folder = try TemporaryFolder()
    let null = try Output.file("/dev/null")
    let path = folder.file("junit.xml").path()
    let display = RunSession.Display(
      .quiet, of: "g", settings: Settings(), Environment(variables: [:]), output: null, errors: null,
      files: [(.junit, try Output.file(path))])
    let feed = FakeFeed()
    let statuses = Lock<[Int32]>([])
    let session = RunSession(feed, display: display, exit: { end in statuses.withLock { $0.append(end.status) } })
    try session.begin {}
    feed.begin(1)
    feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil))
    // The second kills; the third leaves the jobs that don't end.
    for _ in 0..<3 { session.receive(.interrupt) }
    #expect(statuses.withLock(\.self) == [130])
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("<skipped message=\"not run\"/>"))
  }
}
