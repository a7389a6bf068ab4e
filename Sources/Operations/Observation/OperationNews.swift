import Foundation

/// An event of an operation that changes neither state nor progress.
indirect enum OperationNews: Sendable {
  // Indirect, so that a delivery, which has room for one, is no longer than it must be.
  case attached
  case produced(Operation)
  /// Lines of the log, at least one, and what is referenced until they have been handled.
  case lines([OperationLogLine], receipt: (any AnyObject & Sendable)? = nil)
  /// News, or a change where that is nil, with the instant of the delivery queue's clock at which it was posted.
  case timed(Duration, OperationNews?)
}

/// A line of text that an operation said about its work.
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
  /// The origin.
  public let source: Source
  /// Whether the line was longer, and `text` is its beginning.
  public let isCut: Bool
  /// Whether the line may change yet: the next line of its origin replaces it, and one without text removes it.
  ///
  /// Only an observer that asks for unfinished lines is told of them.
  public let isUnfinished: Bool
  /// How many lines before this one were left out, because the observer was too far behind.
  ///
  /// Where lines were left out right before the end of the operation, a last line without text, of source `note`, says how many.
  public internal(set) var lost: Int

  /// Makes a line, a whole message unless told otherwise.
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
