import CCrypto
import Foundation

package enum CryptoLibrary {
  /// Prepares OpenSSL without the handler of `exit` that frees its tables, because other threads may still use them then.
  ///
  /// To be read before anything else of OpenSSL is used, as by libcurl.
  package static let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}

/// A SHA-256 that is fed piece by piece, from one thread at a time; computed by the system's library.
package final class SHA256Sum {
  private let context = EVP_MD_CTX_new()

  package init() {
    _ = CryptoLibrary.isReady
    EVP_DigestInit_ex(context, EVP_sha256(), nil)
  }

  deinit { EVP_MD_CTX_free(context) }

  package func update(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

  private var value: [UInt8] {
    // On a copy, because a finalized context takes no more bytes.
    let copy = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(copy) }
    var value = [UInt8](repeating: 0, count: 32)
    EVP_MD_CTX_copy_ex(copy, context)
    EVP_DigestFinal_ex(copy, &value, nil)
    return value
  }

  /// The sum of the bytes so far, in lower-case hexadecimal.
  package var hex: String {
    let digits = [UInt8]("0123456789abcdef".utf8)
    return String(decoding: value.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Whether the text is a sum in hexadecimal, in either case.
  package static func isHex(_ text: String) -> Bool {
    text.utf8.count == 64 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
  }

  package static func hex(of bytes: [UInt8]) -> String {
    let sum = SHA256Sum()
    bytes.withUnsafeBytes { sum.update($0) }
    return sum.hex
  }

  /// The sum of an open file from its beginning; nil once cancelled, and throws if it can't be read.
  package static func hex(ofFile descriptor: Int32, isCancelled: () -> Bool) throws(POSIXError) -> String? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
    defer { buffer.deallocate() }
    let sum = SHA256Sum()
    var offset: off_t = 0
    while !isCancelled() {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, offset)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      guard count > 0 else { return sum.hex }
      offset += off_t(count)
      sum.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return nil
  }
}
