import Foundation

extension String {
  /// The text of a URL as it may be shown and logged: `***` in the place of each credential.
  ///
  /// Credentials are the user name and the password before the host, and the values of parameters with names such as
  /// `token`, `key` and `password`. A secret in the path can't be told from a file name and stays. The text need
  /// not be a valid URL: whatever a person or a server gave in its place can be masked.
  package var maskedURL: String {
    // By scalars: a mark before a combining one is a part of another Character.
    var rest = unicodeScalars[...]
    guard rest.contains(where: { "@?#".unicodeScalars.contains($0) }) else { return self }
    var masked = Substring.UnicodeScalarView()
    if let end = rest.firstRange(of: "//".unicodeScalars)?.upperBound,
      !rest[..<end].contains(where: { "?#".unicodeScalars.contains($0) })
    {
      masked += rest[..<end]
      rest = rest[end...]
      if let at = rest.endOfUser {
        masked += "***".unicodeScalars
        rest = rest[at...]
      }
    }
    let path = rest.prefix { !"?#".unicodeScalars.contains($0) }
    masked += path
    rest = rest[path.endIndex...]
    while let mark = rest.first {
      let parameter = rest.dropFirst().prefix { !"?#&;".unicodeScalars.contains($0) }
      masked.append(mark)
      let name = parameter.prefix { $0 != "=" }
      let isHidden = name.endIndex < parameter.endIndex && String(name).namesCredential
      masked += isHidden ? name + "=***".unicodeScalars : parameter
      rest = rest[parameter.endIndex...]
    }
    return String(masked)
  }
}

extension Substring.UnicodeScalarView {
  /// The place of the `@` that ends the user's name and password, at the start of the text after `//`.
  fileprivate var endOfUser: Index? {
    let authority = prefix { !"/?#".unicodeScalars.contains($0) }
    if let at = authority.lastIndex(of: "@") { return at }
    // A password with an unescaped `/`, `?` or `#`: the text before it isn't a host with a port.
    guard authority.first != "[", let colon = authority.firstIndex(of: ":") else { return nil }
    let port = authority[authority.index(after: colon)...]
    return port.allSatisfy { ("0"..."9").contains($0) } ? nil : lastIndex(of: "@")
  }
}

extension String {
  /// Whether a parameter of this name has a credential as its value.
  fileprivate var namesCredential: Bool {
    let name = (removingPercentEncoding ?? self).lowercased()
    let letters = name.filter { $0.isLetter || $0.isNumber }
    if Credentials.prefixes.contains(where: { name.hasPrefix($0) }) { return true }
    if Credentials.parts.contains(where: { letters.contains($0) }) { return true }
    return name.split { !$0.isLetter && !$0.isNumber }.contains { word in
      Credentials.words.contains(String(word)) || Credentials.endings.contains { word.hasSuffix($0) }
    }
  }
}

/// The names of parameters with credentials, in lower case.
private enum Credentials {
  /// Of signed requests to object stores.
  static let prefixes = ["x-amz-", "x-goog-", "x-oss-", "x-cos-", "x-ms-"]
  /// Anywhere in the letters and digits of a name.
  static let parts = [
    "token", "secret", "passw", "passphrase", "signature", "credential", "accesskey", "authorization", "session", "jwt",
    "bearer",
  ]
  /// Whole words of a name.
  static let words: Set = ["auth", "pass", "pw", "code", "hmac", "otp", "sid", "ticket", "sas"]
  /// At the end of a word.
  static let endings = ["key", "sig", "pwd"]
}
