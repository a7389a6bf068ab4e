/// Everything of an operation that can be observed, at one instant.
public struct OperationStatus: Sendable, Equatable {
  /// Where it stands.
  public let state: AsyncOperation.State
  /// Whether it has been cancelled.
  public let isCancelled: Bool
  /// What it last reported.
  public let progress: OperationProgress

  init(_ snapshot: OperationObservation.Snapshot) {
    state = snapshot.lifecycle.publicState
    isCancelled = snapshot.lifecycle.isCancelled
    progress = snapshot.progress
  }
}
