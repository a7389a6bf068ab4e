import Foundation

/// Keeps the output of one attempt whole; the file is made at its first byte.
///
/// Used from one thread at a time.
final class LogFile {
  private let path: String
  private var descriptor: Int32 = -1
  private var hasFailed = false

  init(path: String) { self.path = path }

  /// Returns what went wrong the first time something does; nothing is written after that.
  func append(_ bytes: [UInt8]) -> String? {
    guard !hasFailed else { return nil }
    if descriptor < 0 {
      descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
      if descriptor < 0 { return fail() }
    }
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        return fail()
      }
      done += count
    }
    return nil
  }

  func close() {
    if descriptor >= 0 { Foundation.close(descriptor) }
    descriptor = -1
  }

  private func fail() -> String {
    hasFailed = true
    return "the output is not kept from here on: \(path): \(String(cString: strerror(errno)))"
  }

  deinit { close() }
}
