import Foundation
import JobModel
import Remote
import RunStore
import Screen
import Session

/// The runs of this user's programs that are going on.
@MainActor
struct GoingOn {
  let context: CommandContext
  let settings: Settings

  private var found: (programs: [RemoteProgram], problems: [RemoteError]) {
    RemoteProgram.all(
      in: SocketFolder.paths(
        runtimeFolder: context.environment.runtimeFolder, stateFolder: context.environment.stateFolder(settings)))
  }

  var programs: [RemoteProgram] { found.programs }

  /// Prints a line for each, or one document, and ends.
  func list(asJSON: Bool) throws {
    let (programs, problems) = found
    for problem in problems { context.note("\(problem)") }
    if asJSON { return context.print(document: Greeting.document(programs.map(\.greeting))) }
    if programs.isEmpty, problems.isEmpty { context.note(Self.nothing) }
    context.print(Self.table(programs.map(\.greeting), now: Date()).map(MessageText.of))
  }

  /// The one that the word names, as a column of the list or as the beginning of a run's; the only one where it is nil.
  ///
  /// `tellsProblems` is false where they have been told before.
  func choose(_ word: String?, tellsProblems: Bool = true) throws -> RemoteProgram {
    let (programs, problems) = found
    if tellsProblems { for problem in problems { context.note("\(problem)") } }
    guard let word else {
      if let only = programs.first, programs.count == 1 { return only }
      if programs.isEmpty, !problems.isEmpty { throw UsageError("no run can be reached") }
      throw UsageError(programs.isEmpty ? Self.nothing : Self.several(programs))
    }
    let numbered = programs.filter { "\($0.greeting.pid)" == word || $0.greeting.run == word }
    let named = numbered.isEmpty ? programs.filter { $0.greeting.name == word } : numbered
    if let only = named.first, named.count == 1 { return only }
    if named.count > 1 { throw UsageError("'\(word)' is the name of \(Self.several(named))") }
    if word == "last", let last = programs.last { return last }
    let fitting = programs.filter { !$0.greeting.run.isEmpty && $0.greeting.run.hasPrefix(word) }
    if let only = fitting.first, fitting.count == 1 { return only }
    if fitting.count > 1 { throw UsageError("'\(word)' begins \(Self.several(fitting))") }
    let near = NearestName.hint(for: word, in: programs.map(\.greeting.run), otherwise: "; opdash ps lists the runs")
    throw UsageError("no run '\(word)' is going on\(near)")
  }

  private static let nothing = "nothing is going on: opdash run starts something"

  private static func several(_ programs: [RemoteProgram]) -> String {
    let names = programs.map { "\($0.greeting.identifier) (\($0.greeting.name))" }
    return "\(programs.count) runs, name one of them: \(names.joined(separator: ", "))"
  }

  /// A heading and a line for each run.
  static func table(_ greetings: [Greeting], now: Date) -> [String] {
    guard !greetings.isEmpty else { return [] }
    let rows = [["RUN", "PID", "TIME", "JOBS", "NAME"]] + greetings.map { row($0, now: now) }
    let widths = (0..<4).map { column in rows.map { TextWidth.of($0[column]) }.max() ?? 0 }
    return rows.map { row in zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ") + "  " + row[4] }
  }

  private static func row(_ greeting: Greeting, now: Date) -> [String] {
    let time = greeting.startedAt.map { Format.time(Duration(clamping: now.timeIntervalSince($0))) } ?? ""
    let (done, all) = (greeting.done, greeting.jobs)
    var jobs = [greeting.isQueue ? "\(all - done) in the queue" : "\(done) of \(all) done"]
    if greeting.executing > 0 { jobs.append("\(greeting.executing) running") }
    if greeting.failed > 0 { jobs.append("\(greeting.failed) failed") }
    if greeting.asking > 0 { jobs.append("\(greeting.asking) to approve") }
    return [
      greeting.isQueue ? "-" : greeting.run, "\(greeting.pid)", greeting.isOver ? "ended" : time,
      jobs.joined(separator: ", "), "\(greeting.name)  \(greeting.place)",
    ]
  }
}

extension Greeting {
  /// The advice for a program that has ended before its run; empty where that was not recorded, or has no job file.
  @MainActor
  func remedy(_ environment: Environment) -> String {
    guard !isQueue, let folder = stateFolder, let entry = try? RunStore(folder: folder).run(named: run),
      entry.origin.command != "run" || entry.origin.file != nil
    else { return "" }
    let option = folder == environment.stateFolder(Settings()) ? "" : ShellText.stateOption(folder)
    return ": run \(run) can be resumed with: opdash resume\(option) \(run)"
  }
}
