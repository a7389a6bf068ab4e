import Basics
import Foundation
import JobCluster
import JobFiles
import JobModel
import Reports
import RunStore
import Screen
import Session

/// The surroundings that the commands share, and their outputs.
@MainActor
struct CommandContext {
  var environment: Environment
  var output: Output
  var errors: Output
  var parts = ProgramParts()
  /// Ensures that no job outlives this program, and that its terminal is restored; called before anything starts.
  ///
  /// With `canDetach` the program can leave its terminal.
  var supervise: @MainActor (_ canDetach: Bool) -> Void = { _ in }
  /// Ends the process at once; see `RunSession`.
  var abandon: @Sendable (ProgramEnd) -> Void = { $0.performAtOnce() }
  var end: @MainActor (ProgramEnd) -> Void
  /// Nil where the run is not detached.
  var detachment: Detachment?

  // MARK: Output

  /// Prints lines and ends.
  func print(_ lines: [TerminalText]) {
    for line in lines { output.write(line: line) }
    finish()
  }

  /// Prints a JSON document, whose characters a terminal does not obey, and ends.
  func print(document: [UInt8]) {
    output.write(document)
    finish()
  }

  /// Ends with success, unless standard output or one of these files could not be written.
  func finish(_ files: [Output] = []) {
    if output.failure == EPIPE { return exit(ExitStatus.signal(SIGPIPE)) }
    let losses = ([output] + files).compactMap(\.loss)
    for loss in losses { note(loss) }
    exit(losses.isEmpty ? ExitStatus.success : ExitStatus.jobFailed)
  }

  /// Prints a line about the command on standard error.
  func note(_ line: String) { note(line, on: errors) }

  private func note(_ line: String, on output: Output) { output.write(line: MessageText.of("opdash: \(line)")) }

  /// Names the jobs that `--on slurm` leaves on this machine; throws if no job can leave it.
  func noteStaying(_ graph: JobGraph, _ settings: Settings) throws(UsageError) {
    guard settings.engine == .cluster else { return }
    let names = graph.jobs.filter { $0.cluster == nil }.map(\.name)
    guard !names.isEmpty else { return }
    guard names.count < graph.jobs.count else {
      throw UsageError(
        "--on slurm: no job can leave this machine: a cluster executes 'run' jobs, without services and 'tty: true'; "
          + "leave '--on slurm' out")
    }
    note("stay on this machine: \(names.joined(most: 8)) (a terminal, a service, or other work than 'run')")
  }

  func exit(_ status: Int32) { end(ProgramEnd(status)) }

  func fail(_ error: any Error, on output: Output? = nil) {
    let told = output ?? errors
    switch error {
    case let error as UsageError: note(error.message, on: told)
    case let faults as Faults: for line in faults.lines { told.write(line: MessageText.of(line)) }
    case let refusal as ClusterRefusal: for message in refusal.messages { note(message, on: told) }
    case let faults as JobFileFaults: print(faults.faults, on: told)
    default: note("\(error)", on: told)
    }
    if told.failure != EPIPE, let loss = told.loss { note(loss) }
    end(ProgramEnd(before: error))
  }

  /// Prints faults or warnings with their lines of the file.
  func print(_ faults: [JobFileFault], on output: Output) {
    for fault in faults {
      for line in fault.lines(width: output.columns, elision()) { output.write(line: MessageText.of(line)) }
    }
  }

  /// How text is shortened where the locale may be unable to show `…`.
  func elision(_ settings: Settings = Settings()) -> Elision { Elision(isASCII: environment.traits(settings).isASCII) }

  func paint(_ settings: Settings, onTerminal isTerminal: Bool) -> Paint {
    Paint(isColoured: environment.isColored(settings.color, onTerminal: isTerminal))
  }

  // MARK: Files

  private var search: JobFileSearch { JobFileSearch(directory: environment.currentDirectory) }

  /// The job file that the words name, or that is found, and its jobs; the words may name jobs too.
  func load(_ words: [String], _ vars: [String: String]) throws -> (choice: JobFileSearch.Choice, graph: JobGraph) {
    try load(search.choose(words), vars, warn: nil)
  }

  /// The job file of that name, or the one that is found; warnings go to standard error, unless `warn` is given.
  func load(
    file: String?, _ vars: [String: String], warn: ((JobFileFault) -> Void)? = nil
  ) throws -> (choice: JobFileSearch.Choice, graph: JobGraph) {
    try load(search.choose(file: file), vars, warn: warn)
  }

  private func load(
    _ choice: JobFileSearch.Choice, _ vars: [String: String], warn: ((JobFileFault) -> Void)?
  ) throws -> (choice: JobFileSearch.Choice, graph: JobGraph) {
    if choice.isAbove { note("the job file is \(choice.file)") }
    var read = FilesRead()
    read.add(environment.absolute(choice.file), "the job file")
    try output.check(read)
    return (choice, try parts.load(choice.file, environment, vars, warn ?? { print([$0], on: errors) }))
  }

  /// The settings file; nil if there is none.
  func settingsFile() throws -> SettingsFile? { try environment.settingsFile.flatMap { try parts.loadSettings($0) } }

  /// The command line's settings, completed by the settings file.
  func withFile(_ settings: Settings) throws -> Settings { try settingsFile().map { settings.over($0) } ?? settings }

  func stateFolder(_ settings: Settings) throws(UsageError) -> String {
    guard let folder = environment.stateFolder(settings) else {
      throw UsageError("neither HOME nor XDG_STATE_HOME says where runs are recorded; say it with --state DIR")
    }
    return folder
  }

  /// The files that a command reads: its own, standard input, the settings, and the store of runs.
  func filesRead(_ settings: Settings, own: FilesRead = FilesRead()) -> FilesRead {
    var files = own
    files.add(descriptor: parts.arguments, "standard input")
    if let file = environment.settingsFile { files.add(file, "the settings file") }
    if let folder = environment.stateFolder(settings) {
      for path in RunStore.files(in: folder) { files.add(path, "the store") }
    }
    return files
  }

  /// Opens the files of reports and the page at `html`, and empties none; nothing is written to a file that is read.
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
}
