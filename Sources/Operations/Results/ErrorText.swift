import Foundation

/// The text of an error for a person, which the library's own errors show for the errors inside them.
///
/// In this order: the `errorDescription` of a `LocalizedError`; Foundation's sentence, if it says more than domain and
/// code; the error's own description; for an enumeration, the names of its type and case.
package func words(of error: any Error) -> String {
  if let localized = error as? any LocalizedError, let text = localized.errorDescription ?? localized.failureReason,
    !text.isEmpty
  {
    return text
  }
  if error is CancellationError { return "it was cancelled" }
  if type(of: error) is NSError.Type || error is any CustomNSError { return foundationWords(of: error) }
  let text = "\(error)"
  // The compiler assumes that an error, which can be bridged, always describes itself.
  let subject: Any = error
  let isPlainCase =
    Mirror(reflecting: error).displayStyle == .enum && !(subject is any CustomStringConvertible)
    && !(subject is any CustomDebugStringConvertible)
  return isPlainCase ? "\(type(of: error)).\(text)" : text
}

/// The first line of an error's text, for a sentence that continues after it.
package func line(of error: any Error) -> String {
  words(of: error).split(whereSeparator: \.isNewline).first.map(String.init) ?? "\(type(of: error))"
}

private func foundationWords(of error: any Error) -> String {
  let bridged = error as NSError
  var sentence = bridged.localizedDescription
  guard !sentence.contains("(\(bridged.domain) error \(bridged.code).)") else {
    if bridged.domain == "NSURLErrorDomain", let words = urlSessionWords[bridged.code] { return words }
    let own = "\(error)"
    return own.hasPrefix("Error Domain=") ? "\(bridged.domain) error \(bridged.code)" : own
  }
  // Linux adds this opening to every sentence that is not the error's own.
  let opening = "The operation could not be completed. "
  if sentence.hasPrefix(opening) { sentence.removeFirst(opening.count) }
  guard let path = bridged.userInfo[NSFilePathErrorKey] as? String,
    !sentence.contains("“\((path as NSString).lastPathComponent)”")
  else { return sentence }
  return "\(sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence): \(path)"
}

/// By the codes of `URLError`, whose description on Linux is `(null)` unless libcurl has given one.
private let urlSessionWords: [Int: String] = [
  -999: "the request was cancelled", -1000: "not a URL", -1001: "the request timed out", -1002: "unsupported URL",
  -1003: "the host was not found", -1004: "could not connect to the host", -1005: "the connection was lost",
  -1006: "the host name could not be looked up", -1007: "too many redirects", -1008: "the resource is unavailable",
  -1009: "not connected to the internet", -1011: "a bad answer from the server",
  -1012: "authentication was cancelled",
  -1013: "the server requires authentication", -1014: "the answer has no bytes",
  -1015: "the answer could not be decoded", -1100: "the file does not exist", -1102: "no permission to read the file",
  -1103: "the answer is too large", -1200: "the secure connection failed",
  -1202: "the server's certificate is not trusted", -1203: "the server's certificate has an unknown root",
]
