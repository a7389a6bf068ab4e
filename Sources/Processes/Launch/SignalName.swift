import Foundation

/// Signals by their common names.
package enum SignalName {
  private static let names: [Int32: String] = [
    SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT",
    SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGUSR1: "SIGUSR1", SIGSEGV: "SIGSEGV",
    SIGUSR2: "SIGUSR2", SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU",
    SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS", SIGSTOP: "SIGSTOP", SIGTSTP: "SIGTSTP", SIGTTIN: "SIGTTIN",
    SIGTTOU: "SIGTTOU", SIGPROF: "SIGPROF", SIGVTALRM: "SIGVTALRM", SIGIO: "SIGIO", SIGPWR: "SIGPWR",
    SIGSTKFLT: "SIGSTKFLT",
  ]

  package static func of(_ signal: Int32) -> String { known(signal) ?? "signal \(signal)" }

  /// The name in the form of kill(1) and scancel, such as `TERM`; the number of a signal without a name.
  package static func short(_ signal: Int32) -> String { known(signal).map { String($0.dropFirst(3)) } ?? "\(signal)" }

  /// The name of a signal; nil for a number without a name.
  package static func known(_ signal: Int32) -> String? { names[signal] }
}
