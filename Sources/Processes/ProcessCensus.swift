import CProcess
import Foundation
import Synchronization

/// Tells which living processes belong to which job, leaders aside.
///
/// A job's processes are those of its leader's session, those whose environment carries its cookie, and their descendants.
final class ProcessCensus: Sendable {
  /// A process of a job.
  struct Member: Equatable {
    let pid: pid_t
    let session: pid_t
    let group: pid_t

    func signal(_ signal: Int32) { _ = cprocess_signal(pid, session, signal) }
  }

  /// Whether orphans come to us, so that a child of ours that nobody knows must have come from a job.
  let adoptsOrphans = Atomic(false)
  private let registry: ProcessRegistry
  private let cookie: String
  private let ownPID = getpid()
  private let ownSession = getsid(0)

  init(registry: ProcessRegistry, cookie: String) {
    self.registry = registry
    self.cookie = cookie
  }

  /// Who belongs to whom, at one moment.
  struct Result {
    fileprivate(set) var members: [UInt64: [Member]] = [:]
    /// Adopted, without session or cookie that would tell the job.
    fileprivate(set) var orphans: [Member] = []
    /// Whether only another look can say that nobody is there.
    ///
    /// One ended while we looked, perhaps after it had started another, or was between two programs.
    fileprivate(set) var isDoubtful = false
    /// Adopted and ended, not yet reaped.
    fileprivate(set) var ended: [pid_t] = []
    /// How many leaders are alive.
    fileprivate(set) var leaders = 0
    fileprivate var owners: [pid_t: UInt64] = [:]
  }

  /// Looks at every process of the system.
  func takeAll() -> Result {
    let newest = cprocess_newest()
    var count = 512
    var list: [cprocess_info] = []
    repeat {
      count *= 2
      list = [cprocess_info](unsafeUninitializedCapacity: count) { buffer, initialized in
        initialized = min(cprocess_list(buffer.baseAddress, count), count)
      }
    } while list.count == count
    var result = take(list)
    // The look goes from low numbers to high ones; where they began again meanwhile, a successor may stand behind it.
    if cprocess_newest() < newest { result.isDoubtful = true }
    return result
  }

  /// Looks only at those that were started after a process, which took its number before theirs; nil when looking at all
  /// is cheaper, or when the numbers may have begun again from the lowest.
  func takeStarted(after pid: pid_t) -> Result? {
    var list: [cprocess_info] = []
    var candidate = pid
    // Asked again after each look: one that was seen to have ended may have started another just before.
    while true {
      let newest = cprocess_newest()
      guard newest >= candidate, newest - pid <= 256 else { return nil }
      if candidate == newest { break }
      candidate += 1
      // Asked in this order: who is no longer launching by then is registered.
      guard !cprocess_is_launching(candidate), registry.launch(ledBy: candidate) == nil else { continue }
      // What is ours, a thread or a child about to leave us, costs no look.
      let session = getsid(candidate)
      guard session >= 0, session != ownSession else { continue }
      var info = cprocess_info()
      if cprocess_look(candidate, &info) { list.append(info) }
    }
    return take(list)
  }

  private func take(_ list: [cprocess_info]) -> Result {
    var result = Result()
    guard !list.isEmpty else { return result }
    var rest: [cprocess_info] = []
    // Session 0 is the kernel's own.
    for info in list where info.session != 0 && info.pid != ownPID {
      if info.ended {
        if info.parent == ownPID, info.session != ownSession, registry.launch(ledBy: info.pid) == nil {
          result.ended.append(info.pid)
        }
      } else if registry.launch(ledBy: info.pid) != nil {
        result.leaders += 1
      } else if info.session != ownSession {
        switch owner(of: info) {
        case .job(let number): result.add(info, to: number)
        case .none: rest.append(info)
        case .undecided:
          rest.append(info)
          result.isDoubtful = true
        }
      }
    }
    // The descendants of members, however they hid themselves.
    while let at = rest.firstIndex(where: { result.owners[$0.parent] != nil }) {
      let info = rest.remove(at: at)
      if let owner = result.owners[info.parent] { result.add(info, to: owner) }
    }
    if adoptsOrphans.load(ordering: .relaxed) {
      result.orphans = rest.filter { $0.parent == ownPID && registry.isStranger($0.pid) }.map(Member.init)
    }
    return result
  }

  /// Lets go the children of ours that ended and that nobody else will wait for.
  func reapOrphans() {
    guard adoptsOrphans.load(ordering: .relaxed) else { return }
    while true {
      let pid = cprocess_ended_child()
      var info = cprocess_info()
      // A leader is reaped with its job, and one of our own session was started by other code of this program.
      guard pid > 0, registry.isStranger(pid), cprocess_look(pid, &info), info.session != ownSession else { return }
      cprocess_reap(pid)
    }
  }

  private enum Owner {
    case job(UInt64)
    case none
    case undecided
  }

  private func owner(of info: cprocess_info) -> Owner {
    if let number = registry.launch(ledBy: info.session) { return .job(number) }
    // One that still has its parent is told by it; the environment costs more to read.
    if let number = registry.launch(ledBy: info.parent) { return .job(number) }
    let number = cprocess_launch_number(info.pid, cookie)
    if number >= 0 { return .job(UInt64(number)) }
    return number == cprocess_undecided ? .undecided : .none
  }
}

extension ProcessCensus.Member {
  fileprivate init(_ info: cprocess_info) {
    self.init(pid: info.pid, session: info.session, group: info.group)
  }
}

extension ProcessCensus.Result {
  fileprivate mutating func add(_ info: cprocess_info, to owner: UInt64) {
    members[owner, default: []].append(ProcessCensus.Member(info))
    owners[info.pid] = owner
  }
}
