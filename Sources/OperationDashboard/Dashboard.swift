import Foundation
import JobModel
import Operations
import Reports
import Session

/// A live view of an `OperationQueue`: a dashboard where there is a terminal, plain lines where there is none.
///
///     let dashboard = Dashboard(observing: queue)
///     dashboard.add([fetch, parse])
///     try await dashboard.run()
///
/// An `AsyncOperation` is shown with every state, its dependencies, progress, log and error; a group's children and the
/// attempts of a retry are shown below it in the same way. An operation of another class has the kind `foreign` in the
/// list. `add(_:)` wraps it in an `AsyncOperation`, so that its start and end are shown; if it is added to the queue
/// directly, only its end is sure to be shown.
///
/// An operation may enter the queue in any way, before or during the run. A `DelegatedOperationQueue` announces each
/// operation. In a plain `OperationQueue` an `AsyncOperation` is shown when it begins at the latest. For other classes
/// the queue is polled, four times a second while operations execute; an operation that enters and finishes between two
/// polls is missed.
///
/// The keys act on the queue: they cancel operations, change their priority and the queue's width, suspend and resume it.
/// The dashboard retains each observed operation until it has finished, and its record, about 3 KB, until `run()` returns.
/// A program that doesn't end should call `serve()` without `run()`: it keeps records only while a program is attached.
/// A dashboard that is never run forgets the records after some 100,000 operations, and shows later ones.
/// Any thread may call every method but `run()`.
public final class Dashboard: Sendable {
  /// The interface of a dashboard, and when it closes.
  public struct Options: Sendable {
    /// When the dashboard stays open after the last operation has finished.
    public enum KeepOpen: Sendable {
      /// When an operation failed; without a terminal, never.
      case onFailure
      /// Until the person quits or `stop()` is called.
      case always
      /// Never.
      case never
    }

    /// How the queue is shown.
    public enum Interface: Sendable {
      /// The dashboard if standard input and output are terminals that can draw and neither `CI` nor `ACCESSIBLE` is set,
      /// else plain lines.
      case auto
      /// The dashboard; `run()` throws where the terminal can't show it.
      case terminal
      /// Lines that scroll above the executing operations; lines alone where standard output is not a terminal.
      case inline
      /// A line for each change of state and each line of a log.
      case plain
      /// A JSON object for each event.
      case json
      /// The failures, at the end.
      case quiet
    }

    /// The name in the header; nil takes the queue's name, else the program's.
    public var name: String?
    /// How the queue is shown.
    public var interface = Interface.auto
    /// When the dashboard stays open after the last operation has finished.
    public var keepOpen = KeepOpen.onFailure
    /// Whether the dashboard handles Ctrl-C, Ctrl-Z, SIGTERM and SIGHUP while it runs; it then restores earlier
    /// handlers.
    ///
    /// If false, the program handles the signals and calls `interrupt()` and `suspend()` for the dashboard's actions.
    /// Set it to false in a program with a `DispatchSource` for one of these signals: on Linux, each signal reaches
    /// either that source or the dashboard, usually the source.
    /// If true, SIGTERM, SIGHUP and the third Ctrl-C end the program, as their default action would, if its output is
    /// not read.
    public var handlesSignals = true
    /// Whether to draw with ASCII only, in a UTF-8 locale too.
    public var isASCII = false
    /// Whether the dashboard asks the terminal for mouse reports.
    public var usesMouse = true
    /// The warnings that are not given.
    public var silencedWarnings: Set<QueueWarning> = []

    /// Makes the default options.
    public init() {}
  }

  /// The numbers of operations by outcome when the dashboard closed, including children of groups and attempts.
  public struct Summary: Sendable, Equatable {
    /// Finished without an error.
    public let succeeded: Int
    /// Finished with an error, except attempts of a retry and children of a group that tolerates failures.
    public let failed: Int
    /// Cancelled, by the program, a person or a signal.
    public let cancelled: Int
    /// Never executed because an operation that it depends on failed, was cancelled or never executed.
    public let skipped: Int
    /// Not finished.
    public let left: Int
    /// An exit status for the program: 0, 1 if some failed, 3 if some were cancelled or left, 130 and so on after a signal.
    ///
    /// An operation that the program cancelled itself counts as neither: no work is left undone.
    public let exitStatus: Int32
  }

  let observed: ObservedQueue
  private let options: Options
  private let show: Lock<Show>

  /// The state of the dashboard's display.
  private enum Show: Sendable {
    case notYet
    /// `stop()` came before `run()`.
    case refused
    case open(EmbeddedSession)
    case over
  }

  /// Observes `queue` from now on; operations that are in it already are shown.
  public init(observing queue: OperationQueue, options: Options = Options()) {
    observed = ObservedQueue(queue, name: options.name, silenced: Set(options.silencedWarnings.map(\.kind)))
    self.options = options
    show = Lock(.notYet)
  }

  /// Adds an operation to the queue; see `add(_:)` with several.
  public func add(_ operation: Operation) { add([operation]) }

  /// Adds operations of any class to the queue; each enters it when all its dependencies have finished.
  ///
  /// An operation that isn't an `AsyncOperation` is wrapped in one, an `AdaptedOperation`, which enters the queue
  /// instead. It behaves as in the queue itself until it executes: dependencies may be added, and it takes no slot while
  /// its `isReady` is false. The dashboard polls its `isCancelled` and `queuePriority` while it waits, as often as it
  /// polls the queue; when the queue is resumed, it starts within a tenth of a second.
  ///
  /// An operation that was added before, or has finished, is ignored. A dependency cycle among the operations is a
  /// programmer error: the program stops with the path of the cycle. A cycle that later calls close is the warning
  /// `dependency-cycle`.
  ///
  /// `cancelAllOperations()`, `operations` and barriers of the queue concern only the operations that have entered it;
  /// call the dashboard's `cancelAllOperations()`.
  public func add(_ operations: [Operation]) {
    do { try observed.add(operations) } catch { programmerError(error.description) }
  }

  /// Cancels all unfinished operations: those in the queue, and those that were added here and have not entered it.
  ///
  /// Operations that were added later are not affected, and the dashboard stays open. Any thread may call it.
  public func cancelAllOperations() { observed.cancelAllOperations() }

  /// Adds an operation that a person can retry: `make` makes it, and then a new one for each further attempt.
  ///
  /// Returns the first operation. All attempts are one job with the name and the priority of the first; each has its
  /// own dependencies. A person may retry the job when it has failed or was cancelled, while the dashboard is open.
  /// Operations that depend on an attempt stop waiting when it ends, and are not run again. `make` is called on this
  /// thread first and on another thread later; returning an operation that it returned before is a programmer error.
  @discardableResult
  public func add<Made: Operation>(retrying make: @escaping @Sendable () -> Made) -> Made {
    add(retrying: { (_: Int) in make() })
  }

  /// As `add(retrying:)`, with the number of the attempt, from 1.
  @discardableResult
  public func add<Made: Operation>(retrying make: @escaping @Sendable (_ attempt: Int) -> Made) -> Made {
    let first = make(1)
    do { try observed.add(first, retrying: make) } catch { programmerError(error.description) }
    return first
  }

  /// Shows the queue until every operation in it has finished or the person quits; call it once.
  ///
  /// A person who quits while operations execute is asked first; quitting cancels the unfinished operations. When the
  /// method returns, the terminal is restored and shows the output that the program has printed meanwhile. Throws
  /// `ScreenError` if the terminal can't be used or another dashboard has it; the operations are not affected, and the
  /// dashboard forgets their records. If the task is cancelled, the method returns as after `stop()`.
  @MainActor @discardableResult
  public func run() async throws -> Summary {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        do { try open { continuation.resume(returning: $0) } } catch {
          observed.rest()
          continuation.resume(throwing: error)
        }
      }
    } onCancel: {
      stop()
    }
  }

  /// Closes the dashboard and makes `run()` return, with status 3 for unfinished operations, which are not affected.
  public func stop() { onScreen(else: { if case .notYet = $0 { $0 = .refused } }, { $0.stop() }) }

  /// Does what Ctrl-C does: the first call cancels all operations, the third closes the dashboard at once.
  ///
  /// While the dashboard is not shown, each call cancels them.
  public func interrupt() {
    // Outside the lock: the operations' own `cancel()` may be called.
    if !onScreen({ $0.interrupt() }) { observed.send(.stop(.terminate, by: .signal)) }
  }

  /// Whether the dashboard shows a screen or writes lines now.
  var isShown: Bool {
    show.withLock { show in
      if case .open = show { return true }
      return false
    }
  }

  /// Restores the terminal and stops the process until it is continued, as Ctrl-Z does; without effect in line interfaces.
  public func suspend() { onScreen { $0.suspend() } }

  @MainActor
  private func open(whenDone: @escaping @MainActor (Summary) -> Void) throws {
    let (observed, show) = (observed, show)
    switch show.withLock(\.self) {
    case .notYet, .refused: break
    case .open, .over: programmerError("Dashboard.run() was called twice: a dashboard runs once")
    }
    let feed = observed.beginDashboard()
    let session = try EmbeddedSession(feed, options) { status in
      show.withLock { $0 = .over }
      whenDone(Summary(observed.endDashboard(), exitStatus: status))
    }
    let isRefused = show.withLock { show in
      guard case .notYet = show else { return true }
      show = .open(session)
      return false
    }
    guard !isRefused else {
      feed.start()
      return session.stop()
    }
    do { try session.begin { feed.start() } } catch {
      show.withLock { $0 = .over }
      throw error
    }
  }

  /// Returns whether the dashboard is shown.
  @discardableResult
  private func onScreen(
    else otherwise: @Sendable (inout Show) -> Void = { _ in },
    _ body: @escaping @MainActor @Sendable (EmbeddedSession) -> Void
  ) -> Bool {
    let session = show.withLock { show -> EmbeddedSession? in
      if case .open(let session) = show { return session }
      otherwise(&show)
      return nil
    }
    if let session { onMain { body(session) } }
    return session != nil
  }
}

extension Dashboard.Summary {
  init(_ run: Run, exitStatus: Int32) {
    let summary = run.summary ?? RunSummary(of: run)
    self.init(
      succeeded: summary.succeeded, failed: summary.failed, cancelled: summary.cancelled, skipped: summary.skipped,
      left: summary.left, exitStatus: exitStatus)
  }
}
