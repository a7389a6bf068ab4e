/// A URL as it may be shown.
enum URLText {
  /// The URL with the password before its host replaced: `http://me:***@host/`.
  static func withoutPassword(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return url }
    let rest = url[scheme.upperBound...]
    let authority = rest.prefix { !"/?#".contains($0) }
    guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else { return url }
    return url[...colon] + "***" + url[at...]
  }
}
