/// A command line that can't be obeyed, in one line that names what is wrong and what to do.
package struct UsageError: Error, Equatable {
  package var message: String

  package init(_ message: String) { self.message = message }
}
