import Foundation
import Operations

/// An operation that transfers a file over HTTP, the common part of downloads and uploads.
///
/// Its progress counts bytes of the file and is reported at most ten times a second, the first and the last value always.
/// Its log has a line for each reply, each redirect and each restart.
public class TransferOperation<Success: Sendable>: ResultOperation<Success>, @unchecked Sendable {
  // Safe: all variables, including the subclasses', are used on the transfer thread only.
  let thread: TransferThread
  /// As it was given.
  private let url: String
  private let headers: [String: String]
  private let reservedHeaders: Set<String>
  private(set) final var exchange: Exchange?
  private(set) final var isPaused = false
  private var hasBegun = false
  private var hasEnded = false
  private var progressGate = ProgressGate<Int, OperationProgress>()
  private var hasProgressTimer = false
  private let stall = Lock<Duration?>(.seconds(300))
  /// Set before the start.
  private var noteFile: NoteFile?
  /// Set before the start.
  private var secrets: SecretMask?

  /// `reserved` are the lower-case names of headers that the transfer sets itself.
  init(_ url: some URLText, headers: [String: String], reserved: Set<String>, thread: TransferThread) {
    self.url = url.urlText
    self.headers = headers
    reservedHeaders = reserved
    self.thread = thread
  }

  /// The time without a moved byte after which the transfer fails with `timedOut`; 5 minutes by default, nil for no limit.
  ///
  /// The failure comes at most a quarter of the time late. Pauses don't count. Any thread may set it, for later requests.
  public final var stallTimeout: Duration? {
    get { stall.withLock(\.self) }
    set { stall.withLock { $0 = newValue } }
  }

  /// Pauses the transfer; one that has not begun does not connect before `resume()`.
  ///
  /// A download closes its connection and keeps its part. An upload keeps its connection and reads nothing more from its
  /// file; a server that closes the connection meanwhile makes it fail, because HTTP cannot resume an upload.
  ///
  /// Any thread may call it at any time, also before the start; it returns at once. Calls take effect in their order.
  public final func pause() {
    thread.async { [self] in
      isPaused = true
      guard hasBegun, !hasEnded else { return }
      hold()
      flushProgress()
    }
  }

  /// Resumes the transfer after `pause()`; a download from the byte where it stopped if the server has the same file.
  public final func resume() {
    thread.async { [self] in
      isPaused = false
      proceedUnlessPaused()
    }
  }

  /// Begins the transfer; the queue calls it.
  public final override func main() {
    thread.async { [self] in
      hasBegun = true
      proceedUnlessPaused()
    }
  }

  /// Ends the transfer within about a millisecond; the queue calls it.
  public final override func didCancel() {
    thread.async { [self] in
      guard !hasEnded else { return }
      abandon()
      end(.failure(CancellationError()))
    }
  }

  private func proceedUnlessPaused() {
    guard hasBegun, !hasEnded, !isPaused else { return }
    do throws(TransferError) { try proceed() } catch { end(.failure(error)) }
  }

  /// Writes the notes to a file too; call it before the operation is in a queue.
  ///
  /// Unless `keepsShort`, no file is created for up to 4 KiB of notes if the transfer succeeds.
  package final func keepNotes(in path: String, keepsShort: Bool = true, masking secrets: SecretMask? = nil) {
    noteFile = NoteFile(path: path, keepsShort: keepsShort)
    self.secrets = secrets
  }

  // For subclasses; all of it on the transfer thread.

  /// Begins the work or resumes it after `hold()`; does nothing if it is under way.
  func proceed() throws(TransferError) {}

  /// Pauses the work that `proceed()` has begun.
  func hold() {}

  /// Called before a delayed report of progress; an error ends the transfer.
  func willReport() throws(TransferError) {}

  /// Releases files before a cancelled transfer ends.
  func abandon() {}

  /// The route to the URL that the transfer was made with.
  final func firstRoute() throws(TransferError) -> Route {
    try Route(to: WireURL(url), headers: headers, reserved: reservedHeaders)
  }

  /// Starts a request that replaces the previous one.
  final func send(_ exchange: Exchange) throws(TransferError) {
    self.exchange = exchange
    exchange.stall = stallTimeout.flatMap { $0 > .zero ? $0 : nil }
    try exchange.start()
  }

  /// Drops the request under way; its delegate is not called any more.
  final func cancelExchange() {
    exchange?.cancel()
    exchange = nil
  }

  /// Adds a line to the operation's log and its file.
  final func note(_ text: String, as source: OperationLogLine.Source = .note) {
    let line = OperationLogLine(text: text, source: source)
    guard let noteFile else { return log([line]) }
    noteFile.append(secrets?.masked(text) ?? text) {
      self.log([line] + $0.map { OperationLogLine(text: $0, source: .note) })
    }
  }

  /// Notes the first line of an error reply's body, if it has one; servers repeat the request's URL in it.
  final func noteSample(of exchange: Exchange) {
    guard let (line, isCut) = exchange.sampleLine else { return }
    let text = (isCut ? secrets?.maskedCut(line) : secrets?.masked(line)) ?? line
    // Cut last: the mask does not find a part of a secret.
    note("the server says: \(text.maskedURL.prefix(200))")
  }

  /// Notes the wait that the server asks for, if it does.
  final func note(retryAfter error: TransferError) {
    if let wait = error.retryAfter { note("the server asks to wait \(wait.components.seconds) s") }
  }

  /// Reports the progress now or, at most a tenth of a second later, the newest one by then.
  final func report(_ completed: Int64, of total: Int64?) { report(completed, of: total, after: {}) }

  /// Calls `keep` first if the progress is reported now; otherwise `willReport()` is called when it is.
  final func report<Problem>(
    _ completed: Int64, of total: Int64?, after keep: () throws(Problem) -> Void
  ) throws(Problem) {
    let progress = OperationProgress(completed: completed, total: total)
    if let progress = progressGate.report(progress, of: 0, now: thread.now) {
      try keep()
      report(completed: progress.completed, total: progress.total)
    } else if !hasProgressTimer, let wake = progressGate.nextWake {
      hasProgressTimer = true
      thread.after(wake - thread.now) { [weak self] in self?.reportDueProgress() }
    }
  }

  private func reportDueProgress() {
    hasProgressTimer = false
    for (_, progress) in progressGate.due(now: thread.now) {
      do throws(TransferError) { try willReport() } catch { return end(.failure(error)) }
      report(completed: progress.completed, total: progress.total)
    }
  }

  /// Reports the newest progress without waiting for its turn.
  final func flushProgress() {
    guard let progress = progressGate.flush(0) else { return }
    report(completed: progress.completed, total: progress.total)
  }

  /// Finishes the operation, after its last progress.
  final func end(_ result: Outcome) {
    guard !hasEnded else { return }
    hasEnded = true
    cancelExchange()
    flushProgress()
    guard let noteFile else { return finish(result) }
    let hasSucceeded = if case .success = result { true } else { false }
    noteFile.close(hasSucceeded: hasSucceeded) { problems in
      if !problems.isEmpty { self.log(problems.map { OperationLogLine(text: $0, source: .note) }) }
      self.finish(result)
    }
  }
}

extension TransferOperation: ControllableOperation {}

/// The log file of a transfer, written on a queue of its own: the transfer thread must not wait for it.
private final class NoteFile: @unchecked Sendable {
  // Safe: `file` is used on `queue` only, and `held` on the transfer thread only.
  /// The most bytes that are held.
  private static let limit = 4 << 10

  private let queue = DispatchQueue(label: "opdash.notes", qos: .userInitiated)
  private let file: LogFile
  /// Notes that are not in the file yet; nil once they are written.
  private var held: [UInt8]?

  init(path: String, keepsShort: Bool) {
    file = LogFile(path: path)
    held = keepsShort ? nil : []
  }

  /// Calls `body` once the line is held or written, with the problem if there is a new one.
  func append(_ text: String, _ body: @escaping @Sendable ([String]) -> Void) {
    let line = Array("\(text)\n".utf8)
    guard let held, held.count + line.count <= Self.limit else {
      let bytes = (self.held.take() ?? []) + line
      return queue.async { body([self.file.append(bytes)].compactMap(\.self)) }
    }
    self.held = held + line
    body([])
  }

  /// Calls `body` once no more line will be written, with the problem if there is a new one.
  func close(hasSucceeded: Bool, _ body: @escaping @Sendable ([String]) -> Void) {
    let held = held.take()
    if hasSucceeded, held != nil { return body([]) }
    queue.async {
      let problem = held.flatMap { $0.isEmpty ? nil : self.file.append($0) }
      self.file.close()
      body([problem].compactMap(\.self))
    }
  }
}
