/// What a transfer tells the operation that it belongs to, on the transfer thread.
struct TransferListener<Success: Sendable>: Sendable {
  var progress: @Sendable (TransferProgress) -> Void
  var note: @Sendable (String) -> Void
  /// Said once, last.
  var end: @Sendable (Result<Success, any Error>) -> Void
}
