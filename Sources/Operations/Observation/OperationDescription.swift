extension AsyncOperation {
  /// The text of `description`, which an extension can't override.
  final var statusDescription: String {
    let kind = "\(type(of: self))"
    // Read in one atomic step, so that state and cancellation are consistent.
    let lifecycle = parts.lifecycle
    let status = "\(lifecycle.publicState)\(lifecycle.isCancelled ? ", cancelled" : "")"
    return displayName == kind ? "\(kind) (\(status))" : "\(displayName) (\(kind), \(status))"
  }
}
