import Foundation

/// The asynchronous operation of the tutorials: a concurrent queue with barriers in each, and string keys for observers.
class TutorialOperation: Operation, @unchecked Sendable {
  // Safe: the state is touched only on the queue.
  enum State: String {
    case ready = "isReady"
    case executing = "isExecuting"
    case finished = "isFinished"
  }

  private let stateQueue = DispatchQueue(label: "state", attributes: .concurrent)
  private var stored = State.ready

  private(set) var state: State {
    get { stateQueue.sync { stored } }
    set {
      let old = state
      willChangeValue(forKey: newValue.rawValue)
      willChangeValue(forKey: old.rawValue)
      stateQueue.sync(flags: .barrier) { stored = newValue }
      didChangeValue(forKey: old.rawValue)
      didChangeValue(forKey: newValue.rawValue)
    }
  }

  override var isAsynchronous: Bool { true }
  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }

  override func start() {
    guard !isCancelled else {
      finish()
      return
    }
    state = .executing
    main()
  }

  override func main() { finish() }

  func finish() { state = .finished }
}

/// Foundation's own, with nothing to do.
final class BareOperation: Operation, @unchecked Sendable {
  // Safe: it has no state of its own.
  override func main() {}
}
