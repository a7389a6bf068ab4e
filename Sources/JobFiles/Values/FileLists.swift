import Basics

// The files that a job creates and reads.

extension ValueKind<[String]> {
  /// The absolute paths of `creates`; empty after a fault.
  static let creates = ValueKind(.oneOrMore(.text)) { values, node, name in
    values.paths(node, name, takes: "the path of a file or folder, or a list of paths") { path, place in
      guard path.utf8.contains(where: { "*?".utf8.contains($0) }) else { return true }
      values.faults.add(
        place,
        "creates takes paths without wildcards; \(Quoted.text(path)) is a pattern: write each path, or the folder")
      return false
    }
  }

  /// The absolute paths and patterns of `inputs`; empty after a fault.
  static let inputs = ValueKind(.oneOrMore(.text)) { values, node, name in
    values.paths(node, name, takes: "a path, a pattern as 'src/**/*.c', or a list of these") { path, place in
      values.warnOfForeignSigns(in: path, at: place)
      return true
    }
  }
}

extension ValueKind<[String]> {
  /// The names, and the absolute paths and patterns, of `watch.ignore`; empty after a fault.
  static let ignoredFiles = ValueKind(.oneOrMore(.text)) { values, node, name in
    let takes = "a name as '*.tmp', a path, or a list of these"
    return values.paths(node, name, takes: takes, keepsNames: true) { path, place in
      values.warnOfForeignSigns(in: path, at: place)
      return true
    }
  }
}

extension ValueReader {
  /// Warns of signs that have a meaning in the patterns of other tools only.
  fileprivate func warnOfForeignSigns(in path: String, at place: Place) {
    if path.hasPrefix("!") {
      faults.warn(
        place,
        "\(Quoted.text(path)) leaves nothing out, because '!' is part of the name: delete it, or write "
          + "\(Quoted.text("./" + path)) for that file")
    }
    if path.hasByte(UInt8(ascii: "{")), path.contains(/\{(?!\])[^{}]*,[^{}]*\}/) {
      faults.warn(
        place,
        "the braces in \(Quoted.text(path)) are part of the name: write an item for each alternative, or '[{]' for a brace"
      )
    }
  }

  /// With `keepsNames`, a text without a slash is a name in any folder.
  fileprivate func paths(
    _ node: YAMLNode, _ name: String, takes: String, keepsNames: Bool = false, isGood: (String, Place) -> Bool
  ) -> [String] {
    guard let items = list(node, name, takes: takes, isSingleAllowed: true) else { return [] }
    guard !items.isEmpty else {
      return faults.fail(node.place, "\(name) is empty: it takes \(takes); delete it if there is none") ?? []
    }
    var paths: [String] = []
    var known = Set<BytePath>()
    for item in items {
      guard let path = path(item, name, takes: "a path"), isGood(path, item.place) else { continue }
      let absolute = keepsNames && !path.utf8.contains(UInt8(ascii: "/")) ? path : absolute(path, at: item.place)
      if known.insert(BytePath(absolute)).inserted {
        paths.append(absolute)
      } else {
        faults.add(item.place, "\(name) has \(Quoted.text(path)) already: delete one")
      }
    }
    return paths
  }
}
