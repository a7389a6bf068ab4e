import Foundation
import Processes

/// The end of a job of the cluster.
package enum SlurmEnd: Sendable, Equatable {
  /// The program exited with a status; 0 is success.
  case exited(Int32)
  /// A signal killed the program. A status above 128 counts as a signal, as shells report it.
  case signalled(Int32)
  case outOfMemory
  /// The job exceeded its time limit.
  case timeLimit
  /// A node was lost; the job's processes may still be executing there.
  case nodeFailure(nodes: String)
  /// The scheduler ended the job for a more urgent one.
  case preempted
  /// Someone has cancelled the job.
  case cancelled
  /// The scheduler refused the submission, with Slurm's own sentence.
  case refused(String)
  /// The scheduler accepted the job and never started it, with Slurm's reason.
  case notStarted(String)
  /// The job is no longer known to the controller or the accounting, or from its own files.
  case lost(hasBegun: Bool)

  /// Creates the end from a status in the format of wait(2).
  init(status: Int32) {
    if status & 0x7F != 0 { self = .signalled(status & 0x7F) } else { self.init(shellStatus: status >> 8) }
  }

  /// Creates the end from an exit status of a shell.
  init(shellStatus status: Int32) {
    self = (129...192).contains(status) ? .signalled(status - 128) : .exited(status)
  }
}

/// The failure of a cluster job that ended, but not with status 0.
package struct SlurmFailure: Error, Sendable, Equatable, CustomStringConvertible, LocalizedError {
  package let end: SlurmEnd
  /// Nil for a job that was never accepted.
  package let id: SlurmJobID?

  package init(_ end: SlurmEnd, id: SlurmJobID?) {
    self.end = end
    self.id = id
  }

  /// The failure as one sentence for the user.
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
