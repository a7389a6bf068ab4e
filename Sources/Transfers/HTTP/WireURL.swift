import CCurl
import Foundation
import Operations

/// An absolute http or https URL in the form that is sent.
///
/// libcurl escapes the bytes that a URL can't have and leaves existing escapes alone. Foundation's `URL(string:)` escapes
/// `%20` again if another character of the component needs an escape.
package struct WireURL: Sendable, Equatable {
  /// Without the fragment.
  package let text: String
  /// Percent-encoded; begins with a slash.
  package let path: String
  /// The text without a name and a password; its parameters stay whole.
  let withoutUser: String
  /// Scheme, host and port; a redirect that changes one of them drops credentials.
  let origin: [String]
  /// Path and parameters.
  let target: String

  /// Throws unless the text is an absolute http or https URL.
  package init(_ text: String) throws(TransferError) { try self.init(text, of: nil) }

  /// The text of a URL; in another encoding than UTF-8 it keeps its bytes, as escapes.
  package static func text(of bytes: some Collection<UInt8>) -> String {
    String(validating: bytes, as: UTF8.self)
      ?? bytes.map { byte in
        byte < 0x80 ? String(Unicode.Scalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
      }.joined()
  }

  /// The target of a redirect to `location`, which may be relative; the name and the password stay with their origin.
  func resolving(_ location: String) throws(TransferError) -> WireURL { try WireURL(location, of: self) }

  /// `base` is the redirecting URL.
  private init(_ written: String, of base: WireURL?) throws(TransferError) {
    var shown: String { written.maskedURL }
    let prefix = base == nil ? "" : "redirected: "
    func fault(_ message: String) -> TransferError { TransferError(.unsupportedURL, message) }
    var text = written.utf8.contains(UInt8(ascii: " ")) ? written.escaping([" ": "%20"]) : written
    if let mark = text.utf8.firstIndex(of: UInt8(ascii: "#")) { text = String(text.utf8[..<mark]) ?? text }
    if let base, text.utf8.starts(with: "//".utf8) { text = base.origin[0] + ":" + text }
    let parts = try Parts()
    if let scheme = Self.scheme(of: text) {
      guard scheme == "http" || scheme == "https" else {
        throw fault("\(prefix)\(scheme) is neither http nor https: \(shown)")
      }
      guard Self.namesHost(text.utf8.dropFirst(scheme.utf8.count + 1)) else {
        throw fault("\(prefix)no host in \(shown)")
      }
    } else {
      guard let base else { throw fault("not a whole URL: \(shown)") }
      // libcurl resolves an empty location to the folder.
      if text.isEmpty { text = base.target }
      _ = parts.set(CURLUPART_URL, to: base.text)
    }
    guard parts.set(CURLUPART_URL, to: text), parts.encodeHost() else {
      throw fault(base == nil ? "'\(shown)' is no URL" : "redirected to what is no URL: \(shown)")
    }
    origin = [
      parts[CURLUPART_SCHEME]?.lowercased() ?? "", parts[CURLUPART_HOST]?.lowercased() ?? "",
      parts[CURLUPART_PORT] ?? "",
    ]
    path = parts[CURLUPART_PATH] ?? "/"
    target = path + (parts[CURLUPART_QUERY].map { "?\($0)" } ?? "")
    if let base, base.origin == origin, parts[CURLUPART_USER] == nil, let old = try? Parts(base.text) {
      for part in [CURLUPART_USER, CURLUPART_PASSWORD] {
        if let value = old[part] { _ = parts.set(part, to: value) }
      }
    }
    self.text = parts[CURLUPART_URL] ?? text
    for part in [CURLUPART_USER, CURLUPART_PASSWORD] { _ = parts.set(part, to: nil) }
    withoutUser = parts[CURLUPART_URL] ?? text
  }

  /// In lower case; nil for a relative reference.
  private static func scheme(of text: String) -> String? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let first = text.utf8.first else { return nil }
    let isScheme = text.utf8[..<colon].allSatisfy { $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }
    return isScheme && first.isASCIILetter ? text[..<colon].lowercased() : nil
  }

  /// libcurl takes `http:/a` and `http:///a` for `http://a`.
  private static func namesHost(_ rest: Substring.UTF8View) -> Bool {
    guard rest.starts(with: "//".utf8), let first = rest.dropFirst(2).first else { return false }
    return !"/?#".utf8.contains(first)
  }
}

/// A URL as a string, or as a value of Foundation.
package protocol URLText: Sendable {
  var urlText: String { get }
}

extension String: URLText {
  package var urlText: String { self }
}

extension URL: URLText {
  package var urlText: String { absoluteString }
}

/// The parts of a URL, in a handle of libcurl.
private struct Parts: ~Copyable {
  private let handle: OpaquePointer

  init() throws(TransferError) {
    guard let handle = curl_url() else { throw .curl(CURLE_OUT_OF_MEMORY) }
    self.handle = handle
  }

  init(_ text: String) throws(TransferError) {
    try self.init()
    _ = set(CURLUPART_URL, to: text)
  }

  deinit { curl_url_cleanup(handle) }

  /// As the URL has it, escapes included; the port also if the URL has none.
  subscript(part: CURLUPart) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    let flags = part == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0
    guard curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }

  /// Nil removes the part; a relative URL is resolved against the one that is there.
  func set(_ part: CURLUPart, to text: String?) -> Bool {
    let flags = part == CURLUPART_URL ? CURLU_URLENCODE : 0
    return curl_url_set(handle, part, text, UInt32(flags)) == CURLUE_OK
  }

  /// Converts a host with letters beyond ASCII to its name in DNS; false if it has none.
  func encodeHost() -> Bool {
    guard let host = self[CURLUPART_HOST], !host.utf8.allSatisfy({ $0 < 0x80 }) else { return true }
    guard let encoded = ccurl_ascii_host(handle) else { return false }
    defer { curl_free(encoded) }
    return set(CURLUPART_HOST, to: String(cString: encoded))
  }
}
