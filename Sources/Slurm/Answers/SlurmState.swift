/// The state of a job as the controller names it.
package enum SlurmState: Sendable, Equatable {
  case pending
  /// The job has a node and has not ended: it is executing, being prepared, stopped or being cleaned up.
  case running
  case completed
  case failed
  case cancelled
  case timedOut
  case nodeFailed
  case outOfMemory
  case preempted

  /// Parses a state from squeue, scontrol or sacct (`CANCELLED by 1000`, `CANCELLED+`); nil for an unknown one.
  init?(_ text: some StringProtocol) {
    let word = text.prefix { $0.isLetter || $0 == "_" }
    switch word {
    case "PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD": self = .pending
    case "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING", "STAGE_OUT":
      self = .running
    case "COMPLETED": self = .completed
    case "FAILED": self = .failed
    case "CANCELLED", "REVOKED": self = .cancelled
    case "TIMEOUT", "DEADLINE": self = .timedOut
    case "NODE_FAIL", "BOOT_FAIL": self = .nodeFailed
    case "OUT_OF_MEMORY": self = .outOfMemory
    case "PREEMPTED": self = .preempted
    default: return nil
    }
  }

  /// Whether the job has ended.
  package var isEnded: Bool { self != .pending && self != .running }
}
