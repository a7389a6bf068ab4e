import Foundation

/// Suspends the children's queues of a nest of groups while the outermost group's queue is suspended.
final class GroupSuspension: @unchecked Sendable {
  // Safe: a weak reference that is never reassigned, and a lock.

  private struct State {
    /// The queues that are suspended now.
    var followers = IdentityList<OperationQueue>()
    var isPolling = false
  }

  private weak let outer: OperationQueue?
  private let state = Lock(State())
  private static let queue = DispatchQueue(label: "GroupSuspension")
  private static let interval = DispatchTimeInterval.milliseconds(50)

  init(of outer: OperationQueue?) { self.outer = outer }

  private var isSuspended: Bool { outer?.isSuspended ?? false }

  /// Suspends a children's queue if the outer queue is suspended and `isAllowed`; called whenever a child could begin.
  func follow(_ queue: OperationQueue, if isAllowed: () -> Bool) {
    guard isSuspended else { return }
    let mustPoll = state.withLock { state in
      guard isAllowed(), !state.followers.contains(queue) else { return false }
      state.followers.append(queue)
      queue.isSuspended = true
      return !exchange(&state.isPolling, with: true)
    }
    if mustPoll { poll() }
  }

  /// Resumes a children's queue permanently: its group was cancelled, and `isAllowed` returns false from now on.
  func leave(_ queue: OperationQueue) {
    state.withLock { state in
      if state.followers.remove(ObjectIdentifier(queue)) != nil { queue.isSuspended = false }
    }
  }

  /// Polls `isSuspended`: Foundation posts no notification on resume.
  private func poll() {
    Self.queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
      guard let self else { return }
      let isOver = !isSuspended
      let mustPoll = state.withLock { state in
        if isOver { for queue in state.followers.takeAll() { queue.isSuspended = false } }
        state.isPolling = !state.followers.isEmpty
        return state.isPolling
      }
      if mustPoll { poll() }
    }
  }
}

final class ChildrenQueue: OperationQueue, @unchecked Sendable {
  // Safe: constant.
  let suspension: GroupSuspension

  init(_ suspension: GroupSuspension) {
    self.suspension = suspension
    super.init()
  }
}

extension OperationQueue: Identifying {
  var identity: ObjectIdentifier { ObjectIdentifier(self) }
}
