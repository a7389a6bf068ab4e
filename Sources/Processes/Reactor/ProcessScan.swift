import CProcess
import Foundation
import Synchronization

/// Finds the living descendants of leaders, by launch.
///
/// These are the processes of the leader's session, processes with the launch's cookie in their environment, and the
/// descendants of both.
final class ProcessScan: Sendable {
  struct Member: Equatable {
    let pid: pid_t
    let session: pid_t
    let group: pid_t
    /// As in `cprocess_info`.
    var startTime: UInt64 = 0

    func signal(_ signal: Int32) { _ = cprocess_signal(pid, session, signal) }
  }

  /// Whether this process adopts orphans, so that an unknown child of it may descend from a leader.
  let adoptsOrphans = Atomic(false)
  private let registry: ProcessRegistry
  private let cookie: String
  private let ownPID = getpid()
  private let ownSession = getsid(0)

  init(registry: ProcessRegistry, cookie: String) {
    self.registry = registry
    self.cookie = cookie
  }

  struct Result {
    fileprivate(set) var members: [UInt64: [Member]] = [:]
    /// Adopted processes without a session or a cookie that identifies their launch.
    fileprivate(set) var orphans: [Member] = []
    /// Whether a process may have been missed.
    ///
    /// Another process ended during the scan, perhaps after it had started one, or was in the middle of an exec.
    fileprivate(set) var isDoubtful = false
    /// The number of living leaders.
    fileprivate(set) var leaders = 0
    fileprivate var owners: [pid_t: UInt64] = [:]
  }

  /// Scans all processes of the system.
  func scanAll() -> Result {
    let newest = cprocess_newest()
    var list = Self.list()
    // The list goes from low numbers to high ones, and numbers wrap around: a process that ended meanwhile may have
    // started another one whose number had already been passed.
    let started = started(after: newest)
    if let started, !started.isEmpty { list = Self.union(list, started) }
    var result = scan(list)
    if started == nil { result.isDoubtful = true }
    return result
  }

  /// A list with the processes of another one that it lacks.
  static func union(_ list: [cprocess_info], _ other: [cprocess_info]) -> [cprocess_info] {
    let known = Set(list.map(\.pid))
    return list + other.filter { !known.contains($0.pid) }
  }

  /// All processes of the system.
  static func list() -> [cprocess_info] {
    var count = 512
    while true {
      count *= 2
      let list = [cprocess_info](unsafeUninitializedCapacity: count) { buffer, initialized in
        initialized = min(cprocess_list(buffer.baseAddress, count), count)
      }
      if list.count < count { return list }
    }
  }

  /// Scans the processes with numbers above `pid`; nil if scanning all is cheaper, or if the numbers may have wrapped
  /// around since.
  func scanStarted(after pid: pid_t) -> Result? { started(after: pid).map(scan) }

  /// The processes with numbers above `pid`; nil if there are many, or if the numbers may have wrapped around since.
  private func started(after pid: pid_t) -> [cprocess_info]? {
    var list: [cprocess_info] = []
    var candidate = pid
    // The newest number is read again each time: a process that has ended may have started another just before.
    while true {
      let newest = cprocess_newest()
      guard newest >= candidate, newest - pid <= 256 else { return nil }
      if candidate == newest { return list }
      candidate += 1
      // In this order: a child is registered before it stops being listed as launching.
      guard !cprocess_is_launching(candidate), registry.launch(ledBy: candidate) == nil else { continue }
      // A thread, or a child that has not left this session yet.
      let session = getsid(candidate)
      guard session >= 0, session != ownSession else { continue }
      var info = cprocess_info()
      if cprocess_look(candidate, &info) { list.append(info) }
    }
  }

  /// Finds the leaders' descendants among these processes, in any order.
  func scan(_ list: [cprocess_info]) -> Result {
    var result = Result()
    guard !list.isEmpty else { return result }
    var rest: [cprocess_info] = []
    let guardian = cprocess_guardian()
    // Session 0 contains the kernel threads.
    for info in list where info.session != 0 && info.pid != ownPID && info.pid != guardian && !info.ended {
      if registry.launch(ledBy: info.pid) != nil {
        result.leaders += 1
      } else if info.session != ownSession {
        switch owner(of: info) {
        case .launch(let number): result.add(info, to: number)
        case .none: rest.append(info)
        case .undecided:
          rest.append(info)
          result.isDoubtful = true
        }
      }
    }
    // Descendants of members without a mark of their own.
    while let at = rest.firstIndex(where: { result.owners[$0.parent] != nil }) {
      let info = rest.remove(at: at)
      if let owner = result.owners[info.parent] { result.add(info, to: owner) }
    }
    if adoptsOrphans.load(ordering: .relaxed) {
      // In this order: a child is registered before it stops being listed as launching.
      let unknown = rest.filter { info in
        info.parent == ownPID && registry.mayDescend(startedAt: info.start_time) && !cprocess_is_launching(info.pid)
          && registry.launch(ledBy: info.pid) == nil
      }
      result.orphans = unknown.filter { registry.isStranger($0.pid) }.map(Member.init)
      // One may be a leader: the list of launching children has a limited capacity.
      if result.orphans.count < unknown.count { result.isDoubtful = true }
    }
    return result
  }

  /// Reaps adopted children that have ended, up to the first one that other code reaps.
  func reapOrphans() {
    guard adoptsOrphans.load(ordering: .relaxed) else { return }
    while let pid = ChildStatus.endedChild() {
      var info = cprocess_info()
      guard cprocess_look(pid, &info), mayReap(info) else { return }
      ChildStatus.reap(pid)
    }
  }

  /// The same, and also reaps those behind a child that stays, which costs a list of all processes.
  ///
  /// Returns whether that was in vain; behind a leader it is not, because the registry reaps the leader soon.
  func reapAllOrphans() -> Bool {
    reapOrphans()
    guard adoptsOrphans.load(ordering: .relaxed), let first = ChildStatus.endedChild() else { return false }
    let orphans = Self.list().filter { $0.ended && $0.parent == ownPID && mayReap($0) }
    for orphan in orphans { ChildStatus.reap(orphan.pid) }
    return orphans.isEmpty && registry.launch(ledBy: first) == nil
  }

  /// The registry reaps leaders; the code that has started a child in this session, or without a job, reaps that child.
  ///
  /// A process that such a child has left behind, and that this process has adopted, can't be distinguished from it.
  private func mayReap(_ info: cprocess_info) -> Bool {
    registry.isStranger(info.pid) && info.session != ownSession && registry.mayDescend(startedAt: info.start_time)
  }

  private enum Owner {
    case launch(UInt64)
    case none
    case undecided
  }

  private func owner(of info: cprocess_info) -> Owner {
    if let number = registry.launch(ledBy: info.session) { return .launch(number) }
    // Before the environment, which costs more to read.
    if let number = registry.launch(ledBy: info.parent) { return .launch(number) }
    let number = cprocess_launch_number(info.pid, cookie)
    if number >= 0 { return .launch(UInt64(number)) }
    return number == cprocess_undecided ? .undecided : .none
  }
}

extension ProcessScan.Member {
  fileprivate init(_ info: cprocess_info) {
    self.init(pid: info.pid, session: info.session, group: info.group, startTime: info.start_time)
  }
}

extension ProcessScan.Result {
  fileprivate mutating func add(_ info: cprocess_info, to owner: UInt64) {
    members[owner, default: []].append(ProcessScan.Member(info))
    owners[info.pid] = owner
  }
}
