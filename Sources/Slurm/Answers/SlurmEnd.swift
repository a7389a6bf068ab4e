import Foundation
import Processes

/// How a job of the cluster ended.
package enum SlurmEnd: Sendable, Equatable {
  /// Its program exited with a status; 0 is success.
  case exited(Int32)
  /// Its program was killed by a signal. A status above 128 counts as one, as shells report it.
  case signalled(Int32)
  case outOfMemory
  /// It ran longer than its time limit.
  case timeLimit
  /// A node was lost; the job's processes may still be executing there.
  case nodeFailure(nodes: String)
  /// The scheduler ended it for a more urgent job.
  case preempted
  /// Someone has cancelled it.
  case cancelled
  /// The scheduler refused the submission, with Slurm's own sentence.
  case refused(String)
  /// The scheduler accepted it and never started it, with Slurm's reason.
  case notStarted(String)
  /// Nothing knows it any more: neither the controller nor the accounting nor its own files.
  case lost(hasBegun: Bool)

  /// Of a status as wait(2) gives it.
  init(status: Int32) {
    if status & 0x7F != 0 { self = .signalled(status & 0x7F) } else { self.init(shellStatus: status >> 8) }
  }

  /// Of an exit status of a shell.
  init(shellStatus status: Int32) {
    self = (129...192).contains(status) ? .signalled(status - 128) : .exited(status)
  }
}

/// A job of the cluster ended, but not with the status 0.
package struct SlurmFailure: Error, Sendable, Equatable, CustomStringConvertible, LocalizedError {
  package let end: SlurmEnd
  /// Nil for a job that was never accepted.
  package let id: SlurmJobID?

  package init(_ end: SlurmEnd, id: SlurmJobID?) {
    self.end = end
    self.id = id
  }

  /// One sentence for a person.
  package var description: String {
    switch end {
    case .exited(let status): "\(subject) exited with status \(status)"
    case .signalled(let signal): "\(subject) was killed by \(SignalName.of(signal))"
    case .outOfMemory: "\(subject) used more memory than it asked for: raise slurm.memory"
    case .timeLimit: "\(subject) ran into its time limit: raise slurm.time"
    case .nodeFailure(let nodes):
      "\(subject) lost its node\(nodes.isEmpty ? "" : " \(nodes)"); its processes may still be executing there"
    case .preempted: "\(subject) was preempted by a more urgent job"
    case .cancelled: "\(subject) was cancelled in Slurm"
    case .refused(let sentence): "Slurm refused the job: \(sentence)"
    case .notStarted(let reason): "Slurm did not start \(subject): \(SlurmReason(reason))"
    case .lost(hasBegun: true): "\(subject) had begun, and neither Slurm nor its exit file says how it ended"
    case .lost(hasBegun: false): "\(subject) is lost: Slurm does not know it, and nothing shows that it has begun"
    }
  }

  package var errorDescription: String? { description }

  private var subject: String { id.map { "job \($0)" } ?? "the job" }
}
