/// A line of text that an operation logged about its work.
public struct OperationLogLine: Sendable, Equatable {
  /// The origin of a line.
  public enum Source: Sendable {
    /// The operation itself, by `log(_:)`.
    case message
    /// The standard output of a process that the operation runs.
    case standardOutput
    /// The standard error of a process that the operation runs.
    case standardError
    /// The code that runs the operation, about the attempt rather than from it.
    case note
  }

  /// The text as it was logged; a message may have several lines.
  public let text: String
  /// The origin of the line.
  public let source: Source
  /// Whether the line was longer, and `text` is its beginning.
  public let isCut: Bool
  /// Whether the line may still change: the next line of its origin replaces it, and one without text removes it.
  ///
  /// There are at most ten a second of each origin: a prompt, a bar that is drawn again.
  public let isUnfinished: Bool
  /// The number of lines dropped before this one, because the observer was too far behind.
  ///
  /// If lines were dropped right before the end of the operation, a last line without text, of source `note`, has their
  /// number.
  public internal(set) var lost: Int

  /// Makes a line; by default a whole message.
  public init(
    text: String, source: Source = .message, isCut: Bool = false, isUnfinished: Bool = false, lost: Int = 0
  ) {
    self.text = text
    self.source = source
    self.isCut = isCut
    self.isUnfinished = isUnfinished
    self.lost = lost
  }
}
