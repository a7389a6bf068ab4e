import Operations
import Transfers

/// An operation that can be held and gone on with; the dashboard's key for pausing works on it.
public protocol PausableOperation: AsyncOperation {
  /// Holds the work, or keeps it from beginning; returns at once. From any thread.
  func pause()

  /// Goes on with the work; returns at once. From any thread.
  func resume()
}

extension DownloadOperation: PausableOperation {}
