import Foundation

/// Ends and stops of the children of this process; no call blocks.
enum ChildStatus {
  /// How a child has ended, without reaping it; nil while it is alive, or while only its debugger may see its end.
  static func exit(of pid: pid_t) -> ProcessExit? {
    // Other code of this program has reaped the child and has its status.
    guard let info = wait(P_PID, pid, WEXITED | WNOWAIT) else { return .exited(-1) }
    guard info.child == pid else { return nil }
    return Int(info.si_code) == CLD_EXITED ? .exited(info.status) : .signalled(info.status)
  }

  /// Whether a child was stopped or continued since the last call: the signal that has stopped it, 0 if it continued last.
  static func stop(of pid: pid_t) -> Int32? {
    guard let info = wait(P_PID, pid, WSTOPPED | WCONTINUED), info.child == pid else { return nil }
    return Int(info.si_code) == CLD_CONTINUED ? 0 : info.status
  }

  /// A child that has ended and is not reaped.
  static func endedChild() -> pid_t? {
    guard let info = wait(P_ALL, 0, WEXITED | WNOWAIT), info.child > 0 else { return nil }
    return info.child
  }

  /// Reaps a child that has ended.
  static func reap(_ pid: pid_t) { _ = waitpid(pid, nil, WNOHANG) }

  private static func wait(_ kind: idtype_t, _ pid: pid_t, _ events: Int32) -> siginfo_t? {
    var info = siginfo_t()
    return waitid(kind, id_t(pid), &info, events | WNOHANG) == 0 ? info : nil
  }
}

extension siginfo_t {
  // Swift does not import the macros of C for these.
  fileprivate var child: pid_t { _sifields._sigchld.si_pid }
  fileprivate var status: Int32 { _sifields._sigchld.si_status }
}
