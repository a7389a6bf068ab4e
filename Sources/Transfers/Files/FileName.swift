import Foundation

/// Names of files that others have chosen: the authors of URLs and servers.
package enum FileName {
  /// In UTF-8: file systems allow 255, of which the endings of a part and a number need some.
  private static let limit = 200

  /// The last component of the URL's path as a safe name; `index.html` if there is none.
  package static func of(_ url: some URLText) -> String {
    let path = (try? WireURL(url.urlText))?.path ?? ""
    let encoded = path.split(separator: "/").last.map(String.init) ?? ""
    let scalars = (encoded.removingPercentEncoding ?? encoded).unicodeScalars.map { isSlash($0) ? "_" : $0 }
    let name = printable(String(String.UnicodeScalarView(scalars)))
    return ["", ".", ".."].contains(name) ? "index.html" : shortened(name)
  }

  /// The name that a server gives, without a path, control characters, and dots and hyphens at its start.
  ///
  /// Nil if nothing is left.
  static func chosenByServer(_ text: String) -> String? {
    let last = text.unicodeScalars.split(whereSeparator: isSlash).last.map { String($0) } ?? ""
    // A name with a dot is hidden, one with a hyphen is taken for options by other programs.
    let trimmed = printable(last).trimmingCharacters(in: .whitespaces)
    let name = trimmed.unicodeScalars.drop { "-. ".unicodeScalars.contains($0) }
    return name.isEmpty ? nil : shortened(String(name))
  }

  /// `file.zip` for 0, then `file.zip.1`, `file.zip.2`, as wget numbers them.
  package static func numbered(_ name: String, _ number: Int) -> String { number == 0 ? name : "\(name).\(number)" }

  /// A slash before a combining mark is a part of another Character.
  private static func isSlash(_ scalar: Unicode.Scalar) -> Bool { scalar == "/" || scalar == "\\" }

  private static func printable(_ text: String) -> String {
    String(text.map { isPrintable($0) ? $0 : "_" })
  }

  private static func isPrintable(_ character: Character) -> Bool {
    character.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate: false
      default: true
      }
    }
  }

  /// Cut before its extension.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > limit else { return name }
    let dot = name.lastIndex(of: ".") ?? name.endIndex
    let tail = name[dot...].utf8.count <= 20 ? name[dot...] : ""
    var stem = name.dropLast(tail.count)
    while stem.utf8.count + tail.utf8.count > limit { stem.removeLast() }
    return String(stem + tail)
  }
}
