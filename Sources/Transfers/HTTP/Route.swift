import Foundation
import Operations

/// The next URL of a transfer and the user's headers that its request may have.
struct Route {
  private static let limit = 10
  /// The headers that another origin may see: they describe the request, not its sender.
  private static let harmless: Set<String> = ["accept", "accept-language", "cache-control", "user-agent"]

  private(set) var url: WireURL
  private(set) var headers: [(name: String, value: String)]
  /// Whether the environment's proxies are used.
  var usesProxies = true
  private var redirects = 0
  /// Whether a server has answered, with a redirect.
  var isRedirected: Bool { redirects > 0 }

  /// `reserved` are lower-case names of headers that the transfer sets itself.
  init(to url: WireURL, headers: [String: String], reserved: Set<String>) throws(TransferError) {
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
    self.url = url
    self.headers = headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Follows a redirect to `location`, which may be relative, and returns a note about it.
  mutating func follow(_ location: String) throws(TransferError) -> String {
    guard redirects < Self.limit else { throw TransferError(.tooManyRedirects, "more than \(Self.limit) redirects") }
    let next = try url.resolving(location)
    redirects += 1
    let kept = next.origin == url.origin ? headers : headers.filter { Self.isHarmless($0.name) }
    let dropped = headers.map(\.name).filter { name in !kept.contains { $0.name == name } }
    headers = kept
    url = next
    let note = "redirected to \(next.text.maskedURL)"
    return dropped.isEmpty ? note : "\(note), without \(dropped.joined(separator: ", "))"
  }

  private static func isHarmless(_ name: String) -> Bool { harmless.contains(name.lowercased()) }

  /// Whether `text` can be the name of a header, or a method.
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { tokenBytes.contains($0) }
  }

  private static let tokenBytes = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~".utf8)
}
