import Basics
import Foundation
import JobCluster
import JobEngine
import JobFiles
import JobModel
import Processes
import RunStore
import Screen
import Session

/// `opdash resume`: resumes an earlier run.
@MainActor
struct ResumeCommand {
  let context: CommandContext
  let invocation: Invocation

  /// Prints which jobs run again and why, and starts them.
  func perform(_ name: String?, onlyFailed: Bool) throws {
    var settings = try context.withFile(invocation.settings)
    let store = try RunStore(folder: context.stateFolder(invocation.settings))
    let entry = try claimed(try earlierRun(name, store), store)
    let past = try store.past(of: entry)
    var (plan, old) = try earlierPlan(entry, past)
    guard case .graph(let planned) = plan.subject else { return }
    let own = settings.engine.map { planned.executed(by: $0) } ?? planned
    try context.noteStaying(own, settings)
    settings.slots = settings.slots ?? old.slots
    settings.onFailure = settings.onFailure ?? old.onFailure
    settings.isBrief = entry.origin.command == "get"

    // They may still write files that the plan reads.
    if !invocation.isDryRun {
      let left = try endProcesses(of: entry, store)
      if !left.isEmpty { throw UsageError(ResumeText.processesLeft(left, of: entry)) }
    }
    let additions = ResumedAdditions(
      entry.folder.map(KeptTexts.read) ?? [], to: own, in: context.environment, settings.engine
    ) { graph in
      ResumePlan(
        EarlierJob.of(past), graph, fingerprints: graph.jobs.map(Fingerprint.of), onlyFailed: onlyFailed,
        inputsHash: UpToDateCheck.inputsHash)
    }
    let (graph, resume) = (additions.graph, additions.plan)
    for fault in additions.faults { context.note(fault) }
    if plan.isCut {
      let list = "the list on standard input was not read to its end"
      let known = Format.count(graph.jobs.count, "job")
      guard !resume.isNothingLeft else {
        throw UsageError("\(list), and all of its first \(known) \(graph.jobs.count == 1 ? "is" : "are") done")
      }
      context.note("\(list): only its first \(known) are known")
    }
    if resume.isNothingLeft {
      return context.print([MessageText.of(ResumeText.nothingLeft(of: entry, onlyFailed: onlyFailed))])
    }
    for line in ResumeText.lines(resume, of: entry) { context.note(line) }
    plan.subject = .graph(resume.graph)
    plan.all = graph
    plan.queue.resumes = entry.id
    let last = past.first?.run ?? Run()
    let recorded = recordedJobs(resume, of: last)
    let open = Set(last.jobs.lazy.filter(\.isOpen).map(\.job.name))
    // Executed again only for their values, which a cluster job has left in its run's folder; or followed for them by the
    // resumed run, which has recorded no end.
    let withoutValues = open.union(
      resume.again.lazy.filter { $0.reason == .valuesMissing }.map { resume.graph[$0.job].name })
    plan.queue.resumedSince = past.last?.entry.startedAt
    plan.queue.unrecorded = Set(
      resume.again.map(\.job).filter { id in
        guard case .download = resume.graph[id].work else { return false }
        return open.contains(resume.graph[id].name) && recorded.isUnchanged(id)
      })
    plan.queue.restored = resume.restored
    plan.queue.restoredInputs = resume.restoredInputs
    plan.queue.leavesWork = resume.leavesWork || !additions.faults.isEmpty
    plan.queue.keptTexts = additions.kept
    plan.approvals = Set(entry.origin.approvals ?? [])
    if invocation.isDryRun {
      return context.print(
        try RunLaunch(context: context, plan: plan, settings: settings).rehearsal(explains: invocation.explains))
    }
    let left = try AbandonedClusterJobs(
      of: past.map { past in
        AbandonedClusterJobs.EarlierRun(
          id: past.entry.id, folder: past.entry.folder, run: past.run,
          withoutValues: past.withoutValues.intersection(withoutValues))
      }, recorded)
    plan.queue.cluster = RunCluster(earlier: left.followed)
    if let ending = left.ending { context.note(ending) }
    try left.cancelOthers()
    if !left.followed.isEmpty {
      context.note("following \(Format.count(left.followed.count, "job")) that the cluster may have")
    }
    try RunLaunch(context: context, plan: plan, settings: settings).start()
  }

  /// The run to resume for a named one, which no other process can resume before this one ends: its newest resumption.
  ///
  /// A dry run claims nothing.
  private func claimed(_ named: RunEntry, _ store: RunStore) throws -> RunEntry {
    var claimed: RunEntry?
    while true {
      // Again after the claim: another process may have resumed the run, and ended, since it was found.
      let line = ResumableRun.line(of: named, in: try store.runs())
      if let run = line.first(where: store.isGoingOn) {
        throw UsageError(ResumeText.goesOn(run, isHere: run.process.isAlive))
      }
      if invocation.isDryRun || claimed?.id == line[0].id {
        if line[0].id != named.id { context.note(ResumeText.isResumed(named, by: line[0])) }
        return line[0]
      }
      guard ResumeClaim.take(line[0]) else { throw UsageError(ResumeText.isTaken(line[0])) }
      claimed = line[0]
    }
  }

  /// The jobs of the resumed run, and the facts that decide whether their attempts are followed.
  private func recordedJobs(_ resume: ResumePlan, of run: Run) -> AbandonedClusterJobs.Plan {
    let reasons = Dictionary(resume.again.map { ($0.job, $0.reason) }) { first, _ in first }
    return AbandonedClusterJobs.Plan(
      graph: resume.graph, restored: Set(resume.restored.keys), leftOut: resume.leftOut,
      recorded: Dictionary(run.jobs.map { ($0.job.name, $0.job) }) { first, _ in first },
      isSame: { Fingerprint.of($0) == Fingerprint.of($1) },
      isOverdue: { ResumePlan.isOverdue($0, reasons[$0.job]) })
  }

  /// The named run, or the last unfinished one of the job file that is found from here.
  private func earlierRun(_ name: String?, _ store: RunStore) throws -> RunEntry {
    if let name { return try store.run(named: name) }
    let here = context.environment.currentDirectory
    let file = (try? JobFileSearch(directory: here).choose([])).map { JobFile.path(of: $0.file, in: here) }
    let entry = ResumableRun.choose(try store.runs(), file: file, directory: here)
    guard let entry else { throw UsageError("no run is recorded in \(store.folder): opdash run starts one") }
    return entry
  }

  /// The jobs of a run by its command line, from where it was started, and its settings.
  private func earlierPlan(_ entry: RunEntry, _ past: [PastRun]) throws -> (RunPlan, Settings) {
    var old = try CommandLineParser.parse(entry.origin.words)
    // No word is to be a command any more.
    old.isBare = false
    var there = RunPlanner(context: context, invocation: old)
    there.context.environment.currentDirectory = entry.origin.directory
    switch old.command {
    case .run(let words):
      guard let file = entry.origin.file else {
        throw UsageError("the job file of run \(entry.id) was standard input or a pipe, which can't be read again")
      }
      // The file that was found then, whatever is there now.
      let jobs = JobFileSearch(directory: entry.origin.directory).jobs(words, of: file)
      return (try there.jobFile([file] + jobs), old.settings)
    case .get(let request):
      guard ![request.list, request.sums].compactMap(\.self).contains(where: ForeignFile.isReadOnce) else {
        throw UsageError("the list of run \(entry.id) was standard input or a pipe, which can't be read again")
      }
      return (try there.downloads(request), old.settings)
    case .each(let request):
      // Its commands run in the folder that it was started in.
      guard chdir(entry.origin.directory) == 0 else {
        throw UsageError(
          "run \(entry.id) was started in \(entry.origin.directory), which can't be entered: "
            + String(cString: strerror(errno)))
      }
      guard request.arguments.isEmpty else { return (try there.each(request), old.settings) }
      let added = Set(past.last?.entry.folder.map(KeptTexts.read)?.flatMap(\.names) ?? [])
      return (recordedList(past.last?.run ?? Run(), without: added, old), old.settings)
    case .demo:
      let words = entry.origin.words.joined(separator: " ")
      throw UsageError("run \(entry.id) played a scenario, which starts anew: opdash \(words)")
    default:
      // A run that resumes another is recorded with the command line of the first.
      throw UsageError("the store is damaged: run \(entry.id) is not one of run, get, each or demo: start it anew")
    }
  }

  /// The jobs of a list on standard input, as they were recorded; added jobs are read again.
  private func recordedList(_ run: Run, without added: Set<String>, _ old: Invocation) -> RunPlan {
    let graph = JobGraph(name: "each", jobs: run.jobs.map(\.job).filter { !added.contains($0.name) })
    var plan = RunPlan(subject: .graph(graph), source: "each", command: "each", words: old.words)
    (plan.isCut, plan.isResumable) = (run.isOpen, true)
    return plan
  }

  /// Ends the processes that a killed run has left; returns the ones that don't end.
  private func endProcesses(of entry: RunEntry, _ store: RunStore) throws -> [Int32] {
    guard entry.endedAt == nil, let cookie = entry.cookie else { return [] }
    let boot = ProcessIdentity.current.boot
    let leaders = try store.processes(of: entry).map(\.process).filter { $0.boot == boot }
    return AbandonedProcesses(
      cookie: cookie, leaders: leaders.map { .init(pid: $0.pid, startTime: $0.startTime) }
    ).end().left
  }
}
