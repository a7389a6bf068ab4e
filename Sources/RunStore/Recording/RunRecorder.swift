import Basics
import Dispatch
import Foundation
import JobModel

/// Records a run in the store while it executes.
///
/// Events are encoded on a queue that waits for nothing, and written on another one. So a slow disk delays no subscriber of
/// the feed and no job; when too many bytes wait for it, or it fails, recording ends, and the run continues.
///
/// A commit hands the events to the kernel, so that they survive the program; a third queue flushes them to the disk, so that
/// they survive the machine.
package final class RunRecorder: @unchecked Sendable {
  // Safe: `store` and `lock` are touched only on `writing`; the other variables are in a lock.
  package struct Limits: Sendable {
    /// The least time between two commits.
    package var interval = Duration.milliseconds(100)
    /// The least time between two commits where a job has ended.
    package var urgentInterval = Duration.milliseconds(5)
    /// The least time to the next commit, as a multiple of the processor time that the last one took.
    package var rest = 50
    /// The longest time from a commit to its flush.
    package var flushInterval = Duration.milliseconds(500)
    /// The time limit for the lock of another program.
    package var patience = Duration.seconds(10)
    /// The same at the start of a run, before anything is recorded: the longest delay until a run learns that it is not
    /// recorded.
    package var startPatience = Duration.seconds(2)
    /// The same once the program is to end.
    package var endPatience = Duration.seconds(2)
    /// The bytes of events that may wait for the disk.
    package var waiting = 64_000_000

    package init() {}
  }

  private struct State {
    var notes: RunNotes
    var subscription: JobSubscription?
    /// The bytes that are being written.
    var inWriting = 0
    /// When the next commit comes, if one is scheduled.
    var due: Duration?
    var lastCommit: Duration?
    var commitCost = Duration.zero
    var isFlushDue = false
    var isOver = false
    /// Whether `done` was left.
    var hasLeft = false
    var error: RunStoreError?
    var whenLost: (@Sendable (RunStoreError) -> Void)?
    /// Whether the run has a row in the store.
    var hasRow = false
    /// Whether the program waits for the last commit.
    var isEnding = false
    /// Whether the first commit is on disk, or never will be.
    var isRecorded = false
    var whenRecorded: [@Sendable () -> Void] = []
  }

  private let folder: String
  private let origin: RunOrigin
  private let cookie: String?
  private let successes: SuccessLog?
  private let limits: Limits
  private let clock: any OperationClock
  private let encoding = DispatchQueue(label: "opdash.recorder.events")
  private let writing = DispatchQueue(label: "opdash.recorder")
  private let flushing = DispatchQueue(label: "opdash.recorder.flush")
  private let state: Lock<State>
  /// Left when the run's end is on disk, or it can't be.
  private let done = DispatchGroup()
  private var store: RunWriter?
  private var lock: RunLock?

  /// Opens nothing before `start`.
  ///
  /// `fingerprint` gives each job's; `cookie` marks the environment of the processes of the run's shell jobs;
  /// `successes` is removed when the whole run is on disk.
  package init(
    folder: String, origin: RunOrigin, fingerprint: @escaping @Sendable (JobID) -> String? = { _ in nil },
    cookie: String? = nil, successes: SuccessLog? = nil, limits: Limits = Limits(), clock: any OperationClock = .system
  ) {
    self.folder = folder
    self.origin = origin
    self.cookie = cookie
    self.successes = successes
    self.limits = limits
    self.clock = clock
    state = Lock(State(notes: RunNotes(fingerprint: fingerprint)))
  }

  /// Must be called before the feed states its first fact.
  package func start(_ feed: any JobFeed) {
    done.enter()
    let subscription = feed.subscribe(on: encoding) { [weak self] events in self?.take(events) }
    precondition(subscription.snapshot.nextSeq == 0, "the recorder was started after the run")
    let hasLeft = state.withLock { state in
      if !state.hasLeft { state.subscription = subscription }
      return state.hasLeft
    }
    if hasLeft { subscription.cancel() }
  }

  /// Calls `body` once, on a queue of the recorder, when recording ends before the run does: at once if it has already.
  package func whenLost(_ body: @escaping @Sendable (RunStoreError) -> Void) {
    let error = state.withLock { state in
      if state.error == nil { state.whenLost = body }
      return state.error
    }
    if let error { encoding.async { body(error) } }
  }

  /// Calls `body` once, on any thread, when the run is on disk with its cookie, or after `whenLost` has reported a failure.
  ///
  /// A process that is started before that, and survives its program, is not found by a run that resumes this one.
  package func whenRecorded(_ body: @escaping @Sendable () -> Void) {
    let isKnown = state.withLock { state in
      if !state.isRecorded { state.whenRecorded.append(body) }
      return state.isRecorded
    }
    if isKnown { body() }
  }

  private func tellRecorded() {
    let bodies = state.withLock { state in
      state.isRecorded = true
      return exchange(&state.whenRecorded, with: [])
    }
    for body in bodies { body() }
  }

  /// The error that ended recording early; nil if none did.
  package var loss: RunStoreError? { state.withLock(\.error) }

  /// Waits until the run's end is on disk, at most `limit`; returns whether the run is recorded whole.
  ///
  /// To be called when the feed has stated the end; not on the feed's queue.
  @discardableResult package func finish(within limit: Duration = .seconds(5)) -> Bool {
    let isLost = state.withLock { state in
      state.isEnding = true
      return state.error != nil
    }
    let isDone = done.wait(timeout: .now() + (isLost ? min(limit, .seconds(1)) : limit) / .seconds(1)) == .success
    return isDone && state.withLock { $0.error == nil }
  }

  /// Commits the facts delivered so far, for a program that ends before its run does; waits at most `limit`, and
  /// returns whether all of it is in the store.
  @discardableResult package func flush(within limit: Duration = .seconds(1)) -> Bool {
    let written = DispatchSemaphore(value: 0)
    state.withLock { $0.isEnding = true }
    encoding.async { [self] in
      writing.async { [self] in
        commit()
        written.signal()
      }
    }
    let isInTime = written.wait(timeout: .now() + limit / .seconds(1)) == .success
    return isInTime && state.withLock { $0.error == nil }
  }

  // MARK: Encoding

  private func take(_ events: [JobEvent]) {
    let (due, error) = state.withLock { state -> (Duration?, RunStoreError?) in
      if state.isOver {
        // After recording has failed, only the run's end is still taken.
        for end in events.compactMap(state.notes.end) { closeLost(end) }
        return (nil, nil)
      }
      for event in events { state.notes.take(event) }
      let waiting = state.notes.batch.bytes + state.inWriting
      if waiting > limits.waiting { return (nil, RunStoreError(.tooSlow(bytes: waiting), RunStore.path(in: folder))) }
      let due = nextCommit(state)
      // A commit that is scheduled earlier writes these events too.
      if let earlier = state.due, earlier <= due { return (nil, nil) }
      state.due = due
      return (due, nil)
    }
    if let error { return end(error) }
    guard let due else { return }
    let delay = due - clock.now
    if delay > .zero {
      _ = clock.schedule(after: delay, on: writing) { [weak self] in self?.commit() }
    } else {
      writing.async { self.commit() }
    }
  }

  private func nextCommit(_ state: State) -> Duration {
    let batch = state.notes.batch
    // The end waits for no interval.
    guard batch.end == nil, let last = state.lastCommit else { return .zero }
    return last + max(batch.ended.isEmpty ? limits.interval : limits.urgentInterval, state.commitCost * limits.rest)
  }

  // MARK: Writing

  private func commit() {
    let begin = Duration.now(on: CLOCK_THREAD_CPUTIME_ID)
    let (batch, start) = state.withLock { state -> (RunNotes.Batch, RunStart?) in
      state.due = nil
      state.lastCommit = clock.now
      let batch = state.notes.takeBatch()
      state.inWriting = batch.bytes
      return (batch, state.notes.start)
    }
    guard !state.withLock({ $0.isOver }), !batch.isEmpty, let start else { return }
    do throws(RunStoreError) {
      try write(batch, of: start)
    } catch {
      store = nil
      return end(error, batch.end)
    }
    state.withLock { state in
      state.inWriting = 0
      state.hasRow = true
      let cost = Duration.now(on: CLOCK_THREAD_CPUTIME_ID) - begin
      state.commitCost = min(cost, limits.flushInterval / max(1, limits.rest))
    }
    tellRecorded()
    if batch.end == nil {
      scheduleFlush()
    } else {
      // Closed before the end is announced: the last connection to close removes the extra files.
      store = nil
      flushing.async { [self] in end(flushLog(), batch.end) }
    }
  }

  /// How long one call waits for the lock of another program.
  private static let attempt = Duration.milliseconds(100)

  /// Retries while another program has the lock, until `patience`, which may change meanwhile, has passed.
  private func write(_ batch: RunNotes.Batch, of start: RunStart) throws(RunStoreError) {
    let clock = ContinuousClock()
    let begin = clock.now
    while true {
      do throws(RunStoreError) {
        if store == nil { store = try RunWriter(folder, patience: min(Self.attempt, limits.patience)) }
        try store?.write(batch, of: start, origin: origin, cookie: cookie)
        lock = lock ?? store?.lock
        return
      } catch {
        guard error.reason == .locked, clock.now - begin < patience else { throw error }
      }
    }
  }

  private var patience: Duration {
    let (hasRow, isEnding) = state.withLock { ($0.hasRow, $0.isEnding) }
    return min(limits.patience, isEnding ? limits.endPatience : hasRow ? limits.patience : limits.startPatience)
  }

  private func scheduleFlush() {
    let isFirst = !state.withLock { exchange(&$0.isFlushDue, with: true) }
    guard isFirst else { return }
    _ = clock.schedule(after: limits.flushInterval, on: flushing) { [weak self] in
      guard let self else { return }
      state.withLock { $0.isFlushDue = false }
      if let error = flushLog() { end(error) }
    }
  }

  /// Returns once the earlier commits are on the disk; returns the error if they are not.
  private func flushLog() -> RunStoreError? {
    let path = RunStore.logPath(in: folder)
    // SQLite has no locks on this file that closing it here would release.
    let log: Int32
    do throws(FileProblem) { log = try ForeignFile.open(path, .own) } catch {
      // Without a log, SQLite has flushed the database itself.
      return error.isAbsence ? nil : RunStoreError(.other(error.message), path)
    }
    defer { close(log) }
    return fsync(log) == 0 ? nil : RunStoreError(.other(String(cString: strerror(errno))), path)
  }

  /// Without an error the run is recorded whole.
  private func end(_ error: RunStoreError?, _ lostEnd: RunNotes.End? = nil) {
    let (isFirst, whenLost, lostEnd) = state.withLock { state in
      defer { (state.isOver, state.whenLost) = (true, nil) }
      if state.isOver { return (false, state.whenLost, lostEnd) }
      state.error = error
      return (true, state.whenLost, lostEnd ?? state.notes.takeBatch().end)
    }
    guard isFirst else { return }
    if let error, let whenLost { whenLost(error) }
    tellRecorded()
    if error == nil {
      successes?.remove()
      leave()
    } else if let lostEnd {
      closeLost(lostEnd)
    }
  }

  private func leave() {
    let (subscription, isFirst) = state.withLock { ($0.subscription.take(), !exchange(&$0.hasLeft, with: true)) }
    subscription?.cancel()
    if isFirst { done.leave() }
  }

  /// Tries once to record the end of a run whose recording has failed, so that the run does not look killed.
  private func closeLost(_ end: RunNotes.End) {
    writing.async { [self] in
      // Nothing looks killed that has no row.
      if let start = state.withLock({ $0.hasRow ? $0.notes.start : nil }) {
        let writer = try? RunWriter(folder, patience: .milliseconds(500))
        try? writer?.close(start, end)
      }
      leave()
    }
  }
}
