import JobModel

/// A condition of `depends_on`.
enum ComposeCondition: String, CaseIterable {
  case started = "process_started"
  case healthy = "process_healthy"
  case logReady = "process_log_ready"
  case completed = "process_completed"
  case completedSuccessfully = "process_completed_successfully"

  /// Whether it is met by the end of a process.
  var isOfEnd: Bool { self == .completed || self == .completedSuccessfully }
}

/// A process of a process-compose file, with its keys.
struct ComposeProcess {
  struct Need {
    var process: String
    var condition: ComposeCondition
    var place: Place
  }

  var entry: YAMLEntry
  /// The name of its job.
  var name: String
  var keys: [String: YAMLEntry] = [:]
  var needs: [Need] = []
  /// The conditions of the processes that wait for it.
  var waitedFor: Set<ComposeCondition> = []
  var restart = Restart.no
  var replicas = 1
  var text = ComposeText()

  enum Restart: String, CaseIterable {
    case no
    case always
    case onFailure = "on_failure"
    case exitOnFailure = "exit_on_failure"
  }

  func value(_ key: String) -> YAMLNode? { keys[key].flatMap { $0.value.isNull ? nil : $0.value } }

  /// Whether the job is a service: one whose end others wait for is not.
  var isService: Bool {
    if waitedFor.contains(where: \.isOfEnd) { return false }
    return !waitedFor.isEmpty || restart == .always || isProbed || value("liveness_probe") != nil
  }

  /// Whether it can be used some time after its start only.
  var isProbed: Bool { value("readiness_probe") != nil || value("ready_log_line") != nil }

  /// Whether it may end by itself.
  var mayEnd: Bool { !isProbed && value("liveness_probe") == nil && (restart == .no || restart == .exitOnFailure) }

  /// The keys of a process that a job file has no equal for, and what to do.
  static let withoutEqual = [
    "is_daemon": "opdash ends processes that outlive their program, so write a command that stays in the foreground",
    "is_foreground": "a job with 'tty: true' has a terminal of its own, and no keyboard",
    "namespace": "name the jobs on the command line, by a pattern too",
    "log_location": "opdash keeps the output of each job, which 'opdash logs RUN JOB' prints",
    "log_configuration": "opdash keeps the output of each job, which 'opdash logs RUN JOB' prints",
    "disable_ansi_colors": "opdash shows colours as its terminal can",
    "schedule": "start it at its times by cron, as 'opdash run FILE JOB'",
    "launch_timeout_seconds": "'timeout' limits an attempt",
    "is_elevated": "write sudo into the command",
  ]
}
