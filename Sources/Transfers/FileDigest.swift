import Foundation
import Synchronization

#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto
#endif

/// The SHA-256 of a file, taken on a background queue; it can be given up.
final class FileDigest: Sendable {
  private static let chunk = 1 << 20

  private let isGivenUp = Atomic(false)

  /// Says the digest in lower-case hexadecimal, or why there is none, on some queue; nothing once given up.
  static func start(
    _ path: String, then answer: @escaping @Sendable (FileDigest, Result<String, TransferError>) -> Void
  ) -> FileDigest {
    let digest = FileDigest()
    // A queue of its own: once dispatch's global pool has been used it wakes every second to count its threads.
    DispatchQueue(label: "opdash.digest", qos: .utility).async {
      do throws(TransferError) {
        guard let value = try digest.read(path) else { return }
        answer(digest, .success(value))
      } catch {
        answer(digest, .failure(error))
      }
    }
    return digest
  }

  static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
  }

  func giveUp() { isGivenUp.store(true, ordering: .relaxed) }

  private func read(_ path: String) throws(TransferError) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .file(path) }
    defer { close(descriptor) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 64)
    defer { buffer.deallocate() }
    let hash = SHA256Stream()
    while !isGivenUp.load(ordering: .relaxed) {
      let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .file(path) }
      guard count > 0 else { return hash.finish().map { Self.hex($0) }.joined() }
      hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return nil
  }

  private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}

#if canImport(CryptoKit)
private final class SHA256Stream {
  private var hash = SHA256()

  func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }
  func finish() -> [UInt8] { Array(hash.finalize()) }
}
#else
private final class SHA256Stream {
  private let context: OpaquePointer?

  init() {
    context = EVP_MD_CTX_new()
    EVP_DigestInit_ex(context, EVP_sha256(), nil)
  }

  deinit { EVP_MD_CTX_free(context) }

  func update(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

  func finish() -> [UInt8] {
    var value = [UInt8](repeating: 0, count: 32)
    EVP_DigestFinal_ex(context, &value, nil)
    return value
  }
}
#endif
