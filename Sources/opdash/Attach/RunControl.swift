import Basics
import Dashboard
import Dispatch
import JobModel
import Remote
import Screen
import Session

/// `opdash cancel`, `pause`, `retry`, `approve` and `slots`: what keys of the dashboard do, without a screen.
@MainActor
struct RunControl {
  /// A command for a run, and the line that is printed about it.
  typealias Instruction = (command: JobCommand, words: String)

  let context: CommandContext
  let settings: Settings

  /// How long a program may take to answer.
  private static let patience = DispatchTimeInterval.seconds(10)

  func perform(_ action: RunAction, _ run: String, _ jobs: [String]) throws {
    try send(to: run) { run throws(UsageError) in try Self.instruction(action, Self.jobs(jobs, of: run), of: run) }
  }

  func setSlots(_ number: Int, of run: String) throws {
    try send(to: run) { _ in (.setSlots(number), Format.slots(number)) }
  }

  private func send(to word: String, _ instruction: (Run) throws(UsageError) -> Instruction) throws {
    let feed = try RemoteFeed(GoingOn(context: context, settings: settings).choose(word), logLines: 0)
    let (command, words) = try instruction(feed.snapshot)
    let answer = DispatchSemaphore(value: 0)
    let refusal = Lock<String?>(nil)
    feed.send(command) { reason in
      refusal.withLock { $0 = reason }
      answer.signal()
    }
    guard answer.wait(timeout: .now() + Self.patience) == .success else {
      throw RemoteError.silent(pid: feed.greeting.pid)
    }
    if let reason = refusal.withLock(\.self) { throw UsageError(reason) }
    context.print([MessageText.of(words)])
  }

  /// The jobs that the words name, each once; nil without words.
  static func jobs(_ words: [String], of run: Run) throws(UsageError) -> [JobID]? {
    guard !words.isEmpty else { return nil }
    let graph = JobGraph(name: run.start?.name ?? "", jobs: run.jobs.map(\.job))
    var jobs: [JobID] = []
    for word in words {
      let found = graph.jobs(matching: word)
      guard !found.isEmpty else {
        let near = NearestName.hint(for: word, in: graph.jobs.map(\.name), otherwise: "")
        throw UsageError("no job of run \(run.start?.id ?? "") is called '\(word)'\(near)")
      }
      jobs += found.filter { !jobs.contains($0) }
    }
    return jobs
  }

  /// The command for the jobs that the action affects, among the named ones or, for nil, among all.
  static func instruction(_ action: RunAction, _ jobs: [JobID]?, of run: Run) throws(UsageError) -> Instruction {
    func affected(_ test: (JobRecord) -> Bool) -> [JobID] { (jobs ?? Array(run.ids)).filter { test(run[$0]) } }
    func named(_ jobs: [JobID]) -> String { jobs.map { run[$0].job.name }.joined(most: 8) }
    switch action {
    case .cancel:
      guard jobs != nil else { return (.stop(.terminate, by: .person), "stopping the run") }
      let open = affected { !$0.state.isTerminal }
      guard !open.isEmpty else { throw UsageError("nothing to cancel: the jobs have ended") }
      return (.cancel(open, by: .person), "cancelling \(named(open))")
    case .pause:
      let pausable = affected { StateClass($0).isPausable && $0.job.work.refusal(of: .pause) == nil }
      guard pausable.isEmpty else { return (.pause(pausable), "pausing \(named(pausable))") }
      let paused = affected { StateClass($0) == .paused }
      guard !paused.isEmpty else { throw UsageError("nothing to pause or to resume") }
      return (.resume(paused), "resuming \(named(paused))")
    case .retry:
      func repetition(_ record: JobRecord) -> String? { record.repetition(as: StateClass(record)) }
      let again = affected { repetition($0) != nil && (jobs != nil || StateClass($0).isBad) }
      guard !again.isEmpty else { throw UsageError("nothing to retry") }
      let words = Set(again.map { repetition(run[$0]) })
      let doing = words == ["start"] ? "starting" : words == ["restart"] ? "restarting" : "retrying"
      guard jobs == nil else { return (.retry(again, withDependents: false), "\(doing) \(named(again))") }
      let others = " and the skipped dependents"
      return (.retry(run.retried(with: again), withDependents: false), "\(doing) \(named(again))\(others)")
    case .approve:
      let asking = affected { $0.state == .ready(for: .person) }
      guard !asking.isEmpty else { throw UsageError("no job waits for approval") }
      return (.approve(asking), "approved \(named(asking))")
    }
  }
}
