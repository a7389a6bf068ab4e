import Foundation

extension Reply {
  /// The file name in `Content-Disposition`, made safe: `filename*` (RFC 5987), else `filename`.
  var fileName: String? {
    guard let field = self["content-disposition"] else { return nil }
    let parameters = Self.parameters(of: field)
    let extended = parameters["filename*"].flatMap { Self.decoded($0) }.flatMap { FileName.chosenByServer($0) }
    return extended ?? parameters["filename"].flatMap { FileName.chosenByServer($0) }
  }

  /// The parameters of a field's value by lower-case name, the first of each; quotes are removed.
  private static func parameters(of field: String) -> [String: String] {
    var parts = [""]
    var isQuoted = false
    var isEscaped = false
    for scalar in field.unicodeScalars {
      if isEscaped {
        isEscaped = false
      } else if scalar == "\\", isQuoted {
        isEscaped = true
        continue
      } else if scalar == "\"" {
        isQuoted.toggle()
        continue
      } else if scalar == ";", !isQuoted {
        parts.append("")
        continue
      }
      parts[parts.count - 1].unicodeScalars.append(scalar)
    }
    let pairs = parts.compactMap { part -> (String, String)? in
      guard let equals = part.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      return (part[..<equals].trimmed.lowercased(), String(part[part.utf8.index(after: equals)...].trimmed))
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// The text of an extended value, `UTF-8''a%20b`; nil where it is malformed or in another character set.
  private static func decoded(_ value: String) -> String? {
    let parts = value.unicodeScalars.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
      .map { String($0) }
    guard parts.count == 3 else { return nil }
    switch parts[0].lowercased() {
    case "utf-8": return parts[2].removingPercentEncoding
    case "iso-8859-1":
      // Each byte is the character of the same number.
      let text = parts[2].replacing(#/%([0-9A-Fa-f]{2})/#) { match in
        UInt32(match.1, radix: 16).flatMap { Unicode.Scalar($0) }.map { String(Character($0)) } ?? ""
      }
      return text.holds("%") ? nil : text
    default: return nil
    }
  }
}
