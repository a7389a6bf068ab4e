import Foundation

/// A value that only one thread at a time can reach.
///
/// The system's mutex rather than `Synchronization.Mutex`: the thread sanitizer sees it; and rather than `NSLock`, which
/// is the same one behind an object and a dynamic call.
package final class Lock<Value>: @unchecked Sendable {
  // Safe: `value` is touched only between lock and unlock. Behind a pointer, because the compiler guards a stored property
  // of a class against overlapping accesses at run time, which costs as much as the mutex and which the mutex rules out.
  private let place: UnsafeMutablePointer<Place>

  private struct Place {
    var mutex = pthread_mutex_t()
    var value: Value
  }

  package init(_ value: sending Value) {
    place = .allocate(capacity: 1)
    place.initialize(to: Place(value: value))
    pthread_mutex_init(&place.pointee.mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(&place.pointee.mutex)
    place.deinitialize(count: 1)
    place.deallocate()
  }

  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(&place.pointee.mutex)
    defer { pthread_mutex_unlock(&place.pointee.mutex) }
    return try body(&place.pointee.value)
  }
}
