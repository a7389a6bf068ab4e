import Basics

/// Operations on paths as text, without access to the file system.
enum FilePath {
  /// `path`, relative to `directory` unless it is absolute, without `.`, `..` and doubled slashes.
  static func absolute(_ path: String, in directory: String) -> String {
    var parts: [String] = []
    for part in (path.isAbsolutePath ? [] : names(directory)) + names(path) where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// Whether a relative path leaves its folder, even if it returns.
  static func leaves(_ path: String) -> Bool {
    var depth = 0
    for part in names(path) where part != "." {
      depth += part == ".." ? -1 : 1
      if depth < 0 { return true }
    }
    return false
  }

  /// The path without its last component; empty without another.
  static func folder(of path: String) -> String {
    let folder = names(path).dropLast().joined(separator: "/")
    return path.isAbsolutePath ? "/" + folder : folder
  }

  /// A path that is relative to the folder of `file`, as it is written beside the path of that file.
  static func shown(_ path: String, from file: String) -> String {
    let folder = folder(of: file)
    return path.isAbsolutePath || folder.isEmpty ? path : folder + "/" + path
  }

  static func name(of path: String) -> String { names(path).last ?? "" }

  private static func names(_ path: String) -> [String] { BytePath(path).components.map(\.text) }
}
