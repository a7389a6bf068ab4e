/// A place in a job file or in one that it includes; lines and columns from 1.
struct Place: Hashable, Comparable, Sendable {
  /// The file, the line and the column, so that places are in their order; a line and a column have 27 bits each.
  private let value: UInt64

  static let start = Place(line: 1, column: 1)
  /// The files that places can be in.
  static let fileLimit = 1 << 10

  /// `file` is the number of the file, 0 for the job file itself.
  init(line: Int, column: Int, file: Int = 0) {
    func part(_ number: Int) -> UInt64 { UInt64(min(max(0, number), 1 << 27 - 1)) }
    value = UInt64(file) << 54 | part(line) << 27 | part(column)
  }

  var file: Int { Int(value >> 54) }
  var line: Int { Int(value >> 27 & (1 << 27 - 1)) }
  var column: Int { Int(value & (1 << 27 - 1)) }

  func of(file: Int) -> Place { Place(line: line, column: column, file: file) }

  /// For a message that refers to another place of the same file.
  var words: String { "line \(line), column \(column)" }

  static func < (left: Place, right: Place) -> Bool { left.value < right.value }
}
