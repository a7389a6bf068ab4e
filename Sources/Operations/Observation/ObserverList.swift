import Foundation

/// The observers of one operation, and its progress.
///
/// Made when the first observer or the first progress comes, so that an operation without either pays nothing.
final class ObserverList: Sendable {
  private struct Contents {
    var progress = OperationProgress()
    /// Retained here, in the order in which they came; unmanaged because counting references costs at each change.
    var observations: [Unmanaged<OperationObservation>] = []
    /// How many lines in a row have been left out because an observer was too far behind.
    var lost = 0

    /// Posts a change to all observers; returns the buffers to be woken once the lock is free.
    func post(
      _ operation: Operation, from old: OperationSnapshot, to new: OperationSnapshot
    ) -> [any ChangeReceiver] {
      var receivers: [any ChangeReceiver] = []
      for index in observations.indices {
        let receiver = observations[index]._withUnsafeGuaranteedRef { $0.post(operation, from: old, to: new) }
        if let receiver { receivers.append(receiver) }
      }
      return receivers
    }

    mutating func takeAll() -> [Unmanaged<OperationObservation>] {
      defer { observations = [] }
      return observations
    }
  }

  private let contents = LockedPlace(Contents())

  deinit { close() }

  var progress: OperationProgress { contents.withLock { $0.progress } }

  /// Makes a move by `isMade`, which says whether it was made, and posts it: all observers see all moves in their order.
  func post(
    _ operation: Operation, from old: OperationLifecycle, to new: OperationLifecycle, if isMade: () -> Bool
  ) -> Bool {
    var over: [Unmanaged<OperationObservation>] = []
    let receivers = contents.withLock { contents -> [any ChangeReceiver]? in
      guard isMade() else { return nil }
      let receivers = contents.post(
        operation, from: OperationSnapshot(old, contents.progress), to: OperationSnapshot(new, contents.progress))
      if new.isFinished { over = contents.takeAll() }
      return receivers
    }
    guard let receivers else { return false }
    for receiver in receivers { receiver.wake() }
    Self.end(over)
    return true
  }

  /// Sets the progress and posts it, unless the operation has finished.
  func report(_ progress: OperationProgress, _ operation: Operation, lifecycle: () -> OperationLifecycle) {
    let receivers = contents.withLock { contents -> [any ChangeReceiver] in
      let lifecycle = lifecycle()
      guard !lifecycle.isFinished, progress != contents.progress else { return [] }
      let old = OperationSnapshot(lifecycle, contents.progress)
      contents.progress = progress
      return contents.post(operation, from: old, to: OperationSnapshot(lifecycle, progress))
    }
    for receiver in receivers { receiver.wake() }
  }

  /// Posts news, which changes neither state nor progress, unless the operation has finished.
  ///
  /// Lines of the log, but no other news, are left out where `limit` deliveries wait.
  func post(
    _ news: OperationNews, _ operation: Operation, below limit: Int = .max, lifecycle: () -> OperationLifecycle
  ) {
    contents.withLock { contents in
      let value = OperationSnapshot(lifecycle(), contents.progress)
      guard !value.lifecycle.isFinished else { return }
      var news = news
      if case .lines(var lines, let receipt) = news, contents.lost > 0 {
        lines[0].lost += contents.lost
        news = .lines(lines, receipt: receipt)
      }
      var isWhole = true
      for observation in contents.observations {
        let isPosted = observation._withUnsafeGuaranteedRef { $0.post(operation, news, at: value, below: limit) }
        if !isPosted { isWhole = false }
      }
      if case .lines(let lines, _) = news { contents.lost = isWhole ? 0 : contents.lost + lines.count }
    }
  }

  /// Adds an observation; `setObserved` makes all later moves come here, and returns the state at that instant.
  func add(
    _ observation: OperationObservation, to operation: Operation, initial: Bool, setObserved: () -> OperationLifecycle
  ) {
    let (receiver, isOver) = contents.withLock { contents -> ((any ChangeReceiver)?, Bool) in
      let lifecycle = setObserved()
      let receiver = initial ? observation.postInitial(operation, OperationSnapshot(lifecycle, contents.progress)) : nil
      if !lifecycle.isFinished { contents.observations.append(.passRetained(observation)) }
      return (receiver, lifecycle.isFinished)
    }
    receiver?.wake()
    if isOver { observation.operationIsOver() }
  }

  /// Removes an observation; the operation stays marked as observed, because another observer may be on its way.
  func remove(_ observation: OperationObservation) {
    let removed = contents.withLock { contents in
      contents.observations.firstIndex { $0.toOpaque() == Unmanaged.passUnretained(observation).toOpaque() }
        .map { contents.observations.remove(at: $0) }
    }
    removed?.release()
  }

  /// Tells the observers that wait for changes that none will come: the operation is being freed.
  func close() { Self.end(contents.withLock { $0.takeAll() }) }

  /// Frees observations outside the lock: a handler's last reference may end other observations.
  private static func end(_ observations: [Unmanaged<OperationObservation>]) {
    for observation in observations {
      observation._withUnsafeGuaranteedRef { $0.operationIsOver() }
      observation.release()
    }
  }
}
