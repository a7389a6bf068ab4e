/// The newest unread changes of one operation, and the readers that wait for a change.
final class ChangeBuffer: Sendable {
  /// A change, with the number of changes that were dropped right before it.
  struct Change: Sendable {
    var old: OperationSnapshot?
    var new: OperationSnapshot
    var missed = 0
  }

  private struct State {
    /// A ring buffer: once it is full, the oldest change is at `head`.
    var changes: [Change] = []
    var head = 0
    var isClosed = false
    var readers: [(id: Int, continuation: CheckedContinuation<Change?, Never>)] = []
    var lastID = 0

    mutating func popFirst() -> Change? {
      guard !changes.isEmpty else { return nil }
      if head > 0 {
        // Read from a full ring: put in order again, once for each time that it was full.
        changes = Array(changes[head...] + changes[..<head])
        head = 0
      }
      return changes.removeFirst()
    }
  }

  private let state = Lock(State())
  private let limit: Int

  init(keeping limit: Int) { self.limit = max(1, limit) }

  /// Whether a reader waits for a change.
  var isAwaited: Bool { state.withLock { !$0.readers.isEmpty } }

  /// Called under the observer list's lock; must not call back.
  func append(_ old: OperationSnapshot?, _ new: OperationSnapshot) {
    state.withLock { state in
      guard state.changes.count == limit else {
        state.changes.append(Change(old: old, new: new))
        return
      }
      // The change that is now the oldest counts the dropped one.
      let missed = state.changes[state.head].missed + 1
      state.changes[state.head] = Change(old: old, new: new)
      state.head = (state.head + 1) % limit
      state.changes[state.head].missed += missed
    }
  }

  /// Called without a lock after an append or a close.
  func wake() {
    while let (continuation, change) = state.withLock({ state -> (CheckedContinuation<Change?, Never>, Change?)? in
      guard !state.readers.isEmpty, !state.changes.isEmpty || state.isClosed else { return nil }
      return (state.readers.removeFirst().continuation, state.popFirst())
    }) {
      continuation.resume(returning: change)
    }
  }

  /// Ends the changes: no other will come.
  func close() { state.withLock { $0.isClosed = true } }

  func next(isolation actor: isolated (any Actor)?) async -> Change? {
    guard !Task.isCancelled else { return nil }
    let (id, change, isOver) = state.withLock { state -> (Int, Change?, Bool) in
      let change = state.popFirst()
      state.lastID += 1
      return (state.lastID, change, change == nil && state.isClosed)
    }
    if change != nil || isOver { return change }
    return await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { continuation in
        state.withLock { $0.readers.append((id, continuation)) }
        // A change that was posted meanwhile found no reader, and neither did a cancellation.
        wake()
        if Task.isCancelled { giveUp(id) }
      }
    } onCancel: {
      giveUp(id)
    }
  }

  private func giveUp(_ id: Int) {
    let reader = state.withLock { state in
      state.readers.firstIndex { $0.id == id }.map { state.readers.remove(at: $0) }
    }
    reader?.continuation.resume(returning: nil)
  }
}
