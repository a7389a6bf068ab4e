import Basics
import Dashboard
import Foundation
import JobCluster
import JobEngine
import JobFiles
import JobModel
import Reports
import RunStore
import Screen
import Session

/// The commands of opdash.
@MainActor
struct Program {
  /// The parts that tests replace.
  struct Parts {
    /// Reads a job file, `-` for standard input; `vars` replace values of it, and `warn` is called with each warning.
    var load:
      @MainActor (_ path: String, Environment, _ vars: [String: String], _ warn: (JobFileFault) -> Void) throws
        -> JobGraph
    /// Reads the settings file; nil if there is none.
    var loadSettings: @MainActor (_ path: String) throws -> SettingsFile?
    /// Creates the run of a graph; the closure starts it, once `record` has begun.
    ///
    /// `unrecorded` is the reason why neither logs nor events are kept, if they are not.
    var makeRun: @MainActor (JobGraph, RunOptions) throws -> (feed: any JobFeed, start: () -> Void, unrecorded: String?)
    /// Prepares the recording of a run, which begins with `RunRecording.start`.
    var record: @MainActor (any JobFeed, RunOptions) -> RunRecording?
    var makeView: @MainActor (any JobFeed, ViewOptions, (any RunPast)?) throws -> any LiveView
    var openScenario: @MainActor (_ name: String, Environment) throws -> RunPlan
    var readList: @MainActor (_ path: String) throws -> String
    /// Reads a list of sums: a file, `-` for standard input, or a URL.
    var readSums: @MainActor (_ place: String) throws -> [UInt8] = { try DownloadSums.read($0) }
    /// The list of `opdash each`.
    var arguments = STDIN_FILENO
    /// Adds the jobs of that list to a run; the closure begins, once the run has started.
    var feed: @MainActor (any JobFeed, ArrivingJobs, Int32, RunOptions) -> (() -> Void)? = { _, _, _, _ in nil }
    /// Throws the resources that a graph's cluster jobs lack, before anything is started.
    var checkCluster: @MainActor (JobGraph) throws -> Void = { try ClusterCheck.check($0) }
    /// Sends signals to the session from now on.
    var watchSignals: @MainActor (RunSession) -> Void
  }

  struct RunOptions: Equatable {
    var origin: RunOrigin
    var stateFolder: String
    /// The hash of what decides each job's result, by identifier; empty for a program's own queue.
    var fingerprints: [String] = []
    var resumption: Resumption?
    var retention = Retention()
    /// Whether a person sees a dashboard, and can approve jobs there.
    var canAsk = true
    var approved: Set<JobID> = []
    /// Environment variables for the programs of all jobs.
    var variables: [String: String] = [:]
    /// See `JobQueueOptions`.
    var keepsShortLogs = true
    /// Whether jobs are added during the run.
    var isOpen = false

    var slots: Int { origin.slots }
    var onFailure: JobGraph.Failure { JobGraph.Failure(rawValue: origin.onFailure) ?? .keepGoing }
  }

  /// The parts of an earlier run that a run takes over.
  struct Resumption: Equatable {
    var run: String
    var restored: [JobID: EarlierSuccess]
    /// The hashes of the inputs that the restored jobs have read.
    var inputs: [JobID: String]
    /// The cluster jobs that are followed, because the earlier run may have left them.
    var clusterJobs: [JobID: EarlierClusterJob] = [:]
    /// Whether jobs are left out that have not ended.
    var leavesWork = false
    /// The approvals given when the earlier run started.
    var approvals: Set<String> = []
  }

  /// The recording of a run.
  struct RunRecording {
    var past: (any RunPast)?
    /// To be called before the run states its first fact.
    var start: @MainActor () -> Void
    /// Has `body` called, on any thread, when the recording ends before the run.
    var whenLost: @MainActor (_ body: @escaping @Sendable (String) -> Void) -> Void
    /// Waits until all events so far are on disk, a few seconds at most; returns why they are not.
    var finish: @MainActor () -> String?
  }

  var environment: Environment
  var output: Output
  var errors: Output
  var parts: Parts
  /// Ends the process at once; see `RunSession`.
  var abandon: @Sendable (ProgramEnd) -> Void = { $0.performAtOnce() }
  var end: @MainActor (ProgramEnd) -> Void

  /// Executes a command line; `end` is called now or at the end of the run.
  func perform(_ words: [String]) {
    if words.first == CompletionScript.command { return complete(Array(words.dropFirst())) }
    do { try perform(CommandLineParser.parse(words)) } catch { fail(error, errors) }
  }

  private func perform(_ invocation: Invocation) throws {
    if invocation.command.startsJobs { try StartCheck.currentFolder(environment) }
    switch invocation.command {
    case .help(let topic): print([MessageText.page((topic?.page ?? .program).text)])
    case .manual(let topic): print([MessageText.page(ManPage(page: topic?.page ?? .program).text)])
    case .completion(let script): print([MessageText.page(script.text)])
    case .version: print([MessageText.of(Version.text)])
    case .list(let file):
      print(JobTable.list(try load(file.map { [$0] } ?? [], invocation.vars).graph.masked).map(MessageText.of))
    case .check(let file): check(file.map { [$0] } ?? [], invocation.vars)
    case .graph(let words, let format): try printGraph(words, format, invocation)
    case .schema: print([MessageText.page(JobFileSchema.json())])
    case .keys: try printKeys(invocation.settings)
    case .run(let words):
      let settings = try withFile(invocation.settings)
      let (plan, all) = try runPlan(words, invocation)
      if case .graph(let graph) = plan.subject { try tellStaying(graph, settings) }
      if invocation.isDryRun { return try rehearse(plan, of: all, settings) }
      try start(plan, settings)
    case .get(let request):
      var settings = try withFile(invocation.settings)
      let plan = try downloadPlan(request, invocation)
      if invocation.isDryRun { return try rehearse(plan, settings) }
      settings.isBrief = true
      try start(plan, settings)
    case .each(let request):
      let settings = try withFile(invocation.settings)
      var plan = try eachPlan(request, invocation)
      if invocation.isDryRun { return try rehearse(plan, settings) }
      plan.rawOrder = try rawOrder(request, settings)
      try start(plan, settings)
    case .resume(let run, let onlyFailed): try resume(run, onlyFailed: onlyFailed, invocation)
    case .history(let file, let prunes): try history(file, prunes: prunes, invocation)
    case .replay(let name, let speed): try replay(name, speed: speed, invocation)
    case .report(let run, let html): try report(run, html: html, invocation)
    case .diff(let first, let second): try diff(first, second, invocation)
    case .demo(nil): print(RunPlan.list.map(MessageText.of))
    case .demo(let name?):
      let settings = try withFile(invocation.settings)
      var plan = try parts.openScenario(name, environment)
      plan.words = invocation.words
      guard invocation.isDryRun else { return try start(plan, settings) }
      plan.cleanUp()
      try rehearse(plan, settings)
    }
  }

  /// Prints lines and ends.
  func print(_ lines: [TerminalText]) {
    for line in lines { output.write(line: line) }
    exit(ExitStatus.success)
  }

  /// The job file that the words name, or that is found, and its jobs; warnings go to standard error.
  func load(_ words: [String], _ vars: [String: String]) throws -> (
    choice: JobFileSearch.Choice, graph: JobGraph
  ) {
    try load(words, vars) { print([$0], on: errors) }
  }

  func load(
    _ words: [String], _ vars: [String: String], warn: (JobFileFault) -> Void
  ) throws -> (choice: JobFileSearch.Choice, graph: JobGraph) {
    let choice = try JobFileSearch(directory: environment.currentDirectory).choose(words)
    if choice.isAbove { errors.write(line: MessageText.of("opdash: the job file is \(choice.file)")) }
    var read = FilesRead()
    read.add(environment.absolute(choice.file), "the job file")
    try output.check(read)
    return (choice, try parts.load(choice.file, environment, vars, warn))
  }

  /// Prints the jobs that a run would execute; `all` includes the file's jobs that were not asked for.
  func rehearse(_ plan: RunPlan, of all: JobGraph? = nil, _ settings: Settings) throws {
    guard case .graph(let graph) = plan.subject else {
      throw UsageError("\(plan.source) has a queue of its own: --dry-run can't tell what it would run")
    }
    let options = try? runOptions(plan, settings)
    let earlier = options.flatMap { EarlierAttempts.known(ofFile: $0.origin.file, stateFolder: $0.stateFolder) }
    let restored = plan.resumption?.restored ?? [:]
    let mask = SecretMask(graph.secrets)
    let upToDate = UpToDateCheck.upToDate(
      in: graph, restored: Set(restored.keys), earlier: { earlier?.newest(of: graph[$0]) },
      values: { earlier?.values(of: graph[$0]) }
    ).mapValues { mask?.masked($0) ?? $0 }
    let lines = JobTable.rehearsal(
      graph.masked, of: all?.masked ?? graph.masked, slots: slots(graph, settings), upToDate: upToDate,
      restored: restored)
    print(lines.map(MessageText.of))
  }

  func slots(_ graph: JobGraph, _ settings: Settings) -> Int {
    settings.slots ?? graph.slots ?? environment.processors
  }

  /// Answers a completion script, which has no use for a fault.
  private func complete(_ words: [String]) {
    let completion = Completion(
      words: words, scenarios: RunPlan.scenarios.map { .init(text: $0, summary: $1) },
      jobs: { file in
        let choice = try? JobFileSearch(directory: environment.currentDirectory).choose(file.map { [$0] } ?? [])
        // Completion must not wait for input.
        guard let choice, choice.file != "-", !ForeignFile.isPassed(choice.file),
          let graph = try? parts.load(choice.file, environment, [:], { _ in })
        else { return [] }
        return graph.masked.jobs.map { .init(text: $0.name, summary: JobSummary.description($0)) }
      },
      runs: {
        let store = environment.stateFolder(Settings()).flatMap { try? RunStore(folder: $0) }
        return ((try? store?.runs(50)) ?? []).map { .init(text: $0.id, summary: $0.name) }
      })
    print(completion.answer.lines)
  }

  /// The command line's settings, completed by the settings file.
  func withFile(_ settings: Settings) throws -> Settings {
    guard let path = environment.settingsFile, let file = try parts.loadSettings(path) else { return settings }
    return settings.over(file)
  }

  private func printKeys(_ settings: Settings) throws {
    let path = environment.settingsFile
    let file = try path.flatMap { try parts.loadSettings($0) }
    let settings = file.map { settings.over($0) } ?? settings
    let text = KeyListText(
      keys: KeyMap(changes: settings.keys), file: path, isThere: file != nil,
      paint: Paint(isColoured: environment.isColored(settings.color, onTerminal: environment.outputIsTerminal)),
      isASCII: environment.traits(settings).isASCII)
    print(text.lines)
  }

  private func printGraph(_ words: [String], _ format: GraphFormat, _ invocation: Invocation) throws {
    let (choice, graph) = try load(words, invocation.vars)
    let chosen = try JobSelection.of(choice.jobs, in: graph, file: choice.file)
    let text = format.text(
      of: chosen.masked, isASCII: environment.traits(invocation.settings).isASCII,
      width: environment.outputIsTerminal ? output.columns : nil)
    output.write(MessageText.page(text))
    exit(ExitStatus.success)
  }

  private func check(_ words: [String], _ vars: [String: String]) {
    do {
      var warnings = 0
      let (choice, graph) = try load(words, vars) { warning in
        warnings += 1
        print([warning], on: output)
      }
      let jobs = Format.count(graph.jobs.count, "job")
      let end = warnings == 0 ? "" : ", \(Format.count(warnings, "warning"))"
      output.write(line: MessageText.of("\(Self.lastComponent(choice.file)): \(jobs), no faults\(end)"))
      exit(ExitStatus.success)
    } catch let error as UsageError {
      fail(error, errors)
    } catch {
      fail(error, output)
    }
  }

  /// Says which jobs `--on slurm` has left on this machine.
  func tellStaying(_ graph: JobGraph, _ settings: Settings) throws(UsageError) {
    guard settings.engine == .slurm, let line = try ClusterCheck.staying(graph) else { return }
    errors.write(line: MessageText.of("opdash: \(line)"))
  }

  /// The jobs that `opdash run` with these words runs, and all jobs of the file.
  func runPlan(_ words: [String], _ invocation: Invocation) throws -> (RunPlan, all: JobGraph) {
    let (choice, loaded) = try load(words, invocation.vars)
    let graph = invocation.settings.engine.map { loaded.executed(by: $0) } ?? loaded
    let chosen = try JobSelection.of(choice.jobs, in: graph, file: choice.file)
    var plan = RunPlan(
      subject: .graph(chosen), source: Self.lastComponent(choice.file), command: "run", words: invocation.words,
      file: choice.file == "-" ? nil : environment.absolute(choice.file))
    if let file = plan.file { plan.files.add(file, "the job file") }
    for file in loaded.includedFiles { plan.files.add(file, "the included file") }
    return (plan, graph)
  }

  func downloadPlan(_ request: DownloadRequest, _ invocation: Invocation) throws -> RunPlan {
    var entries = request.urls.map { DownloadList.Entry(url: $0, place: nil) }
    if let list = request.list {
      entries += DownloadList.entries(in: try parts.readList(list), file: list == "-" ? "<stdin>" : list)
    }
    if let place = request.sums {
      let sums = try DownloadSums(parts.readSums(place), from: place)
      entries = try request.listedBase.map { try sums.entries(base: $0) } ?? sums.checked(entries)
    }
    // Created by the first download that has something to write into it.
    let target = environment.absolute(request.folder ?? environment.currentDirectory)
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: target, isDirectory: &isFolder), !isFolder.boolValue {
      throw UsageError("--dir takes a folder; \(target) is a file")
    }
    let graph = try DownloadList.graph(entries, request, folder: target).get()
    var plan = RunPlan(subject: .graph(graph), source: "get", command: "get", words: invocation.words)
    for list in [request.list, request.sums].compactMap(\.self) where list != "-" && !DownloadRequest.isURL(list) {
      plan.files.add(environment.absolute(list), "the list")
    }
    return plan
  }

  /// Starts a run and returns; nothing has started if it throws.
  func start(_ plan: RunPlan, _ settings: Settings) throws {
    do { try begin(plan, settings) } catch {
      plan.cleanUp()
      throw error
    }
  }

  private func begin(_ plan: RunPlan, _ settings: Settings) throws {
    // Without its view, the dashboard prints nothing.
    let interface = plan.rawOrder == nil ? try environment.interface(for: settings.interface) : .dashboard
    var options = try runOptions(plan, settings)
    if case .graph(let graph) = plan.subject {
      let canAsk = interface == .dashboard && plan.rawOrder == nil
      let approved = try Approvals.of(
        settings.approved, earlier: plan.resumption?.approvals ?? [], in: graph, canAsk: canAsk)
      options?.approved = approved
      options?.origin.approvals = Approvals.recorded(approved, in: graph)
      options?.canAsk = canAsk
      try parts.checkCluster(graph)
    }
    let read = filesRead(plan.files, settings)
    if case .graph(let graph) = plan.subject { try checkTargets(of: graph, read) }
    let files = try openFiles(settings, besides: read).files
    let (feed, start, unrecorded) = try makeFeed(plan, settings, options)
    let arrivals = plan.arriving.flatMap { jobs in options.flatMap { parts.feed(feed, jobs, parts.arguments, $0) } }
    let isRecorded = plan.past == nil && unrecorded == nil
    let recording = isRecorded ? options.flatMap { parts.record(feed, $0) } : nil
    let display = RunSession.Display(
      interface, of: plan.source, settings: settings, environment, output: output, errors: errors, files: files)
    let view =
      interface == .dashboard && plan.rawOrder == nil
      ? try parts.makeView(feed, display.viewOptions, plan.past ?? recording?.past) : nil
    let paint = Paint(isColoured: environment.isColored(settings.color, onTerminal: environment.errorIsTerminal))
    let raw = plan.rawOrder.map { RawOutput(feed, order: $0, paint: paint, output: output, errors: errors) }
    raw?.start()
    let closing: @MainActor (Run) -> [String] = { run in
      raw?.wait()
      return plan.closing(run)
    }
    let session = RunSession(
      feed, display: display, view: view, closing: closing, record: { recording?.finish() }, cleanUp: plan.cleanUp,
      end: raw == nil ? nil : .stopped, abandon: abandon, exit: end)
    recording?.whenLost { [weak session] in session?.noteUnrecorded($0) }
    parts.watchSignals(session)
    try session.begin {
      recording?.start()
      start()
      arrivals?()
    }
    if let unrecorded { session.noteUnrecorded(unrecorded) }
  }

  /// Also opens the page at `html`; nothing is written to a file that is read.
  func openFiles(
    _ settings: Settings, html: String? = nil, besides read: FilesRead
  ) throws -> (files: [(format: ReportFormat, output: Output)], page: Output?) {
    let formats = settings.files.keys.sorted { $0.rawValue < $1.rawValue }
    let paths = formats.map {
      URL(filePath: environment.absolute(settings.files[$0] ?? "")).standardizedFileURL.path(percentEncoded: false)
    }
    for index in paths.indices.dropFirst() {
      guard let first = paths[..<index].firstIndex(of: paths[index]) else { continue }
      let options = "--\(formats[first].rawValue) and --\(formats[index].rawValue)"
      throw UsageError("\(options) name one file, \(paths[index]): give each its own")
    }
    try output.check(read)
    var wanted = zip(formats, paths).map { format, path in (option: "--\(format.rawValue)", path: path) }
    if let html { wanted.append((option: "--html", path: environment.absolute(html))) }
    let outputs = try Output.files(wanted, besides: read)
    return (Array(zip(formats, outputs)), html == nil ? nil : outputs.last)
  }

  /// The files that a command reads: `own`, standard input, the settings, and the store of runs.
  func filesRead(_ own: FilesRead, _ settings: Settings) -> FilesRead {
    var files = own
    files.add(descriptor: parts.arguments, "standard input")
    if let file = environment.settingsFile { files.add(file, "the settings file") }
    if let folder = environment.stateFolder(settings) {
      for path in RunStore.files(in: folder) { files.add(path, "the store") }
    }
    return files
  }

  /// Throws where a download replaces a file that the command reads.
  private func checkTargets(of graph: JobGraph, _ read: FilesRead) throws(UsageError) {
    for job in graph.jobs {
      guard case .download(let work) = job.work, work.existing == .overwrite else { continue }
      try read.refuse(FileIdentity(path: work.file), "the file \(work.file) of job \(job.name)")
    }
  }

  /// Nil for a queue of its own that can't be recorded, because no state folder is known.
  private func runOptions(_ plan: RunPlan, _ settings: Settings) throws -> RunOptions? {
    guard let folder = environment.stateFolder(settings) else {
      if case .live = plan.subject { return nil }
      throw UsageError("neither HOME nor XDG_STATE_HOME says where runs are recorded; say it with --state DIR")
    }
    var options = RunOptions(
      origin: RunOrigin(
        command: plan.command, words: plan.words, file: plan.file, directory: environment.currentDirectory,
        slots: environment.processors, onFailure: JobGraph.Failure.keepGoing.rawValue),
      stateFolder: folder, resumption: plan.resumption, retention: settings.retention,
      keepsShortLogs: plan.rawOrder == nil, isOpen: plan.arriving != nil)
    if case .graph(let graph) = plan.subject {
      options.origin.slots = slots(graph, settings)
      options.origin.onFailure = (settings.onFailure ?? graph.onFailure).rawValue
      options.fingerprints = graph.jobs.map(Fingerprint.of)
      if plan.command == "run" {
        let file = plan.file ?? "standard input"
        options.variables[JobFileChain.variable] = try JobFileChain(environment).adding(file)
      }
    }
    return options
  }

  private func makeFeed(
    _ plan: RunPlan, _ settings: Settings, _ options: RunOptions?
  ) throws -> (feed: any JobFeed, start: () -> Void, unrecorded: String?) {
    switch plan.subject {
    case .live(let feed, let start):
      if settings.slots != nil || settings.onFailure != nil {
        throw UsageError("\(plan.source) has a queue of its own: it takes neither --slots nor --on-failure")
      }
      return (feed, start, nil)
    case .graph(let graph):
      guard let options else { preconditionFailure("a graph has options") }
      return try parts.makeRun(graph, options)
    }
  }

  func exit(_ status: Int32) { end(ProgramEnd(status)) }

  private func fail(_ error: any Error, _ output: Output) {
    switch error {
    case let error as UsageError: output.write(line: MessageText.of("opdash: \(error.message)"))
    case let faults as Faults: for line in faults.lines { output.write(line: MessageText.of(line)) }
    case let faults as JobFileFaults: print(faults.faults, on: output)
    default: output.write(line: MessageText.of("opdash: \(error)"))
    }
    end(ProgramEnd(before: error))
  }

  /// Prints faults or warnings with their lines of the file.
  private func print(_ faults: [JobFileFault], on output: Output) {
    for fault in faults {
      for line in fault.lines(width: output.columns) { output.write(line: MessageText.of(line)) }
    }
  }

  static func lastComponent(_ path: String) -> String {
    path == "-" ? "<stdin>" : path.split(separator: "/").last.map(String.init) ?? path
  }
}
