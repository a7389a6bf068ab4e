import Foundation

/// A search for the files that patterns name.
struct FileSearch {
  /// Regular files, symbolic links and special files, by their absolute paths.
  private(set) var found = Set<String>()
  /// Paths that are left out, with all below them.
  private let excluded: [String]
  private let isCancelled: () -> Bool

  init(without excluded: [String], isCancelled: @escaping () -> Bool) {
    self.excluded = excluded
    self.isCancelled = isCancelled
  }

  /// Adds the files of an absolute path or pattern; false if it is a path, and nothing is there.
  mutating func find(_ pattern: String) throws -> Bool {
    guard Self.isPattern(pattern) else { return try add(pattern) }
    let before = found.count
    var parts = pattern.split(separator: "/")
    // As `**/*`.
    if parts.last == "**" { parts.append("*") }
    try expand("", parts[...])
    if found.count == before { _ = try add(pattern) }
    return true
  }

  static func isPattern(_ text: some StringProtocol) -> Bool { text.contains { "*?[".contains($0) } }

  /// Adds a file, or all files below a folder; false if nothing is at the path.
  private mutating func add(_ path: String) throws -> Bool {
    guard let kind = Self.kind(of: path, followsLink: true) ?? Self.kind(of: path, followsLink: false) else {
      return false
    }
    guard kind == S_IFDIR else {
      insert(path)
      return true
    }
    for name in try names(in: path) {
      let inner = "\(path)/\(name)"
      if Self.kind(of: inner, followsLink: false) == S_IFDIR { _ = try add(inner) } else { insert(inner) }
    }
    return true
  }

  private mutating func insert(_ path: String) {
    if !excluded.contains(where: { path == $0 || path.hasPrefix($0 + "/") }) { found.insert(path) }
  }

  /// Adds the files in `folder` whose paths match the components.
  private mutating func expand(_ folder: String, _ parts: ArraySlice<Substring>) throws {
    guard let part = parts.first else { return }
    let rest = parts.dropFirst()
    guard part != "**" else {
      try expand(folder, rest)
      // Consecutive ones match the same as one.
      if rest.first == "**" { return }
      for name in try names(in: folder) where !name.hasPrefix(".") {
        let path = "\(folder)/\(name)"
        if Self.kind(of: path, followsLink: false) == S_IFDIR { try expand(path, parts) }
      }
      return
    }
    let names = Self.isPattern(part) ? try names(in: folder).filter { Self.matches($0, String(part)) } : [String(part)]
    for name in names {
      let path = "\(folder)/\(name)"
      if !rest.isEmpty {
        try expand(path, rest)
      } else if let kind = Self.kind(of: path, followsLink: true) ?? Self.kind(of: path, followsLink: false),
        kind != S_IFDIR
      {
        insert(path)
      }
    }
  }

  /// The names in a folder, none where there is no folder; throws `InputError` for one that can't be read.
  private func names(in folder: String) throws -> [String] {
    if isCancelled() { throw CancellationError() }
    let folder = folder.isEmpty ? "/" : folder
    if let names = try? FileManager.default.contentsOfDirectory(atPath: folder) { return names }
    guard Self.kind(of: folder, followsLink: true) == S_IFDIR else { return [] }
    throw InputError(path: folder, reason: "the folder can't be listed")
  }

  private static func matches(_ name: String, _ pattern: String) -> Bool { fnmatch(pattern, name, FNM_PERIOD) == 0 }

  /// `S_IFREG`, `S_IFDIR` and the like; nil if nothing is there.
  private static func kind(of path: String, followsLink: Bool) -> mode_t? {
    var status = stat()
    guard (followsLink ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
    return status.st_mode & S_IFMT
  }
}
