import Basics
import Dashboard
import Foundation
import JobFiles
import JobModel
import Reports
import RunStore
import Screen
import Session

/// The commands of opdash.
@MainActor
struct Program {
  let context: CommandContext

  private var environment: Environment { context.environment }

  /// Executes a command line; the context's `end` is called now or at the end of the run.
  func perform(_ words: [String]) {
    if words.first == CompletionScript.command { return complete(Array(words.dropFirst())) }
    do { try perform(CommandLineParser.parse(words)) } catch { context.fail(error) }
  }

  private func perform(_ invocation: Invocation) throws {
    if invocation.command.startsJobs { try StartCheck.currentFolder(environment) }
    if invocation.isSupervised {
      let interface = try? environment.interface(for: invocation.settings.interface)
      context.supervise(invocation.command.startsJobs && interface == .dashboard)
    }
    let records = RecordCommands(context: context, invocation: invocation)
    let planner = RunPlanner(context: context, invocation: invocation)
    switch invocation.command {
    case .help(let topic): print((topic?.page ?? .program).text)
    case .manual(let topic): print(ManPage(page: topic?.page ?? .program).text)
    case .completion(let script): print(script.text)
    case .version: context.print([MessageText.of(Version.text)])
    case .list(let file): try list(file, invocation)
    case .check(let file): check(file, invocation)
    case .graph(let words, let format): try printGraph(words, format, invocation)
    case .initialize(let file): try initialize(file)
    case .importing(let format, let file): try printImport(format, file)
    case .schema: print(JobFileSchema.json())
    case .keys: try printKeys(invocation.settings)
    case .run(let words):
      let settings = try context.withFile(invocation.settings)
      let plan = try planner.jobFile(words)
      if case .graph(let graph) = plan.subject { try context.noteStaying(graph, settings) }
      try carryOut(plan, settings, invocation)
    case .get(let request):
      var settings = try context.withFile(invocation.settings)
      settings.isBrief = true
      try carryOut(try planner.downloads(request), settings, invocation)
    case .each(let request):
      let settings = try context.withFile(invocation.settings)
      var plan = try planner.each(request)
      if !invocation.isDryRun { plan.rawOrder = try request.rawOrder(settings, environment) }
      try carryOut(plan, settings, invocation)
    case .resume(let run, let onlyFailed):
      try ResumeCommand(context: context, invocation: invocation).perform(run, onlyFailed: onlyFailed)
    case .history(let file, let prunes): try records.history(file, prunes: prunes)
    case .replay(let name, let speed): try records.replay(name, speed: speed)
    case .report(let run, let html): try records.report(run, html: html)
    case .diff(let first, let second): try records.diff(first, second)
    case .running:
      try GoingOn(context: context, settings: invocation.settings).list(asJSON: invocation.wantsJSON)
    case .attach(let run, let access):
      try AttachCommand(context: context, invocation: invocation).perform(run, access)
    case .wait(let run): try WaitCommand(context: context, settings: invocation.settings).perform(run)
    case .events(let run, let follows):
      try EventsCommand(context: context, invocation: invocation).perform(run, follows: follows)
    case .control(let action, let run, let jobs):
      try RunControl(context: context, settings: invocation.settings).perform(action, run, jobs)
    case .slots(let run, let number):
      try RunControl(context: context, settings: invocation.settings).setSlots(number, of: run)
    case .add(let run, let file):
      try AddCommand(context: context, invocation: invocation).perform(run, file)
    case .logs(let words, let follows):
      try LogsCommand(context: context, invocation: invocation).perform(words, follows: follows)
    case .demo(nil): context.print(RunPlan.list.map(MessageText.of))
    case .demo(let name?):
      let settings = try context.withFile(invocation.settings)
      var plan = try context.parts.openScenario(name, environment)
      plan.words = invocation.words
      try carryOut(plan, settings, invocation)
    }
  }

  /// Starts a planned run, or prints the jobs that it would execute.
  private func carryOut(_ plan: RunPlan, _ settings: Settings, _ invocation: Invocation) throws {
    let launch = RunLaunch(context: context, plan: plan, settings: settings)
    guard invocation.isDryRun else { return try launch.start() }
    plan.cleanUp()
    context.print(try launch.rehearsal(explains: invocation.explains))
  }

  /// Prints a page and ends.
  private func print(_ page: String) { context.print([MessageText.page(page)]) }

  /// Writes a job file to begin with, unless the file is there.
  private func initialize(_ file: String) throws {
    let descriptor = open(environment.absolute(file), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      if errno == EEXIST { throw UsageError("\(file) is there already, and is left as it is") }
      throw UsageError("can't write \(file): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    let output = Output(descriptor, name: file)
    output.write(Array(StarterFile.text.utf8))
    if let loss = output.loss {
      // The next command would take it for a job file.
      unlink(environment.absolute(file))
      throw UsageError(loss)
    }
    let run = "opdash run" + JobFileSearch(directory: environment.currentDirectory).operand(for: file)
    context.print([MessageText.of("wrote \(file): \(run) runs its jobs, opdash help jobs explains the keys")])
  }

  private func list(_ file: String?, _ invocation: Invocation) throws {
    let graph = try context.load(file: file, invocation.vars).graph
    if invocation.wantsJSON { return context.print(document: RecordedJSON.list(graph.masked)) }
    context.print(JobTable.list(graph.masked, context.elision(invocation.settings)).map(MessageText.of))
  }

  private func check(_ file: String?, _ invocation: Invocation) {
    do {
      var warnings = 0
      let (choice, graph) = try context.load(file: file, invocation.vars) { warning in
        warnings += 1
        context.print([warning], on: context.output)
      }
      let jobs = Format.count(graph.jobs.count, "job")
      let end = warnings == 0 ? "" : ", \(Format.count(warnings, "warning"))"
      // The end of the process frees a large graph in no time.
      withExtendedLifetime(graph) {
        context.print([MessageText.of("\(lastComponent(ofPath: choice.file)): \(jobs), no faults\(end)")])
      }
    } catch let error as UsageError {
      context.fail(error)
    } catch {
      context.fail(error, on: context.output)
    }
  }

  private func printGraph(_ words: [String], _ format: GraphFormat, _ invocation: Invocation) throws {
    let (choice, graph) = try context.load(words, invocation.vars)
    let text = format.text(
      of: try choice.selection(in: graph).masked, isASCII: environment.traits(invocation.settings).isASCII,
      width: environment.outputIsTerminal ? context.output.columns : nil)
    context.output.write(MessageText.page(text))
    context.finish()
  }

  /// Prints a job file that does the same as a file of another tool.
  private func printImport(_ format: ImportFormat, _ file: String) throws {
    let text = try format.jobFile(
      path: file, environment: environment.variables, currentDirectory: environment.currentDirectory
    ) { warning in context.print([warning], on: context.errors) }
    context.output.write(MessageText.page(text))
    context.finish()
  }

  private func printKeys(_ settings: Settings) throws {
    let file = try context.settingsFile()
    let settings = file.map { settings.over($0) } ?? settings
    let text = KeyListText(
      keys: KeyMap(changes: settings.keys), file: environment.settingsFile, isThere: file != nil,
      paint: context.paint(settings, onTerminal: environment.outputIsTerminal),
      isASCII: environment.traits(settings).isASCII)
    context.print(text.lines)
  }

  /// Answers a completion script, which has no use for a fault.
  private func complete(_ words: [String]) {
    let completion = Completion(
      words: words, scenarios: RunPlan.scenarios.map { .init(text: $0, summary: $1) },
      jobs: { operands in
        let choice = try? JobFileSearch(directory: environment.currentDirectory).choose(operands)
        // Completion must not wait for input.
        guard let choice, !ForeignFile.isReadOnce(choice.file),
          let graph = try? context.parts.load(choice.file, environment, [:], { _ in })
        else { return [] }
        let jobs = graph.masked.jobs
        var candidates: [Completion.Candidate] = []
        for job in jobs {
          // All instances by one name, before the first of them.
          if let matrix = job.matrix, candidates.last(where: { $0.text == matrix }) == nil {
            let count = jobs.count { $0.matrix == matrix }
            candidates.append(.init(text: matrix, summary: "all \(Format.count(count, "instance"))"))
          }
          candidates.append(.init(text: job.name, summary: JobSummary.description(job)))
        }
        return candidates
      },
      runs: { areUnfinished in
        let store = environment.stateFolder(Settings()).flatMap { try? RunStore(folder: $0) }
        let runs = ((try? store?.runs(50)) ?? []).filter { !areUnfinished || $0.isUnfinished }
        return runs.map { .init(text: $0.id, summary: $0.name) }
      },
      live: {
        GoingOn(context: context, settings: Settings()).programs.map {
          .init(text: $0.greeting.run, summary: $0.greeting.name)
        }
      })
    context.print(completion.answer.lines)
  }
}
