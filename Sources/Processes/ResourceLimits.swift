import CProcess

/// The resources that the system's limits leave to this process, determined by trying.
package enum ResourceLimits {
  /// How many more descriptors can be opened, at most `wanted`, after the soft limit has been raised to the hard limit.
  package static func freeDescriptors(atMost wanted: Int) -> Int {
    cprocess_raise_descriptor_limit()
    return Int(cprocess_free_descriptors(Int32(wanted)))
  }

  /// How many more threads can be started, at most `wanted`.
  package static func freeThreads(atMost wanted: Int) -> Int { Int(cprocess_free_threads(Int32(wanted))) }

  /// Whether the memory of this process, which holds the threads' stacks, is limited.
  package static var limitsMemory: Bool { cprocess_memory_is_limited() }
}
