import Foundation
import Operations
import Processes

/// Calls the Slurm programs as child processes, each with a time limit.
///
/// No thread waits for them. The processes are started on a queue that serves nothing else. A query that has exceeded
/// its limit may take twice as long the next time: a busy controller of a large cluster may need more than usual.
package struct SystemSlurmRunner: SlurmRunner {
  private let environment: [String: String]
  private let limit: Duration
  /// The limit of the next query, by the program.
  private let queryLimits = Lock<[String: Duration]>([:])
  private let launches = DispatchQueue(label: "opdash.slurm.launch", qos: .userInitiated)
  /// The number of bytes of output to keep: the answer for a hundred thousand jobs.
  private static let outputLimit = 64 << 20
  /// The programs whose calls change nothing.
  private static let queries: Set = ["squeue", "sacct"]
  /// The longest limit of a query, in limits of other calls.
  private static let mostLimits = 8

  /// - Parameters:
  ///   - environment: Variables that are added to the environment of this process.
  ///   - limit: The time limit of one call; Slurm's own limits for a controller that is down are 4 to 9 seconds.
  package init(environment: [String: String] = [:], limit: Duration = .seconds(20)) {
    self.environment = environment
    self.limit = limit
  }

  package func run(_ command: SlurmCommand, _ done: @escaping @Sendable (SlurmAnswer) -> Void) {
    // Kept apart from the result, which a killed call does not have.
    let error = Lock("")
    let operation = ShellOperation(
      launch(of: command), output: .string(limit: Self.outputLimit, whenExceeded: .keepBeginning),
      error: .lines { line in error.withLock { $0 += line + "\n" } }, accepting: .any)
    let program = command.arguments.first ?? ""
    let limit = limit(of: program)
    launches.async { [queryLimits, longest = self.limit * Self.mostLimits] in
      let timer = SystemOperationClock().schedule(after: limit, on: launches) { operation.kill() }
      operation.whenDone { outcome in
        timer.cancel()
        let answer = SlurmAnswer(of: outcome, program: program, error: error.withLock(\.self))
        if answer.end == .timedOut, Self.queries.contains(program) {
          queryLimits.withLock { $0[program] = min(limit * 2, longest) }
        }
        done(answer)
      }
      operation.start()
    }
  }

  /// The time limit of the next call of a program.
  func limit(of program: String) -> Duration { queryLimits.withLock { $0[program] } ?? limit }

  private func launch(of command: SlurmCommand) -> ProcessLaunch {
    // A job must not have the mark that identifies this program's own processes.
    ProcessLaunch(
      ["env", "-u", "OPDASH_RUN"] + command.arguments,
      environment: .inherited(adding: environment, removing: SlurmEnvironment.foreign),
      input: command.input.map(ProcessInput.string) ?? .none, grace: .seconds(1))
  }

  /// The required Slurm programs that are not in the PATH.
  package static func missingPrograms() -> [String] {
    let path = ProcessVariables.current["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    let folders = path.split(separator: ":")
    return ["sbatch", "squeue", "scancel", "scontrol", "sinfo"].filter { program in
      !folders.contains { access("\($0)/\(program)", X_OK) == 0 }
    }
  }

  /// A message if this machine has no Slurm; nil if it has.
  package static func absence() -> String? {
    let missing = missingPrograms()
    guard !missing.isEmpty else { return nil }
    return "Slurm is not on this machine: there is no \(missing.joined(separator: ", ")) in PATH; "
      + "start the run on a login node of the cluster, or install Slurm's programs"
  }
}

extension SlurmAnswer {
  fileprivate init(of outcome: Result<ShellResult, any Error>, program: String, error: String) {
    switch outcome {
    case .failure(is CancellationError): self.init(.timedOut, error: error)
    case .failure(let fault): self.init(.notStarted("\(program) can't be started: \(fault)"))
    case .success(let result):
      let end: End =
        switch result.exit {
        case .exited(127): .absent("\(program): no such program in PATH: is Slurm installed here?")
        case .exited(let status): .exited(status)
        case .signalled(let signal): .exited(128 + signal)
        }
      self.init(end, output: result.output, error: error)
    }
  }
}
