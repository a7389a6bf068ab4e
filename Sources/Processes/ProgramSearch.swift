import Foundation

/// Finds a program as a shell does.
enum ProgramSearch {
  /// The path to execute: the name itself if it has a slash, else the first executable of this name in `path`.
  static func resolve(_ name: String, in path: String) -> Result<String, ProcessError> {
    if name.utf8.contains(UInt8(ascii: "/")) { return .success(name) }
    var unusable: String?
    for directory in path.split(separator: ":", omittingEmptySubsequences: false) where !name.isEmpty {
      let candidate = (directory.isEmpty ? "." : String(directory)) + "/" + name
      var status = stat()
      guard stat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      if access(candidate, X_OK) == 0 { return .success(candidate) }
      unusable = unusable ?? candidate
    }
    if let unusable {
      return .failure(
        ProcessError(.notExecutable, "\(unusable): not executable: a file with the permission to execute it is needed"))
    }
    return .failure(ProcessError(.programNotFound, "\(name): no such program in PATH"))
  }
}
