import Basics
import Dispatch
import JobModel
import Remote
import RunStore
import Session

/// `opdash wait`: ends when a run has ended, with its exit status.
@MainActor
struct WaitCommand {
  let context: CommandContext
  let settings: Settings

  /// How often a run is tried again that executes by its record and can't be reached.
  private static let interval: Duration = .milliseconds(250)

  func perform(_ word: String?) throws { try perform(word, isRetried: false) }

  private func perform(_ word: String?, isRetried: Bool) throws {
    // The record of the run has the name that its program gives.
    var name = word
    do {
      let program = try GoingOn(context: context, settings: settings).choose(word, tellsProblems: !isRetried)
      if !program.greeting.isQueue, !program.greeting.run.isEmpty { name = program.greeting.run }
      try wait(for: program)
    } catch {
      // The run may have ended before, or just now.
      guard let name, let store = try? RunStore(folder: context.stateFolder(settings)),
        let entry = try? store.run(named: name)
      else { throw error }
      guard store.isGoingOn(entry) else { return context.exit(entry.summary?.exit ?? ExitStatus.workLeft) }
      SystemOperationClock().scheduleOnMain(after: Self.interval) {
        do { try perform(entry.id, isRetried: true) } catch { context.fail(error) }
      }
    }
  }

  private func wait(for program: RemoteProgram) throws {
    let feed = try RemoteFeed(program, access: .readOnly, logLines: 0)
    let greeting = program.greeting.ofRun(feed.snapshot)
    let subscription = feed.subscribe(on: .main) { events in
      for case .runFinished(let summary) in events.lazy.map(\.fact) {
        MainActor.assumeIsolated { context.exit(summary.exit) }
      }
    }
    if let summary = subscription.snapshot.summary { return context.exit(summary.exit) }
    feed.whenEnded { error in
      // Keeps the subscription until there is an answer.
      withExtendedLifetime(subscription) {}
      onMain {
        let run = feed.snapshot
        let recorded = run.summary == nil ? AttachCommand.recorded(greeting.run, greeting.stateFolder) : nil
        end(of: greeting, recorded ?? run, error)
      }
    }
  }

  /// The program of the run has ended, mostly after it has stated the end.
  private func end(of greeting: Greeting, _ run: Run, _ error: RemoteError) {
    guard run.summary == nil, !run.isComplete else { return context.exit((run.summary ?? RunSummary(of: run)).exit) }
    context.note("\(error)\(greeting.remedy(context.environment))")
    context.exit(ExitStatus.workLeft)
  }
}
