import Foundation
import Operations

/// The next URL of a transfer, and which of the user's headers its request may have.
struct Route {
  private static let limit = 10
  /// The headers that another origin may see: they say what is requested, not who requests it.
  private static let harmless: Set<String> = ["accept", "accept-language", "cache-control", "user-agent"]

  private(set) var url: URL
  private(set) var headers: [(name: String, value: String)]
  /// Whether the environment's proxies are used.
  var usesProxies = true
  private var redirects = 0

  /// `reserved` are lower-case names of headers that the transfer sets itself.
  init(to url: URL, headers: [String: String], reserved: Set<String>) throws(TransferError) {
    for (name, value) in headers {
      guard Self.isToken(name) else {
        throw TransferError(.invalidHeader, "not a header's name: \(name.debugDescription)")
      }
      guard !value.unicodeScalars.contains(where: { $0 == "\r" || $0 == "\n" || $0 == "\0" }) else {
        throw TransferError(.invalidHeader, "header \(name) holds a line break")
      }
      guard !reserved.contains(name.lowercased()) else {
        throw TransferError(.invalidHeader, "header \(name) is set by the transfer itself")
      }
    }
    try Self.check(url)
    self.url = url
    self.headers = headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Follows a redirect to `location`, which may be relative, and returns a note about it.
  mutating func follow(_ location: String) throws(TransferError) -> String {
    guard redirects < Self.limit else { throw TransferError(.tooManyRedirects, "more than \(Self.limit) redirects") }
    guard let next = URL(string: location, relativeTo: url)?.absoluteURL else {
      throw TransferError(.unsupportedURL, "redirected to what is no URL: \(location.maskedURL)")
    }
    do { try Self.check(next) } catch { throw TransferError(.unsupportedURL, "redirected: \(error.message)") }
    redirects += 1
    let kept = Self.origin(of: next) == Self.origin(of: url) ? headers : headers.filter { Self.isHarmless($0.name) }
    let dropped = headers.map(\.name).filter { name in !kept.contains { $0.name == name } }
    headers = kept
    url = next
    let note = "redirected to \(next.absoluteString.maskedURL)"
    return dropped.isEmpty ? note : "\(note), without \(dropped.joined(separator: ", "))"
  }

  static func check(_ url: URL) throws(TransferError) {
    let shown = url.absoluteString.maskedURL
    guard let scheme = url.scheme?.lowercased() else {
      throw TransferError(.unsupportedURL, "not a whole URL: \(shown)")
    }
    guard scheme == "http" || scheme == "https" else {
      throw TransferError(.unsupportedURL, "\(scheme) is neither http nor https: \(shown)")
    }
    guard url.host()?.isEmpty == false else { throw TransferError(.unsupportedURL, "no host in \(shown)") }
  }

  private static func isHarmless(_ name: String) -> Bool { harmless.contains(name.lowercased()) }

  /// Scheme, host and port; where they change, headers with secrets are dropped.
  private static func origin(of url: URL) -> [String] {
    let scheme = url.scheme?.lowercased() ?? ""
    return [scheme, url.host()?.lowercased() ?? "", String(url.port ?? (scheme == "https" ? 443 : 80))]
  }

  /// The URL without a name and a password; its parameters stay whole.
  static func withoutUser(_ url: URL) -> String {
    guard url.user() != nil || url.password() != nil,
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return url.absoluteString }
    parts.user = nil
    parts.password = nil
    return parts.string ?? ""
  }

  /// Whether `text` can be the name of a header, or a method.
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { tokenBytes.contains($0) }
  }

  private static let tokenBytes = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~".utf8)
}
