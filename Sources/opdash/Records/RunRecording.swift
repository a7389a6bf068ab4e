import Dispatch
import JobEngine
import JobModel
import Processes
import RunStore

/// The recording of a run in the store, for the main queue.
@MainActor
final class RunRecording {
  let past: any RunPast
  private let feed: any JobFeed
  private let options: RunOptions
  private let recorder: RunRecorder

  init(_ feed: any JobFeed, _ options: RunOptions) {
    self.feed = feed
    self.options = options
    let queue = feed as? JobQueue
    let (first, added) = (options.jobs, options.added)
    let fingerprint: @Sendable (JobID) -> String? = { id in
      (first.indices.contains(id.index) ? first[id.index] : added?.job(id)).map(Fingerprint.of)
    }
    let successes = queue?.folder.map { SuccessLog(folder: $0.path, fingerprint: fingerprint) }
    if let successes { queue?.whenAttemptSucceeds(successes.append) }
    recorder = RunRecorder(
      folder: options.stateFolder, origin: options.origin, fingerprint: fingerprint,
      cookie: ProcessSupervisor.shared.cookie, successes: successes)
    past = RecordedPast(folder: options.stateFolder, id: { feed.snapshot.start?.id })
  }

  /// To be called before the run states its first fact.
  func start() {
    recorder.start(feed)
    let (recorder, folder, retention) = (recorder, options.stateFolder, options.retention)
    // The record on disk is needed to find a killed run's processes.
    (feed as? JobQueue)?.hold(atMost: .milliseconds(500)) { body in
      recorder.whenRecorded {
        body()
        // The next run removes what this one leaves.
        DispatchQueue(label: "opdash.pruning", qos: .utility).async {
          _ = try? RunStore(folder: folder).prune(retention)
        }
      }
    }
  }

  /// Calls `body` once, on any thread, when the run is on disk, or after the handler of `whenLost`.
  func whenKnown(_ body: @escaping @Sendable () -> Void) { recorder.whenRecorded(body) }

  /// Calls `body`, on any thread, when the recording ends before the run.
  func whenLost(_ body: @escaping @Sendable (String) -> Void) { recorder.whenLost { body($0.description) } }

  /// Waits until all events so far are on disk, a few seconds at most; returns why they are not.
  func finish() -> String? {
    let isWhole = feed.snapshot.summary != nil ? recorder.finish() : recorder.flush()
    return isWhole ? nil : recorder.loss?.description ?? "\(options.stateFolder) takes too long to be written"
  }
}
