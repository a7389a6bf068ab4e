import Basics
import Foundation

/// A search for the files that patterns name.
struct FileSearch {
  /// Regular files, symbolic links and special files, by their absolute paths.
  private(set) var found = Set<BytePath>()
  /// The folders whose names decide the result; a folder that does not exist yet counts, as its creation changes the result.
  private(set) var folders = Set<BytePath>()
  /// Paths that are left out, with everything below them.
  private let excluded: [BytePath]
  private let isIgnored: (BytePath) -> Bool
  private let isCancelled: () -> Bool

  /// `isIgnored` leaves out paths that a folder has, with everything below them.
  init(
    without excluded: [BytePath], isIgnored: @escaping (BytePath) -> Bool = { _ in false },
    isCancelled: @escaping () -> Bool
  ) {
    self.excluded = excluded
    self.isIgnored = isIgnored
    self.isCancelled = isCancelled
  }

  /// Adds the files of an absolute path or pattern; false for a path that does not exist.
  mutating func find(_ pattern: BytePath) throws -> Bool {
    guard NamePattern.isPattern(pattern) else { return try add(pattern) }
    let before = found.count
    try expand(BytePath(""), PathPattern.names(of: pattern)[...])
    if found.count == before { _ = try add(pattern) }
    return true
  }

  /// Adds a file, or all files below a folder; false if nothing is at the path.
  private mutating func add(_ path: BytePath) throws -> Bool {
    folders.insert(path.folder)
    guard let kind = Self.kind(of: path) else { return false }
    guard kind == S_IFDIR else {
      insert(path)
      return true
    }
    for name in try names(in: path) {
      let inner = path.appending(name)
      if FileStatus(inner)?.kind == S_IFDIR { _ = try add(inner) } else { insert(inner) }
    }
    return true
  }

  private mutating func insert(_ path: BytePath) {
    if !excluded.contains(where: { path == $0 || path.relative(to: $0) != nil }) { found.insert(path) }
  }

  /// Adds the files in `folder` whose paths match the components.
  private mutating func expand(_ folder: BytePath, _ parts: ArraySlice<BytePath>) throws {
    guard let part = parts.first else { return }
    let rest = parts.dropFirst()
    if rest.isEmpty { folders.insert(folder) }
    guard part != PathPattern.anyFolders else {
      try expand(folder, rest)
      // Consecutive ones match the same as one.
      if rest.first == PathPattern.anyFolders { return }
      for name in try names(in: folder) where name.bytes.first != UInt8(ascii: ".") {
        let path = folder.appending(name)
        if FileStatus(path)?.kind == S_IFDIR { try expand(path, parts) }
      }
      return
    }
    var names = [part]
    if NamePattern.isPattern(part) {
      let pattern = NamePattern(part)
      names = try self.names(in: folder).filter(pattern.matches)
    }
    for name in names {
      let path = folder.appending(name)
      if !rest.isEmpty {
        try expand(path, rest)
      } else if let kind = Self.kind(of: path), kind != S_IFDIR {
        insert(path)
      }
    }
  }

  /// The names in a folder, or none if it doesn't exist; throws `InputError` for one that can't be read.
  private mutating func names(in folder: BytePath) throws -> [BytePath] {
    if isCancelled() { throw CancellationError() }
    folders.insert(folder)
    let root = folder
    let folder = folder.bytes.isEmpty ? BytePath("/") : folder
    if let names = folder.names() { return names.filter { !isIgnored(root.appending($0)) } }
    let problem = errno
    guard FileStatus(folder, followsLink: true)?.kind == S_IFDIR else { return [] }
    throw InputError(path: folder, reason: "the folder can't be listed: \(String(cString: strerror(problem)))")
  }

  /// The kind of the file that a path leads to, or of a link that leads nowhere; nil if nothing is there.
  private static func kind(of path: BytePath) -> mode_t? {
    (FileStatus(path, followsLink: true) ?? FileStatus(path))?.kind
  }
}
