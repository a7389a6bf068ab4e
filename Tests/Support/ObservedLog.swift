import Dispatch
import Operations

extension AsyncOperation {
  /// Calls `handler` on `queue` with each line that the operation logs from now on, until the token goes away.
  package func observeLog(
    unfinished: Bool = false, on queue: DispatchQueue,
    _ handler: @escaping @Sendable (AsyncOperation, OperationLogLine) -> Void
  ) -> ObservationToken {
    events(.lines, on: queue) { [weak self] event, _, _ in
      guard let self, case .lines(let lines) = event else { return }
      for line in lines where unfinished || !line.isUnfinished { handler(self, line) }
    }
  }
}
