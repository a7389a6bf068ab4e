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
/// An `AsyncOperation` is seen whole: what it waits for, its progress, its log, the error that it ended with. Of other
/// operations that are added here the start and the end are seen, because each runs inside one of ours. Of those that
/// were in the queue already, or came into it by another door, the end is sure; their kind in the list is `foreign`.
///
/// The keys act on the queue itself: they cancel operations, change their priority and the queue's width, suspend it and
/// let it go on. It keeps what it observes until that has finished. Any thread may call anything but `run()`.
public final class Dashboard: Sendable {
  /// How a dashboard looks, and when it leaves.
  public struct Options: Sendable {
    /// When the dashboard stays though all is done.
    public enum KeepOpen: Sendable {
      /// When an operation failed; without a terminal, never.
      case onFailure
      /// Until the person quits or `stop()` is called.
      case always
      /// Never.
      case never
    }

    /// What is shown.
    public enum Interface: Sendable {
      /// The dashboard if standard input and output are terminals that can draw and neither `CI` nor `ACCESSIBLE` is set,
      /// else plain lines.
      case auto
      /// The dashboard; `run()` throws where that can't be.
      case terminal
      /// Lines that scroll by above the operations at work; lines alone where standard output is no terminal.
      case inline
      /// A line for each change of state and each line of a log.
      case plain
      /// A JSON object for each event.
      case json
      /// Nothing but the failures, at the end.
      case quiet
    }

    /// What the header calls the queue; nil takes the queue's name, else the program's.
    public var name: String?
    /// What is shown.
    public var interface = Interface.auto
    /// When the dashboard stays though all is done.
    public var keepOpen = KeepOpen.onFailure
    /// Whether Ctrl-C, Ctrl-Z, SIGTERM and SIGHUP are the dashboard's while it runs; they are given back at the end.
    ///
    /// Without it they are the program's: call `interrupt()` and `suspend()` where it wants what the dashboard would do.
    public var handlesSignals = true
    /// Whether to draw with ASCII only, though the locale has more.
    public var isASCII = false
    /// Whether the mouse is the dashboard's.
    public var usesMouse = true

    /// Makes the usual ones.
    public init() {}
  }

  /// What the operations had come to when the dashboard left.
  public struct Summary: Sendable, Equatable {
    /// Ended as they should.
    public let succeeded: Int
    /// Ended with an error.
    public let failed: Int
    /// Were cancelled, by whomever.
    public let cancelled: Int
    /// Had not ended.
    public let left: Int
    /// What a program may exit with: 0, 1 if some failed, 3 if some were cancelled or left, 130 and so on after a signal.
    public let exitStatus: Int32
  }

  private let feed: QueueFeed
  private let options: Options
  private let show: Lock<Show>

  /// Whether it is shown, and where.
  private enum Show: Sendable {
    case notYet
    /// `stop()` came before `run()`.
    case refused
    case open(Showing)
    case over
  }

  /// Observes `queue` from now on; what is in it already is shown.
  public init(observing queue: OperationQueue, options: Options = Options()) {
    feed = QueueFeed(observing: queue, name: options.name)
    self.options = options
    show = Lock(.notYet)
  }

  /// Adds an operation to the queue; see `add(_:)` with several.
  public func add(_ operation: Operation) { add([operation]) }

  /// Adds operations, of whatever class, to the queue: each enters it when all that it depends on has finished.
  ///
  /// Make their dependencies before. An operation of another class than ours runs inside one of ours, which takes its place
  /// in the queue. One that is known already is left out. Operations that wait for each other in a circle are a programmer
  /// error that stops the program and says the path.
  public func add(_ operations: [Operation]) {
    do { try feed.add(operations) } catch { preconditionFailure(error.description) }
  }

  /// Shows the queue until all that is known of it is done or the person quits; to be called once.
  ///
  /// Who quits while operations run is asked, and cancels what has not ended. The terminal is as it was before when this
  /// returns. Throws what keeps the screen from being had; then nothing is shown, and the operations go on.
  /// When its task is cancelled it returns as after `stop()`.
  @MainActor @discardableResult
  public func run() async throws -> Summary {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        do { try open { continuation.resume(returning: $0) } } catch { continuation.resume(throwing: error) }
      }
    } onCancel: {
      stop()
    }
  }

  /// Closes the dashboard and makes `run()` return; the operations are left alone.
  public func stop() { onScreen(else: { if case .notYet = $0 { $0 = .refused } }, { $0.stop() }) }

  /// Does what Ctrl-C does: once, all operations are cancelled; a third time, the dashboard leaves at once.
  ///
  /// Before `run()` it cancels as well.
  public func interrupt() {
    onScreen(else: { if case .notYet = $0 { self.feed.send(.stop(.terminate, by: .signal)) } }, { $0.interrupt() })
  }

  /// Whether it is on a screen or writes lines now.
  var isShown: Bool {
    show.withLock { show in
      if case .open = show { return true }
      return false
    }
  }

  /// Gives the terminal back and stops the process until it is continued, as Ctrl-Z does; nothing where only lines are shown.
  public func suspend() { onScreen { $0.suspend() } }

  @MainActor
  private func open(whenDone: @escaping @MainActor (Summary) -> Void) throws {
    let (feed, show) = (feed, show)
    let showing = try Showing(feed, options) { status in
      show.withLock { $0 = .over }
      whenDone(Summary(feed.settled(), exitStatus: status))
    }
    let isRefused = show.withLock { show in
      switch show {
      case .notYet:
        show = .open(showing)
        return false
      case .refused: return true
      case .open, .over: preconditionFailure("a dashboard runs once")
      }
    }
    guard !isRefused else {
      feed.start()
      return showing.stop()
    }
    do { try showing.begin { feed.start() } } catch {
      show.withLock { $0 = .over }
      throw error
    }
  }

  private func onScreen(
    else otherwise: @Sendable (inout Show) -> Void = { _ in }, _ body: @escaping @MainActor @Sendable (Showing) -> Void
  ) {
    let showing = show.withLock { show -> Showing? in
      if case .open(let showing) = show { return showing }
      otherwise(&show)
      return nil
    }
    guard let showing else { return }
    DispatchQueue.main.async { MainActor.assumeIsolated { body(showing) } }
  }
}

extension Dashboard.Summary {
  init(_ run: Run, exitStatus: Int32) {
    let summary = run.summary ?? RunSummary(of: run)
    self.init(
      succeeded: summary.succeeded, failed: summary.failed, cancelled: summary.cancelled, left: summary.left,
      exitStatus: exitStatus)
  }
}
