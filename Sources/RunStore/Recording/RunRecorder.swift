import Basics
import Dispatch
import Foundation
import JobModel

/// Records a run in the store while it goes on.
///
/// Events are encoded on a queue that waits for nothing, and written on another one. So a slow disk delays no subscriber of
/// the feed and no job; when too many bytes wait for it, or it fails, recording is given up, and the run goes on.
package final class RunRecorder: @unchecked Sendable {
  // Safe: `store` is touched only on `writing`; the other variables are in a lock.
  package struct Limits: Sendable {
    /// The least time between two commits.
    package var interval = Duration.milliseconds(100)
    /// How long the lock of another program is waited for.
    package var patience = Duration.seconds(10)
    /// The bytes of events that may wait for the disk.
    package var waiting = 64_000_000

    package init() {}
  }

  private struct State {
    var notes: RunNotes
    var subscription: JobSubscription?
    /// The bytes that are being written.
    var inWriting = 0
    var isCommitDue = false
    var lastCommit: Duration?
    var isOver = false
    var error: RunStoreError?
    var whenLost: (@Sendable (RunStoreError) -> Void)?
    /// Whether the first commit is on disk.
    var isRecorded = false
    var whenRecorded: (@Sendable () -> Void)?
  }

  private let folder: String
  private let origin: RunOrigin
  private let cookie: String?
  private let limits: Limits
  private let clock: any OperationClock
  private let encoding = DispatchQueue(label: "opdash.recorder.events")
  private let writing = DispatchQueue(label: "opdash.recorder")
  private let state: Lock<State>
  /// Left when the run's end is on disk, or recording was given up.
  private let done = DispatchGroup()
  private var store: RunWriter?

  /// Opens nothing before `start`.
  ///
  /// `fingerprints` are those of the jobs by identifier, or none; `cookie` is what the processes of the run's shell jobs
  /// have in their environment.
  package init(
    folder: String, origin: RunOrigin, fingerprints: [String] = [], cookie: String? = nil, limits: Limits = Limits(),
    clock: any OperationClock = .system
  ) {
    self.folder = folder
    self.origin = origin
    self.cookie = cookie
    self.limits = limits
    self.clock = clock
    state = Lock(State(notes: RunNotes(fingerprints: fingerprints)))
  }

  /// Must be called before the feed states its first fact.
  package func start(_ feed: any JobFeed) {
    done.enter()
    let subscription = feed.subscribe(on: encoding) { [weak self] events in self?.take(events) }
    precondition(subscription.snapshot.nextSeq == 0, "the recorder was started after the run")
    let isOver = state.withLock { state in
      if !state.isOver { state.subscription = subscription }
      return state.isOver
    }
    if isOver { subscription.cancel() }
  }

  /// Calls `body` once, on a queue of the recorder, when recording ends before the run does: at once if it has already.
  package func whenLost(_ body: @escaping @Sendable (RunStoreError) -> Void) {
    let error = state.withLock { state in
      if state.error == nil { state.whenLost = body }
      return state.error
    }
    if let error { encoding.async { body(error) } }
  }

  /// Calls `body` once, on any thread, when the run is on disk with its cookie, or recording was given up.
  ///
  /// A process that is started before that, and survives its program, is not found by a run that goes on with this one.
  package func whenRecorded(_ body: @escaping @Sendable () -> Void) {
    let isKnown = state.withLock { state in
      if !state.isRecorded, !state.isOver { state.whenRecorded = body }
      return state.isRecorded || state.isOver
    }
    if isKnown { body() }
  }

  private func tellRecorded() {
    let body = state.withLock { state in
      defer { (state.isRecorded, state.whenRecorded) = (true, nil) }
      return state.whenRecorded
    }
    body?()
  }

  /// Waits until the run's end is on disk, at most `limit`; returns whether the run is recorded whole.
  ///
  /// To be called when the feed has stated the end; not on the feed's queue.
  @discardableResult package func finish(within limit: Duration = .seconds(5)) -> Bool {
    let isDone = done.wait(timeout: .now() + limit / .seconds(1)) == .success
    return isDone && state.withLock { $0.error == nil }
  }

  /// Writes what the feed has delivered so far, for a program that ends before its run does; waits at most `limit`.
  package func flush(within limit: Duration = .seconds(1)) {
    let written = DispatchSemaphore(value: 0)
    encoding.async { [self] in
      writing.async { [self] in
        commit()
        written.signal()
      }
    }
    _ = written.wait(timeout: .now() + limit / .seconds(1))
  }

  // MARK: Encoding

  private func take(_ events: [JobEvent]) {
    let (delay, error) = state.withLock { state -> (Duration?, RunStoreError?) in
      guard !state.isOver else { return (nil, nil) }
      for event in events { state.notes.take(event) }
      let waiting = state.notes.batch.bytes + state.inWriting
      if waiting > limits.waiting { return (nil, RunStoreError(.tooSlow(bytes: waiting), RunStore.path(in: folder))) }
      // The end waits for no interval; a commit that comes too late finds nothing.
      if state.notes.batch.end != nil { return (.zero, nil) }
      guard !state.isCommitDue else { return (nil, nil) }
      state.isCommitDue = true
      return (state.lastCommit.map { max(.zero, $0 + limits.interval - clock.now) } ?? .zero, nil)
    }
    if let error { return end(error) }
    guard let delay else { return }
    if delay > .zero {
      _ = clock.schedule(after: delay, on: writing) { [weak self] in self?.commit() }
    } else {
      writing.async { self.commit() }
    }
  }

  // MARK: Writing

  private func commit() {
    let (batch, start) = state.withLock { state -> (RunNotes.Batch, RunStart?) in
      state.isCommitDue = false
      state.lastCommit = clock.now
      let batch = state.notes.takeBatch()
      state.inWriting = batch.bytes
      return (batch, state.notes.start)
    }
    guard !state.withLock({ $0.isOver }), !batch.isEmpty, let start else { return }
    do throws(RunStoreError) {
      if store == nil { store = try RunWriter(folder, patience: limits.patience) }
      try store?.write(batch, of: start, origin: origin, cookie: cookie)
    } catch {
      store = nil
      return end(error)
    }
    state.withLock { $0.inWriting = 0 }
    tellRecorded()
    if batch.end != nil {
      // Closed before the end is told: the last connection to close tidies the files up.
      store = nil
      end(nil)
    }
  }

  /// Without an error the run is recorded whole.
  private func end(_ error: RunStoreError?) {
    let (isFirst, whenLost, subscription) = state.withLock { state in
      defer { (state.isOver, state.whenLost, state.subscription) = (true, nil, nil) }
      if state.isOver { return (false, state.whenLost, state.subscription) }
      state.error = error
      _ = state.notes.takeBatch()
      return (true, state.whenLost, state.subscription)
    }
    guard isFirst else { return }
    subscription?.cancel()
    if let error, let whenLost { whenLost(error) }
    tellRecorded()
    done.leave()
  }
}
