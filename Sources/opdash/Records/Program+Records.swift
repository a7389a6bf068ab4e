import Basics
import Foundation
import JobModel
import Reports
import RunStore
import Screen
import Session

/// The commands about recorded runs.
extension Program {
  /// The store of the state folder, which is empty where nothing was recorded.
  func openStore(_ settings: Settings) throws -> RunStore {
    guard let folder = environment.stateFolder(settings) else {
      throw UsageError("neither HOME nor XDG_STATE_HOME says where runs are recorded; say it with --state DIR")
    }
    return try RunStore(folder: folder)
  }

  func report(_ name: String, html: String?, _ invocation: Invocation) throws {
    let (files, page) = try openFiles(
      invocation.settings, html: html, besides: filesRead(FilesRead(), invocation.settings))
    let store = try openStore(invocation.settings)
    let run = Run(recorded: try store.events(of: store.run(named: name)))
    if let page { page.write(Array(HTMLReport(run).text.utf8)) }
    for (format, file) in files where format == .junit { file.write(Array(JUnitReport.document(run).utf8)) }
    if page == nil, files.isEmpty {
      print(RunReportText(run, paint: outputPaint(invocation.settings)).lines)
    } else {
      exit(ExitStatus.success)
    }
  }

  func diff(_ first: String, _ second: String, _ invocation: Invocation) throws {
    let store = try openStore(invocation.settings)
    let runs = try [first, second].map { Run(recorded: try store.events(of: store.run(named: $0))) }
    print(RunDiff(from: runs[0], to: runs[1]).lines(paint: outputPaint(invocation.settings)))
  }

  func history(_ file: String?, prunes: Bool, _ invocation: Invocation) throws {
    let store = try openStore(invocation.settings)
    if prunes {
      let pruned = try store.prune(withFile(invocation.settings).retention)
      return print(["\(Format.count(pruned.runs, "run")) removed, \(Format.bytes(Int64(pruned.bytes)))"])
    }
    let found = try? JobFileSearch(directory: environment.currentDirectory).find()
    let path = (file ?? found?.path).map(environment.absolute)
    if let file, let path, !FileManager.default.fileExists(atPath: path) {
      throw UsageError("there is no job file \(file)")
    }
    let runs = try path.map { try store.lastRuns(ofFile: $0, Self.shownRuns) } ?? store.runs(Self.shownRuns)
    // Without its jobs if the file has faults, which opdash check names.
    let jobs = path.flatMap { try? parts.load($0, environment, invocation.vars, { _ in }).jobs.map(\.name) } ?? []
    let ends = path.map { store.recordedEnds(ofFile: $0, jobs: jobs.count) } ?? [:]
    let table = HistoryTable(
      runs: runs, jobs: jobs.map { .init(name: $0, ends: ends[$0] ?? []) },
      paint: outputPaint(invocation.settings), width: output.columns, isGoingOn: { store.isGoingOn($0) })
    print(table.lines)
  }

  /// How many runs `opdash history` lists.
  private static let shownRuns = 20

  func replay(_ name: String, speed: Double, _ invocation: Invocation) throws {
    var settings = try withFile(invocation.settings)
    // A person wants to look at the recording after it was played.
    if settings.keepOpen == .onFailure { settings.keepOpen = .always }
    let events = try recording(name, settings)
    guard !events.isEmpty else { throw UsageError("\(name) has no events: its run was killed before the first") }
    let isDashboard = try environment.interface(for: settings.interface) == .dashboard
    let feed = RecordedFeed(events, speed: speed, holdsEnd: isDashboard)
    var plan = RunPlan(subject: .live(feed, start: { feed.start() }), source: Self.lastComponent(name))
    plan.past = RecordedPast(events)
    plan.files.add(environment.absolute(name), "the recording")
    try start(plan, settings)
  }

  /// The events of a file, or of the run of that name.
  private func recording(_ name: String, _ settings: Settings) throws -> [JobEvent] {
    let path = environment.absolute(name)
    guard name.contains("/") || FileManager.default.fileExists(atPath: path) else {
      let store = try openStore(settings)
      return try store.events(of: store.run(named: name))
    }
    do {
      return try Recording(ForeignFile.contents(path, .argument, limit: Self.recordingLimit)).events
    } catch let fault as EventFault {
      throw UsageError("\(name):\(fault.line): \(fault.message)")
    } catch let problem as FileProblem {
      throw UsageError("can't read \(name): \(problem.message)")
    }
  }

  /// A recording is held in memory, several times as large.
  private static let recordingLimit = 1 << 30

  private func outputPaint(_ settings: Settings) -> Paint {
    Paint(isColoured: environment.isColored(settings.color, onTerminal: environment.outputIsTerminal))
  }
}
