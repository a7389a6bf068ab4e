import Foundation

/// Why a transfer failed: a code to act on and a short sentence to show.
public struct TransferError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of failure that a program treats differently.
  public enum Code: Sendable, Equatable {
    /// The server answered with this status.
    case http(Int)
    /// No connection, one that broke, or a reply that is not sound HTTP.
    case network
    /// The connection could not be made in time.
    case timedOut
    /// All bytes arrived and they are not the expected ones.
    case checksum
    /// A local file could not be read or written.
    case file
    /// The URL, or one that the server redirects to, is not a whole http or https URL.
    case unsupportedURL
    /// A header holds a line break, or is one that the transfer sets itself.
    case invalidHeader
    /// The server went on redirecting.
    case tooManyRedirects
  }

  /// The kind of failure.
  public var code: Code
  /// Fit for one column of a line, as in `HTTP 503`.
  public var message: String

  /// Makes one from its two parts.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }

  static func http(_ status: Int) -> TransferError { TransferError(.http(status), "HTTP \(status)") }

  /// Reads `errno`: make it before anything else can change it.
  static func file(_ path: String, error: Int32 = errno) -> TransferError {
    TransferError(.file, "\(String(cString: strerror(error))): \(path)")
  }

  static let tooLong = TransferError(.network, "the server sent more than it said")

  static func ended(after done: Int64, of total: Int64) -> TransferError {
    TransferError(.network, "ended after \(done) of \(total) bytes")
  }
}

extension TransferError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}
