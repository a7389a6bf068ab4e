/// What one operation has for its observers: who they are, and its progress.
///
/// Made when the first observer or the first progress comes, so that an operation without either pays nothing.
final class ObservationBoard: Sendable {
  typealias Snapshot = OperationObservation.Snapshot

  /// One move of the operation, made under the board's lock.
  struct Move<Action> {
    var old: OperationLifecycle
    var new: OperationLifecycle
    var action: Action
  }

  private struct Contents {
    var progress = OperationProgress()
    // Mostly there is one, and then there is no array to reach for.
    private var first: OperationObservation? { didSet { told = first.map { .passUnretained($0) } } }
    /// The same, for when it is told: counting references costs at each change, and it stays while the lock is held.
    private var told: Unmanaged<OperationObservation>?
    private var others: [OperationObservation] = []
    var delegate: OperationObservation?
    /// How many lines in a row have been left out because an observer was too far behind.
    var lost = 0

    /// Tells all observers; returns those that are to be woken once the lock is free.
    func post(_ operation: AsyncOperation, from old: Snapshot, to new: Snapshot) -> [any ChangeReceiver] {
      var sleepers: [any ChangeReceiver] = []
      if let sleeper = told?._withUnsafeGuaranteedRef({ $0.post(operation, from: old, to: new) }) {
        sleepers.append(sleeper)
      }
      for index in others.indices {
        if let sleeper = others[index].post(operation, from: old, to: new) { sleepers.append(sleeper) }
      }
      return sleepers
    }

    /// Tells all observers of what changes no value.
    func post(_ operation: AsyncOperation, _ news: OperationNews, at value: Snapshot) {
      first?.post(operation, news, at: value)
      for observation in others { observation.post(operation, news, at: value) }
    }

    /// Tells those who want lines; false if it was left out somewhere.
    func post(_ operation: AsyncOperation, lines: OperationNews, at value: Snapshot, below limit: Int) -> Bool {
      var isWhole = true
      if let first, first.wantsLines { isWhole = first.post(operation, lines, at: value, below: limit) }
      for observation in others where observation.wantsLines {
        if !observation.post(operation, lines, at: value, below: limit) { isWhole = false }
      }
      return isWhole
    }

    mutating func add(_ observation: OperationObservation) {
      if first == nil { first = observation } else { others.append(observation) }
    }

    mutating func remove(_ observation: OperationObservation) {
      if first === observation {
        // The order in which observers are told is that in which they came.
        first = others.isEmpty ? nil : others.removeFirst()
      } else {
        others.removeAll { $0 === observation }
      }
    }

    mutating func takeAll() -> Ended {
      defer {
        first = nil
        others = []
        delegate = nil
      }
      return Ended(first: first, others: others, delegate: delegate)
    }
  }

  /// Observations that are over, to be let go of outside the lock: a handler's last reference may end other observations.
  private struct Ended {
    var first: OperationObservation?
    var others: [OperationObservation] = []
    var delegate: OperationObservation?

    func tell() {
      first?.operationIsOver()
      for observation in others { observation.operationIsOver() }
    }
  }

  private let contents = LockedPlace(Contents())

  var progress: OperationProgress { contents.withLock { $0.progress } }

  /// Makes a move and posts it, so that every observer is told of all moves in the order in which they were made.
  func post<Action>(_ operation: AsyncOperation, _ make: () -> Move<Action>) -> Action {
    var ended = Ended()
    let (action, sleepers) = contents.withLock { contents -> (Action, [any ChangeReceiver]) in
      let move = make()
      guard move.old != move.new else { return (move.action, []) }
      let old = Snapshot(lifecycle: move.old, progress: contents.progress)
      let new = Snapshot(lifecycle: move.new, progress: contents.progress)
      let sleepers = contents.post(operation, from: old, to: new)
      if move.new.isFinished { ended = contents.takeAll() }
      return (move.action, sleepers)
    }
    for sleeper in sleepers { sleeper.wake() }
    ended.tell()
    return action
  }

  /// Sets the progress and posts it, unless the operation has finished.
  func report(_ progress: OperationProgress, _ operation: AsyncOperation) {
    let sleepers = contents.withLock { contents -> [any ChangeReceiver] in
      let lifecycle = operation.lifecycle
      guard !lifecycle.isFinished, progress != contents.progress else { return [] }
      let old = Snapshot(lifecycle: lifecycle, progress: contents.progress)
      contents.progress = progress
      return contents.post(operation, from: old, to: Snapshot(lifecycle: lifecycle, progress: progress))
    }
    for sleeper in sleepers { sleeper.wake() }
  }

  /// Posts what changes neither state nor progress, unless the operation has finished.
  func announce(_ news: OperationNews, _ operation: AsyncOperation) {
    contents.withLock { contents in
      let value = Snapshot(lifecycle: operation.lifecycle, progress: contents.progress)
      guard !value.lifecycle.isFinished else { return }
      contents.post(operation, news, at: value)
    }
  }

  /// Posts lines of the operation's log, at least one, as one delivery, unless it has finished.
  func post(_ lines: [OperationLogLine], _ operation: AsyncOperation, limit: Int) {
    var lines = lines
    contents.withLock { contents in
      let value = Snapshot(lifecycle: operation.lifecycle, progress: contents.progress)
      guard !value.lifecycle.isFinished else { return }
      lines[0].lost += contents.lost
      let isWhole = contents.post(operation, lines: .said(lines), at: value, below: limit)
      contents.lost = isWhole ? 0 : contents.lost + lines.count
    }
  }

  /// Adds an observation, told first of the value now if it asks for that; `beginObserved` makes all later moves come here.
  func add(
    _ observation: OperationObservation, to operation: AsyncOperation, initial: Bool,
    beginObserved: () -> OperationLifecycle
  ) {
    let (sleeper, isOver) = contents.withLock { contents -> ((any ChangeReceiver)?, Bool) in
      let lifecycle = beginObserved()
      let value = Snapshot(lifecycle: lifecycle, progress: contents.progress)
      let sleeper = initial ? observation.postInitial(operation, value) : nil
      if !lifecycle.isFinished { contents.add(observation) }
      return (sleeper, lifecycle.isFinished)
    }
    sleeper?.wake()
    if isOver { observation.operationIsOver() }
  }

  /// Removes an observation.
  ///
  /// The operation stays observed, by nobody: it may be gone, and another may be on its way.
  func remove(_ observation: OperationObservation) {
    contents.withLock { $0.remove(observation) }
  }

  /// Puts an observation in the place of the delegate's, which is returned.
  func replaceDelegate(_ observation: OperationObservation?) -> OperationObservation? {
    contents.withLock { contents in
      defer { contents.delegate = observation }
      return contents.delegate
    }
  }

  /// The operation is being freed: whoever still waits for changes is told that none will come.
  func close() { contents.withLock { $0.takeAll() }.tell() }
}
