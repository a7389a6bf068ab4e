import Foundation

/// As `eventually`, for tests of what runs in tasks: it leaves the thread to them while it waits, and there may be only two.
///
/// Other tests may stand before a task in line, and hold these threads or the main one: hence the bound, on time and checks.
package func soon(
  isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool
) async rethrows -> Bool {
  let end = Date(timeIntervalSinceNow: Patience.seconds)
  var checks = 0
  while Date() < end || checks < 1000 {
    if try condition() { return true }
    checks += 1
    try? await Task.sleep(for: .milliseconds(2))
  }
  return try condition()
}

extension OperationQueue {
  /// As `addOperations`, whose other form, which waits, keeps it out of tasks.
  package func add(_ operations: [Operation]) { addOperations(operations, waitUntilFinished: false) }
}
