import CProcess
import Foundation

/// The resources that the system's limits leave to this process.
///
/// Determined by trying, because a limit may be the user's, a control group's or the system's, and others use it up too.
package enum ResourceLimits {
  /// How many more descriptors can be opened, at most `wanted` and 64, after the soft limit has been raised to the hard
  /// limit.
  package static func freeDescriptors(atMost wanted: Int) -> Int {
    cprocess_raise_descriptor_limit()
    var opened: [Int32] = []
    while opened.count < min(wanted, 64) {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { break }
      opened.append(descriptor)
    }
    for descriptor in opened { _ = close(descriptor) }
    return opened.count
  }

  /// How many more threads can be started, at most `wanted` and 64.
  package static func freeThreads(atMost wanted: Int) -> Int {
    let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    defer { gate.deallocate() }
    pthread_mutex_init(gate, nil)
    pthread_mutex_lock(gate)
    var threads: [pthread_t] = []
    // The stacks are as large as libdispatch's: memory may be limited too.
    while threads.count < min(wanted, 64) {
      var thread = pthread_t()
      let failure = pthread_create(
        &thread, nil,
        { gate in
          guard let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self) else { return nil }
          pthread_mutex_lock(gate)
          pthread_mutex_unlock(gate)
          return nil
        }, gate)
      guard failure == 0 else { break }
      threads.append(thread)
    }
    pthread_mutex_unlock(gate)
    for thread in threads { pthread_join(thread, nil) }
    return threads.count
  }

  /// From now on freed blocks of a megabyte and more are the system's again, to be called before the first is allocated.
  ///
  /// By itself the C library keeps them once one was freed, in up to eight arenas for each processor: twenty jobs that write all
  /// the time took 840 MB on a busy machine, and with this 185 MB.
  package static func returnLargeBlocks() { _ = cprocess_return_blocks(1 << 20) }

  /// Whether the memory of this process, which holds the threads' stacks, is limited.
  package static var limitsMemory: Bool {
    var limit = rlimit()
    return getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 && limit.rlim_cur != rlim_t.max
  }
}
