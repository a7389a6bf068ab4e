import Foundation

/// A value that only one thread at a time can reach.
///
/// `NSLock` rather than `Synchronization.Mutex`: the thread sanitizer sees it.
package final class Lock<Value>: @unchecked Sendable {
  // Safe: `value` is touched only between lock() and unlock().
  private let lock = NSLock()
  private var value: Value

  package init(_ value: sending Value) { self.value = value }

  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
