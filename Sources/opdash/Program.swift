import Dashboard
import Foundation
import JobFiles
import JobModel
import Reports
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
    /// Creates the run of a graph; the closure starts it.
    var makeRun: @MainActor (JobGraph, RunOptions) throws -> (feed: any JobFeed, start: () -> Void)
    var makeView: @MainActor (any JobFeed, ViewOptions) throws -> any LiveView
    var openScenario: @MainActor (_ name: String, Environment) throws -> RunPlan
    var readList: @MainActor (_ path: String) throws -> String
    /// Sends signals to the session from now on.
    var watchSignals: @MainActor (RunSession) -> Void
  }

  struct RunOptions: Equatable {
    var slots: Int
    var onFailure: JobGraph.Failure
    var stateFolder: String
  }

  var environment: Environment
  var output: Output
  var errors: Output
  var parts: Parts
  /// Ends the process at once; see `RunSession`.
  var abandon: @Sendable (Int32) -> Void = RunSession.exitAtOnce
  var exit: @MainActor (Int32) -> Void

  /// Executes a command line; `exit` is called now or at the end of the run.
  func perform(_ words: [String]) {
    if words.first == CompletionScript.command { return complete(Array(words.dropFirst())) }
    do { try perform(CommandLineParser.parse(words)) } catch { fail(error, errors) }
  }

  private func perform(_ invocation: Invocation) throws {
    if invocation.command.startsJobs { try StartCheck.currentFolder(environment) }
    switch invocation.command {
    case .help(let topic): print([(topic?.page ?? .program).text])
    case .manual(let topic): print([ManPage(page: topic?.page ?? .program).text])
    case .completion(let script): print([script.text])
    case .version: print([Version.text])
    case .list(let file):
      print(JobTable.list(try load(file.map { [$0] } ?? [], invocation.vars).graph).map(MessageText.of))
    case .check(let file): check(file.map { [$0] } ?? [], invocation.vars)
    case .keys: try printKeys(invocation.settings)
    case .run(let words):
      let settings = try withFile(invocation.settings)
      let (choice, graph) = try load(words, invocation.vars)
      let chosen = try JobSelection.of(choice.jobs, in: graph, file: choice.file)
      if invocation.isDryRun { return rehearse(chosen, of: graph, settings) }
      try start(RunPlan(subject: .graph(chosen), source: Self.lastComponent(choice.file)), settings)
    case .get(let request): try get(request, withFile(invocation.settings), isDryRun: invocation.isDryRun)
    case .demo(nil): print(RunPlan.list)
    case .demo(let name?):
      let settings = try withFile(invocation.settings)
      let plan = try parts.openScenario(name, environment)
      guard invocation.isDryRun else { return try start(plan, settings) }
      plan.cleanUp()
      guard case .graph(let graph) = plan.subject else {
        throw UsageError("\(name) has a queue of its own: --dry-run can't tell what it would run")
      }
      rehearse(graph, of: graph, settings)
    }
  }

  /// Prints lines and ends.
  private func print(_ lines: [String]) {
    for line in lines { output.write(line: line) }
    exit(ExitStatus.success)
  }

  /// The job file that the words name, or that is found, and its jobs; warnings go to standard error.
  private func load(_ words: [String], _ vars: [String: String]) throws -> (
    choice: JobFileSearch.Choice, graph: JobGraph
  ) {
    try load(words, vars) { print([$0], on: errors) }
  }

  private func load(
    _ words: [String], _ vars: [String: String], warn: (JobFileFault) -> Void
  ) throws -> (choice: JobFileSearch.Choice, graph: JobGraph) {
    let choice = try JobFileSearch(directory: environment.currentDirectory).choose(words)
    if choice.isAbove { errors.write(line: MessageText.of("opdash: the job file is \(choice.file)")) }
    return (choice, try parts.load(choice.file, environment, vars, warn))
  }

  private func rehearse(_ graph: JobGraph, of all: JobGraph, _ settings: Settings) {
    print(JobTable.rehearsal(graph, of: all, slots: slots(graph, settings)).map(MessageText.of))
  }

  private func slots(_ graph: JobGraph, _ settings: Settings) -> Int {
    settings.slots ?? graph.slots ?? environment.processors
  }

  /// Answers a completion script, which has no use for a fault.
  private func complete(_ words: [String]) {
    let completion = Completion(
      words: words, scenarios: RunPlan.scenarios.map { .init(text: $0, summary: $1) },
      jobs: { file in
        let choice = try? JobFileSearch(directory: environment.currentDirectory).choose(file.map { [$0] } ?? [])
        guard let choice, choice.file != "-", let graph = try? parts.load(choice.file, environment, [:], { _ in })
        else {
          return []
        }
        return graph.jobs.map { .init(text: $0.name, summary: MessageText.of(JobTable.description($0))) }
      })
    print(completion.answer.lines)
  }

  /// The settings of the command line, completed by those of the settings file.
  private func withFile(_ settings: Settings) throws -> Settings {
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

  private func get(_ request: DownloadRequest, _ settings: Settings, isDryRun: Bool) throws {
    var entries = request.urls.map { DownloadList.Entry(url: $0, place: nil) }
    if let list = request.list {
      entries += DownloadList.entries(in: try parts.readList(list), file: list == "-" ? "<stdin>" : list)
    }
    // Created by the first download that has something to write into it.
    let target = environment.absolute(request.folder ?? environment.currentDirectory)
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: target, isDirectory: &isFolder), !isFolder.boolValue {
      throw UsageError("--dir takes a folder; \(target) is a file")
    }
    let graph = try DownloadList.graph(entries, request, folder: target).get()
    if isDryRun { return rehearse(graph, of: graph, settings) }
    var settings = settings
    settings.isBrief = true
    try start(RunPlan(subject: .graph(graph), source: "get"), settings)
  }

  /// Starts a run and returns; nothing has started if it throws.
  private func start(_ plan: RunPlan, _ settings: Settings) throws {
    do { try begin(plan, settings) } catch {
      plan.cleanUp()
      throw error
    }
  }

  private func begin(_ plan: RunPlan, _ settings: Settings) throws {
    let interface = try environment.interface(for: settings.interface)
    let files = try openFiles(settings)
    let (feed, start) = try makeFeed(plan, settings)
    let display = RunSession.Display(
      interface, of: plan.source, settings: settings, environment, output: output, errors: errors, files: files)
    let view = interface == .dashboard ? try parts.makeView(feed, display.viewOptions) : nil
    let session = RunSession(
      feed, display: display, view: view, closing: plan.closing, cleanUp: plan.cleanUp, abandon: abandon,
      exit: exit)
    parts.watchSignals(session)
    try session.begin(start)
  }

  private func openFiles(_ settings: Settings) throws -> [(format: ReportFormat, output: Output)] {
    let formats = settings.files.keys.sorted { $0.rawValue < $1.rawValue }
    let paths = formats.map {
      URL(filePath: environment.absolute(settings.files[$0] ?? "")).standardizedFileURL.path(percentEncoded: false)
    }
    for index in paths.indices.dropFirst() {
      guard let first = paths[..<index].firstIndex(of: paths[index]) else { continue }
      let options = "--\(formats[first].rawValue) and --\(formats[index].rawValue)"
      throw UsageError("\(options) name one file, \(paths[index]): give each its own")
    }
    return try zip(formats, paths).map { format, path in (format, try Output.file(path)) }
  }

  private func makeFeed(_ plan: RunPlan, _ settings: Settings) throws -> (feed: any JobFeed, start: () -> Void) {
    switch plan.subject {
    case .live(let feed, let start):
      if settings.slots != nil || settings.onFailure != nil {
        throw UsageError("\(plan.source) has a queue of its own: it takes neither --slots nor --on-failure")
      }
      return (feed, start)
    case .graph(let graph):
      guard let folder = environment.stateFolder(settings) else {
        throw UsageError("neither HOME nor XDG_STATE_HOME says where runs are recorded; say it with --state DIR")
      }
      return try parts.makeRun(
        graph,
        RunOptions(
          slots: slots(graph, settings), onFailure: settings.onFailure ?? graph.onFailure, stateFolder: folder))
    }
  }

  private func fail(_ error: any Error, _ output: Output) {
    switch error {
    case let error as UsageError: output.write(line: MessageText.of("opdash: \(error.message)"))
    case let faults as Faults: for line in faults.lines { output.write(line: MessageText.of(line)) }
    case let faults as JobFileFaults: print(faults.faults, on: output)
    default: output.write(line: MessageText.of("opdash: \(error)"))
    }
    exit(ExitStatus.usage)
  }

  /// Prints faults or warnings with their lines of the file.
  private func print(_ faults: [JobFileFault], on output: Output) {
    for fault in faults {
      for line in fault.lines(width: output.columns) { output.write(line: MessageText.of(line)) }
    }
  }

  private static func lastComponent(_ path: String) -> String {
    path == "-" ? "<stdin>" : path.split(separator: "/").last.map(String.init) ?? path
  }
}
