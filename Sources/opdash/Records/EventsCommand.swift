import Basics
import JobModel
import RunStore
import Session

/// `opdash events`: prints the recorded events of a run as NDJSON, also while it executes.
@MainActor
struct EventsCommand {
  let context: CommandContext
  let invocation: Invocation

  /// How often a run that is going on is asked for new events.
  private static let interval: Duration = .milliseconds(250)

  func perform(_ name: String, follows: Bool) throws {
    let store = try RunStore(folder: context.stateFolder(invocation.settings))
    try context.output.check(context.filesRead(invocation.settings))
    print(try store.run(named: name), from: 0, of: store, follows: follows)
  }

  private func print(_ run: RunEntry, from first: Int, of store: RunStore, follows: Bool) {
    // Asked before the events are read: what comes after the answer is the end.
    let isGoingOn = follows && store.isGoingOn(run)
    var next = first
    do {
      try store.eventLines(of: run, from: first) { lines in
        context.output.write(lines)
        next += lines.count { $0 == UInt8(ascii: "\n") }
        return !context.output.isDropping
      }
    } catch {
      return context.fail(error)
    }
    guard isGoingOn, !context.output.isDropping else { return context.finish() }
    let read = next
    SystemOperationClock().scheduleOnMain(after: Self.interval) { print(run, from: read, of: store, follows: true) }
  }
}
