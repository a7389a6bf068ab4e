import Basics
import Dispatch
import JobModel

/// The past of a run, from its record.
///
/// Nothing is read before the first instant is asked for; the events that were recorded since are read with each one.
package final class RecordedPast: RunPast {
  private struct State {
    var history: RunHistory
    /// Nil where all events are known.
    var source: (events: RecordedEvents, store: RunStore)?
  }

  private let folder: String
  /// Nil where all events are known.
  private let id: @Sendable () -> String?
  private let queue = DispatchQueue(label: "opdash.past", qos: .userInitiated)
  private let state: Lock<State>

  /// The past of the run that the store of `folder` records; `id` is its identifier once it is known.
  package init(folder: String, id: @escaping @Sendable () -> String?) {
    self.folder = folder
    self.id = id
    state = Lock(State(history: RunHistory()))
  }

  /// The past of a run that has ended.
  package init(_ events: [JobEvent]) {
    folder = ""
    id = { nil }
    state = Lock(State(history: RunHistory(events)))
  }

  package func find(_ time: Duration, _ receive: @escaping @MainActor @Sendable (Run?) -> Void) {
    queue.async { [self] in
      let run = state.withLock { state in try? self.run(at: time, &state) }
      DispatchQueue.main.async { MainActor.assumeIsolated { receive(run) } }
    }
  }

  private func run(at time: Duration, _ state: inout State) throws -> Run {
    if state.source == nil, let id = id() {
      let store = try RunStore(folder: folder)
      state.source = (RecordedEvents(of: try store.run(named: id)), store)
    }
    if var source = state.source {
      let more = try source.events.readMore(source.store)
      state.source = source
      state.history.append(contentsOf: more)
    }
    return state.history.run(at: time)
  }
}
