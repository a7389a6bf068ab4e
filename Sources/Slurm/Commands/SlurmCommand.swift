/// One call of a program of Slurm: `sbatch`, `squeue`, `scancel`, `scontrol`, `sinfo` or `sacct`.
package struct SlurmCommand: Sendable, Equatable {
  /// The program's name and its arguments.
  package var arguments: [String]
  /// The text of the standard input; nil for none.
  package var input: String?

  package init(_ arguments: [String], input: String? = nil) {
    self.arguments = arguments
    self.input = input
  }

  /// The call of sbatch for a script; the comment is also its argument, which no site and no user replaces.
  ///
  /// The script comes by the standard input.
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

/// What a call of a program of Slurm has given.
package struct SlurmAnswer: Sendable, Equatable {
  /// How the call ended.
  package enum End: Sendable, Equatable {
    case exited(Int32)
    /// The call took longer than its limit, and was killed: whether it had an effect is not known.
    case timedOut
    /// This machine can't start a process at present, as a sentence.
    case notStarted(String)
    /// The program is not there, as a sentence.
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

  /// Whether the controller has not answered, so that nothing is known of the request, or it was not asked.
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

  /// The faults that the program named last, without its name in front of them, or how the call ended.
  package var fault: String {
    switch end {
    case .notStarted(let sentence), .absent(let sentence): return sentence
    case .timedOut: return "the Slurm controller does not answer"
    case .exited(let status):
      let lines = error.split(whereSeparator: \.isNewline).map { Self.withoutProgram(String($0)) }
      // The last line is general ("Batch job submission failed: Requested node configuration is not available").
      guard let last = lines.last else { return "it exited with status \(status)" }
      return lines.count > 1 ? "\(lines[lines.count - 2]) (\(last))" : last
    }
  }

  private static func withoutProgram(_ line: String) -> String {
    guard let range = line.range(of: " error: ") else { return line }
    return String(line[range.upperBound...])
  }
}

/// Calls the programs of Slurm; tests replace it by scripted answers.
package protocol SlurmRunner: Sendable {
  /// Begins the call and returns at once; `done` is called once, on any thread.
  func run(_ command: SlurmCommand, _ done: @escaping @Sendable (SlurmAnswer) -> Void)
}
