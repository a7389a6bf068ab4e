import Basics
import Foundation
import JobModel
import Operations

/// The jobs that are added to a run: by a person, or by a job that writes a job file to `$OPDASH_ADD`.
///
/// Texts are read one after another on a queue of their own, which may wait for the engine's queue; never the reverse.
final class Additions: @unchecked Sendable {
  // Safe: `known` and `written` are touched only on `queue`, the rest does not change.
  let queue = DispatchQueue(label: "opdash.adding", qos: .userInitiated)
  let reader: any AddedTextReader
  private let kept: KeptTexts?
  /// How many jobs of the run the reader knows.
  private var known = 0
  /// The texts that jobs have added, by the name of the job: when it is executed again, the same text adds nothing.
  private var written: [String: Set<[UInt8]>] = [:]

  /// As many as a machine has memory for.
  static let jobLimit = 1_000_000

  init(_ reader: any AddedTextReader, folder: RunFolder?) {
    self.reader = reader
    kept = folder.map { KeptTexts(in: $0.path) }
  }

  /// Keeps the texts of the run that this one resumes; its graph has their jobs.
  func keep(_ texts: [KeptText]) {
    for kept in texts {
      _ = try? self.kept?.keep(kept)
      if let writer = kept.text.writer { written[writer, default: []].insert(kept.text.bytes) }
    }
  }

  /// Adds the jobs of a text to the run; on `queue`.
  func add(_ text: AddedText, _ style: AddedText.Style, to run: JobQueue) -> Result<AddedJobs, AdditionRefusal> {
    if let writer = text.writer, written[writer]?.contains(text.bytes) == true {
      return .success(AddedJobs([], notes: ["$OPDASH_ADD is as it was before: its jobs were added then"]))
    }
    let before = known
    let (new, refusal) = run.stream.queue.sync { (run.newlyKnown(after: before), run.refusal(of: text)) }
    let known = before + new.jobs.count
    self.known = known
    do throws(AdditionRefusal) {
      // Its other faults are of no interest; the reader learns of the jobs by another text.
      if let refusal {
        self.known = before
        throw refusal
      }
      var jobs = try reader.read(text, style, after: new)
      var takeBack: (@Sendable () -> Void)?
      do throws(FileProblem) { takeBack = try kept?.keep(KeptText(text, names: jobs.jobs.map(\.name))) } catch {
        jobs.notes.append("a run that resumes this one will not have these jobs: \(error.message)")
      }
      let result = run.stream.queue.sync { [jobs] in run.apply(jobs, of: text, knowing: known) }
      if case .failure = result {
        takeBack?()
      } else if let writer = text.writer {
        written[writer, default: []].insert(text.bytes)
      }
      return result
    } catch {
      return .failure(error)
    }
  }
}

extension JobQueue: ExtensibleFeed {
  package func add(
    _ text: AddedText, _ style: AddedText.Style,
    _ answer: @escaping @Sendable (Result<AddedJobs, AdditionRefusal>) -> Void
  ) {
    guard let additions else { return answer(.failure(AdditionRefusal("this run takes no other jobs"))) }
    additions.queue.async { [self] in answer(additions.add(text, style, to: self)) }
  }

  // MARK: On the stream's queue

  /// The jobs after the first `count`, and the pools.
  fileprivate func newlyKnown(after count: Int) -> NewlyKnown {
    NewlyKnown(jobs: Array(scheduler.graph.jobs[count...]), pools: stream.journal.run.pools)
  }

  private func refusal(_ reason: String) -> AdditionRefusal {
    AdditionRefusal("no job can be added to run \(id): \(reason)")
  }

  /// Why no job of a text is added now; a job of the run adds some even if they can't start any more.
  fileprivate func refusal(of text: AddedText) -> AdditionRefusal? {
    if stream.isOver { return refusal("it has ended") }
    guard text.writer == nil || scheduler.ending.haveBegun else { return nil }
    return scheduler.closure.map(refusal)
  }

  /// Adds jobs that were read when the run had `known` jobs.
  fileprivate func apply(
    _ read: ReadJobs, of text: AddedText, knowing known: Int
  ) -> Result<AddedJobs, AdditionRefusal> {
    if let refusal = refusal(of: text) { return .failure(refusal) }
    func refuse(_ reason: String) -> Result<AddedJobs, AdditionRefusal> { .failure(refusal(reason)) }
    let count = scheduler.graph.jobs.count
    guard count + read.jobs.count <= Additions.jobLimit else {
      return refuse("it would have more than \(Additions.jobLimit) jobs")
    }
    // A list on standard input may have added some meanwhile.
    let late = Set(scheduler.graph.jobs[known...].map(\.name))
    if let job = read.jobs.first(where: { late.contains($0.name) }) {
      return refuse("it has a job '\(job.name)' since a moment: give this one another name")
    }
    let jobs = read.jobs.map { $0.moved(by: count - known, from: known) }
    var notes = read.notes
    if cluster == nil, let job = jobs.first(where: { $0.cluster != nil }) {
      return refuse("job '\(job.name)' is for a cluster, and the run has none")
    }
    if jobserver == nil, let job = jobs.first(where: \.sharesSlots) {
      notes.append("job '\(job.name)' gets no jobserver: a run has one if a job of its own file asks for it")
    }
    enter { run in
      read.willAdd(JobID(count))
      run.admitSecrets(read.secrets)
      run.noteReadValues(of: jobs)
      run.scheduler.extend(by: jobs, pools: read.pools)
      run.extendWatch(from: count)
    }
    return .success(AddedJobs(jobs.map(\.name), notes: notes))
  }

  /// Reads the job file that an attempt has written to `$OPDASH_ADD`, and adds its jobs; false if there is none to read.
  ///
  /// `finished` is called again once the jobs are added, or the attempt has failed with the fault.
  func addJobs(of attempt: Attempt) -> Bool {
    guard let additions, let file = attempt.takeAddition() else { return false }
    let job = scheduler.graph[attempt.job].name
    let isSuccess = attempt.outcome == .succeeded
    additions.queue.async { [self] in
      let result = isSuccess ? add(file, of: job, additions) : nil
      unlink(file.path)
      stream.queue.sync {
        enter(attempt) {
          if let result { $0.take(result, of: attempt) }
          $0.finished(attempt)
        }
      }
    }
    return true
  }

  /// Adds the jobs of a file that a job has written; nil without a text; on the queue of the additions.
  private func add(
    _ file: Attempt.AdditionFile, of job: String, _ additions: Additions
  ) -> Result<AddedJobs, AdditionRefusal>? {
    do throws(AdditionRefusal) {
      guard let bytes = try Self.text(at: file.path) else { return nil }
      let directory = file.directory ?? FileManager.default.currentDirectoryPath
      let text = AddedText(bytes, file: "$OPDASH_ADD", directory: directory, writer: job)
      return additions.add(text, AddedText.Style(), to: self)
    } catch {
      return .failure(error)
    }
  }

  /// Reads a file in whose place the program may have put anything; nil without a file, or for an empty one.
  private static func text(at path: String) throws(AdditionRefusal) -> [UInt8]? {
    do throws(FileProblem) {
      let bytes = try ForeignFile.contents(path, .own, limit: AddedText.limit)
      return bytes.isEmpty ? nil : bytes
    } catch {
      if error.isAbsence { return nil }
      throw AdditionRefusal(error.refusal(of: "$OPDASH_ADD"))
    }
  }

  /// Notes the added jobs in the log of their attempt, or makes it fail.
  private func take(_ result: Result<AddedJobs, AdditionRefusal>, of attempt: Attempt) {
    let lines: [String]
    switch result {
    case .success(let added):
      let names = added.names.joined(most: 8)
      let line = "added \(Format.count(added.names.count, "job")): \(names)"
      lines = added.notes + (added.names.isEmpty ? [] : [line])
    case .failure(let refusal):
      // Its failure says a single line.
      lines = refusal.lines == [refusal.reason] ? [] : Array(refusal.lines.prefix(Self.faultLines))
      attempt.ending = .failed(JobFailure(.error, JobFailure.cut(refusal.reason)))
    }
    for line in lines { stream.state(.jobLog(attempt.job, attempt: attempt.number, LogLine(.note, line))) }
  }

  /// The most lines of the log about a faulty text.
  private static let faultLines = 60
}

extension Job {
  /// The job with another place in its run: numbers from `first` on are greater by `distance`.
  fileprivate func moved(by distance: Int, from first: Int) -> Job {
    guard distance != 0 else { return self }
    func moved(_ id: JobID) -> JobID { id.index < first ? id : JobID(id.index + distance) }
    var job = self
    job.needs = needs.map { JobNeed(moved($0.job), when: $0.when) }
    job.outputs = outputs.map { OutputReference($0.text, job: moved($0.job), name: $0.name) }
    return job
  }
}
