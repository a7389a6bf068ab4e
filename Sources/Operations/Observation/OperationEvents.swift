import Foundation

/// An event in the life of an operation.
///
/// As far as they come, `attached`, `starting`, `begun`, `executed` and `ended` come in this order. The operation may
/// be cancelled, and may produce others, at any time before it has executed.
public enum OperationEvent: Sendable {
  /// The operation entered a `DependencyQueue` or a queue; an entry into a plain queue is posted at the start.
  case attached
  /// `main` is about to be called.
  case starting
  /// `main` has returned, so that everything that it has set up can be read.
  case begun
  /// The program that does the work has started; where a check or a pause comes first, some time after `begun`.
  case launched(pid: Int32)
  /// The operation reported progress.
  case progress(OperationProgress)
  /// The operation logged at least one line.
  case lines([OperationLogLine])
  /// Something other than the operation itself has stopped its program by a signal.
  case stopped(signal: Int32)
  /// The stopped program continues.
  case continued
  /// The work waits for, or was given, a place on another machine.
  case placed(any OperationPlacement)
  /// The operation added another one to its queue by `produce(_:)`.
  case produced(Operation)
  /// The operation was cancelled before it had finished.
  case cancelled
  /// Its work is over; left out if it never began.
  case executed
  /// The operation has finished, with its `failure` if there is one; always the last event.
  case ended((any Error)?)

  /// Kinds of events, to be chosen from.
  public struct Kinds: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt16

    /// Makes kinds of bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    // The first four are the bits of `ChangeInterest.events`.
    /// Before `main` is called.
    public static let starting = Kinds(rawValue: 1)
    /// After `main` has returned.
    public static let begun = Kinds(rawValue: 1 << 1)
    /// A cancellation.
    public static let cancelled = Kinds(rawValue: 1 << 2)
    /// The ends of the work and of the operation.
    public static let ended = Kinds(rawValue: 1 << 3)
    /// Reports of progress.
    public static let progress = Kinds(rawValue: 1 << 4)
    /// Lines of the log.
    public static let lines = Kinds(rawValue: 1 << 5)
    /// The start of a program.
    public static let launched = Kinds(rawValue: 1 << 6)
    /// Stops of a program by a signal, and their ends.
    public static let stops = Kinds(rawValue: 1 << 7)
    /// Places on other machines.
    public static let placed = Kinds(rawValue: 1 << 8)
    /// The entry into a queue or a dependency queue.
    public static let attached = Kinds(rawValue: 1 << 9)
    /// Produced operations.
    public static let produced = Kinds(rawValue: 1 << 10)
    /// Every kind.
    public static let all = Kinds(rawValue: .max)
  }

  var kind: Kinds {
    switch self {
    case .attached: .attached
    case .starting: .starting
    case .begun: .begun
    case .launched: .launched
    case .progress: .progress
    case .lines: .lines
    case .stopped, .continued: .stops
    case .placed: .placed
    case .produced: .produced
    case .cancelled: .cancelled
    case .executed, .ended: .ended
    }
  }
}

/// The place where the work of an operation is executed, or the reason for its wait; each kind of operation has its
/// own.
public protocol OperationPlacement: Sendable {}

/// Keeps an operation from reading more output while it is referenced; see `events(on:_:)`.
public final class LogReceipt: Sendable {
  private let whenHandled: @Sendable () -> Void

  init(_ whenHandled: @escaping @Sendable () -> Void) { self.whenHandled = whenHandled }

  deinit { whenHandled() }
}

/// An event that changes neither state nor progress, on its way to every observer of events.
final class OperationPost: Sendable {
  let event: OperationEvent
  let kind: OperationEvent.Kinds
  let receipt: LogReceipt?

  init(_ event: OperationEvent, _ receipt: LogReceipt? = nil) {
    self.event = event
    kind = event.kind
    self.receipt = receipt
  }
}
