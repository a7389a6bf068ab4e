import Foundation

/// How a process ended.
public enum ProcessExit: Sendable, Equatable {
  /// The process exited by itself, with a status; 0 is success.
  case exited(Int32)
  /// A signal killed the process.
  case signalled(Int32)
}

/// The exits of a program that count as success: `[0, 1]`, or `.any`.
public struct AcceptedExits: Sendable, Equatable, ExpressibleByArrayLiteral {
  /// Nil accepts every end, including a signal.
  private let statuses: Set<Int32>?

  private init(anyOf statuses: Set<Int32>?) { self.statuses = statuses }

  /// Accepts these exit statuses; 0 only if it is among them.
  public init(_ statuses: some Sequence<Int32>) { self.init(anyOf: Set(statuses)) }

  /// Accepts these exit statuses; 0 only if it is among them.
  public init(arrayLiteral statuses: Int32...) { self.init(statuses) }

  /// Accepts the exit status 0.
  public static let success: AcceptedExits = [0]

  /// Accepts every exit status, and every signal.
  public static let any = AcceptedExits(anyOf: nil)

  /// Whether this end counts as success.
  public func contains(_ exit: ProcessExit) -> Bool {
    guard let statuses else { return true }
    guard case .exited(let status) = exit else { return false }
    return statuses.contains(status)
  }
}

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
