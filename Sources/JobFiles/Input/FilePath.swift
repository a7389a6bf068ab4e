import Foundation

/// Operations on paths as text, without access to the file system.
enum FilePath {
  /// `path`, relative to `directory` unless it is absolute, without `.`, `..` and doubled slashes.
  static func absolute(_ path: String, in directory: String) -> String {
    let whole = path.hasPrefix("/") ? path : directory + "/" + path
    var parts: [Substring] = []
    for part in whole.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// Whether a relative path leaves its folder, even if it returns.
  static func leaves(_ path: String) -> Bool {
    var depth = 0
    for part in path.split(separator: "/") where part != "." {
      depth += part == ".." ? -1 : 1
      if depth < 0 { return true }
    }
    return false
  }

  /// The path without its last component.
  static func folder(of path: String) -> String {
    NSString(string: path).deletingLastPathComponent
  }

  static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }
}
