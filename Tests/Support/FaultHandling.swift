import Foundation

/// How a program that a test makes fail is to take it: as it would outside of tests.
package enum FaultHandling {
  /// Neither a crash reporter nor a sanitizer catches what is raised on purpose.
  package static let environment = [
    "SWIFT_BACKTRACE": "enable=no", "TSAN_OPTIONS": sanitizer, "ASAN_OPTIONS": sanitizer + ":detect_leaks=0",
  ]

  private static let sanitizer = [
    "handle_segv=0", "handle_sigbus=0", "handle_abort=0", "handle_sigill=0", "handle_sigfpe=0", "handle_sigtrap=0",
    "use_sigaltstack=0",
  ].joined(separator: ":")
}

extension FaultHandling {
  /// Whether this is a sanitizer's build, in which a crash reporter does not get to speak.
  package static let isSanitized = isThreadSanitized || dlsym(nil, "__asan_init") != nil

  /// Whether it is the thread sanitizer's, which has a thread of its own in each program that wakes ten times a second.
  package static let isThreadSanitized = dlsym(nil, "__tsan_init") != nil
}
