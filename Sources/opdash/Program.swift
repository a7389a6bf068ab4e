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
    /// Reads a job file; `-` is standard input.
    var load: @MainActor (_ path: String, Environment) throws -> JobGraph
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
    do { try perform(CommandLineParser.parse(words)) } catch { fail(error, errors) }
  }

  private func perform(_ invocation: Invocation) throws {
    if invocation.command.startsJobs { try StartCheck.currentFolder(environment) }
    switch invocation.command {
    case .help(let command):
      output.write(line: HelpText.of(command))
      exit(ExitStatus.success)
    case .version:
      output.write(line: HelpText.version)
      exit(ExitStatus.success)
    case .check(let file): check(file)
    case .keys: try printKeys(invocation.settings)
    case .run(let file, let jobs):
      let settings = try withFile(invocation.settings)
      let graph = try parts.load(file, environment)
      let chosen = try JobSelection.of(jobs, in: graph, file: file)
      try start(RunPlan(subject: .graph(chosen), source: Self.lastComponent(file)), settings)
    case .get(let urls, let list, let folder):
      try get(urls, list: list, folder: folder, withFile(invocation.settings))
    case .demo(nil):
      for line in RunPlan.list { output.write(line: line) }
      exit(ExitStatus.success)
    case .demo(let name?):
      let settings = try withFile(invocation.settings)
      try start(try parts.openScenario(name, environment), settings)
    }
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
    for line in text.lines { output.write(line: line) }
    exit(ExitStatus.success)
  }

  private func check(_ file: String) {
    do {
      let jobs = Format.count(try parts.load(file, environment).jobs.count, "job")
      output.write(line: MessageText.of("\(Self.lastComponent(file)): \(jobs), no faults"))
      exit(ExitStatus.success)
    } catch {
      fail(error, output)
    }
  }

  private func get(_ urls: [String], list: String?, folder: String?, _ settings: Settings) throws {
    var entries = urls.map { DownloadList.Entry(url: $0, place: nil) }
    if let list {
      let text: String
      do { text = try parts.readList(list) } catch {
        throw UsageError("can't read \(list): \(error.localizedDescription)")
      }
      entries += DownloadList.entries(in: text, file: list == "-" ? "<stdin>" : list)
    }
    let target = environment.absolute(folder ?? environment.currentDirectory)
    let graph = try DownloadList.graph(entries, folder: target).get()
    try NewFolder.make(target, mend: "name another with -d DIR")
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
    let trace = try settings.trace.map { path throws(UsageError) in try Output.file(environment.absolute(path)) }
    let (feed, start) = try makeFeed(plan, settings)
    let display = RunSession.Display(
      interface, of: plan.source, settings: settings, environment, output: output, errors: errors, trace: trace)
    let view = interface == .dashboard ? try parts.makeView(feed, display.viewOptions) : nil
    let session = RunSession(
      feed, display: display, view: view, closing: plan.closing, cleanUp: plan.cleanUp, abandon: abandon,
      exit: exit)
    parts.watchSignals(session)
    try session.begin(start)
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
          slots: settings.slots ?? graph.slots ?? environment.processors,
          onFailure: settings.onFailure ?? graph.onFailure, stateFolder: folder))
    }
  }

  private func fail(_ error: any Error, _ output: Output) {
    let lines =
      switch error {
      case let error as UsageError: ["opdash: \(error.message)"]
      case let faults as Faults: faults.lines
      case let faults as JobFileFaults: faults.faults.map(\.description)
      default: ["opdash: \(error)"]
      }
    for line in lines { output.write(line: MessageText.of(line)) }
    exit(ExitStatus.usage)
  }

  private static func lastComponent(_ path: String) -> String {
    path == "-" ? "<stdin>" : path.split(separator: "/").last.map(String.init) ?? path
  }
}
