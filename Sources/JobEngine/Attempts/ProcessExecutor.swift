import Basics
import Foundation
import JobModel
import Operations
import Processes

/// Executes programs on this machine, with the settings that all programs of a run share.
package final class ProcessExecutor: Executor {
  private let run: String
  /// Variables shared by all programs of the run.
  private let common: [String: String]
  /// The values that no output may show.
  package internal(set) var secrets: SecretMask?
  /// Whether programs may add jobs to the run.
  private let addsJobs: Bool
  /// The size of the terminals of programs that have one.
  var terminalSize = TerminalSize(columns: 80, rows: 24)
  /// The folder of the values that programs write for other jobs.
  package let folder: String
  /// Whether the folder is not the run's own, so that it must be created and removed.
  private let isTemporary: Bool
  /// The jobserver of jobs that ask for one.
  var jobserver: Jobserver?
  /// The slots of the run.
  var slots = 1
  private var isMade = false
  private let clock: any OperationClock

  init(
    run: String, folder: String?, secrets: Set<String>, common: [String: String] = [:],
    addsJobs: Bool = false, clock: any OperationClock = .system
  ) {
    self.run = run
    self.addsJobs = addsJobs
    self.common = common
    self.secrets = SecretMask(secrets)
    self.folder = folder ?? NSTemporaryDirectory() + "/opdash-\(run)"
    self.clock = clock
    isTemporary = folder == nil
  }

  /// The program of one attempt, and the file for its values for other jobs.
  package struct Launch {
    package var program: ProcessLaunch
    package let valuesPath: String
  }

  package func execution(of request: AttemptRequest) -> Execution {
    guard case .shell(var work) = request.job.work else { preconditionFailure("a program has a launch") }
    var notification: NotificationSocket?
    if work.service?.probe == .notification {
      do throws(ProcessError) { notification = try NotificationSocket() } catch {
        return Execution(ClosureOperation<Void> { [error] in throw error })
      }
      work.environment["NOTIFY_SOCKET"] = notification?.name
    }
    let launch = launch(work, of: request.admission, named: request.job.name)
    var execution = execution(of: request, launch)
    execution.notification = notification
    if let service = work.service {
      execution.probe = ServiceProbe(service, launch: launch.program, shell: work.shell, clock: clock)
    }
    return execution
  }

  /// The operation of an attempt with another launch, such as the launch of a step.
  package func execution(of request: AttemptRequest, _ launch: Launch) -> Execution {
    guard case .shell(let work) = request.job.work else { preconditionFailure("a program has a launch") }
    let log = request.log
    var execution = Execution(
      ShellOperation(
        launch.program, logPath: log.path, logLimit: log.limit, keepsShortLog: log.keepsShort, progress: work.progress,
        watches: request.watches, check: request.check, clock: clock))
    execution.valuesPath = launch.valuesPath
    execution.additionPath = additionPath(besides: launch.valuesPath)
    return execution
  }

  /// The file for jobs that an attempt adds, beside the file of its values; nil where none can be added.
  package func additionPath(besides valuesPath: String) -> String? { addsJobs ? "\(valuesPath).add" : nil }

  /// The variables of one attempt's program, which writes values to `valuesPath`; creates the folder of the values.
  package func variables(
    _ work: ShellWork, of admission: Admission, named name: String, valuesPath: String
  ) -> [String: String] {
    makeFolder()
    var own = common
    own.merge([
      "OPDASH_RUN": run, "OPDASH_JOB": name, "OPDASH_ATTEMPT": String(admission.attempt), "OPDASH_OUTPUT": valuesPath,
    ]) { $1 }
    own["OPDASH_ADD"] = additionPath(besides: valuesPath)
    return work.environment.merging(own) { _, own in own }
  }

  /// Makes the folder unless it is the run's.
  func makeFolder() {
    guard isTemporary, !isMade else { return }
    isMade = true
    mkdir(folder, 0o700)
  }

  /// Makes the launch of an attempt, and creates the folder of the values.
  package func launch(_ work: ShellWork, of admission: Admission, named name: String) -> Launch {
    let valuesPath = "\(folder)/output.\(admission.job.index).\(admission.attempt)"
    var variables = variables(work, of: admission, named: name, valuesPath: valuesPath)
    let jobserver = work.jobserver == .none ? nil : jobserver
    if let jobserver {
      variables.merge(
        jobserver.variables(work.jobserver, own: work.environment["MAKEFLAGS"], jobs: slots)
      ) { $1 }
    }
    // A message of a job is none of the unit of systemd that this program may be.
    let environment = ProcessEnvironment.inherited(adding: variables, removing: ["NOTIFY_SOCKET"])
    var program =
      switch work.command {
      case .script(let text):
        ProcessLaunch(
          script: text, shell: work.shell, directory: work.directory, environment: environment,
          stopSignal: work.stop.signal, grace: work.stop.grace)
      case .argv(let words):
        ProcessLaunch(
          words, directory: work.directory, environment: environment, stopSignal: work.stop.signal,
          grace: work.stop.grace)
      }
    if work.jobserver == .descriptors, let jobserver { program.descriptors = jobserver.descriptors }
    program.secrets = secrets
    program.mergesError = work.stderr == .together
    if work.hasTerminal { program.terminal = terminalSize }
    return Launch(program: program, valuesPath: valuesPath)
  }

  func removeFolder() {
    if isMade { rmdir(folder) }
  }
}

extension ShellOperation: ReportingOperation {}

extension ShellFailure: JobFailureConvertible {
  package var jobFailure: JobFailure { JobFailure(exit: exit) }
}

extension ProcessError: JobFailureConvertible {
  package var jobFailure: JobFailure { JobFailure(code == .outputTooLong ? .error : .launch, description) }
}

extension JobFailure {
  package init(exit: ProcessExit) {
    switch exit {
    case .exited(let code): self.init(.exit(code), Self.text(exit: code, signalName: SignalName.known))
    case .signalled(let signal): self.init(.signal(signal), "\(SignalName.of(signal)) (\(128 + signal))")
    }
  }
}
