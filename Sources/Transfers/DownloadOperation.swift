import Foundation
import Operations

/// An operation that fetches a URL into a file.
///
/// The bytes go to `FILE.part`, which gets the file's name when all are there and right; missing folders are made.
/// A part is gone on with by a range request, from the byte where it broke, where the server gave a strong entity tag or a
/// date of last change (kept in `FILE.part.meta`) and still has the same file; else the transfer starts again.
///
/// Connecting may take 30 seconds. A server may then be as slow as it likes: bound the operation if it must not.
/// Redirects are followed ten times, to http and https only; on another host, scheme or port only harmless headers go along.
///
/// It ends with the file's URL, a `TransferError`, or a `CancellationError`. All its work is on the one transfer thread,
/// and so are the calls of what is set to be called at once.
public final class DownloadOperation: ResultOperation<URL>, @unchecked Sendable {
  // Safe: `onProgress` and `onNote` are set before the start and only read after it; `download` is on its thread.
  private let thread: TransferThread
  private let download: Download

  /// At most ten a second, the first and the last always, on the transfer thread; set it before the start.
  package var onProgress: (@Sendable (TransferProgress) -> Void)?
  /// Something worth a line of a log, on the transfer thread; set it before the start.
  package var onNote: (@Sendable (String) -> Void)?

  /// Makes a download that has not begun.
  ///
  /// - Parameters:
  ///   - url: http or https.
  ///   - file: A file URL; a file that is there is replaced.
  ///   - headers: Added to the request; `Range` and those that say how the body is sent are errors.
  ///   - sha256: 64 hexadecimal digits, checked over the whole file; a part with other bytes is removed.
  ///   - resume: False removes the part when the transfer ends early, and starts again after a pause.
  public convenience init(
    from url: URL, to file: URL, headers: [String: String] = [:], sha256: String? = nil, resume: Bool = true
  ) {
    self.init(from: url, to: file, headers: headers, sha256: sha256, resume: resume, thread: .shared)
  }

  package init(
    from url: URL, to file: URL, headers: [String: String] = [:], sha256: String? = nil, resume: Bool = true,
    thread: TransferThread
  ) {
    let order = Download.Order(url: url, file: file, headers: headers, sha256: sha256, canResume: resume)
    self.thread = thread
    download = Download(order, on: thread)
  }

  /// Stops the transfer, or keeps one that has not begun from beginning; the connection is closed, the part stays.
  ///
  /// Any thread may call it, at any time; it returns at once.
  public func pause() { thread.async { [download] in download.pause() } }

  /// Goes on after `pause()`, from the byte where it stopped if the server still has the same file.
  public func resume() { thread.async { [download] in download.resume() } }

  /// Begins the transfer; the queue calls it.
  public override func main() {
    let listener = TransferListener<URL>(progress: tell, note: { self.onNote?($0) }, end: finish)
    thread.async { [download] in download.start(listener) }
  }

  /// Ends the transfer, within a millisecond or so; the queue calls it.
  public override func didCancel() { thread.async { [download] in download.cancel() } }

  private func tell(_ progress: TransferProgress) {
    report(completed: progress.done, total: progress.total)
    onProgress?(progress)
  }
}
