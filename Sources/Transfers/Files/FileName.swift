import Foundation

/// Safe file names from URLs and servers.
package enum FileName {
  /// The most bytes of a chosen name, in UTF-8: the suffixes of a part and a number must fit into `systemLimit` too.
  static let limit = 200
  /// The most bytes of a name on Linux.
  static let systemLimit = 255

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

  /// `file.zip` for 0, then `file.zip.1`, `file.zip.2`, as wget numbers them; cut where that has no room.
  ///
  /// In a path, the last component is numbered.
  package static func numbered(_ name: String, _ number: Int) -> String {
    guard number > 0 else { return name }
    let ending = ".\(number)"
    let (folder, last) = parts(of: name)
    return folder + prefix(of: last, systemLimit - ending.utf8.count) + ending
  }

  /// The folder of a path, with its slash, and the name in it; by bytes, because a slash may have a combining mark behind it.
  static func parts(of path: String) -> (folder: String, name: String) {
    let count = path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.count
    return (
      String(decoding: path.utf8.dropLast(count), as: UTF8.self),
      String(decoding: path.utf8.suffix(count), as: UTF8.self)
    )
  }

  /// A slash before a combining mark is a part of another Character.
  private static func isSlash(_ scalar: Unicode.Scalar) -> Bool { scalar == "/" || scalar == "\\" }

  private static func printable(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      scalars.append(isPrintable(scalar) || scalars.last.map { joins(scalar, after: $0) } == true ? scalar : "_")
    }
    return String(scalars)
  }

  /// Whether the name has no character that a terminal acts on or doesn't show.
  package static func isPrintable(_ name: String) -> Bool { printable(name).utf8.elementsEqual(name.utf8) }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate: false
    default: true
    }
  }

  /// Whether it is a joiner within a word of a script that needs them, or within an emoji.
  private static func joins(_ scalar: Unicode.Scalar, after last: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // The joiners change no letter of Latin, where two names would look alike.
    case 0x200C, 0x200D: last.value >= 0x0300 && isPrintable(last)
    // The flags of regions: a flag and tags.
    case 0xE0020...0xE007F: last.value == 0x1F3F4 || (0xE0020...0xE007E).contains(last.value)
    default: false
    }
  }

  /// Cut before its extension.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > limit else { return name }
    let dot = name.lastIndex(of: ".") ?? name.endIndex
    let tail = name[dot...].utf8.count <= 20 ? String(name[dot...]) : ""
    return prefix(of: String(name.dropLast(tail.count)), limit - tail.utf8.count) + tail
  }

  /// The first letters of at most so many bytes, which don't end within a letter and its marks unless it is the first.
  static func prefix(of name: String, _ limit: Int) -> String {
    var count = 0
    let whole = name.prefix { letter in
      count += letter.utf8.count
      return count <= limit
    }
    if !whole.isEmpty { return String(whole) }
    count = 0
    let scalars = name.unicodeScalars.prefix { scalar in
      count += UTF8.width(scalar)
      return count <= limit
    }
    return String(scalars)
  }
}
