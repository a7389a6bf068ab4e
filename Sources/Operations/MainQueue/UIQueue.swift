import Dispatch
import Foundation
import Synchronization

/// The queue of the user interface, which is the main queue, and a check for code that must run there.
///
/// The compiler refuses such calls where types are marked `@MainActor`. It can't see calls through a plain closure, an
/// old delegate or an `@unchecked Sendable` class; there, `check()` at the entry to UI state finds the call when it is
/// made:
///
///     func show(_ line: String) {
///       UIQueue.check()
///       lines.append(line)
///     }
public enum UIQueue {
  /// The response to a use of UI state on another queue.
  public enum Response: Sendable {
    /// No response, at the cost of reading one flag: the default of a release build.
    case ignore
    /// A line on standard error for each call.
    case report
    /// A line on standard error, after which the program stops: the default of a debug build.
    case stop
    /// A call of the closure, on the thread that used the state and before `check()` returns.
    case call(@Sendable (UIQueueViolation) -> Void)
  }

  /// The response from now on, in the whole process; from any thread.
  public static var response: Response {
    get { current.withLock { $0 } }
    set {
      current.withLock { $0 = newValue }
      let isIgnored = if case .ignore = newValue { true } else { false }
      isChecking.store(!isIgnored, ordering: .relaxed)
    }
  }

  /// Whether the calling code runs on the main queue, on a queue that targets it, or on the main thread.
  public static var isCurrent: Bool {
    // By the queue's specific value: on Linux without a run loop, the main queue runs on any thread.
    DispatchQueue.getSpecific(key: mark) != nil || Thread.isMainThread
  }

  /// Whether `queue` is the main queue, which on Linux has many wrapper objects.
  static func isMain(_ queue: DispatchQueue) -> Bool { queue.getSpecific(key: mark) != nil }

  /// Checks that the current queue is the UI queue, from any thread, and responds if it isn't.
  ///
  /// Omit the arguments, or pass on the arguments of your own caller: they name the entered function.
  public static func check(function: String = #function, file: String = #fileID, line: UInt = #line) {
    guard isChecking.load(ordering: .relaxed), !isCurrent else { return }
    let violation = UIQueueViolation(function: function, file: file, line: line, callers: CallStack.here())
    switch response {
    case .ignore: break
    case .report: FileHandle.standardError.write(Data("\(violation)\n".utf8))
    case .stop: fatalError(violation.description)
    case .call(let body): body(violation)
    }
  }

  #if DEBUG
  private static let current = Lock(Response.stop)
  private static let isChecking = Atomic(true)
  #else
  private static let current = Lock(Response.ignore)
  private static let isChecking = Atomic(false)
  #endif

  private static let mark: DispatchSpecificKey<Bool> = {
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    return mark
  }()
}

/// A use of UI state that was not on the UI queue.
public struct UIQueueViolation: Sendable, CustomStringConvertible {
  /// The function that checked.
  public let function: String
  /// The location of the check: the module and the file.
  public let file: String
  /// The line in that file, from 1.
  public let line: UInt
  /// The label of the queue that the call ran on, or a few words for a thread without a queue.
  public let queue: String
  /// The name of the `OperationQueue` behind that queue, if the call ran in an operation and the queue has a name.
  public let operationQueue: String?
  /// The calls that led to the check, innermost first, including the function itself; empty without debug information.
  package let callers: [CallStack.Frame]

  init(function: String, file: String, line: UInt, callers: [CallStack.Frame]) {
    self.function = function
    self.file = file
    self.line = line
    self.callers = callers
    queue = CallStack.queueLabel
    operationQueue = OperationQueue.current.flatMap { $0 === OperationQueue.main ? nil : $0.name }
  }

  /// The call at fault, if it is known: the first call outside the function itself.
  package var caller: CallStack.Frame? { callers.dropFirst().first }

  /// One line: the state, the queue, the call, and what to do.
  public var description: String {
    var text = "UI state touched off the UI queue: \(function) (\(file):\(line)) ran on \(queue)"
    if let operationQueue { text += " of the operation queue '\(operationQueue)'" }
    if let caller { text += ", called by \(caller)" }
    return text + "; ask for the answer on .main, or go there with DispatchQueue.main.async"
  }
}
