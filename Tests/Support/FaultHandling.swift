import Foundation

/// The environment in which a program fails as it would outside of tests.
package enum FaultHandling {
  /// Keeps crash reporters and sanitizers from handling deliberate signals.
  package static let environment = [
    "SWIFT_BACKTRACE": "enable=no", "TSAN_OPTIONS": sanitizer, "ASAN_OPTIONS": sanitizer + ":detect_leaks=0",
  ]

  private static let sanitizer = [
    "handle_segv=0", "handle_sigbus=0", "handle_abort=0", "handle_sigill=0", "handle_sigfpe=0", "handle_sigtrap=0",
    "use_sigaltstack=0",
  ].joined(separator: ":")
}

extension FaultHandling {
  /// Whether this is a sanitizer's build, which replaces the crash reporter.
  package static let isSanitized = isThreadSanitized || isAddressSanitized

  package static let isAddressSanitized = dlsym(nil, "__asan_init") != nil

  /// Whether it is the thread sanitizer's build, whose own thread wakes ten times a second.
  package static let isThreadSanitized = dlsym(nil, "__tsan_init") != nil
}
