/// The state of one operation and its legal moves, each with the action that the operation has to take after it.
///
/// A pure state machine. Each method is an input, from any thread; the operation performs the returned action after the
/// move, outside any lock.
struct OperationLifecycle: Equatable, Sendable {
  enum State: Equatable, Sendable {
    /// Not started. An operation that is finished or cancelled in this state finishes when it is started, not before: a
    /// queue must not see an operation finish that it has not started.
    case pending(isBlocked: Bool, isCancelled: Bool, isFinishRequested: Bool)
    /// `main` is on the stack of the thread that started the operation.
    case beginning(isCancelled: Bool)
    /// `main` has returned; the work continues elsewhere.
    case executing
    /// `didCancel` is on the stack of some thread; a finish waits for it to return.
    case cancelling(isFinishRequested: Bool)
    /// `didCancel` has returned; the work winds down.
    case cancelled
    case finished(wasCancelled: Bool)
  }

  enum StartAction: Equatable {
    case callMain
    /// The operation was cancelled or finished before it began: it ends without executing.
    case finish
    /// The operation won't execute, but the operations it holds have to finish first.
    case finishWhatItHolds
    case ignore
    case trap(String)
  }

  enum CancelAction: Equatable {
    /// Notify only Foundation: the work has not begun, or `mainReturned` will call for `didCancel`.
    case tellFoundation
    case tellFoundationThenCallDidCancel
    case ignore
  }

  enum WithdrawAction: Equatable {
    case tellFoundation
    case isCancelled
    case refuse
  }

  enum MainAction: Equatable {
    case callDidCancel
    case ignore
  }

  enum FinishAction: Equatable {
    case finish
    case ignore
  }

  enum ReadinessAction: Equatable {
    case tellQueue
    case ignore
  }

  private(set) var state: State

  init(_ state: State = .pending(isBlocked: false, isCancelled: false, isFinishRequested: false)) {
    self.state = state
  }

  /// Starts the operation; `mayFinish` is evaluated for an operation that ends without executing.
  mutating func start(if mayFinish: () -> Bool = { true }) -> StartAction {
    switch state {
    case .pending(_, isCancelled: true, _) where !mayFinish(),
      .pending(_, _, isFinishRequested: true) where !mayFinish():
      return .finishWhatItHolds
    case .pending(_, isCancelled: true, _):
      state = .finished(wasCancelled: true)
      return .finish
    case .pending(_, isCancelled: false, isFinishRequested: true):
      state = .finished(wasCancelled: false)
      return .finish
    case .pending(_, isCancelled: false, isFinishRequested: false):
      state = .beginning(isCancelled: false)
      return .callMain
    case .beginning, .executing, .cancelling, .cancelled:
      return .trap("was started again while it executes; an operation runs once")
    case .finished:
      // Foundation ignores a second start of a finished operation, and so does this library.
      return .ignore
    }
  }

  mutating func mainReturned() -> MainAction {
    switch state {
    case .beginning(isCancelled: false):
      state = .executing
      return .ignore
    case .beginning(isCancelled: true):
      state = .cancelling(isFinishRequested: false)
      return .callDidCancel
    case .finished:
      // The operation finished inside `main`, or on another thread before `main` returned.
      return .ignore
    case .pending:
      programmerError("main cannot return before start, which alone calls it")
    case .executing, .cancelling, .cancelled:
      programmerError("main returns once: only start, which goes through once, calls it")
    }
  }

  mutating func cancel() -> CancelAction {
    switch state {
    case .pending(let isBlocked, isCancelled: false, let isFinishRequested):
      state = .pending(isBlocked: isBlocked, isCancelled: true, isFinishRequested: isFinishRequested)
      return .tellFoundation
    case .beginning(isCancelled: false):
      state = .beginning(isCancelled: true)
      return .tellFoundation
    case .executing:
      state = .cancelling(isFinishRequested: false)
      return .tellFoundationThenCallDidCancel
    case .pending(_, isCancelled: true, _), .beginning(isCancelled: true), .cancelling, .cancelled:
      return .ignore
    case .finished:
      // A finished operation can't be cancelled; `isCancelled` keeps its value.
      return .ignore
    }
  }

  /// As `cancel`, but only for an operation that will be started and would then execute.
  mutating func withdraw() -> WithdrawAction {
    switch state {
    case .pending(let isBlocked, isCancelled: false, isFinishRequested: false):
      state = .pending(isBlocked: isBlocked, isCancelled: true, isFinishRequested: false)
      return .tellFoundation
    case .pending(_, isCancelled: true, _): return .isCancelled
    case .pending, .beginning, .executing, .cancelling, .cancelled, .finished: return .refuse
    }
  }

  mutating func didCancelReturned() -> FinishAction {
    switch state {
    case .cancelling(isFinishRequested: true):
      state = .finished(wasCancelled: true)
      return .finish
    case .cancelling(isFinishRequested: false):
      state = .cancelled
      return .ignore
    case .pending, .beginning, .executing:
      programmerError("didCancel is called only after a move to cancelling")
    case .cancelled, .finished:
      programmerError("didCancel is called once, and until it returns nothing leaves cancelling")
    }
  }

  mutating func finish() -> FinishAction {
    switch state {
    case .pending(let isBlocked, let isCancelled, isFinishRequested: false):
      state = .pending(isBlocked: isBlocked, isCancelled: isCancelled, isFinishRequested: true)
      return .ignore
    case .beginning(let isCancelled):
      state = .finished(wasCancelled: isCancelled)
      return .finish
    case .executing:
      state = .finished(wasCancelled: false)
      return .finish
    case .cancelled:
      state = .finished(wasCancelled: true)
      return .finish
    case .cancelling(isFinishRequested: false):
      state = .cancelling(isFinishRequested: true)
      return .ignore
    case .pending(_, _, isFinishRequested: true), .cancelling(isFinishRequested: true), .finished:
      // Only the first finish counts.
      return .ignore
    }
  }

  /// The first unfinished dependency was added.
  mutating func block() -> ReadinessAction {
    guard case .pending(isBlocked: false, let isCancelled, let isFinishRequested) = state else {
      // A dependency does not hold up an operation that has begun.
      return .ignore
    }
    state = .pending(isBlocked: true, isCancelled: isCancelled, isFinishRequested: isFinishRequested)
    return isCancelled ? .ignore : .tellQueue
  }

  /// The last unfinished dependency has finished or was removed.
  mutating func unblock() -> ReadinessAction {
    guard case .pending(isBlocked: true, let isCancelled, let isFinishRequested) = state else {
      // Started early by hand, or cancelled and finished.
      return .ignore
    }
    state = .pending(isBlocked: false, isCancelled: isCancelled, isFinishRequested: isFinishRequested)
    return isCancelled ? .ignore : .tellQueue
  }
}

extension OperationLifecycle {
  var isCancelled: Bool {
    switch state {
    case .pending(_, let isCancelled, _), .beginning(let isCancelled), .finished(let isCancelled): isCancelled
    case .executing: false
    case .cancelling, .cancelled: true
    }
  }

  /// Whether dependencies allow a start; a cancelled operation waits for nothing.
  var isReady: Bool {
    if case .pending(isBlocked: true, isCancelled: false, _) = state { false } else { true }
  }

  var isExecuting: Bool {
    switch state {
    case .beginning, .executing, .cancelling, .cancelled: true
    case .pending, .finished: false
    }
  }

  /// Whether `main` has returned, or the operation has finished.
  var hasBegun: Bool {
    switch state {
    case .pending, .beginning: false
    case .executing, .cancelling, .cancelled, .finished: true
    }
  }

  var isFinished: Bool { if case .finished = state { true } else { false } }

  /// Whether `finish` has been accepted; it may still wait for the start or for `didCancel` to return.
  var isEndRequested: Bool {
    switch state {
    case .pending(_, _, let isFinishRequested), .cancelling(let isFinishRequested): isFinishRequested
    case .finished: true
    case .beginning, .executing, .cancelled: false
    }
  }
}

extension OperationLifecycle {
  /// The state in the low four bits of a byte.
  var code: UInt8 {
    switch state {
    case .pending(let isBlocked, let isCancelled, let isFinishRequested):
      (isBlocked ? 1 : 0) | (isCancelled ? 2 : 0) | (isFinishRequested ? 4 : 0)
    case .beginning(let isCancelled): isCancelled ? 9 : 8
    case .executing: 10
    case .cancelling(let isFinishRequested): isFinishRequested ? 12 : 11
    case .cancelled: 13
    case .finished(let wasCancelled): wasCancelled ? 15 : 14
    }
  }

  /// The `isReady` of the state with this code, computed without decoding the state.
  static func isReady(code: UInt8) -> Bool { code & 0x0B != 0x01 }

  /// Decodes the low four bits; ignores the upper four.
  init(code: UInt8) {
    let code = code & 0x0F
    state =
      switch code {
      case 8, 9: .beginning(isCancelled: code == 9)
      case 10: .executing
      case 11, 12: .cancelling(isFinishRequested: code == 12)
      case 13: .cancelled
      case 14, 15: .finished(wasCancelled: code == 15)
      default: .pending(isBlocked: code & 1 != 0, isCancelled: code & 2 != 0, isFinishRequested: code & 4 != 0)
      }
  }
}
