import Foundation

/// The program of a `ShellOperation` ended, but not in a way that the operation accepts.
public struct ShellFailure: Error, Sendable, Equatable {
  /// The program's name without its folder, or the text for the shell in quotation marks.
  public var program: String
  /// The exit, and the output that was collected.
  public var result: ShellResult

  /// How the program ended.
  public var exit: ProcessExit { result.exit }

  /// Makes a failure of its parts.
  public init(program: String, result: ShellResult) {
    self.program = program
    self.result = result
  }
}

extension ShellFailure: CustomStringConvertible, LocalizedError {
  /// One sentence, as in `make exited with status 2`, and the last line of the standard error where there is one.
  public var description: String {
    let end =
      switch exit {
      // The status of a process that something else has waited for is lost.
      case .exited(-1): "\(program) ended, and other code of this program took its exit status"
      case .exited(let status): "\(program) exited with status \(status)"
      case .signalled(let signal): "\(program) was killed by \(SignalName.of(signal))"
      }
    return lastErrorLine.map { "\(end): \($0)" } ?? end
  }

  /// The same as `description`.
  public var errorDescription: String? { description }

  /// The last line of the standard error that has text, at most 200 characters of it, without control characters.
  private var lastErrorLine: String? {
    let texts = result.standardError.lines.lazy.reversed().map(Self.printable)
    guard let text = texts.first(where: { !$0.isEmpty }) else { return nil }
    return text.count > 200 ? text.prefix(199) + "…" : text
  }

  private static func printable(_ line: String) -> String {
    let scalars = OutputPattern.visible(line).replacing("\t", with: " ").unicodeScalars
    let text = String(String.UnicodeScalarView(scalars.filter { $0.properties.generalCategory != .control }))
    return text.trimmingCharacters(in: .whitespaces)
  }
}
