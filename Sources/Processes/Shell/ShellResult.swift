/// How the program of a `ShellOperation` ended, and the output that was collected.
public struct ShellResult: Sendable, Equatable {
  /// How the program ended.
  public var exit: ProcessExit
  /// The standard output, if the operation was told to collect it; empty otherwise.
  public var standardOutput: CollectedOutput
  /// The standard error: the collected one, or the last 4 KiB of one that is logged; empty otherwise.
  public var standardError: CollectedOutput

  /// The text of the standard output, line feeds included.
  public var output: String { standardOutput.text }

  /// Makes a result of its parts.
  public init(
    exit: ProcessExit = .exited(0), standardOutput: CollectedOutput = CollectedOutput(),
    standardError: CollectedOutput = CollectedOutput()
  ) {
    self.exit = exit
    self.standardOutput = standardOutput
    self.standardError = standardError
  }
}
