/// One call of a Slurm program: `sbatch`, `squeue`, `scancel`, `scontrol`, `sinfo` or `sacct`.
package struct SlurmCommand: Sendable, Equatable {
  /// The program's name and its arguments.
  package var arguments: [String]
  /// The text for the standard input; nil for none.
  package var input: String?

  package init(_ arguments: [String], input: String? = nil) {
    self.arguments = arguments
    self.input = input
  }

  /// The sbatch call for a script; the comment is also the script's argument, which no site and no user replaces.
  ///
  /// The script is passed on the standard input.
  static func submission(
    _ resources: SlurmResources, _ options: [String] = [], name: String, comment: String, script: String
  ) -> SlurmCommand {
    let own = [
      "sbatch", "--parsable", "--no-requeue", "--output=/dev/null", "--chdir=/", "--comment=\(comment)",
      "--job-name=\(name)",
    ]
    return SlurmCommand(own + options + resources.arguments + ["/dev/stdin", comment], input: script)
  }
}

/// The result of a call to a Slurm program.
package struct SlurmAnswer: Sendable, Equatable {
  /// The end of the call.
  package enum End: Sendable, Equatable {
    case exited(Int32)
    /// The call exceeded its time limit and was killed: its effect is unknown.
    case timedOut
    /// This machine can't start a process at present; the value is a sentence.
    case notStarted(String)
    /// The program does not exist; the value is a sentence.
    case absent(String)
  }

  package var end: End
  package var output: String
  package var error: String

  package init(_ end: End, output: String = "", error: String = "") {
    self.end = end
    self.output = output
    self.error = error
  }

  /// Whether the program exited with status 0.
  package var isSuccess: Bool { end == .exited(0) }

  /// Whether the controller has not answered, so that the fate of the request is unknown, or was not asked.
  package var isWithoutController: Bool {
    switch end {
    case .timedOut, .notStarted: true
    case .absent, .exited(0): false
    case .exited: Self.contactFaults.contains { error.contains($0) }
    }
  }

  private static let contactFaults = [
    "Unable to contact slurm controller", "Socket timed out", "Connection refused", "Connection reset",
    "Zero Bytes were transmitted", "Transport endpoint is not connected", "in standby mode",
    "Unable to connect to slurm controller", "slurm_receive_msg", "Unexpected message received",
    "Communication connection failure", "Insane message length", "authentication error", "Munge",
  ]

  /// The last errors that the program reported, without its name in front of them, or the end of the call.
  package var fault: String {
    switch end {
    case .notStarted(let sentence), .absent(let sentence): return sentence
    case .timedOut: return "the Slurm controller does not answer"
    case .exited(let status): return errors ?? "it exited with status \(status)"
    }
  }

  /// Whether Slurm, or this machine, has no room for now.
  var saysFull: Bool {
    [
      "SubmitJob", "temporarily unable to accept job", "job queue full", "Job creation temporarily disabled",
      "Resource temporarily unavailable",
    ].contains { error.contains($0) }
  }

  /// The last errors that the program reported; nil without any.
  var errors: String? {
    let lines = error.split(whereSeparator: \.isNewline).map { Self.withoutProgram(String($0)) }
    // The last line is general ("Batch job submission failed: Requested node configuration is not available").
    return lines.last.map { lines.count > 1 ? "\(lines[lines.count - 2]) (\($0))" : $0 }
  }

  static func withoutProgram(_ line: String) -> String {
    guard let range = line.range(of: " error: ") else { return line }
    return String(line[range.upperBound...])
  }
}

/// Calls the Slurm programs; tests replace it with scripted answers.
package protocol SlurmRunner: Sendable {
  /// Begins the call and returns at once; `done` is called once, on any thread.
  func run(_ command: SlurmCommand, _ done: @escaping @Sendable (SlurmAnswer) -> Void)
}
