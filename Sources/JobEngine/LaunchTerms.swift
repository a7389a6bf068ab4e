import Basics
import Foundation
import JobModel
import Processes
import Slurm

/// The settings that a run passes to the programs of all its attempts.
struct LaunchTerms {
  let run: String
  /// Variables shared by all programs of the run.
  private let common: [String: String]
  /// The values that no output may show.
  let secrets: SecretMask?
  /// The size of the terminals of programs that have one.
  var terminalSize = TerminalSize(columns: 80, rows: 24)
  /// The folder of the values that programs write for other jobs.
  private let folder: String
  /// Whether the folder is not the run's own, so that it must be created and removed.
  private let isTemporary: Bool
  private var isMade = false

  init(run: String, folder: String?, secrets: Set<String>, common: [String: String] = [:]) {
    self.run = run
    self.common = common
    self.secrets = SecretMask(secrets)
    self.folder = folder ?? NSTemporaryDirectory() + "/opdash-\(run)"
    isTemporary = folder == nil
  }

  /// The program of one attempt, and the file for its values for other jobs.
  struct Launch {
    var program: ProcessLaunch
    var outputPath: String
  }

  /// A program for the cluster, and the file for its values for other jobs.
  struct ClusterLaunch {
    var job: SlurmJob
    var outputPath: String
  }

  /// The variables of one attempt's program, which writes values to `outputPath`; creates the folder of the values.
  private mutating func variables(
    _ work: ShellWork, of admission: Admission, named name: String, outputPath: String
  ) -> [String: String] {
    if isTemporary, !isMade {
      isMade = true
      mkdir(folder, 0o700)
    }
    var own = common
    own.merge([
      "OPDASH_RUN": run, "OPDASH_JOB": name, "OPDASH_ATTEMPT": String(admission.attempt), "OPDASH_OUTPUT": outputPath,
    ]) { $1 }
    return work.environment.merging(own) { _, own in own }
  }

  /// Makes the launch of an attempt in the cluster, and creates the folder of the values.
  ///
  /// The attempt writes its own values into the folder that the nodes share.
  mutating func clusterLaunch(
    _ work: ShellWork, _ terms: ClusterTerms, of admission: Admission, named name: String, identity: SlurmIdentity,
    files: SlurmFiles
  ) -> ClusterLaunch {
    let outputPath = files.valuesPath(of: identity)
    let variables = variables(work, of: admission, named: name, outputPath: outputPath)
    let arguments =
      switch work.command {
      case .script(let text): work.shell + [text]
      case .argv(let words): words
      }
    let job = SlurmJob(
      identity, name: name, arguments: arguments,
      directory: work.directory ?? FileManager.default.currentDirectoryPath, environment: variables,
      resources: SlurmResources(terms), stop: SlurmJob.Stop(signal: work.stop.signal, grace: work.stop.grace),
      secrets: secrets)
    return ClusterLaunch(job: job, outputPath: outputPath)
  }

  /// Makes the launch of an attempt on this machine, and creates the folder of the values.
  mutating func launch(_ work: ShellWork, of admission: Admission, named name: String) -> Launch {
    let outputPath = "\(folder)/output.\(admission.job.index).\(admission.attempt)"
    let variables = variables(work, of: admission, named: name, outputPath: outputPath)
    let environment = ProcessEnvironment.inherited(adding: variables)
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
    program.secrets = secrets
    program.mergesError = work.stderr == .together
    if work.hasTerminal { program.terminal = terminalSize }
    return Launch(program: program, outputPath: outputPath)
  }

  /// The folder of the files of cluster jobs.
  var clusterFolder: String { EarlierClusterJob.folder(inRun: folder) }

  func removeFolder() {
    if isMade { rmdir(folder) }
  }
}

extension SlurmResources {
  package init(_ terms: ClusterTerms) {
    self.init(
      name: terms.name, cpus: terms.cpus, memory: terms.memory, gpus: terms.gpus, nodes: terms.nodes, time: terms.time,
      partition: terms.partition, account: terms.account, qos: terms.qos, constraint: terms.constraint,
      options: terms.options)
  }
}
