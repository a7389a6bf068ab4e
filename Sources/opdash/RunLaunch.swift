import Basics
import Foundation
import JobEngine
import JobModel
import Remote
import Reports
import RunStore
import Screen
import Session

/// The start of a planned run, or its rehearsal.
@MainActor
struct RunLaunch {
  let context: CommandContext
  let plan: RunPlan
  let settings: Settings

  private var environment: Environment { context.environment }
  private var parts: ProgramParts { context.parts }

  /// The lines about the jobs that the run would execute.
  ///
  /// With `explains`, each with the reason that its check has found.
  func rehearsal(explains: Bool) throws -> [TerminalText] {
    guard case .graph(let graph) = plan.subject else {
      throw UsageError("\(plan.source) has a queue of its own: --dry-run can't tell what it would run")
    }
    let options = try? options()
    let earlier = options.flatMap { EarlierAttempts.known(ofFile: $0.origin.file, stateFolder: $0.stateFolder) }
    let restored = plan.queue.restored
    let mask = SecretMask(graph.secrets)
    let rehearsal = Rehearsal(graph, slots: slots(graph), restored: restored)
    var forecast = UpToDateCheck.Forecast()
    if !plan.queue.executesAll {
      forecast = UpToDateCheck.forecast(
        in: graph, without: Set(restored.keys).union(rehearsal.skipped.map(\.job)),
        earlier: { id in earlier?.newest(of: graph[id]) { graph[$0].name } },
        values: { earlier?.values(of: graph[$0]) })
    }
    func masked(_ text: String) -> String { mask?.masked(text) ?? text }
    var reasons = explains ? forecast.executed.mapValues(masked) : nil
    if explains, !plan.queue.executesAll, let earlier {
      // A job without files has no check.
      for id in graph.jobs.indices.map(JobID.init) where reasons?[id] == nil {
        switch earlier.newest(of: graph[id]) {
        case .unfinished: reasons?[id] = UpToDateCheck.unfinished
        case .executing: reasons?[id] = UpToDateCheck.executing
        default: break
        }
      }
    }
    let approved = try approved(in: graph, canAsk: true)
    let asking = graph.jobs.indices.map(JobID.init).filter { graph[$0].approval != nil && !approved.contains($0) }
    let lines = JobTable.rehearsal(
      graph.masked, of: plan.all?.masked ?? graph.masked, slots: slots(graph), rehearsal,
      upToDate: forecast.upToDate.mapValues(masked), asking: Set(asking), reasons: reasons, context.elision(settings))
    return lines.map(MessageText.of)
  }

  /// Starts the run and returns; nothing has started if it throws.
  func start() throws {
    do { try begin() } catch {
      plan.cleanUp()
      throw error
    }
  }

  private func begin() throws {
    if case .live = plan.subject, settings.slots != nil || settings.onFailure != nil {
      throw UsageError("\(plan.source) has a queue of its own: it takes neither --slots nor --on-failure")
    }
    // Without its view, the dashboard prints nothing.
    let interface = plan.rawOrder == nil ? try environment.interface(for: settings.interface) : .dashboard
    let hasView = interface == .dashboard && plan.rawOrder == nil
    let asks = interface == .plain && environment.inputIsTerminal && environment.errorIsTerminal && plan.arriving == nil
    var options = try options()
    var read = context.filesRead(settings, own: plan.files)
    if case .graph(let graph) = plan.subject {
      // A detached run is asked by programs that are attached to it.
      let canAsk = hasView || asks || context.detachment != nil
      let approved = try approved(in: graph, canAsk: canAsk)
      options?.queue.approved = approved
      options?.queue.canAsk = canAsk
      options?.origin.approvals = Approvals.recorded(approved, in: graph)
      try parts.checkCluster(graph)
      try checkTargets(of: graph, read)
      if !settings.files.isEmpty { addFiles(of: graph, to: &read) }
    }
    let files = try context.openFiles(settings, besides: read).files
    let written = files.map(\.output) + [context.output, context.errors]
    options?.queue.writtenFiles = Set(written.compactMap(\.identity))
    let run = try run(options)
    let feed = run.feed
    let arrivals = plan.arriving.flatMap { jobs in options.flatMap { parts.feed(feed, jobs, parts.arguments, $0) } }
    let isRecorded = plan.past == nil && run.unrecorded == nil
    let recording = isRecorded ? options.flatMap { parts.record(feed, $0) } : nil
    if recording != nil, let line = environment.stateNote(settings) { context.note(line) }
    let display = RunSession.Display(
      interface, of: plan.source, settings: settings, environment, output: context.output, errors: context.errors,
      files: files, showsProgress: environment.showsProgress(for: settings.interface))
    let serving = plan.past == nil ? Result { try serve(feed, isRecorded: recording != nil) } : nil
    let stopServing = try? serving?.get()
    var viewOptions = display.viewOptions
    viewOptions.canDetach = stopServing != nil && TerminalFront.isThere
    let view = hasView ? try parts.makeView(feed, viewOptions, plan.past ?? recording?.past) : nil
    let paint = context.paint(settings, onTerminal: environment.errorIsTerminal)
    let raw = plan.rawOrder.map {
      RawOutput(feed, order: $0, paint: paint, output: context.output, errors: context.errors)
    }
    raw?.start()
    let export = settings.collector.map { SpanExport(to: $0) }
    let exporting = export?.start(feed)
    let prompt = asks ? ApprovalPrompt(feed, errors: context.errors) : nil
    let closing: @MainActor (Run) -> [String] = { run in
      raw?.wait()
      return plan.closing(run)
    }
    let session = RunSession(
      feed, display: display, view: view, prompt: prompt, closing: closing,
      record: {
        let loss = recording?.finish()
        if let line = withExtendedLifetime(exporting, { export?.finish() }) { context.note(line) }
        return loss
      },
      offer: { run in recording == nil || raw != nil || interface == .json ? nil : resumption(of: run) },
      remaining: {
        let option = settings.state.map(ShellText.stateOption) ?? ""
        return feed.snapshot.start.map { "run \($0.id) keeps running; opdash attach\(option) \($0.id) shows it again" }
      },
      cleanUp: {
        Detachment.tell()
        stopServing?()
        plan.cleanUp()
      },
      end: raw == nil ? nil : .stopped, abandon: context.abandon, exit: context.end)
    recording?.whenLost { [weak session] in session?.noteUnrecorded($0) }
    parts.watchSignals(session)
    for file in files { file.output.empty() }
    do {
      try session.begin {
        recording?.start()
        run.start()
        arrivals?()
      }
    } catch {
      stopServing?()
      throw error
    }
    if let reason = run.unrecorded { session.noteUnrecorded(reason) }
    // Last, because it closes standard error. Without --detach, the command line has not asked for the socket.
    context.detachment?.announce(feed, recording, problem: serving?.failure.map { "\($0)" })
  }

  /// Shows the run to other programs of this user; returns what ends that.
  private func serve(_ feed: any JobFeed, isRecorded: Bool) throws -> @MainActor () -> Void {
    let stateFolder = environment.stateFolder(settings)
    let greeting = Greeting(
      pid: getpid(), run: "", name: plan.source, place: plan.file ?? environment.currentDirectory,
      stateFolder: isRecorded ? stateFolder : nil)
    let folders = SocketFolder.paths(runtimeFolder: environment.runtimeFolder, stateFolder: stateFolder)
    // A detached run may outlive the login, and with it the runtime folder.
    return try parts.serve(feed, greeting, context.detachment == nil ? folders : folders.reversed())
  }

  /// The line with the command that resumes the run; nil if nothing is left to do, or the jobs can't be read again.
  func resumption(of run: Run) -> String? {
    // A signal that ended the run counts for its status, and may have come when all was done.
    guard plan.isResumable, RunSummary(of: run).exit != ExitStatus.success, let id = run.start?.id else { return nil }
    return "resume it with: opdash resume\(settings.state.map(ShellText.stateOption) ?? "") \(id)"
  }

  /// Adds the files that jobs send, or have as inputs; the output and reports of earlier runs only where a job names
  /// them.
  private func addFiles(of graph: JobGraph, to read: inout FilesRead) {
    var own = Set(settings.files.compactMap { format, path in Self.report(format, environment.absolute(path)) })
    if let output = context.output.identity { own.insert(output) }
    for job in graph.jobs {
      for path in InputFiles.read(by: job) {
        let identity = FileIdentity(path: path.text)
        if let identity, own.contains(identity), case .shell = job.work, !job.inputs.contains(path.text) { continue }
        read.add(identity, "the file of job \(job.name), \(path.text)")
      }
    }
  }

  /// The file of an earlier report, which may be empty; nil for another file.
  private static func report(_ format: ReportFormat, _ path: String) -> FileIdentity? {
    // Opening a FIFO would block.
    guard let identity = FileIdentity(path: path), let file = FileHandle(forReadingAtPath: path) else { return nil }
    let head = (try? file.read(upToCount: format.head.utf8.count)) ?? Data()
    return head.isEmpty || head.elementsEqual(format.head.utf8) ? identity : nil
  }

  /// Throws where a download replaces a file that the command reads.
  private func checkTargets(of graph: JobGraph, _ read: FilesRead) throws(UsageError) {
    for job in graph.jobs {
      guard case .download(let work) = job.work, work.existing == .overwrite else { continue }
      try read.refuse(FileIdentity(path: work.file), "the file \(work.file) of job \(job.name)")
    }
  }

  private func approved(in graph: JobGraph, canAsk: Bool) throws(UsageError) -> Set<JobID> {
    try Approvals.of(
      settings.approved, earlier: plan.approvals, in: graph, of: plan.all, done: { plan.queue.restored[$0] != nil },
      canAsk: canAsk)
  }

  private func slots(_ graph: JobGraph) -> Int { settings.slots ?? graph.slots ?? environment.processors }

  /// Nil for a queue of its own that can't be recorded, because no state folder is known.
  private func options() throws -> RunOptions? {
    if case .live = plan.subject, environment.stateFolder(settings) == nil { return nil }
    var options = RunOptions(
      origin: RunOrigin(
        command: plan.command, words: plan.words, file: plan.file, directory: environment.currentDirectory,
        slots: environment.processors, onFailure: JobGraph.Failure.keepGoing.rawValue),
      stateFolder: try context.stateFolder(settings), retention: settings.retention, queue: plan.queue)
    guard case .graph(let graph) = plan.subject else { return options }
    let (slots, onFailure) = (slots(graph), settings.onFailure ?? graph.onFailure)
    options.origin.slots = slots
    options.origin.onFailure = onFailure.rawValue
    options.jobs = graph.jobs
    options.added = AddedJobReader(environment, engine: settings.engine)
    options.queue.slots = slots
    options.queue.silencedWarnings = settings.silencedWarnings
    options.queue.onFailure = onFailure
    options.queue.stateFolder = options.stateFolder
    options.queue.keepsShortLogs = plan.rawOrder == nil && plan.command != "get"
    options.queue.isOpen = plan.arriving != nil
    (options.queue.makeFlags, options.queue.makeJobserver) = (environment.makeFlags, environment.jobserver)
    if plan.command == "run" {
      let file = plan.file ?? "standard input"
      options.queue.variables[JobFileChain.variable] = try JobFileChain(environment).adding(file)
    }
    return options
  }

  private func run(_ options: RunOptions?) throws -> StartableRun {
    switch plan.subject {
    case .live(let feed, let start):
      (feed as? any FactStream.Source)?.silence(settings.silencedWarnings)
      return StartableRun(feed: feed, start: start)
    case .graph(var graph):
      guard let options else { preconditionFailure("a graph has options") }
      // The file's `stop_after` belongs to its own policy.
      if settings.onFailure != nil { graph.failureLimit = 1 }
      return try parts.makeRun(graph, options)
    }
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { return failure }
    return nil
  }
}
