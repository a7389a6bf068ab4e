/// The reason why a line of a recording can't be read.
package struct EventFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// From 1.
  package var line: Int
  /// The fault and, where there is one, its remedy.
  package var message: String

  package init(line: Int, message: String) {
    self.line = line
    self.message = message
  }

  package var description: String { "line \(line): \(message)" }
}
