import Basics
import Foundation
import JobModel
import Processes

/// What a run gives to the programs of all its attempts.
struct LaunchTerms {
  let run: String
  /// The values that no output may show.
  let secrets: SecretMask?
  /// The size of the terminals of programs that have one.
  var terminalSize = TerminalSize(columns: 80, rows: 24)
  /// Where programs write values for other jobs.
  private let folder: String
  /// Whether the folder is not the run's own, and is to be made and removed.
  private let isTemporary: Bool
  private var isMade = false

  init(run: String, folder: String?, secrets: Set<String>) {
    self.run = run
    self.secrets = SecretMask(secrets)
    self.folder = folder ?? NSTemporaryDirectory() + "/opdash-\(run)"
    isTemporary = folder == nil
  }

  /// The program of one attempt, and where it writes values for other jobs.
  struct Launch {
    var program: ProcessLaunch
    var outputPath: String
  }

  /// Makes the folder of the values.
  mutating func launch(_ work: ShellWork, of admission: Admission, named name: String) -> Launch {
    if isTemporary, !isMade {
      isMade = true
      mkdir(folder, 0o700)
    }
    let outputPath = "\(folder)/output.\(admission.job.index).\(admission.attempt)"
    let own = [
      "OPDASH_RUN": run, "OPDASH_JOB": name, "OPDASH_ATTEMPT": String(admission.attempt), "OPDASH_OUTPUT": outputPath,
    ]
    let environment = ProcessEnvironment.inherited(adding: work.environment.merging(own) { _, own in own })
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
    if work.hasTerminal { program.terminal = terminalSize }
    return Launch(program: program, outputPath: outputPath)
  }

  func removeFolder() {
    if isMade { rmdir(folder) }
  }
}
