import Basics
import Foundation
import JobFiles
import JobModel
import Session

/// Makes the plan of the run that a command line asks for.
@MainActor
struct RunPlanner {
  var context: CommandContext
  let invocation: Invocation

  private var environment: Environment { context.environment }

  /// The run of a job file: of the file and the jobs that the words name.
  func jobFile(_ words: [String]) throws -> RunPlan {
    if invocation.isBare, let word = words.first {
      let search = JobFileSearch(directory: environment.currentDirectory)
      guard try search.find() != nil else { throw CommandLineParser.unknownCommand(word) }
    }
    let (choice, loaded) = try context.load(words, invocation.vars)
    let graph = invocation.settings.engine.map { loaded.executed(by: $0) } ?? loaded
    var plan = RunPlan(
      subject: .graph(try choice.selection(in: graph, isBare: invocation.isBare)),
      source: lastComponent(ofPath: choice.file), command: "run", words: invocation.words,
      file: ForeignFile.isReadOnce(choice.file) ? nil : JobFile.path(of: choice.file, in: environment.currentDirectory),
      all: graph)
    plan.isResumable = plan.file != nil
    plan.queue.executesAll = invocation.isForced
    plan.queue.isWatching = invocation.isWatching
    if invocation.isWatching, case .graph(let graph) = plan.subject, graph.jobs.allSatisfy(\.inputs.isEmpty) {
      throw UsageError(
        "no job of \(plan.source) has inputs, so there is nothing to watch: write 'inputs' into those to be run again")
    }
    if let file = plan.file { plan.files.add(file, "the job file") }
    for file in loaded.includedFiles { plan.files.add(file, "the included file") }
    return plan
  }

  func downloads(_ request: DownloadRequest) throws -> RunPlan {
    if let url = request.urls.first(where: { $0.contains("\u{FFFD}") }) {
      throw UsageError("'\(url.maskedURL)' is no UTF-8 text: write its bytes as escapes, such as %E9")
    }
    var entries = request.urls.map { DownloadList.Entry(url: $0, place: nil) }
    if let list = request.list {
      let text = try context.parts.readList(listPlace(list))
      entries += DownloadList.entries(in: text, file: list == "-" ? "<stdin>" : list)
    }
    if let place = request.sums {
      let sums = try DownloadSums(context.parts.readSums(listPlace(place)), from: place)
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
    let lists = [request.list, request.sums].compactMap(\.self)
    plan.isResumable = !lists.contains(where: ForeignFile.isReadOnce)
    for list in lists where !ForeignFile.isReadOnce(list) && !DownloadRequest.isURL(list) {
      plan.files.add(listPlace(list), "the list")
    }
    return plan
  }

  /// Where a list is; its path begins in the folder of the command, which is another one in a resumed run.
  private func listPlace(_ list: String) -> String {
    ForeignFile.isReadOnce(list) || DownloadRequest.isURL(list) ? list : environment.absolute(list)
  }

  /// The jobs of `opdash each`; jobs of standard input arrive during the run, unless it is only rehearsed.
  func each(_ request: EachRequest) throws -> RunPlan {
    var plan = RunPlan(
      subject: .graph(JobGraph(name: "each")), source: "each", command: "each", words: invocation.words)
    plan.isResumable = true
    var jobs = try EachJobs(request)
    let made: [(job: Job, fault: String?)]
    if !request.arguments.isEmpty {
      if let word = request.arguments.first(where: { $0.contains("\u{FFFD}") }) {
        throw UsageError("'\(word)' is no UTF-8 text: give the list on standard input, where any bytes may stand")
      }
      made = request.arguments.map { Array($0.utf8) }.grouped(by: request.perJob).map { jobs.next($0) }
    } else if environment.inputIsTerminal {
      throw UsageError("opdash each needs arguments after the command, or a list of them on standard input")
    } else if invocation.isDryRun {
      var splitter = request.splitter
      let arguments = try splitter.read(context.parts.arguments)
      made = arguments.grouped(by: request.perJob).map { jobs.next(of: $0) }
    } else {
      try ArgumentSplitter.check(context.parts.arguments)
      plan.arriving = jobs
      return plan
    }
    let faults = made.compactMap(\.fault)
    guard faults.isEmpty else { throw Faults(lines: faults.map { "opdash: \($0)" }) }
    plan.subject = .graph(JobGraph(name: "each", jobs: made.map(\.job)))
    return plan
  }
}

/// The name of a file in messages and in the header.
func lastComponent(ofPath path: String) -> String {
  path == "-" ? "<stdin>" : path.split(separator: "/").last.map(String.init) ?? path
}
