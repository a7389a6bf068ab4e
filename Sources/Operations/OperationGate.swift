import Foundation

/// Where an operation stands with its conditions; the graph counts a closed gate as one more unfinished dependency.
struct OperationGate {
  enum Phase: Equatable {
    /// There are no conditions.
    case none
    /// Waits for the dependencies, and for being in a queue.
    case closed
    /// The conditions are being asked; an answer to another round than this is not heard.
    case asking(round: Int)
    /// One of them does not hold; the operation is about to be told.
    case failing
    /// All hold; waits for its turn among those that exclude each other.
    case inLine
    /// It is its turn, which it takes when it starts.
    case onTurn
    case open
  }

  var phase = Phase.none
  var isAttached = false
  /// Whether somebody started the operation at a closed gate; it then starts by itself when the gate opens.
  var isStartPutOff = false
  var round = 0
}

extension AsyncOperation {
  /// Lets the operation execute only if `condition` holds, beside those that it has.
  ///
  /// Before the operation enters a queue or is started; in one already, it is a programmer error if the conditions have
  /// been asked. They are asked in the order in which they were added, until one fails.
  public final func addCondition(_ condition: OperationCondition) {
    extras.add(condition)
    DependencyGraph.closeGate(of: self, extras)
  }

  /// The conditions, in the order in which they are asked; empty once the operation has finished.
  public final var conditions: [OperationCondition] { existingExtras?.conditions ?? [] }

  /// Asks all conditions and tells the graph.
  final func askConditions(_ extras: OperationExtras, round: Int) {
    let conditions = extras.conditions
    guard !conditions.allSatisfy(\.question.isAtOnce) else {
      do {
        for condition in conditions { try condition.checkedAnswerAtOnce(self) }
        DependencyGraph.conditionsHold(self, extras, round)
      } catch {
        DependencyGraph.conditionFailed(self, extras, round, error)
      }
      return
    }
    extras.setEvaluation(
      Task {
        do {
          for condition in conditions { try await condition.checkedAnswer(self) }
          DependencyGraph.conditionsHold(self, extras, round)
        } catch {
          DependencyGraph.conditionFailed(self, extras, round, error)
        }
      })
  }
}

extension DependencyGraph {
  static func closeGate(of operation: AsyncOperation, _ extras: OperationExtras) {
    change { _, aftermath in
      if extras.gate.phase == .closed { return }
      precondition(
        extras.gate.phase == .none && operation.state < .executing,
        "a condition was added to \(operation) after its conditions had been asked")
      operation.beginLinked()
      let node = operation.node
      extras.gate.phase = .closed
      extras.gate.isAttached = extras.gate.isAttached || node.feeder != nil
      node.isGated = true
      wait(node, operation, &aftermath)
      askIfDue(node, operation, extras, &aftermath)
    }
  }

  /// The operation is in a queue or a feeder, so that its conditions may be asked.
  static func attach(_ operation: AsyncOperation, _ extras: OperationExtras, to queue: OperationQueue?) {
    guard extras.attach(to: queue) else { return }
    operation.announce(.attached)
    change { _, aftermath in
      extras.gate.isAttached = true
      if extras.gate.phase == .closed { askIfDue(operation.node, operation, extras, &aftermath) }
    }
  }

  /// Of what `node` waits for only its gate is left.
  static func gateIsNext(_ node: DependencyNode, _ aftermath: inout Aftermath) {
    guard let operation = node.operation as? AsyncOperation, let extras = operation.existingExtras else { return }
    // A dependency came and went while the conditions were being asked: that was too early.
    if case .asking = extras.gate.phase { extras.gate.phase = .closed }
    askIfDue(node, operation, extras, &aftermath)
    aftermath.released.append(operation)
  }

  private static func askIfDue(
    _ node: DependencyNode, _ operation: AsyncOperation, _ extras: OperationExtras, _ aftermath: inout Aftermath
  ) {
    guard extras.gate.phase == .closed, extras.gate.isAttached, node.unfinished == 1, !operation.isCancelled else {
      return
    }
    extras.gate.round += 1
    let round = extras.gate.round
    extras.gate.phase = .asking(round: round)
    aftermath.gates.append { operation.askConditions(extras, round: round) }
  }

  static func conditionsHold(_ operation: AsyncOperation, _ extras: OperationExtras, _ round: Int) {
    change { ranks, aftermath in
      guard extras.gate.phase == .asking(round: round) else { return }
      guard operation.node.unfinished == 1 else {
        // A dependency was added meanwhile; when it has finished, all are asked again.
        extras.gate.phase = .closed
        return
      }
      let categories = extras.conditions.reduce(into: Set<ExclusionCategory>()) { $0.formUnion($1.categories) }
      guard !categories.isEmpty else { return open(operation, extras, as: .open, &aftermath) }
      let request = ExclusionTable.Request(operation, categories)
      extras.request = request
      extras.gate.phase = .inLine
      carryOver(ranks.exclusion.enter(request), &aftermath)
      if extras.gate.isStartPutOff { carryOver(ranks.exclusion.hurry(request), &aftermath) }
    }
  }

  static func conditionFailed(
    _ operation: AsyncOperation, _ extras: OperationExtras, _ round: Int, _ error: any Error
  ) {
    let isHeard = ranks.withLock { _ in
      guard extras.gate.phase == .asking(round: round) else { return false }
      extras.gate.phase = .failing
      return true
    }
    guard isHeard else { return }
    // Not started yet, so this only makes it finish when it is.
    operation.finish(with: (error as? SourceFailure)?.cause ?? error)
    change { _, aftermath in
      if extras.gate.phase == .failing { open(operation, extras, as: .open, &aftermath) }
    }
  }

  /// Nothing but dependencies that came late holds the operation up any more.
  private static func open(
    _ operation: AsyncOperation, _ extras: OperationExtras, as phase: OperationGate.Phase,
    _ aftermath: inout Aftermath
  ) {
    extras.gate.phase = phase
    let node = operation.node
    node.isGated = false
    settle(node, &aftermath)
    guard extras.gate.isStartPutOff else { return }
    extras.gate.isStartPutOff = false
    aftermath.gates.append { operation.start() }
  }

  /// True if the operation, which is being started, has to wait for its conditions; it is started again when they hold.
  static func holdsStart(of operation: AsyncOperation, _ extras: OperationExtras) -> Bool {
    change { ranks, aftermath in
      switch extras.gate.phase {
      case .none, .open: return false
      case .onTurn:
        guard let request = extras.request else { preconditionFailure("whose turn it is, is in line") }
        extras.gate.phase = .open
        carryOver(ranks.exclusion.take(request), &aftermath)
        return false
      case .closed, .asking, .failing, .inLine:
        // By hand, it is for the caller to see that the dependencies have finished.
        if operation.node.unfinished > 1, OperationQueue.current == nil { return false }
        extras.gate.isStartPutOff = true
        extras.gate.isAttached = true
        if let request = extras.request { carryOver(ranks.exclusion.hurry(request), &aftermath) }
        askIfDue(operation.node, operation, extras, &aftermath)
        return true
      }
    }
  }

  /// The operation was cancelled; true if its start was put off, and is now for the caller to make.
  static func abandonGate(of operation: AsyncOperation, _ extras: OperationExtras) -> Bool {
    let isPutOff = change { ranks, aftermath -> Bool? in
      switch extras.gate.phase {
      case .none, .open: return nil
      case .closed, .asking, .failing, .inLine, .onTurn:
        // It stays counted as a dependency: what is cancelled waits for none.
        extras.gate.phase = .open
        operation.node.isGated = false
        if let request = extras.request { carryOver(ranks.exclusion.leave(request), &aftermath) }
        defer { extras.gate.isStartPutOff = false }
        return extras.gate.isStartPutOff
      }
    }
    if isPutOff != nil { extras.setEvaluation(nil) }
    return isPutOff == true
  }

  // MARK: Mutual exclusion

  /// The operation is over, or is being freed.
  static func leaveExclusion(_ extras: OperationExtras) {
    change { ranks, aftermath in
      if let request = extras.request { carryOver(ranks.exclusion.leave(request), &aftermath) }
      extras.request = nil
    }
  }

  private static func carryOver(_ changes: ExclusionTable.Changes, _ aftermath: inout Aftermath) {
    for request in changes.revoked {
      guard let operation = request.operation, let extras = operation.existingExtras else { continue }
      extras.gate.phase = .inLine
      operation.node.isGated = true
      wait(operation.node, operation, &aftermath)
      aftermath.released.append(operation)
    }
    for request in changes.allowed {
      guard let operation = request.operation, let extras = operation.existingExtras else { continue }
      open(operation, extras, as: .onTurn, &aftermath)
      aftermath.released.append(operation)
    }
    for (category, watch) in changes.watches {
      aftermath.gates.append {
        DispatchQueue.global().asyncAfter(deadline: .now() + ExclusionTable.patience) {
          change { ranks, aftermath in carryOver(ranks.exclusion.look(at: category, watch), &aftermath) }
        }
      }
    }
  }

  /// Changes something under the lock, and does after it what follows from that.
  @discardableResult
  private static func change<Answer>(_ body: (inout Ranks, inout Aftermath) -> Answer) -> Answer {
    let (aftermath, answer) = ranks.withLock { ranks in
      var aftermath = Aftermath()
      let answer = body(&ranks, &aftermath)
      aftermath.close()
      return (aftermath, answer)
    }
    aftermath.carryOut()
    return answer
  }
}
