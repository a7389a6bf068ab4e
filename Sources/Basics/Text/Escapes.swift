/// Syntax in texts from outside: of scalars, not of Characters.
///
/// A quotation mark, slash or any other sign before a combining mark is a part of another Character, so that the String
/// methods `replacing`, `contains`, `hasPrefix` and `split` do not find it. The programs that read the text do.
extension String {
  /// The text with another text in the place of each of these scalars.
  package func escaping(_ escapes: [Unicode.Scalar: String]) -> String {
    var result = ""
    for scalar in unicodeScalars {
      if let escape = escapes[scalar] { result += escape } else { result.unicodeScalars.append(scalar) }
    }
    return result
  }

  /// Quoted as one word of a shell command.
  package var shellQuoted: String { "'\(escaping(["'": "'\\''"]))'" }

  /// Whether the system takes it for a path from the root folder.
  package var isAbsolutePath: Bool { utf8.first == UInt8(ascii: "/") }
}

extension StringProtocol {
  /// Whether the scalars of another text occur in it one after the other.
  package func holds(_ text: String) -> Bool { unicodeScalars.contains(text.unicodeScalars) }
}
