import CCurl
import Foundation
import Operations

/// Why a transfer failed: a code to act on and a short sentence to show.
public struct TransferError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of failure that a program treats differently.
  public enum Code: Sendable, Equatable {
    /// The server answered with this status.
    case http(Int)
    /// No connection, a broken connection, or a reply that is not valid HTTP.
    case network
    /// The server's certificate is not valid or not trusted, or the trusted ones can't be read.
    case certificate
    /// The connection could not be made, or no byte was moved, in time.
    case timedOut
    /// All bytes have arrived and their digest is not the expected one.
    case checksum
    /// A local file could not be read or written.
    case file
    /// The URL, or the target of a redirect, is not an absolute http or https URL.
    case unsupportedURL
    /// A header has a line break in it, or is one that the transfer sets itself.
    case invalidHeader
    /// The server sent more than ten redirects.
    case tooManyRedirects
    /// The transfer ran out of memory.
    case outOfMemory
  }

  /// The kind of failure.
  public var code: Code
  /// Short enough for a column of a line, as in `HTTP 503`.
  public var message: String
  /// How long the server asks to wait before another attempt, at most an hour; nil if it doesn't ask.
  public var retryAfter: Duration?

  /// The message.
  public var description: String { message }

  /// Makes an error of its parts.
  public init(_ code: Code, _ message: String, retryAfter: Duration? = nil) {
    self.code = code
    self.message = message
    self.retryAfter = retryAfter
  }

  /// A reply to a download that is a success without a file, as 204 is.
  static func noFile(_ status: Int) -> TransferError {
    TransferError(.http(status), "HTTP \(status), which is an answer without a file")
  }

  /// Reads `errno`, so call it before anything else can change that.
  static func file(_ path: String, error: Int32 = errno) -> TransferError {
    // A path that is too long would be a message that is too long.
    let shown = path.count > 500 ? "\(path.prefix(250))…\(path.suffix(249))" : path
    return TransferError(.file, "\(String(cString: strerror(error))): \(shown)")
  }

  static func file(_ problem: FileProblem) -> TransferError {
    if case .system(let number) = problem.reason { return .file(problem.path, error: number) }
    return TransferError(.file, problem.description)
  }

  static let tooLong = TransferError(.network, "the server sent more than it said")

  /// No byte moved in the stall time.
  static func stalled(_ time: Duration) -> TransferError {
    let seconds = time / .seconds(1)
    let text = Int(exactly: seconds).map(String.init) ?? String(seconds)
    return TransferError(.timedOut, "no byte has moved for \(text) s")
  }

  static func ended(after done: Int64, of total: Int64) -> TransferError {
    TransferError(.network, "ended after \(done) of \(total) bytes")
  }
}

extension TransferError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}

extension TransferError {
  /// The failure that libcurl reports; `text` is the content of its error buffer, `systemError` an errno or 0, and
  /// `certificate` OpenSSL's verdict on the server's certificate or 0.
  static func curl(
    _ result: CURLcode, text: String = "", systemError: Int32 = 0, certificate: Int = 0, afterHeader: Bool = false
  ) -> TransferError {
    let system = systemError == 0 ? nil : String(cString: strerror(systemError)).lowercasedFirst
    // libcurl writes a proxy's URL into some of its sentences.
    func sentence(_ fallback: String) -> String { text.isEmpty ? fallback : text.maskedURL }
    switch result {
    case CURLE_OUT_OF_MEMORY: return TransferError(.outOfMemory, "out of memory")
    case CURLE_OPERATION_TIMEDOUT: return TransferError(.timedOut, "connecting took too long")
    case CURLE_COULDNT_RESOLVE_HOST: return TransferError(.network, sentence("host not found"))
    case CURLE_COULDNT_RESOLVE_PROXY: return TransferError(.network, sentence("proxy not found"))
    case CURLE_COULDNT_CONNECT: return TransferError(.network, system ?? sentence("could not connect"))
    case CURLE_GOT_NOTHING: return TransferError(.network, "the server closed the connection without a reply")
    case CURLE_UNSUPPORTED_PROTOCOL where text.hasPrefix("Received HTTP/0.9"):
      return TransferError(.network, "the reply is not HTTP")
    case CURLE_RECV_ERROR where text.contains("chunked-encoding"):
      return TransferError(.network, "the server's chunks are broken")
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
      let broke = "the connection broke"
      return TransferError(.network, system ?? (afterHeader ? broke : sentence(broke)))
    case CURLE_PARTIAL_FILE: return TransferError(.network, "the connection was cut")
    case CURLE_PEER_FAILED_VERIFICATION:
      return TransferError(.certificate, Self.certificate(certificate) ?? sentence("the certificate is not valid"))
    case CURLE_SSL_CACERT_BADFILE: return TransferError(.certificate, sentence("can't read the trusted certificates"))
    case CURLE_SSL_CONNECT_ERROR where text.contains("wrong version number"):
      return TransferError(.network, "the server doesn't answer in TLS: write http://, or another port")
    case CURLE_SSL_CONNECT_ERROR where text.contains("SSL_ERROR_SYSCALL"):
      return TransferError(.network, "the server closed the connection before TLS was set up")
    case CURLE_URL_MALFORMAT: return TransferError(.unsupportedURL, sentence("not a valid URL"))
    default: return TransferError(.network, sentence(String(cString: curl_easy_strerror(result))))
    }
  }

  /// The fault of the server's certificate, with the remedy if the user may want to trust it; nil for a rarer fault.
  private static func certificate(_ verdict: Int) -> String? {
    let certificate = "the server's certificate"
    // The numbers of <openssl/x509_vfy.h>.
    return switch verdict {
    case 9: "\(certificate) is not valid yet, by the clock of this machine"
    case 10: "\(certificate) has expired"
    case 18: "\(certificate) is self-signed: to trust it, name its file in CURL_CA_BUNDLE"
    case 19, 20, 21: "no trusted authority has signed \(certificate): to trust one, name its file in CURL_CA_BUNDLE"
    default: nil
    }
  }
}

extension String {
  /// As in `connection refused`.
  fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
