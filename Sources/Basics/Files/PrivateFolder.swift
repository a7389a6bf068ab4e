import Foundation

/// Folders that only their owner can reach.
package enum PrivateFolder {
  /// Makes a folder and the missing ones above it; returns an error number, which is EEXIST where something is there.
  ///
  /// The mode is 0700 from the beginning: Foundation makes a folder with the usual mode and changes it afterwards. The
  /// mode of a folder that is there stays as it is.
  package static func make(_ path: String) -> Int32? {
    guard mkdir(path, 0o700) != 0 else { return nil }
    let problem = errno
    guard problem == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
      return problem
    }
    // Another program may make them at the same time.
    let above = make(String(path[..<slash]))
    guard above == nil || above == EEXIST else { return above }
    return mkdir(path, 0o700) == 0 ? nil : errno
  }

  /// Makes a folder unless it is there; returns the system's message on failure.
  package static func ensure(_ path: String) -> String? {
    guard let problem = make(path), problem != EEXIST else { return nil }
    return String(cString: strerror(problem))
  }
}
