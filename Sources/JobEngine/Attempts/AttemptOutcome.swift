import Foundation
import JobModel
import Operations

package enum AttemptOutcome: Sendable, Equatable {
  case succeeded
  /// There was nothing to do.
  case upToDate
  case failed(JobFailure)
  case cancelled

  /// The outcome of an operation that has finished.
  package init(of operation: AsyncOperation) { self.init(of: operation, failure: operation.failure) }

  /// The outcome of an operation that is about to finish, unless a cancellation comes first.
  init(claimedBy operation: AsyncOperation) { self.init(of: operation, failure: operation.claimedFailure) }

  private init(of operation: AsyncOperation, failure: (any Error)?) {
    if let error = failure {
      self = error is CancellationError ? .cancelled : .failed(JobFailure(of: error))
    } else if (operation as? any ReportingOperation)?.isUpToDate == true {
      self = .upToDate
    } else {
      // A success stands, however late the operation was cancelled.
      self = .succeeded
    }
  }
}

/// An operation that reports more of its success than that it has not failed.
package protocol ReportingOperation: AsyncOperation {
  /// Whether there was nothing to do.
  var isUpToDate: Bool { get }
  /// The time that the work took; nil if it took the time of the operation.
  var workTime: Duration? { get }
}

extension ReportingOperation {
  package var workTime: Duration? { nil }
}

/// An error of an operation that knows its cause.
package protocol JobFailureConvertible: Error {
  var jobFailure: JobFailure { get }
}

extension JobFailure: JobFailureConvertible {
  package var jobFailure: JobFailure { self }
}

extension JobFailure {
  /// The failure of an operation that ended with `error`.
  package init(of error: any Error) {
    switch error {
    case let error as any JobFailureConvertible: self = error.jobFailure
    case let error as OperationError where error.code == .timedOut: self.init(.timedOut, Self.line(of: error))
    default: self.init(Self.cause(of: error as NSError), Self.line(of: error))
    }
  }

  private static func cause(of error: NSError) -> Cause {
    guard error.domain == "NSURLErrorDomain" else { return .error }
    return error.code == -1001 ? .timedOut : .network
  }

  /// The first line of an error's description, at most 200 characters, because it is shown in a column, and without a
  /// full stop, because more of the sentence may follow.
  package static func line(of error: any Error) -> String {
    var line = Operations.line(of: error)
    if line.hasSuffix("."), !line.hasSuffix("..") { line.removeLast() }
    return cut(line)
  }

  static func cut(_ line: String) -> String { line.count > 200 ? line.prefix(199) + "…" : line }
}
