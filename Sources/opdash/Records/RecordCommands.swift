import Basics
import Foundation
import JobFiles
import JobModel
import Reports
import RunStore
import Screen
import Session

/// The commands about recorded runs.
@MainActor
struct RecordCommands {
  let context: CommandContext
  let invocation: Invocation

  private var settings: Settings { invocation.settings }
  private var environment: Environment { context.environment }
  private var paint: Paint { context.paint(settings, onTerminal: environment.outputIsTerminal) }

  /// How many runs `opdash history` lists.
  private static let shownRuns = 20
  /// A recording is held in memory, several times as large.
  private static let recordingLimit = 1 << 30

  /// The store of the state folder, which is empty where nothing was recorded.
  private func store() throws -> RunStore { try RunStore(folder: context.stateFolder(settings)) }

  func report(_ name: String, html: String?) throws {
    let read = context.filesRead(settings)
    if let page = html.map(environment.absolute) { try read.refuse(FileIdentity(path: page), "--html \(page)") }
    let store = try store()
    let run = Run(recorded: try store.events(of: store.run(named: name)))
    // Only if there is something to write.
    let (files, page) = try context.openFiles(settings, html: html, besides: read)
    if invocation.wantsJSON { return context.print(document: RecordedJSON.report(run)) }
    if let page { page.replace(with: Array(HTMLReport(run).text.utf8)) }
    for (format, file) in files where format == .junit { file.replace(with: Array(JUnitReport.document(run).utf8)) }
    if page == nil, files.isEmpty {
      context.print(RunReportText(run, paint: paint).lines)
    } else {
      context.finish([page].compactMap(\.self) + files.map(\.output))
    }
  }

  func diff(_ first: String, _ second: String) throws {
    let store = try store()
    let runs = try [first, second].map { Run(recorded: try store.events(of: store.run(named: $0))) }
    let diff = RunDiff(from: runs[0], to: runs[1])
    if invocation.wantsJSON { return context.print(document: RecordedJSON.diff(diff)) }
    context.print(diff.lines(paint: paint))
  }

  func history(_ file: String?, prunes: Bool) throws {
    let store = try store()
    if prunes {
      let pruned = try store.prune(context.withFile(settings).retention)
      return context.print(["\(Format.count(pruned.runs, "run")) removed, \(Format.bytes(Int64(pruned.bytes)))"])
    }
    let found = try? JobFileSearch(directory: environment.currentDirectory).find()
    let path = (file ?? found?.path).map { JobFile.path(of: $0, in: environment.currentDirectory) }
    if let file, let path, !FileManager.default.fileExists(atPath: path) {
      throw UsageError("there is no job file \(file)")
    }
    let runs = try path.map { try store.lastRuns(ofFile: $0, Self.shownRuns) } ?? store.runs(Self.shownRuns)
    // Without its jobs if the file has faults, which opdash check names.
    let graph = path.flatMap { try? context.parts.load($0, environment, invocation.vars, { _ in }) }
    let jobs = graph?.jobs.map(\.name) ?? []
    let ends = path.map { store.recordedEnds(ofFile: $0, jobs: jobs.count) } ?? [:]
    let rows = runs.map {
      HistoryTable.Row(
        id: $0.id, name: $0.name, startedAt: $0.startedAt, endedAt: $0.endedAt, summary: $0.summary, length: $0.length,
        jobs: $0.jobs, isGoingOn: $0.summary == nil && store.isGoingOn($0))
    }
    let table = HistoryTable(
      runs: rows, jobs: jobs.map { .init(name: $0, ends: ends[$0] ?? []) }, paint: paint, width: context.output.columns,
      elision: context.elision(settings))
    if invocation.wantsJSON { return context.print(document: RecordedJSON.history(table)) }
    guard runs.isEmpty, let path else { return context.print(table.lines) }
    context.print([MessageText.of("No run of \(lastComponent(ofPath: path)) is recorded.")])
  }

  func replay(_ name: String, speed: Double) throws {
    var settings = try context.withFile(settings)
    // A person wants to look at the recording after it was played.
    if settings.keepOpen == .onFailure { settings.keepOpen = .always }
    let events = try recording(name)
    guard !events.isEmpty else { throw UsageError("\(name) has no events: its run was killed before the first") }
    let feed = RecordedFeed(events, speed: speed)
    var plan = RunPlan(subject: .live(feed, start: { feed.start() }), source: lastComponent(ofPath: name))
    plan.past = RecordedPast(events)
    plan.files.add(environment.absolute(name), "the recording")
    try RunLaunch(context: context, plan: plan, settings: settings).start()
  }

  /// The events of a file, or of the run of that name.
  private func recording(_ name: String) throws -> [JobEvent] {
    let path = environment.absolute(name)
    guard name.holds("/") || FileManager.default.fileExists(atPath: path) else {
      let store = try store()
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
}
