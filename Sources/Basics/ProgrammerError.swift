/// Stops the program because of a mistake in the code that called; the reason is printed in release builds too.
///
/// `preconditionFailure` prints nothing where the compiler optimises.
@usableFromInline package func programmerError(
  _ reason: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  fatalError(reason(), file: file, line: line)
}

/// Stops the program with `reason` unless `condition` holds; see `programmerError(_:)`.
@inlinable
package func require(
  _ condition: @autoclosure () -> Bool, _ reason: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if !condition() { programmerError(reason(), file: file, line: line) }
}
