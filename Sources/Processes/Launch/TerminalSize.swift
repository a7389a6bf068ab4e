/// The size of a pseudo-terminal, in characters.
public struct TerminalSize: Sendable, Equatable {
  /// The number of characters in a line, at least 1 and at most 65535.
  public let columns: Int
  /// The number of lines, at least 1 and at most 65535.
  public let rows: Int

  /// Creates a size; a number out of its range becomes the nearest one in it.
  public init(columns: Int, rows: Int) {
    self.columns = min(max(columns, 1), Int(UInt16.max))
    self.rows = min(max(rows, 1), Int(UInt16.max))
  }
}
