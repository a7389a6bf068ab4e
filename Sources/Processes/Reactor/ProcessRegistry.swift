import CProcess
import Foundation
import Operations

/// The leaders, from their launch until they are reaped.
final class ProcessRegistry: Sendable {
  private struct State {
    var children: [UInt64: ChildProcess] = [:]
    var numbers: [pid_t: UInt64] = [:]
    var freeSlots: [Int] = []
    var slotCount = 0
    var nextNumber: UInt64 = 1
    /// Launches under way: before its registration a leader looks like an adopted orphan.
    var launching = 0
    var isClosed = false
    var jobTimes = JobTimes()
    /// Whether the processes of a job may have outlived it.
    var hasLeftovers = false

    mutating func endTimesIfIdle() {
      if children.isEmpty, launching == 0, !hasLeftovers { jobTimes.end(at: cprocess_ticks()) }
    }
  }

  private let state = Lock(State())

  /// Begins a launch and returns its number, or nil after `close()`; `register` or `abandonLaunch` must follow.
  func beginLaunch() -> UInt64? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.launching += 1
      defer { state.nextNumber += 1 }
      return state.nextNumber
    }
  }

  /// Whether a launch has ever begun.
  var hasLaunched: Bool { state.withLock { $0.nextNumber > 1 } }

  func abandonLaunch() {
    state.withLock { state in
      state.launching -= 1
      state.endTimesIfIdle()
    }
  }

  func register(_ child: ChildProcess) {
    state.withLock { state in
      state.launching -= 1
      state.children[child.number] = child
      state.numbers[child.pid] = child.number
      state.jobTimes.begin(at: child.startTime)
      let slot = state.freeSlots.popLast() ?? state.slotCount
      if slot == state.slotCount { state.slotCount += 1 }
      child.guardianSlot = slot
      cprocess_guardian_set(slot, child.pid, child.launch.remoteGrace != nil)
    }
  }

  /// Removes a child that has ended, then reaps its leader, so that no reused number is signalled.
  ///
  /// With `mayLeaveProcesses`, every later process may descend from it.
  func remove(_ child: ChildProcess, mayLeaveProcesses: Bool = false) {
    state.withLock { state in
      state.children[child.number] = nil
      state.numbers[child.pid] = nil
      state.freeSlots.append(child.guardianSlot)
      cprocess_guardian_set(child.guardianSlot, 0, false)
      if mayLeaveProcesses { state.hasLeftovers = true }
      state.endTimesIfIdle()
    }
    ChildStatus.reap(child.pid)
  }

  subscript(number: UInt64) -> ChildProcess? { state.withLock { $0.children[number] } }

  var children: [ChildProcess] { state.withLock { Array($0.children.values) } }

  /// The number of the launch whose leader has this pid.
  func launch(ledBy pid: pid_t) -> UInt64? { state.withLock { $0.numbers[pid] } }

  /// Whether a child of this process is neither a leader nor, possibly, a leader that is not registered yet.
  func isStranger(_ pid: pid_t) -> Bool { state.withLock { $0.launching == 0 && $0.numbers[pid] == nil } }

  /// Whether a job was alive when a process started: otherwise other code of this program has started the process.
  func mayDescend(startedAt time: UInt64) -> Bool { state.withLock { $0.jobTimes.contain(time) } }

  /// Whether another launch is old enough to have started a process.
  ///
  /// The time tells the order: numbers wrap around. Within a clock tick the number does.
  func hasJob(besides child: ChildProcess, before pid: pid_t, startedAt time: UInt64) -> Bool {
    state.withLock { state in
      state.children.values.contains { job in
        job !== child && (job.startTime < time || job.startTime == time && job.pid < pid)
      }
    }
  }

  /// Prevents further launches; returns how many are under way.
  func close() -> Int {
    state.withLock { state in
      state.isClosed = true
      return state.launching
    }
  }

  /// Signals every group of `remote` programs, or of the others, under the lock, so that no leader is reaped meanwhile.
  func signalAll(_ signal: Int32, remote: Bool) {
    state.withLock { state in
      for child in state.children.values where remote == (child.launch.remoteGrace != nil) {
        _ = kill(-child.pid, signal)
      }
    }
  }
}
