/// The word for a kind of fact in the field `type` of an event.
enum FactType: String, CaseIterable {
  case runStarted = "run_started"
  case jobAdded = "job_added"
  case jobState = "job_state"
  case jobLaunched = "job_launched"
  case jobRestored = "job_restored"
  case jobCaused = "job_caused"
  case inputsHashed = "inputs_hashed"
  case jobOutputs = "job_outputs"
  case jobPlaced = "job_placed"
  case jobProgress = "job_progress"
  case jobLog = "job_log"
  case programLog = "program_log"
  case cancelRequested = "cancel_requested"
  case slotsChanged = "slots_changed"
  case poolChanged = "pool_changed"
  case clusterChanged = "cluster_changed"
  case arrivalsEnded = "arrivals_ended"
  case priorityChanged = "priority_changed"
  case drainChanged = "drain_changed"
  case watchChanged = "watch_changed"
  case stopRequested = "stop_requested"
  case warningRaised = "warning_raised"
  case warningCleared = "warning_cleared"
  case runFinished = "run_finished"
}

extension JobFact {
  var type: FactType {
    switch self {
    case .runStarted: .runStarted
    case .jobAdded: .jobAdded
    case .jobState: .jobState
    case .jobLaunched: .jobLaunched
    case .jobRestored: .jobRestored
    case .jobCaused: .jobCaused
    case .inputsHashed: .inputsHashed
    case .jobOutputs: .jobOutputs
    case .jobPlaced: .jobPlaced
    case .jobProgress: .jobProgress
    case .jobLog: .jobLog
    case .programLog: .programLog
    case .cancelRequested: .cancelRequested
    case .slotsChanged: .slotsChanged
    case .poolChanged: .poolChanged
    case .clusterChanged: .clusterChanged
    case .arrivalsEnded: .arrivalsEnded
    case .priorityChanged: .priorityChanged
    case .drainChanged: .drainChanged
    case .watchChanged: .watchChanged
    case .stopRequested: .stopRequested
    case .warningRaised: .warningRaised
    case .warningCleared: .warningCleared
    case .runFinished: .runFinished
    }
  }
}

extension JobFailure.Cause {
  /// The word in the field `cause`.
  package var word: String {
    switch self {
    case .exit: "exit"
    case .signal: "signal"
    case .launch: "launch"
    case .http: "http"
    case .network: "network"
    case .timedOut: "timeout"
    case .checksum: "checksum"
    case .file: "file"
    case .simulated: "simulated"
    case .error: "error"
    case .approval: "approval"
    case .outOfMemory: "out-of-memory"
    case .timeLimit: "time-limit"
    case .nodeFailure: "node-failure"
    case .preempted: "preempted"
    case .lost: "lost"
    }
  }
}
