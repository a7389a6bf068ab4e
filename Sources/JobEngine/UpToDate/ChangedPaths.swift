import Basics

/// The paths that jobs would create anew.
struct ChangedPaths {
  private var paths = Set<BytePath>()
  private struct Inner {
    var names: [BytePath]
    var isFolder: Bool
  }

  /// The changed paths below each folder.
  private var below: [BytePath: [Inner]] = [:]
  /// A pattern that searches a folder with more changed paths is not compared with each one, but assumed to match: a
  /// graph may have as many patterns.
  private static let searchLimit = 1000

  /// Adds a path; `isFolder` says whether it may be a folder, which patterns search.
  mutating func add(_ path: BytePath, isFolder: Bool) {
    guard paths.insert(path).inserted else { return }
    let inner = Inner(names: path.components, isFolder: isFolder)
    for folder in Self.prefixes(of: inner.names.dropLast()) { below[folder, default: []].append(inner) }
  }

  /// Whether an absolute path or pattern stands for a changed path, for a folder around one, or for a path that may be
  /// in a changed folder.
  func reaches(_ input: BytePath) -> Bool {
    let parts = input.components
    let folders = Self.prefixes(of: parts.prefix { !NamePattern.isPattern($0) })
    if folders.contains(where: paths.contains) { return true }
    guard let inner = folders.last.flatMap({ below[$0] }) else { return false }
    // A folder named without a pattern stands for all files below it.
    if folders.count > parts.count || inner.count > Self.searchLimit { return true }
    let pattern = PathPattern(input)
    return inner.contains { pattern.reaches($0.names[...], isFolder: $0.isFolder) }
  }

  /// The folders from the root to the path of these names, that path included.
  private static func prefixes(of names: some Sequence<BytePath>) -> [BytePath] {
    names.reduce(into: [BytePath("")]) { prefixes, name in
      prefixes.append((prefixes.last ?? name).appending(name))
    }
  }
}
