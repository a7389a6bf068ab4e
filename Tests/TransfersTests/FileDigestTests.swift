import Foundation
import Support
import Testing

@testable import Transfers

struct FileDigestTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func digest(_ path: String) async -> Result<String, TransferError> {
    await withCheckedContinuation { continuation in
      let file = open(path, O_RDONLY | O_CLOEXEC)
      // Of another position, and closed before it is read.
      lseek(file, 1, SEEK_SET)
      _ = FileDigest.start(file, of: path) { _, result in continuation.resume(returning: result) }
      close(file)
    }
  }

  /// Also of a file that a read of a mebibyte leaves one byte of.
  @Test(arguments: [
    (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
    (1_048_577, "4a3f0c0c213adea174f9a3d4c13177315b588bdb2e9c1012d3d0bf0453ca0f6a"),
  ])
  func everyByteCounts(size: Int, value: String) async throws {
    try Data(repeating: UInt8(ascii: "a"), count: size).write(to: folder.file("file"))
    #expect(await digest(folder.file("file").path()) == .success(value))
  }

  @Test func aFileThatIsNotOpenIsAFailure() async {
    let path = folder.file("file").path()
    #expect(await digest(path) == .failure(TransferError(.file, "Bad file descriptor: \(path)")))
  }
}
