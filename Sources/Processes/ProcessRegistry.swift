import CProcess
import Foundation
import Operations

/// Which processes are ours: those that lead a job's group, from their start until they are reaped.
final class ProcessRegistry: Sendable {
  private struct State {
    var children: [UInt64: ChildProcess] = [:]
    var numbers: [pid_t: UInt64] = [:]
    var freeSlots: [Int] = []
    var slotCount = 0
    var nextNumber: UInt64 = 1
    /// Launches under way: between fork and registration a leader looks like an orphan that nobody knows.
    var launching = 0
    var isClosed = false
  }

  private let state = Lock(State())

  /// Announces a launch: its number, or nil when all has been ended.
  ///
  /// `register` or `abandonLaunch` follows.
  func beginLaunch() -> UInt64? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.launching += 1
      defer { state.nextNumber += 1 }
      return state.nextNumber
    }
  }

  func abandonLaunch() { state.withLock { $0.launching -= 1 } }

  func register(_ child: ChildProcess) {
    state.withLock { state in
      state.launching -= 1
      state.children[child.number] = child
      state.numbers[child.pid] = child.number
      let slot = state.freeSlots.popLast() ?? state.slotCount
      if slot == state.slotCount { state.slotCount += 1 }
      child.guardianSlot = slot
      cprocess_guardian_set(slot, child.pid)
    }
  }

  /// Forgets a child that has ended, and reaps it after: nobody signals a number that may have gone to another.
  func remove(_ child: ChildProcess) {
    state.withLock { state in
      state.children[child.number] = nil
      state.numbers[child.pid] = nil
      state.freeSlots.append(child.guardianSlot)
      cprocess_guardian_set(child.guardianSlot, 0)
    }
    cprocess_reap(child.pid)
  }

  subscript(number: UInt64) -> ChildProcess? { state.withLock { $0.children[number] } }

  /// The launch of the job whose leader has this number.
  func launch(ledBy pid: pid_t) -> UInt64? { state.withLock { $0.numbers[pid] } }

  /// Whether this child of ours is neither a leader nor one that is about to be registered.
  func isStranger(_ pid: pid_t) -> Bool { state.withLock { $0.launching == 0 && $0.numbers[pid] == nil } }

  /// Whether a job other than this one might have started a process with this number: it was there before.
  func hasJob(besides child: ChildProcess, before pid: pid_t) -> Bool {
    state.withLock { $0.numbers.keys.contains { $0 != child.pid && $0 < pid } }
  }

  /// Nothing is started any more; returns how many launches are still under way.
  func close() -> Int {
    state.withLock { state in
      state.isClosed = true
      return state.launching
    }
  }

  /// Signals every group.
  ///
  /// Under the lock, so that no leader is reaped meanwhile.
  func signalAll(_ signal: Int32) {
    state.withLock { state in
      // Before its program begins a leader may not have made its group yet.
      for pid in state.numbers.keys where kill(-pid, signal) != 0 { _ = kill(pid, signal) }
    }
  }
}
