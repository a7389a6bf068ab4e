extension AsyncOperation {
  /// The text of `description`, which an extension cannot override.
  final var statusDescription: String {
    let kind = "\(type(of: self))"
    // In one atomic step, so that the two belong together.
    let lifecycle = parts.lifecycle
    let status = "\(lifecycle.publicState)\(lifecycle.isCancelled ? ", cancelled" : "")"
    return displayName == kind ? "\(kind) (\(status))" : "\(displayName) (\(kind), \(status))"
  }
}
