import Basics
import Dispatch
import JobModel

/// The past of a run, from the events noted during it, and from its record if there are too many to keep.
///
/// The record is not read, and nothing is folded, before the first instant is asked for.
package final class RecordedPast: RunPast, @unchecked Sendable {
  // Safe: the variables are touched only on `queue`.
  private enum Source {
    /// All events are known.
    case none
    /// The dashboard notes them, from the first one on.
    case notes
    /// Its events are read, those recorded since with each instant; nil before the first.
    case record((events: RecordedEvents, store: RunStore)?)
  }

  private let folder: String
  private let id: @Sendable () -> String?
  private let noteLimit: Int
  private let queue = DispatchQueue(label: "opdash.past", qos: .userInitiated)
  private var source: Source
  private var history: RunHistory
  private var wasAsked = false

  /// The past of the run that the store of `folder` records; `id` is its identifier once it is known.
  ///
  /// Keeps at most `noteLimit` noted events, some 40 MB with lines of output, until the first instant is asked for.
  package convenience init(folder: String, noteLimit: Int = 200_000, id: @escaping @Sendable () -> String?) {
    self.init(.notes, folder: folder, noteLimit: noteLimit, id: id)
  }

  /// The past of a run that has ended.
  package convenience init(_ events: [JobEvent]) { self.init(.none, events) }

  /// The past of a run that another program records in the store of `folder`.
  package convenience init(folder: String, ofRun id: String) { self.init(.record(nil), folder: folder) { id } }

  private init(
    _ source: Source, _ events: [JobEvent] = [], folder: String = "", noteLimit: Int = 0,
    id: @escaping @Sendable () -> String? = { nil }
  ) {
    self.folder = folder
    self.id = id
    self.noteLimit = noteLimit
    self.source = source
    history = RunHistory(events)
  }

  package func note(_ events: [JobEvent]) {
    queue.async { [self] in
      guard case .notes = source, let first = events.first else { return }
      let count = history.events.count
      if first.seq == count, wasAsked || count + events.count <= noteLimit {
        history.append(contentsOf: events)
      } else {
        source = .record(nil)
        history = RunHistory()
      }
    }
  }

  package func find(_ time: Duration, _ receive: @escaping @MainActor @Sendable (Run?) -> Void) {
    queue.async { [self] in
      let run = try? self.run(at: time)
      onMain { receive(run) }
    }
  }

  private func run(at time: Duration) throws -> Run {
    wasAsked = true
    if case .record(let open) = source, let id = id() {
      let store = try open?.store ?? RunStore(folder: folder)
      var events = try open?.events ?? RecordedEvents(of: store.run(named: id))
      history.append(contentsOf: try events.readMore(store))
      source = .record((events, store))
    }
    return history.run(at: time)
  }
}
