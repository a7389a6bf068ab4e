import Foundation
import JobModel

/// The changes of a run since the last commit, from its events.
struct RunNotes {
  struct End {
    var at: Date
    var summary: RunSummary
    var jobs: Int
    /// The time until the last end of a job.
    var length: Duration
  }

  /// The content of one commit.
  struct Batch {
    var chunks: [EventChunk] = []
    /// The number of jobs so far.
    var jobs = 0
    var ended: [EndedJob] = []
    var begun: [AttemptProcess] = []
    /// The attempts whose processes have ended, of those in the store.
    var gone: [(job: JobID, attempt: Int)] = []
    /// The memory of the chunks and rows, about.
    var bytes = 0
    var end: End?

    var isEmpty: Bool { bytes == 0 }
  }

  private(set) var batch = Batch()
  private(set) var start: RunStart?
  private let fingerprint: @Sendable (JobID) -> String?
  private var writer = EventWriter()
  private var nextSeq = 0
  private var lastEnd = Duration.zero
  private var names: [String] = []
  /// The attempts in progress.
  private var active: [JobID: ActiveAttempt] = [:]
  /// How long attempts that end now have executed, as their nodes have noted.
  private var noted: [JobID: Duration] = [:]
  /// The jobs whose processes have begun since the last batch.
  private var newProcesses: [JobID] = []
  private var restored: [JobID: EarlierSuccess] = [:]
  private var inputs: [JobID: String] = [:]
  /// The newest attempts of jobs that had another cause than a failure.
  private var caused: [JobID: Int] = [:]

  private struct ActiveAttempt {
    var number: Int
    var startedAt: Duration
    var pausedFor = Duration.zero
    var pausedAt: Duration?
    var pid: Int32?
    /// Whether the store knows its process.
    var hasProcess = false
  }

  init(fingerprint: @escaping @Sendable (JobID) -> String?) { self.fingerprint = fingerprint }

  /// The changes since the last call.
  mutating func takeBatch() -> Batch {
    // Now, because most processes have ended by then.
    for id in newProcesses { identifyProcess(of: id) }
    newProcesses = []
    batch.jobs = names.count
    return exchange(&batch, with: Batch())
  }

  private mutating func identifyProcess(of id: JobID) {
    guard let current = active[id], !current.hasProcess, let pid = current.pid, id.index < names.count else { return }
    // A process that has ended is left out: its number may be another's.
    guard let process = ProcessIdentity.ofChild(pid) else { return }
    active[id]?.hasProcess = true
    batch.begun.append(AttemptProcess(job: id, name: names[id.index], attempt: current.number, process: process))
  }

  mutating func take(_ event: JobEvent) {
    append(event)
    switch event.fact {
    case .runStarted(let start): self.start = start
    case .jobAdded(_, let job): names.append(job.name)
    case .jobRestored(let id, let success): restored[id] = success
    case .inputsHashed(let id, let hash): inputs[id] = hash
    case .jobCaused(let id, let attempt, _): caused[id] = attempt
    case .jobPlaced(let id, let place): noted[id] = place.took
    case .jobState(let id, let state, let attempt, let pid):
      if state.isActive {
        execute(id, state, attempt, pid, at: event.time)
      } else {
        leave(id, state, attempt, at: event.time)
      }
    case .jobLaunched(let id, let pid): launch(id, pid)
    case .runFinished: batch.end = end(event)
    default: break
    }
  }

  func end(_ event: JobEvent) -> End? {
    guard case .runFinished(let summary) = event.fact else { return nil }
    return End(at: date(event.time), summary: summary, jobs: names.count, length: lastEnd)
  }

  private mutating func append(_ event: JobEvent) {
    if let last = batch.chunks.indices.last, batch.chunks[last].bytes.count >= EventChunk.size {
      // More events can wait for a slow disk so.
      let size = batch.chunks[last].bytes.count
      _ = batch.chunks[last].deflate()
      batch.bytes += batch.chunks[last].bytes.count - size
      batch.chunks.append(EventChunk(first: nextSeq))
    } else if batch.chunks.isEmpty {
      batch.chunks.append(EventChunk(first: nextSeq))
    }
    let last = batch.chunks.count - 1
    let before = batch.chunks[last].bytes.count
    writer.append(event, to: &batch.chunks[last].bytes)
    let new = batch.chunks[last].bytes[before...]
    let lines = new.count { $0 == UInt8(ascii: "\n") }
    batch.chunks[last].count += lines
    nextSeq += lines
    batch.bytes += new.count
  }

  private mutating func execute(_ id: JobID, _ state: JobState, _ attempt: Int, _ pid: Int32?, at time: Duration) {
    var current = active[id] ?? ActiveAttempt(number: attempt, startedAt: time)
    if let pausedAt = current.pausedAt { current.pausedFor += time - pausedAt }
    current.pausedAt = state == .executing || state == .serving ? nil : time
    active[id] = current
    if let pid { launch(id, pid) }
  }

  private mutating func launch(_ id: JobID, _ pid: Int32) {
    guard let current = active[id], current.pid == nil else { return }
    active[id]?.pid = pid
    newProcesses.append(id)
  }

  private mutating func leave(_ id: JobID, _ state: JobState, _ attempt: Int, at time: Duration) {
    let last = active.removeValue(forKey: id)
    let noted = last == nil ? nil : noted.removeValue(forKey: id)
    // An attempt that began and ended within a commit leaves no row.
    if let last, last.hasProcess { batch.gone.append((id, last.number)) }
    guard var outcome = EndedJob.Outcome(state), id.index < names.count else { return }
    lastEnd = time
    var took = last.map { last in
      let paused = last.pausedFor + (last.pausedAt.map { time - $0 } ?? .zero)
      return max(.zero, (noted ?? time - last.startedAt) - paused)
    }
    if let earlier = restored.removeValue(forKey: id), outcome == .upToDate {
      (outcome, took) = (.restored, earlier.took)
    }
    // An attempt with another cause than a failure begins a new count.
    let first = caused[id].flatMap { $0 <= attempt ? $0 : nil } ?? 1
    batch.ended.append(
      EndedJob(
        run: start?.id ?? "", job: id, name: names[id.index],
        fingerprint: fingerprint(id), attempts: attempt - first + 1, outcome: outcome,
        took: took, at: date(time), inputs: inputs.removeValue(forKey: id)))
    batch.bytes += 200
  }

  private func date(_ time: Duration) -> Date { (start?.at ?? Date()) + time / .seconds(1) }
}
