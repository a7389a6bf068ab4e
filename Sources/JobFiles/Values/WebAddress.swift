import Basics

/// Checks URLs as text; the transfer parses them completely.
package enum WebAddress {
  /// The fault of a URL as a sentence; nil for a plausible one.
  package static func fault(in url: String) -> String? {
    var shown: String { Quoted.text(url.maskedURL) }
    // The values of other jobs are known only in the run; a port is a number.
    if url.hasPrefix("${jobs.") { return nil }
    let url = url.utf8.contains(UInt8(ascii: "$")) ? url.replacing(/\$\{jobs\.[^}]*\}/, with: "1") : url
    guard let colon = url.utf8.firstRange(of: "://".utf8) else {
      return "\(shown) is no URL: write it with http:// or https:// at its beginning"
    }
    let scheme = url[..<colon.lowerBound].lowercased()
    guard scheme == "http" || scheme == "https" else {
      return "\(shown) is neither http nor https: write a URL of these, or use a program such as curl in 'run'"
    }
    if url.unicodeScalars.contains(where: isBlank) {
      return "\(shown) holds a blank or a control character: write a blank as %20"
    }
    let authority = Substring(url[colon.upperBound...].unicodeScalars.prefix { !"/?#".unicodeScalars.contains($0) })
    let address = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    // An IPv6 address has colons inside brackets.
    let end =
      address.hasPrefix("[") ? address.lastIndex(of: "]").map(address.index(after:)) : address.firstIndex(of: ":")
    let host = address[..<(end ?? address.endIndex)]
    guard !host.isEmpty, host != "[]", !address.hasPrefix("[") || end != nil else {
      return "\(shown) names no host: write it as in http://example.com/file"
    }
    let rest = address[host.endIndex...]
    guard rest.isEmpty || isPort(rest) else { return "\(shown) has no valid port: write a number from 1 to 65535" }
    return nil
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    // The properties of a scalar are a search in a table.
    if ("!"..."~").contains(scalar) { return false }
    return scalar.properties.isWhitespace || scalar.isUnprintable
  }

  private static func isPort(_ text: Substring) -> Bool {
    guard text.first == ":", text.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) else { return false }
    // `http://host:/` is valid and means the default port.
    return text.count == 1 || Int(text.dropFirst()).map { (1...65535).contains($0) } ?? false
  }

  /// The last component of the path, percent-decoded; nil if it isn't a file name.
  static func fileName(of url: String) -> String? {
    guard let start = url.utf8.firstRange(of: "://".utf8)?.upperBound else { return nil }
    let path = Substring(url[start...].unicodeScalars.prefix { $0 != "?" && $0 != "#" })
    guard let last = path.utf8.lastIndex(of: slash), let name = decoded(path[path.utf8.index(after: last)...]) else {
      return nil
    }
    let isName =
      !name.isEmpty && !name.holds("${jobs.") && name != "." && name != ".." && name.utf8.count <= 255
      && !name.utf8.contains(slash)
      && !name.unicodeScalars.contains(where: \.isUnprintable)
    return isName ? name : nil
  }

  /// A `/` before a combining mark is a part of another Character.
  private static let slash = UInt8(ascii: "/")

  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      if byte == UInt8(ascii: "%"), digits.count == 2 {
        bytes.append(UInt8(digits[0] << 4 | digits[1]))
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
