import Basics

/// A path or pattern of a job's `inputs`, to be compared with paths.
struct PathPattern: Sendable {
  private enum Part {
    /// `**`
    case anyFolders
    case name(NamePattern)
    case text(BytePath)
  }

  private let parts: [Part]
  /// Whether it is a path, which stands for everything below it too.
  private let isPath: Bool

  init(_ pattern: BytePath) {
    isPath = !NamePattern.isPattern(pattern)
    parts = Self.names(of: pattern).map { name in
      name == Self.anyFolders ? .anyFolders : NamePattern.isPattern(name) ? .name(NamePattern(name)) : .text(name)
    }
  }

  static let anyFolders = BytePath("**")

  /// The names in a path or pattern; `**` at the end is like `**/*`.
  static func names(of pattern: BytePath) -> [BytePath] {
    let names = pattern.components
    return names.last == anyFolders ? names + [BytePath("*")] : names
  }

  /// Whether it matches a path or, if that is a folder, could match a path below it.
  func reaches(_ path: BytePath, isFolder: Bool) -> Bool { reaches(path.components[...], isFolder: isFolder) }

  /// As `reaches(_:isFolder:)`, of the names of a path.
  func reaches(_ names: ArraySlice<BytePath>, isFolder: Bool) -> Bool { meets(parts[...], names, isFolder: isFolder) }

  private func meets(_ pattern: ArraySlice<Part>, _ path: ArraySlice<BytePath>, isFolder: Bool) -> Bool {
    guard let part = pattern.first else { return isPath || path.isEmpty }
    guard let name = path.first else { return isFolder }
    let (rest, inner) = (pattern.dropFirst(), path.dropFirst())
    switch part {
    case .anyFolders: return meets(rest, path, isFolder: isFolder) || meets(pattern, inner, isFolder: isFolder)
    case .name(let wanted): return wanted.matches(name) && meets(rest, inner, isFolder: isFolder)
    case .text(let wanted): return wanted == name && meets(rest, inner, isFolder: isFolder)
    }
  }
}
