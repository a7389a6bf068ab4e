import Foundation

private let progressQueue = DispatchQueue(label: "ResultGroup.progress")

/// A group of operations with values; its own value is the array of their values.
///
/// The children run as children of a `GroupOperation`, which is announced to observers as produced. Cancelling the
/// group cancels the children. If it never executes, the children finish without executing before the group does. Its
/// progress is the sum of the children's progress.
public final class ResultGroup<Value: Sendable>: ResultOperation<[Value]>, @unchecked Sendable {
  // Safe: constants, and an array that only the deinit changes.
  private let group: GroupOperation
  private var children: [ResultOperation<Value>]
  private let policy: GroupOperation.ChildFailurePolicy

  /// Makes a group that has not begun.
  ///
  /// - Parameters:
  ///   - width: The maximum number of children that execute at the same time.
  ///   - policy: The effect of a child's failure, with which the group fails with `.childrenFailed`. If failures are
  ///     ignored, the value consists of the values of the other children.
  ///   - children: Operations that are in no queue; their values come in this order, whatever the order of their ends.
  public init(
    width: Int = ProcessInfo.processInfo.activeProcessorCount,
    onChildFailure policy: GroupOperation.ChildFailurePolicy = .finishThenFail,
    _ children: [ResultOperation<Value>]
  ) {
    group = GroupOperation(width: width, onChildFailure: policy, children)
    self.children = children
    self.policy = policy
    super.init()
    // The children wait for this operation, and it for them, as for the group.
    _ = DependencyGraph.cycle(of: self, with: [group])
    let rareState = group.parts.rareState
    rareState.group = self
  }

  deinit { Nesting.release(&children) }

  /// Begins the children; the queue calls it.
  public override func main() {
    group.name = displayName
    post(.produced(group))
    let token = group.observe(\.progress, on: progressQueue, options: .initial) { [weak self] group, _ in
      self?.report { group.progress }
    }
    group.parts.rareState.whenEnded { group in
      token.cancel()
      // The last change may not have been delivered yet.
      self.report { group.progress }
      self.finish(self.values(after: group.failure))
    }
    group.start()
  }

  private func values(after failure: (any Error)?) -> Outcome {
    if let failure { return .failure(failure) }
    var values: [Value] = []
    for child in children {
      switch child.outcome {
      case .success(let value): values.append(value)
      // For the group, a child that was cancelled on its own has not failed.
      case .failure(let error): if policy != .ignore { return .failure(error) }
      case nil: return .failure(OperationError(.missingResult, of: child.displayName))
      }
    }
    return .success(values)
  }

  /// Cancels the children; the queue calls it.
  public override func didCancel() { group.cancel() }

  override var heldChildren: [Operation] { group.children }

  override var stuckChildren: [AsyncOperation] { group.stuckChildren }

  override var mayFinishUnbegun: Bool { group.isFinished }

  override func willNotExecute() { group.cancel() }

  override func finishAfterWhatItHolds() {
    group.cancel()
    group.start()
    group.whenEnded { _, _ in self.begin() }
    if group.isFinished { begin() }
  }
}
