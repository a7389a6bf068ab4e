/// A place in a file; lines and columns from 1.
struct Place: Hashable, Comparable, Sendable {
  private let storedLine: UInt32
  private let storedColumn: UInt32

  static let start = Place(line: 1, column: 1)

  init(line: Int, column: Int) {
    storedLine = UInt32(clamping: line)
    storedColumn = UInt32(clamping: column)
  }

  var line: Int { Int(storedLine) }
  var column: Int { Int(storedColumn) }

  /// For a message that refers to another place.
  var words: String { "line \(line), column \(column)" }

  static func < (left: Place, right: Place) -> Bool {
    (left.storedLine, left.storedColumn) < (right.storedLine, right.storedColumn)
  }
}
