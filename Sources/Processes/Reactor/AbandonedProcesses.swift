import CProcess
import Foundation

/// The processes that another program started and left behind when it was killed.
///
/// These are the leaders that the program recorded, the processes with its cookie in their environment, all processes
/// in the sessions of both, and their descendants. The start time distinguishes a process from a later one with the
/// same number.
package struct AbandonedProcesses: Sendable {
  /// The leader of a session that the program started.
  package struct Leader: Sendable, Hashable {
    package var pid: pid_t
    /// The start time as in `cprocess_info`.
    package var startTime: UInt64

    package init(pid: pid_t, startTime: UInt64) {
      self.pid = pid
      self.startTime = startTime
    }
  }

  /// The outcome of `end`.
  package struct Result: Sendable, Equatable {
    /// The number of processes that were killed.
    package var killed: Int
    /// The processes that were still alive when the time was over: the kernel ends no process that waits for a device.
    package var left: [pid_t]
  }

  private let cookie: String
  private let leaders: Set<Leader>

  /// The processes of the program with this `ProcessSupervisor.cookie`; `leaders` of another boot must be left out.
  package init(cookie: String, leaders: [Leader]) {
    self.cookie = cookie
    self.leaders = Set(leaders)
  }

  /// Kills the processes and waits until they have ended, at most for `limit`.
  ///
  /// Blocks. The calling process and its ancestors are never killed. The guardian of the dead program may kill the
  /// same processes meanwhile.
  package func end(within limit: Duration = .seconds(5)) -> Result {
    let end = ContinuousClock.now + limit
    var killed = Set<Leader>()
    var sessions = Set<pid_t>()
    // A process can start another in the middle of a scan, and has no environment in the middle of an exec.
    var silence = cprocess_silence()
    while true {
      let (found, isDoubtful) = scan(&sessions)
      for info in found where cprocess_signal_started(info.pid, info.start_time, SIGKILL) {
        killed.insert(Leader(pid: info.pid, startTime: info.start_time))
      }
      if cprocess_is_silent(&silence, 3, !found.isEmpty, isDoubtful) { return Result(killed: killed.count, left: []) }
      if ContinuousClock.now >= end { return Result(killed: killed.count, left: found.map(\.pid).sorted()) }
      _ = poll(nil, 0, found.isEmpty ? 15 : 5)
    }
  }

  /// Adds the sessions of the found processes: other processes stay in a session when these have ended.
  private func scan(_ sessions: inout Set<pid_t>) -> (found: [cprocess_info], isDoubtful: Bool) {
    // Session 0 contains the kernel threads.
    let all = ProcessScan.list().filter { $0.session != 0 && !$0.ended }
    let spared = Self.ancestors(in: all)
    var rest: [cprocess_info] = []
    var found: [cprocess_info] = []
    var isDoubtful = false
    for info in all where !spared.contains(info.pid) {
      let number = cprocess_launch_number(info.pid, cookie)
      if number == Int64(cprocess_undecided) { isDoubtful = true }
      if number >= 0 || leaders.contains(Leader(pid: info.pid, startTime: info.start_time)) {
        found.append(info)
      } else {
        rest.append(info)
      }
    }
    // A process stays in its parent's session or creates one, so every process in these sessions belongs to the dead
    // program.
    let own = getsid(0)
    var pids = Set(found.map(\.pid))
    sessions.formUnion(found.map(\.session))
    sessions.remove(own)
    while true {
      let split = rest.partition { pids.contains($0.parent) || sessions.contains($0.session) }
      guard split < rest.count else { return (found, isDoubtful) }
      for info in rest[split...] {
        pids.insert(info.pid)
        if info.session != own { sessions.insert(info.session) }
      }
      found += rest[split...]
      rest.removeSubrange(split...)
    }
  }

  /// This process and its ancestors.
  private static func ancestors(in all: [cprocess_info]) -> Set<pid_t> {
    let parents = Dictionary(all.map { ($0.pid, $0.parent) }) { first, _ in first }
    var ancestors: Set<pid_t> = [1]
    var next = getpid()
    while ancestors.insert(next).inserted, let parent = parents[next] { next = parent }
    return ancestors
  }
}
