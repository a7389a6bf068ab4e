import Foundation
import Operations

/// The folders that transfers of this process have created.
enum CreatedFolders {
  private static let paths = Lock<Set<BytePath>>([])

  /// Creates a folder and its missing parents; an error names the folder at fault.
  static func make(_ path: String) throws(TransferError) {
    if let status = FileStatus(path, followsLink: true) {
      guard status.kind == S_IFDIR else { throw .file(path, error: ENOTDIR) }
      return
    }
    guard !create(path), errno != EEXIST else { return }
    let error = errno
    let parent = (path as NSString).deletingLastPathComponent
    guard error == ENOENT || error == ENOTDIR, !parent.isEmpty, parent != path else { throw .file(path, error: error) }
    try make(parent)
    guard create(path) || errno == EEXIST else {
      let error = errno
      removeEmpty(parent)
      throw .file(path, error: error)
    }
  }

  /// Removes a folder, then its parents, up to the first that is not empty or was not created here.
  static func removeEmpty(_ path: String) {
    var path = key(path)
    while paths.withLock({ $0.contains(BytePath(path)) }), rmdir(path) == 0 {
      paths.withLock { _ = $0.remove(BytePath(path)) }
      path = (path as NSString).deletingLastPathComponent
    }
  }

  /// Leaves `errno` as `mkdir` sets it.
  private static func create(_ path: String) -> Bool {
    guard mkdir(path, 0o777) == 0 else { return false }
    paths.withLock { _ = $0.insert(BytePath(key(path))) }
    return true
  }

  private static func key(_ path: String) -> String {
    path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
