/// The exit of a `ShellOperation`'s program, and the collected output.
public struct ShellResult: Sendable, Equatable {
  /// How the program ended.
  public var exit: ProcessExit
  /// The standard output, if the operation collects it; empty otherwise.
  public var standardOutput: CollectedOutput
  /// The standard error if the operation collects it, or its last 4 KiB if it is logged; empty otherwise.
  public var standardError: CollectedOutput

  /// The text of the standard output, including line feeds.
  public var output: String { standardOutput.text }

  /// Creates a result from its parts.
  public init(
    exit: ProcessExit = .exited(0), standardOutput: CollectedOutput = CollectedOutput(),
    standardError: CollectedOutput = CollectedOutput()
  ) {
    self.exit = exit
    self.standardOutput = standardOutput
    self.standardError = standardError
  }
}
