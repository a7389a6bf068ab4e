import Foundation

/// The bytes of a job file and their source.
struct JobFileInput {
  /// The name of standard input in faults.
  static let standardInput = "<stdin>"

  var bytes: [UInt8] = []
  var shown: String
  /// Whether it is a regular file, not a pipe or a device.
  var isRegular = false

  /// Whether there is a file at `path`; true if that can't be determined.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR) }

  init(path: String) throws(JobFileFaults) {
    let isStandardInput = path == "-"
    shown = isStandardInput ? Self.standardInput : path
    guard !path.isEmpty else { throw JobFileFaults("''", .start, "no file is named: give the path of a job file") }
    let descriptor = isStandardInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw JobFileFaults(path, .start, Self.words(errno)) }
    defer { if !isStandardInput { close(descriptor) } }

    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw JobFileFaults(shown, .start, Self.words(errno)) }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw JobFileFaults(shown, .start, Self.words(EISDIR)) }
    isRegular = status.st_mode & S_IFMT == S_IFREG && !isStandardInput

    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    // Reads at most one buffer beyond the limit.
    while bytes.count <= SourceText.limit {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw JobFileFaults(shown, .start, Self.words(errno)) }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
  }

  private static func words(_ code: Int32) -> String {
    switch code {
    case ENOENT: "there is no such file: check the path"
    case ENOTDIR: "a part of the path is no folder: check the path"
    case EACCES, EPERM: "permission denied: make the file readable for you"
    case EISDIR: "this is a folder: name a file in it"
    case ELOOP: "its symbolic links lead in a circle: check the path"
    case ENAMETOOLONG: "the path is too long: check it"
    default: "can't be read: \(String(cString: strerror(code)))"
    }
  }
}
