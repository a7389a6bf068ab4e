import Basics
import Foundation
import JobModel
import Reports
import RunStore
import Screen
import Session

/// `opdash logs`: prints the output of a recorded run's jobs, also while they run.
@MainActor
struct LogsCommand {
  let context: CommandContext
  let invocation: Invocation

  /// How often a run that is going on is asked for new lines.
  private static let interval: Duration = .milliseconds(250)

  func perform(_ words: [String], follows: Bool) throws {
    let store = try RunStore(folder: context.stateFolder(invocation.settings))
    try context.output.check(context.filesRead(invocation.settings))
    let (entry, name) = try choose(words, store)
    var reader = RecordedEvents(of: entry)
    let events = try reader.readMore(store)
    let wanted = try name.map { try jobs(matching: $0, among: events, of: entry) }
    let isFollowed = follows && store.isGoingOn(entry)
    if !isFollowed, let job = wanted?.first, wanted?.count == 1, try printFile(of: job, events) {
      return context.finish()
    }
    let isColoured = context.environment.isColored(
      invocation.settings.color, onTerminal: context.environment.outputIsTerminal)
    var lines = LogLinesText(jobs: wanted.map { Set($0) }, paint: Paint(isColoured: isColoured))
    context.output.write(lines.text(of: events))
    guard isFollowed else { return context.finish() }
    follow(reader, store, lines)
  }

  /// The run and the job, or pattern, that the words name; one word is a run if there is one of this name.
  private func choose(_ words: [String], _ store: RunStore) throws -> (RunEntry, job: String?) {
    guard let first = words.first else { return (try store.run(named: "last"), nil) }
    if words.count > 1 { return (try store.run(named: first), words[1]) }
    do throws(RunStoreError) { return (try store.run(named: first), nil) } catch {
      guard case .unknownRun = error.reason, let last = try store.runs(1).first else { throw error }
      return (last, first)
    }
  }

  private func jobs(matching name: String, among events: [JobEvent], of entry: RunEntry) throws(UsageError) -> [JobID] {
    var graph = JobGraph(name: entry.name)
    for case .jobAdded(_, let job) in events.lazy.map(\.fact) { graph.jobs.append(job) }
    let found = graph.jobs(matching: name)
    guard found.isEmpty else { return found }
    throw UsageError(
      "neither a run nor a job of run \(entry.id) is called '\(name)'"
        + NearestName.hint(for: name, in: graph.jobs.map(\.name), otherwise: "; opdash history lists the runs"))
  }

  /// Prints the log file of a job's newest attempt; false if it has none, or one that can't be a log file.
  private func printFile(of job: JobID, _ events: [JobEvent]) throws(UsageError) -> Bool {
    let run = Run(recorded: events)
    guard case .shell = run[job].job.work, let attempt = run[job].attempt?.number,
      let path = run.logPath(job, attempt: attempt), let file = LogFileReader(path)
    else { return false }
    var read = context.filesRead(invocation.settings)
    read.add(file.identity, "the log file \(path)")
    try context.output.check(read)
    var rest: [UInt8] = []
    while let piece = file.next(), !context.output.isDropping {
      guard context.environment.outputIsTerminal else {
        context.output.write(piece)
        continue
      }
      rest += piece
      // A line without an end is shown in parts.
      let end = rest.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.count
      context.output.write(JobText.cleanLines(rest[..<end]))
      rest.removeFirst(end)
    }
    context.output.write(JobText.cleanLines(rest))
    return true
  }

  private func follow(_ reader: RecordedEvents, _ store: RunStore, _ lines: LogLinesText) {
    guard !context.output.isDropping else { return context.finish() }
    // Asked before the events are read: what comes after the answer is the end.
    let isGoingOn = store.isGoingOn(reader.run)
    var (reader, lines) = (reader, lines)
    do { context.output.write(lines.text(of: try reader.readMore(store))) } catch { return context.fail(error) }
    guard isGoingOn, !lines.isOver else { return context.finish() }
    SystemOperationClock().scheduleOnMain(after: Self.interval) { [reader, lines] in follow(reader, store, lines) }
  }
}
