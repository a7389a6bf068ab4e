import Foundation

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

/// The failure of a `ShellOperation` whose program ended in a way that the operation does not accept.
public struct ShellFailure: Error, Sendable, Equatable {
  /// The program's name without its folder, or the shell script in quotation marks.
  public var program: String
  /// The exit and the collected output.
  public var result: ShellResult

  /// How the program ended.
  public var exit: ProcessExit { result.exit }

  /// Creates a failure from its parts.
  public init(program: String, result: ShellResult) {
    self.program = program
    self.result = result
  }
}

extension ShellFailure: CustomStringConvertible, LocalizedError {
  /// One sentence, such as `make exited with status 2`, with the last line of the standard error if there is one.
  public var description: String {
    let end =
      switch exit {
      // The status of a process is lost if other code has waited for the process.
      case .exited(-1): "\(program) ended, and other code of this program took its exit status"
      case .exited(let status): "\(program) exited with status \(status)"
      case .signalled(let signal): "\(program) was killed by \(SignalName.of(signal))"
      }
    return lastErrorLine.map { "\(end): \($0)" } ?? end
  }

  /// The same as `description`.
  public var errorDescription: String? { description }

  /// The last line of the standard error that contains text, at most 200 characters of it, without control characters.
  private var lastErrorLine: String? {
    let texts = result.standardError.lines.lazy.reversed().map(Self.printable)
    guard let text = texts.first(where: { !$0.isEmpty }) else { return nil }
    return text.count > 200 ? text.prefix(199) + "…" : text
  }

  private static func printable(_ line: String) -> String {
    let scalars = OutputPattern.visible(line).escaping(["\t": " "]).unicodeScalars
    let text = String(String.UnicodeScalarView(scalars.filter { $0.properties.generalCategory != .control }))
    return text.trimmingCharacters(in: .whitespaces)
  }
}
