import Foundation
import JobModel
import Operations
import Transfers

extension JobFailure {
  /// What a person is told of an error that an operation ended with.
  init(of error: any Error) {
    let cause: Cause
    switch (error as? TransferError)?.code {
    case nil where error is TimedOut: cause = .timedOut
    case .http(let status): cause = .http(status)
    case .network, .tooManyRedirects: cause = .network
    case .timedOut: cause = .timedOut
    case .checksum: cause = .checksum
    case .file: cause = .file
    case .unsupportedURL, .invalidHeader, nil: cause = .error
    }
    self.init(cause, Self.words(error))
  }

  /// The first line of what the error says of itself; it stands in a column.
  private static func words(_ error: any Error) -> String {
    let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
    let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "\(type(of: error))"
    return line.count > 200 ? line.prefix(199) + "…" : line
  }
}
