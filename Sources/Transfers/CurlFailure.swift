import CCurl
import Foundation

/// What libcurl says of a failed exchange, in words for a person.
struct CurlFailure {
  private let result: CURLcode
  private let text: String
  private let systemError: Int32

  /// `text` is libcurl's error buffer.
  init(_ result: CURLcode, text: String, systemError: Int32) {
    self.result = result
    self.text = text
    self.systemError = systemError
  }

  /// Nil for a success.
  func error(afterHeader: Bool) -> TransferError? {
    switch result {
    case CURLE_OK: nil
    case CURLE_OPERATION_TIMEDOUT: TransferError(.timedOut, "connecting took too long")
    case CURLE_COULDNT_RESOLVE_HOST: TransferError(.network, sentence("host not found"))
    case CURLE_COULDNT_RESOLVE_PROXY: TransferError(.network, sentence("proxy not found"))
    case CURLE_COULDNT_CONNECT: TransferError(.network, systemSentence ?? sentence("could not connect"))
    case CURLE_GOT_NOTHING: TransferError(.network, "the server closed the connection without a reply")
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
      TransferError(
        .network, systemSentence ?? (afterHeader ? "the connection broke" : sentence("the connection broke")))
    case CURLE_PARTIAL_FILE: TransferError(.network, "the connection was cut")
    case CURLE_URL_MALFORMAT: TransferError(.unsupportedURL, sentence("not a valid URL"))
    default: TransferError(.network, sentence(String(cString: curl_easy_strerror(result))))
    }
  }

  private func sentence(_ fallback: String) -> String { text.isEmpty ? fallback : text }

  /// As in `connection refused`.
  private var systemSentence: String? {
    guard systemError != 0 else { return nil }
    let words = String(cString: strerror(systemError))
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}
