extension AsyncOperation {
  /// Whether `cancel(with:)` has given it an error, which `failure` tells once it has finished.
  package final var isCancelledWithError: Bool { isCancelled && existingExtras?.errors.cancellation != nil }
}
