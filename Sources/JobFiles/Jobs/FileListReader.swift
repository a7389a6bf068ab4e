import Basics

/// Reads the files that a job creates and reads: the values of `creates` and `inputs`.
struct FileListReader {
  let values: ValueReader

  private var faults: FaultLog { values.faults }

  /// The absolute paths of `creates`; empty after a fault.
  func creates(_ node: YAMLNode) -> [String] {
    paths(node, "creates", takes: "the path of a file or folder, or a list of paths") { path, place in
      guard path.utf8.contains(where: { "*?".utf8.contains($0) }) else { return true }
      faults.add(
        place,
        "creates takes paths without wildcards; \(Quoted.text(path)) is a pattern: write each path, or the folder")
      return false
    }
  }

  /// The absolute paths and patterns of `inputs`; empty after a fault.
  func inputs(_ node: YAMLNode) -> [String] {
    paths(node, "inputs", takes: "a path, a pattern as 'src/**/*.c', or a list of these") { _, _ in true }
  }

  private func paths(
    _ node: YAMLNode, _ name: String, takes: String, isGood: (String, Place) -> Bool
  ) -> [String] {
    guard let items = values.list(node, name, takes: takes, isSingleAllowed: true) else { return [] }
    guard !items.isEmpty else {
      return faults.fail(node.place, "\(name) is empty: it takes \(takes); delete it if there is none") ?? []
    }
    var paths: [String] = []
    var known = Set<BytePath>()
    for item in items {
      guard let path = values.path(item, name, takes: "a path"), isGood(path, item.place) else { continue }
      let absolute = values.absolute(path, at: item.place)
      if known.insert(BytePath(absolute)).inserted {
        paths.append(absolute)
      } else {
        faults.add(item.place, "\(name) has \(Quoted.text(path)) already: delete one")
      }
    }
    return paths
  }
}
