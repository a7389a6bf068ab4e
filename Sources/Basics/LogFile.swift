import Foundation

/// The file that keeps the output of one attempt whole, made at its first byte.
///
/// Used on one queue at a time, which a hung file system may block.
package final class LogFile {
  private let path: String
  private var descriptor: Int32 = -1
  private var hasFailed = false

  package init(path: String) { self.path = path }

  /// Returns a sentence the first time that something fails; nothing is written after that.
  package func append(_ bytes: [UInt8]) -> String? {
    guard !hasFailed else { return nil }
    if descriptor < 0, let problem = open() { return problem }
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        return fail(errno)
      }
      done += count
    }
    return nil
  }

  package func close() {
    if descriptor >= 0 { Foundation.close(descriptor) }
    descriptor = -1
  }

  private func open() -> String? {
    // Without O_NONBLOCK a FIFO in the file's place would be waited for.
    descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o644)
    if descriptor < 0 { return fail(errno == ENXIO ? EINVAL : errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return fail(EINVAL) }
    return nil
  }

  /// `error` is an errno; EINVAL stands for a path that is no regular file.
  private func fail(_ error: Int32) -> String {
    hasFailed = true
    close()
    let reason = error == EINVAL ? "not a regular file" : String(cString: strerror(error))
    return "the output is not kept from here on: \(path): \(reason)"
  }

  deinit { close() }
}
