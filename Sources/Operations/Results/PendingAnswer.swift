/// An answer that one task waits for and some thread gives; the first answer counts.
final class PendingAnswer<Value: Sendable>: Sendable {
  typealias Answer = Result<Value, any Error>

  private enum State {
    case open
    case awaited(CheckedContinuation<Answer, Never>)
    case given(Answer)
    /// The answer was passed on. It is not retained any longer: it may retain the operation that retains this object.
    case over
  }

  private let state = Lock(State.open)

  func give(_ answer: Answer) {
    let continuation = state.withLock { state -> CheckedContinuation<Answer, Never>? in
      switch state {
      case .open:
        state = .given(answer)
        return nil
      case .awaited(let continuation):
        state = .over
        return continuation
      case .given, .over: return nil
      }
    }
    continuation?.resume(returning: answer)
  }

  /// Waits for the answer, once; calls `onCancel` when the task is cancelled or was cancelled before.
  func wait(onCancel: @escaping @Sendable () -> Void) async throws -> Value {
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Answer? in
          if case .given(let answer) = state {
            state = .over
            return answer
          }
          state = .awaited(continuation)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      onCancel()
    }
    return try answer.get()
  }
}

/// The side of an answer that an operation retains; if it is freed with the operation, it gives the error `.freed`.
final class AnswerGiver<Value: Sendable>: Sendable {
  private let answer: PendingAnswer<Value>
  private let operation: String

  init(_ answer: PendingAnswer<Value>, of operation: String) {
    self.answer = answer
    self.operation = operation
  }

  deinit { answer.give(.failure(OperationError(.freed, of: operation))) }

  func give(_ answer: PendingAnswer<Value>.Answer) { self.answer.give(answer) }
}
