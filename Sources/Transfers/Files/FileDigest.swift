import Checksums
import Foundation
import Synchronization

/// The SHA-256 of a file, computed on a background queue.
final class FileDigest: Sendable {
  private let isCancelled = Atomic(false)

  /// Calls `answer` with the digest in lower-case hexadecimal on the background queue; once cancelled it may not be called.
  ///
  /// Reads the open file from its beginning, not what its path leads to by then; the caller may close `descriptor` at once.
  static func start(
    _ descriptor: Int32, of path: String,
    then answer: @escaping @Sendable (FileDigest, Result<String, TransferError>) -> Void
  ) -> FileDigest {
    let digest = FileDigest()
    let descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    let problem = errno
    // Not a global queue: once dispatch's global pool has been used it wakes every second to count its threads.
    DispatchQueue(label: "opdash.digest", qos: .utility).async {
      do throws(TransferError) {
        guard descriptor >= 0 else { throw .file(path, error: problem) }
        defer { close(descriptor) }
        guard let value = try digest.read(descriptor, path) else { return }
        answer(digest, .success(value))
      } catch {
        answer(digest, .failure(error))
      }
    }
    return digest
  }

  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  private func read(_ descriptor: Int32, _ path: String) throws(TransferError) -> String? {
    do throws(POSIXError) {
      return try SHA256Sum.hex(ofFile: descriptor) { isCancelled.load(ordering: .relaxed) }
    } catch {
      throw .file(path, error: error.code.rawValue)
    }
  }
}
