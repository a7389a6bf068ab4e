import Basics
import JobCluster
import JobEngine
import JobFiles
import JobModel
import RunStore
import Screen
import Session

/// Reads job files whose jobs are added to a run, and knows those jobs.
final class AddedJobReader: AddedTextReader, @unchecked Sendable {
  // Safe: `known` is touched only on the queue of the readings, after `begin`; the rest has a lock or does not change.
  private let environment: Environment
  private let engine: Engine?
  private var known = KnownJobs(JobGraph(name: ""))
  private var earlier: EarlierAttempts?
  /// The jobs that were added, by identifier.
  private let added = Lock<[JobID: Job]>([:])

  /// `engine` is the one that the command line chose for the programs of the run.
  init(_ environment: Environment, engine: Engine?) { (self.environment, self.engine) = (environment, engine) }

  /// Sets the pools, secrets and history of the run; to be called before the run starts.
  func begin(_ graph: JobGraph, _ earlier: EarlierAttempts?) {
    var shared = graph
    shared.jobs = []
    (known, self.earlier) = (KnownJobs(shared), earlier)
  }

  func job(_ id: JobID) -> Job? { added.withLock { $0[id] } }

  func read(
    _ text: AddedText, _ style: AddedText.Style, after new: NewlyKnown
  ) throws(AdditionRefusal) -> ReadJobs {
    known.append(new.jobs)
    known.pools = new.pools
    try checkSecrets(text)
    var notes: [String] = []
    let elision = Elision(isASCII: style.isASCII)
    var graph: JobGraph
    do throws(JobFileFaults) {
      graph = try Self.graph(of: text, in: environment, engine, addingTo: known) { warning in
        notes += warning.lines(width: style.width, elision)
      }
    } catch {
      let first = error.faults.first { !$0.isWarning }
      throw AdditionRefusal(
        first?.description ?? "", lines: error.faults.flatMap { $0.lines(width: style.width, elision) })
    }
    known.secrets.formUnion(graph.secrets)
    try checkSecrets(text)
    if graph.jobs.contains(where: { $0.cluster != nil }) {
      graph.allocation = known.allocation
      do { try ClusterCheck.check(graph) } catch let refusal as ClusterRefusal {
        throw AdditionRefusal(refusal.messages.first ?? "", lines: refusal.messages)
      } catch {
        throw AdditionRefusal("\(error)")
      }
    }
    let jobs = (earlier?.withUsualTimes(graph) ?? graph).jobs
    return ReadJobs(jobs, pools: graph.pools, secrets: graph.secrets, notes: notes) { [added] first in
      added.withLock { added in
        for (index, job) in jobs.enumerated() { added[JobID(first.index + index)] = job }
      }
    }
  }

  /// Refuses a text with a secret in it: it would be kept for a run that resumes this one.
  private func checkSecrets(_ text: AddedText) throws(AdditionRefusal) {
    guard let mask = SecretMask(known.secrets) else { return }
    let texts = [String(decoding: text.bytes, as: UTF8.self)] + text.vars.values
    guard let _ = texts.first(where: { mask.masked($0) != $0 }) else { return }
    throw AdditionRefusal(
      "\(text.file) has the value of a secret of the run in it: write ${env.NAME} with NAME in opdash's own environment, "
        + "or in a file of its 'dotenv'")
  }

  /// The jobs of a text, which follow the known ones.
  static func graph(
    of text: AddedText, in environment: Environment, _ engine: Engine?, addingTo known: KnownJobs,
    warn: (JobFileFault) -> Void
  ) throws(JobFileFaults) -> JobGraph {
    let graph = try JobFile.decode(
      text.bytes, file: text.file, directory: text.directory, environment: environment.variables, vars: text.vars,
      addingTo: known, warn: warn)
    return engine.map { graph.executed(by: $0) } ?? graph
  }
}
