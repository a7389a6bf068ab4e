import Foundation
import Operations

/// An operation that sends a file to a URL.
///
/// The file is read as the connection takes it, with its length told beforehand; a file that changes meanwhile is an
/// error. Above 1 MiB the server is asked first whether it wants the body (`Expect: 100-continue`, for a second at most).
/// Redirects are followed ten times, to http and https only, and get the file again; after a 303 only the answer is fetched.
/// On another host, scheme or port only harmless headers go along.
///
/// Connecting may take 30 seconds. A server may then be as slow as it likes: bound the operation if it must not.
///
/// It ends with the status of a 2xx reply, a `TransferError`, or a `CancellationError`. All its work is on the one transfer
/// thread, and so are the calls of what is set to be called at once.
public final class UploadOperation: ResultOperation<Int>, InputReceiving, @unchecked Sendable {
  // Safe: `onProgress` and `onNote` are set before the start and only read after it; `upload` is on its thread.
  private let thread: TransferThread
  private let upload: Upload

  /// What the connection has taken; at most ten a second, the first and the last always, on the transfer thread; set it
  /// before the start.
  package var onProgress: (@Sendable (TransferProgress) -> Void)?
  /// Something worth a line of a log, on the transfer thread; set it before the start.
  package var onNote: (@Sendable (String) -> Void)?

  /// Makes an upload that has not begun.
  ///
  /// - Parameters:
  ///   - file: A regular file.
  ///   - url: http or https.
  ///   - method: Any that has a body, PUT and POST as a rule.
  ///   - headers: Added to the request; those that say how the body is sent are errors.
  public convenience init(_ file: URL, to url: URL, method: String = "PUT", headers: [String: String] = [:]) {
    self.init(file, to: url, method: method, headers: headers, thread: .shared)
  }

  /// Makes an upload of a file that another operation makes: `upload.receives(from: download)`.
  public convenience init(to url: URL, method: String = "PUT", headers: [String: String] = [:]) {
    self.init(nil, to: url, method: method, headers: headers, thread: .shared)
  }

  package init(
    _ file: URL?, to url: URL, method: String = "PUT", headers: [String: String] = [:], thread: TransferThread
  ) {
    self.thread = thread
    upload = Upload(Upload.Order(file: file, url: url, method: method, headers: headers), on: thread)
  }

  /// Holds the transfer back: nothing more is read from the file, and what is on its way goes on.
  ///
  /// The connection stays open, and the server may close it if the pause is long: HTTP cannot go on with an upload, so
  /// that is a failure. An upload that has not begun does not connect. Any thread may call it, at any time.
  public func pause() { thread.async { [upload] in upload.pause() } }

  /// Goes on after `pause()`.
  public func resume() { thread.async { [upload] in upload.resume() } }

  /// Takes the file to send in place of any other; called before `main` where the upload receives it.
  public func receive(_ file: URL) { thread.async { [upload] in upload.take(file) } }

  /// Begins the transfer; the queue calls it.
  public override func main() {
    let listener = TransferListener<Int>(progress: tell, note: { self.onNote?($0) }, end: finish)
    thread.async { [upload] in upload.start(listener) }
  }

  /// Ends the transfer, within a millisecond or so; the queue calls it.
  public override func didCancel() { thread.async { [upload] in upload.cancel() } }

  private func tell(_ progress: TransferProgress) {
    report(completed: progress.done, total: progress.total)
    onProgress?(progress)
  }
}
