import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An operation around a task of a `URLSession`, made with a completion handler: data, upload or download.
///
///     let fetch = URLSessionTaskOperation { session.dataTask(with: url, completionHandler: $0) }
///
/// The operation ends with the value and the response, or with the session's error, usually a `URLError`. As always
/// with `URLSession`, a status of 404 or 500 is a value, not a failure: check the response. The file of a download task
/// is deleted when the handler has returned, so move it within `convert`.
///
/// On Linux, a waiting `URLSession` uses much of a processor, a server that closes the connection within its header can
/// end the program, and a suspended task starts again from the first byte. `DownloadOperation` and `UploadOperation`
/// have none of these problems.
public final class URLSessionTaskOperation<Value: Sendable>: ResultOperation<(Value, URLResponse)>, @unchecked Sendable
{
  // Safe: constant, and a task behind a lock.
  private let make: @Sendable (URLSessionTaskOperation) -> URLSessionTask
  private let task = Lock<URLSessionTask?>(nil)

  /// Makes an operation whose task `make` creates when it executes; pass the completion handler on to the session.
  public convenience init(
    _ make: @escaping @Sendable (@escaping @Sendable (Value?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
  ) {
    self.init(converting: { $0 }, make)
  }

  /// As `init(_:)`, with the value changed by `convert` before the session's handler returns.
  public init<Raw>(
    converting convert: @escaping @Sendable (Raw) throws -> Value,
    _ make: @escaping @Sendable (@escaping @Sendable (Raw?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
  ) {
    self.make = { operation in
      make { value, response, error in
        operation.finish(
          Result {
            guard let value, let response, error == nil else { throw error ?? URLError(.badServerResponse) }
            return (try convert(value), response)
          })
      }
    }
  }

  /// Makes the task and resumes it; the queue calls it.
  public override func main() {
    let task = make(self)
    self.task.withLock { $0 = task }
    task.resume()
  }

  /// Cancels the task; the queue calls it.
  public override func didCancel() { task.withLock { $0 }?.cancel() }
}
