import Foundation

/// A value that only one thread at a time can reach; shared by reference.
@usableFromInline package final class Lock<Value>: Sendable {
  @usableFromInline let place: LockedPlace<Value>

  @inlinable package init(_ value: sending Value) { place = LockedPlace(value) }

  @inlinable package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try place.withLock(body)
  }
}

/// A value that only one thread at a time can reach; part of an object that is shared.
///
/// The system's mutex rather than `Synchronization.Mutex`: the thread sanitizer sees it; and rather than `NSLock`, which
/// is the same one behind an object and a dynamic call.
@usableFromInline package struct LockedPlace<Value>: ~Copyable, @unchecked Sendable {
  // Safe: `value` is touched only between lock and unlock. Behind a pointer, because a mutex must not move, and because
  // the compiler would check a stored property of a class for overlapping accesses at run time, which costs as much as the
  // mutex and which the mutex rules out.
  @usableFromInline let contents: UnsafeMutablePointer<Contents>

  @usableFromInline struct Contents {
    @usableFromInline var mutex = pthread_mutex_t()
    @usableFromInline var value: Value

    @inlinable init(value: Value) { self.value = value }
  }

  @inlinable package init(_ value: sending Value) {
    contents = .allocate(capacity: 1)
    contents.initialize(to: Contents(value: value))
    // Tries for a moment before the thread sleeps: most are held for less time than it takes to wake one.
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
    pthread_mutex_init(&contents.pointee.mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  @inlinable deinit {
    pthread_mutex_destroy(&contents.pointee.mutex)
    contents.deinitialize(count: 1)
    contents.deallocate()
  }

  @inlinable package borrowing func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(&contents.pointee.mutex)
    defer { pthread_mutex_unlock(&contents.pointee.mutex) }
    return try body(&contents.pointee.value)
  }
}
