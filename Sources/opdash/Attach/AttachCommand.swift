import Basics
import JobModel
import Remote
import Reports
import RunStore
import Session

/// `opdash attach`: the run of another program in the dashboard.
@MainActor
struct AttachCommand {
  let context: CommandContext
  let invocation: Invocation

  func perform(_ word: String?, _ access: RemoteAccess) throws {
    let settings = try context.withFile(invocation.settings)
    try context.environment.checkDashboard(for: "opdash attach", instead: "opdash logs -f")
    let program = try GoingOn(context: context, settings: settings).choose(word)
    let feed = try RemoteFeed(program, access: access)
    let greeting = program.greeting.ofRun(feed.snapshot)
    let id = greeting.run
    let display = RunSession.Display(
      .dashboard, of: greeting.name, settings: settings, context.environment, output: context.output,
      errors: context.errors)
    let past = greeting.stateFolder.map { RecordedPast(folder: $0, ofRun: id) }
    let view = try context.parts.makeView(feed, display.viewOptions, past)
    let session = RunSession(
      feed, display: display, view: view,
      offer: { run in
        guard run.summary == nil, !run.isComplete else { return nil }
        let name = greeting.isQueue ? greeting.name : "run \(id)"
        let option = invocation.settings.state.map(ShellText.stateOption) ?? ""
        return "\(name) keeps running; opdash attach\(option) \(greeting.identifier) shows it again"
      }, abandon: context.abandon, exit: context.end)
    feed.whenEnded { [weak session] error in
      onMain {
        // A program that was stopped may have missed the end.
        let recorded = feed.snapshot.summary == nil ? Self.recorded(id, greeting.stateFolder) : nil
        session?.lose("\(error)\(greeting.remedy(context.environment))", recorded: recorded)
      }
    }
    context.parts.watchSignals(session)
    try session.begin {}
  }

  /// The recorded run if it has ended; nil where it has not, or is not recorded.
  static func recorded(_ id: String, _ folder: String?) -> Run? {
    guard let store = folder.flatMap({ try? RunStore(folder: $0) }), let entry = try? store.run(named: id),
      entry.summary != nil
    else { return nil }
    return (try? store.events(of: entry)).map { Run(recorded: $0) }
  }
}
