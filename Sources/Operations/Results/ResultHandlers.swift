import Dispatch

extension ResultOperation {
  /// Calls `handler` once with this operation and its result, on `queue`.
  ///
  /// The operation retains `handler` until it has finished, and passes itself so that `handler` need not capture it.
  public final func result(
    on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (ResultOperation, Outcome) -> Void
  ) {
    whenDone { [weak self] result in
      // A freed operation has no end.
      guard let self else { return }
      queue.async { handler(self, result) }
    }
  }
}
