import Basics
import CTerminal
import Dashboard
import Foundation
import JobModel
import NcursesTerminal
import Reports
import Screen

/// One run from its start to its exit status: connects the feed with reports, dashboard and signals.
@MainActor
package final class RunSession {
  /// The outputs of a run.
  package struct Display {
    let interface: Settings.Interface
    let outputPaint: Paint
    let grouping: PlainReport.Grouping
    let errorPaint: Paint
    let output: Output
    let errors: Output
    let isBrief: Bool
    /// The reports that are written to files.
    let files: [(format: ReportFormat, output: Output)]
    /// The output of the inline interface.
    let stream: InlineStream?
    /// The line of progress; nil if standard output is a terminal.
    let progress: ProgressLine?

    package let viewOptions: ViewOptions

    /// Creates the outputs; `program` is captured while an inline interface is shown.
    ///
    /// With `showsProgress`, standard error has a line of progress.
    package init(
      _ interface: Settings.Interface, of source: String, settings: Settings, _ environment: Environment,
      output: Output, errors: Output, files: [(format: ReportFormat, output: Output)] = [],
      program: ProgramOutput? = nil, showsProgress: Bool = false
    ) {
      func paint(_ isTerminal: Bool) -> Paint {
        Paint(isColoured: environment.isColored(settings.color, onTerminal: isTerminal))
      }
      self.interface = interface
      outputPaint = paint(environment.outputIsTerminal)
      errorPaint = paint(environment.errorIsTerminal)
      grouping = environment.grouping(for: settings.grouping)
      self.output = output
      self.errors = errors
      isBrief = settings.isBrief
      self.files = files
      viewOptions = ViewOptions(source: source, settings: settings, environment)
      stream = interface == .inline ? InlineStream(output, options: viewOptions, program: program) : nil
      let traits = environment.traits(settings, onTerminal: environment.errorIsTerminal)
      progress = showsProgress ? ProgressLine(traits: traits, outputs: [output, errors]) : nil
    }
  }

  nonisolated private let feed: any JobFeed
  private let display: Display
  private let view: (any LiveView)?
  nonisolated private let hasView: Bool
  /// Whether the dashboard only shows the run, which is another program's or over: leaving it changes nothing.
  nonisolated private let onlyShows: Bool
  nonisolated private let prompt: PromptFlag?
  private let pump: ReportPump
  /// Files are written apart from the output, whose reader may be slow.
  private let filePump: ReportPump?
  private let endsWithOutput: Bool
  private let exit: @MainActor (ProgramEnd) -> Void
  private let closing: @MainActor (Run) -> [String]
  private let record: @MainActor () -> String?
  private let offer: @MainActor (Run) -> String?
  private let remaining: @MainActor () -> String?
  private let cleanUp: @MainActor () -> Void
  nonisolated private let stop: StopController
  /// The errors of files, to be shown at the end.
  private var fileFailures: [TerminalText] = []
  /// Why the run is no longer recorded, to be shown after a dashboard.
  private var unrecorded: TerminalText?
  private var isToldUnrecorded = false
  private var offered: String?
  /// Whether the program of the run is gone, so that nothing can be offered.
  private var isLost = false
  /// The number of pumps that have not seen the end of the run.
  private var pumping = 0
  private var hasEnded = false
  private var window: (any DispatchSourceSignal)?

  /// Creates a session, which its owner keeps until `exit` is called, once.
  ///
  /// `prompt` asks its questions below the reports. `closing` gives lines to print after them. `record` is called once,
  /// when nothing else is to be done: it waits for the record of the run, and returns why there is none. `offer` gives
  /// the last line of a run that is recorded, `remaining` the line for a run that leaves its terminal. `cleanUp` is
  /// called once, before `exit`. `view` is there when the interface is the dashboard. By default the run ends when the
  /// person leaves the view, or without a view when no job can change any more; a replay without a view ends as it was
  /// recorded. `abandon` ends the process where a signal has ended the run and the session can't leave, because its
  /// output has no reader; it is called on another queue.
  package init(
    _ feed: any JobFeed, display: Display, view: (any LiveView)? = nil, prompt asking: ApprovalPrompt? = nil,
    closing: @escaping @MainActor (Run) -> [String] = { _ in [] },
    record: @escaping @MainActor () -> String? = { nil },
    offer: @escaping @MainActor (Run) -> String? = { _ in nil },
    remaining: @escaping @MainActor () -> String? = { nil }, cleanUp: @escaping @MainActor () -> Void = {},
    end: ReportPump.EndCondition? = nil, endsWithOutput: Bool = true, clock: any OperationClock = .system,
    abandon: @escaping @Sendable (ProgramEnd) -> Void = { $0.performAtOnce() },
    exit: @escaping @MainActor (ProgramEnd) -> Void
  ) {
    self.feed = feed
    self.display = display
    self.view = view
    hasView = view != nil
    onlyShows = feed.attachment != nil || view != nil && feed.isReplay
    prompt = view?.prompt
    self.closing = closing
    self.record = record
    self.offer = offer
    self.remaining = remaining
    self.cleanUp = cleanUp
    self.endsWithOutput = endsWithOutput
    self.exit = exit
    let end = end ?? (feed.isReplay || feed.attachment != nil ? .never : view == nil ? .complete : .stopped)
    let output = display.output
    // A reader that was taken for gone does not delay the end by lines that are dropped.
    let reports = Self.reports(display) + (asking.map { [ApprovalReport($0)] } ?? [])
    pump = ReportPump(feed, reports: reports, end: end, showsLogs: { !output.isDropping })
    let files = display.files.map { file in file.format.report { file.output.write($0) } }
    filePump = files.isEmpty ? nil : ReportPump(feed, reports: files, end: .stopped)
    stop = StopController(feed, hasView: view != nil, clock: clock, abandon: abandon)
  }

  /// Subscribes to the run, opens the view, then calls `start`; if the screen can't be used it throws and starts nothing.
  package func begin(_ start: () -> Void) throws {
    display.output.whenLost { [weak self] _ in onMain(self) { $0.loseOutput() } }
    // The run continues without a file; the exit status reports the loss.
    for (_, file) in display.files {
      file.whenLost { [weak self, weak file] _ in
        guard let loss = file?.loss else { return }
        onMain(self) { $0.fileFailures.append(MessageText.of("opdash: \(loss)")) }
      }
    }
    pumping = filePump == nil ? 1 : 2
    let whenFinished: @Sendable (Run) -> Void = { [weak self] run in onMain(self) { $0.pumpHasFinished(run) } }
    pump.start(whenEnding: { [weak self] in onMain(self) { $0.finish() } }, whenFinished: whenFinished)
    filePump?.start(whenEnding: {}, whenFinished: whenFinished)
    try view?.run { [weak self] end in self?.viewHasLeft(end) }
    openStream()
    start()
    let (pump, outputs) = (pump, [display.output, display.errors] + display.files.map(\.output))
    let (holdsTerminal, streamed) = (holdsTerminal, display.stream == nil ? nil : display.output)
    let early = stop.begin(
      StopController.Session(
        whenIdle: { body in pump.whenIdle { DispatchQueue.main.async(execute: body) } },
        written: { outputs.reduce(0) { $0 + $1.written } },
        // A dashboard writes to the terminal itself.
        isBlocked: { [hasView] in (hasView && terminal_guard_is_full()) || outputs.contains { $0.isBlocked } },
        // A terminal that was held is not touched any more once it is restored.
        discard: { isForGood in
          if holdsTerminal {
            guard terminal_guard_discard() else { return false }
            // Not all of it, as without a view: what follows takes the view off the terminal.
            if isForGood { streamed?.shorten() }
            return true
          }
          return outputs.reduce(false) { $1.discard(isForGood: isForGood) || $0 }
        },
        leave: { [weak self] status in onMain(self) { $0.leaveUnfinished(status) } }))
    // All before the first answer, whose output may wait for its reader.
    for (cause, actions) in early.map({ ($0, react(to: $0)) }) { perform(actions, cause) }
  }

  /// Handles an event with the effect of a signal.
  package func receive(_ cause: StopSequence.Cause) { perform(react(to: cause), cause) }

  /// Handles a signal, from any thread; waits for neither the main queue nor an output.
  package nonisolated func receiveSignal(_ cause: StopSequence.Cause) {
    react(to: cause) { actions in onMain(self) { $0.perform(actions, cause) } }
  }

  /// Calls `body` once the queue and the clock that end a stopped run have come round.
  package nonisolated func whenResponsive(_ body: @escaping @Sendable () -> Void) { stop.whenResponsive(body) }

  @discardableResult
  nonisolated private func react(
    to cause: StopSequence.Cause, _ begin: ([StopSequence.Action]) -> Void = { _ in }
  ) -> [StopSequence.Action] {
    if cause == .interrupt, stop.signal == nil, prompt?.take() == true {
      onMain(self) { $0.view?.closePrompt() }
      return []
    }
    // Ctrl-C closes a dashboard whose run is complete.
    if hasView, cause == .interrupt, stop.signal == nil {
      let run = feed.snapshot
      if run.summary == nil ? run.isComplete : feed.isReplay {
        stop.countInterrupt()
        finish()
        return []
      }
    }
    return stop.receive(cause, begin)
  }

  private func perform(_ actions: [StopSequence.Action], _ cause: StopSequence.Cause) {
    for action in actions {
      switch action {
      case .send: break
      case .announce(let level):
        // The dashboard has a banner for it, and a closed output has no reader.
        guard view == nil, cause != .outputClosed else { continue }
        say(StopText.line(level, feed.snapshot))
      case .leave(let status): if feed.attachment == nil { leave(status) } else { leaveRun(status) }
      }
    }
  }

  /// Whether the terminal must be restored before another process uses it.
  package var holdsTerminal: Bool { view != nil || display.stream != nil }

  /// Handles Ctrl-Z: restores the terminal and stops the process; returns when it continues.
  package func suspend() {
    view?.suspend()
    display.stream?.suspend()
    pump.poke()
  }

  private func openStream() {
    guard let stream = display.stream else { return }
    stream.open { [pump] in pump.poke() }
    let window = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .main)
    window.setEventHandler { [pump] in
      stream.invalidate()
      pump.poke()
    }
    window.activate()
    self.window = window
  }

  /// Shows a line about the program itself.
  private func say(_ line: TerminalText) {
    guard let stream = display.stream else { return display.errors.write(line: line) }
    stream.append(line + "\n")
    stream.invalidate()
    pump.poke()
  }

  /// Shows that the run is no longer recorded, and why; from any thread.
  package nonisolated func noteUnrecorded(_ reason: String) {
    onMain(self) { $0.tellUnrecorded(reason) }
  }

  private func tellUnrecorded(_ reason: String) {
    guard !isToldUnrecorded, !hasEnded else { return }
    isToldUnrecorded = true
    let line: TerminalText = "opdash: \(reason); the run goes on without being recorded"
    guard let view else { return say(line) }
    view.showUnrecorded(reason)
    unrecorded = line
  }

  /// Ends the session at once, even if jobs execute; the status is the present one of `run`.
  package func detach(_ run: Run) { leave((run.summary ?? RunSummary(of: run, signal: stop.signal)).exit) }

  nonisolated private func finish() {
    guard !onlyShows else { return onMain(self) { $0.leaveRun(ExitStatus.success) } }
    feed.send(.finish(signal: stop.signal))
  }

  /// Leaves a run that is only shown; the status is the run's if it has ended.
  private func leaveRun(_ status: Int32) {
    let run = feed.snapshot
    if run.summary != nil || run.isComplete { return end(run) }
    view?.close()
    offered = offer(run)
    leave(status)
  }

  /// Ends the session because nothing more comes from the program that has the run; `recorded` is the run as recorded.
  package func lose(_ reason: String, recorded: Run? = nil) {
    guard !hasEnded else { return }
    let run = recorded ?? feed.snapshot
    if run.summary == nil, !run.isComplete {
      isLost = true
      view?.close()
      display.errors.write(line: MessageText.of("opdash: \(reason)"))
    } else if view != nil, recorded == nil {
      // The dashboard closes by itself, unless it is kept open.
      return
    }
    end(run)
  }

  private func viewHasLeft(_ end: Departure) {
    switch end {
    case .complete, .stopped, .quit: finish()
    case .detached:
      if let line = remaining() { display.errors.write(line: MessageText.of(line)) }
      TerminalFront.leave()
      pump.endWhenComplete()
    case .terminalClosed: receive(.hangup)
    case .abandoned:
      tell(feed.snapshot)
      leave(stop.signal.map(ExitStatus.signal) ?? ExitStatus.workLeft)
    }
  }

  /// A closed pipe, as in `| head`, ends the run as SIGPIPE ends other programs; `endsWithOutput` is false for the
  /// operations of a program, which may do more than write lines.
  private func loseOutput() {
    if let loss = display.output.loss, display.output.failure != EPIPE {
      display.errors.write(line: MessageText.of("opdash: \(loss)"))
    }
    if endsWithOutput { receive(.outputClosed) }
  }

  private func pumpHasFinished(_ run: Run) {
    pumping -= 1
    // A run that is only shown may end at any time: the dashboard closes by itself, unless it is kept open.
    if pumping == 0, !onlyShows || view == nil { end(run) }
  }

  private func end(_ run: Run) {
    guard !hasEnded else { return }
    view?.close()
    tell(run)
    // A signal that this program got has not ended the run of another one.
    let signal = feed.attachment == nil ? stop.signal : nil
    leave((run.summary ?? RunSummary(of: run, signal: signal)).exit)
  }

  /// Prints the summary after a dashboard, and the closing lines.
  private func tell(_ run: Run) {
    // A replay has done nothing that could be told.
    if view != nil, !feed.isReplay {
      for line in SummaryReport.lines(of: run, paint: display.errorPaint) { display.errors.write(line: line) }
    }
    for line in closing(run) { closingOutput.write(line: MessageText.of(line)) }
    offered = isLost ? nil : offer(run)
  }

  private var closingOutput: Output {
    [.plain, .inline].contains(display.interface) ? display.output : display.errors
  }

  /// Leaves a stopped run whose jobs don't end.
  private func leaveUnfinished(_ status: Int32) {
    guard !hasEnded else { return }
    offered = offer(feed.snapshot)
    leave(status)
  }

  private func leave(_ status: Int32) {
    guard !hasEnded else { return }
    hasEnded = true
    view?.close()
    window?.cancel()
    display.stream?.close()
    display.progress?.close()
    let run = feed.snapshot
    if run.summary == nil, feed.attachment == nil, !feed.isReplay, let line = StopText.left(run) {
      display.errors.write(line: line)
    }
    if run.summary == nil { filePump?.leave(run) }
    let loss = record()
    if let loss, !isToldUnrecorded { unrecorded = "opdash: \(loss); the run is not recorded" }
    if let unrecorded { display.errors.write(line: unrecorded) }
    if let offered, loss == nil, !isToldUnrecorded { closingOutput.write(line: MessageText.of(offered)) }
    for failure in fileFailures { display.errors.write(line: failure) }
    cleanUp()
    stop.close()
    exit(stop.end(!fileFailures.isEmpty && status == ExitStatus.success ? ExitStatus.jobFailed : status))
  }

  private static func reports(_ display: Display) -> [any Report] {
    let (output, errors, paint) = (display.output, display.errors, display.outputPaint)
    let progress = display.progress.map { [ProgressReport($0, options: display.viewOptions)] } ?? []
    let reports: [any Report] =
      switch display.interface {
      case .dashboard: []
      case .inline: display.stream.map { [InlineReport($0, paint: paint, grouping: display.grouping)] } ?? []
      case .plain:
        [PlainReport(paint: paint, grouping: display.grouping, isBrief: display.isBrief) { output.write($0) }]
      case .json: [JSONReport { output.write($0) }]
      case .quiet: [QuietReport(paint: display.errorPaint) { errors.write($0) }]
      }
    return reports + progress
  }
}

/// Calls `body` on the main queue, unless the session is gone.
private func onMain(_ session: RunSession?, _ body: @escaping @MainActor @Sendable (RunSession) -> Void) {
  guard let session else { return }
  onMain { body(session) }
}
