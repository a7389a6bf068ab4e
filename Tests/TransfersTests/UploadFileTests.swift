import Foundation
import Support
import Testing

@testable import Transfers

struct UploadFileTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("sent").path() }

  init() throws {
    folder = try TemporaryFolder()
    try Data("01234".utf8).write(to: folder.file("sent"))
  }

  /// What a read into this many bytes gives; nil while paused.
  private func read(_ count: Int, of file: UploadFile) throws -> String? {
    var bytes = [UInt8](repeating: 0, count: count)
    let taken = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
    return taken.map { String(decoding: bytes[..<$0], as: UTF8.self) }
  }

  private func setTimes(_ seconds: Int, _ nanoseconds: Int) {
    let times = [timespec(tv_sec: seconds, tv_nsec: nanoseconds), timespec(tv_sec: seconds, tv_nsec: nanoseconds)]
    #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
  }

  @Test func aFileIsReadOnToItsEndAndFromAnyByte() throws {
    let file = try UploadFile(folder.file("sent"))
    #expect(file.size == 5 && file.offset == 0)
    #expect(try read(4, of: file) == "0123")
    #expect(file.offset == 4)
    #expect(try read(4, of: file) == "4")
    #expect(try read(4, of: file)?.isEmpty == true)
    #expect(file.offset == 5)
    file.rewind(to: 2)
    #expect(try read(5, of: file) == "234")
  }

  @Test func bytesInMemoryAreReadAsThoseOfAFile() throws {
    let body = UploadFile(content: Array("01234".utf8))
    #expect(try read(4, of: body) == "0123")
    body.rewind(to: 1)
    #expect(try read(9, of: body) == "1234")
    #expect(body.size == 5 && body.offset == 5)
    #expect(throws: Never.self) { try body.checkUnchanged() }
    let empty = UploadFile(content: [])
    #expect(try read(4, of: empty)?.isEmpty == true)
    #expect(throws: Never.self) { try empty.checkUnchanged() }
  }

  @Test func whatIsAppendedMeanwhileIsNotSent() throws {
    let file = try UploadFile(folder.file("sent"))
    try Data("0123456789".utf8).write(to: folder.file("sent"), options: [])
    #expect(try read(20, of: file) == "01234")
    #expect(try read(20, of: file)?.isEmpty == true)
  }

  @Test func aFileThatSaysNoSizeHasThatOfItsContent() throws {
    let content = try String(contentsOfFile: "/proc/version", encoding: .utf8)
    let file = try UploadFile(URL(filePath: "/proc/version"))
    #expect(file.size == Int64(content.utf8.count))
    #expect(try read(4, of: file) == String(content.prefix(4)))
    #expect(try read(10_000, of: file) == String(content.dropFirst(4)))
    #expect(try read(1, of: file)?.isEmpty == true)
    file.rewind(to: 0)
    #expect(try read(10_000, of: file) == content)
    #expect(throws: Never.self) { try file.checkUnchanged() }
  }

  @Test func anEmptyFileThatIsWrittenMeanwhileHasChanged() throws {
    try Data().write(to: folder.file("sent"))
    let file = try UploadFile(folder.file("sent"))
    #expect(file.size == 0)
    try Data("0".utf8).write(to: folder.file("sent"), options: [])
    #expect(throws: TransferError(.file, "\(path) changed while it was sent")) { try file.checkUnchanged() }
  }

  @Test func aPausedFileGivesNothing() throws {
    let file = try UploadFile(folder.file("sent"))
    file.isPaused = true
    #expect(try read(4, of: file) == nil)
    file.isPaused = false
    #expect(try read(4, of: file) == "0123")
  }

  @Test(arguments: [
    (1000, 500, 5, true), (1001, 500, 5, false), (1000, 501, 5, false), (1000, 500, 6, false), (1000, 500, 4, false),
  ])
  func aChangeOfTheSizeOrTheTimeIsAChange(seconds: Int, nanoseconds: Int, size: Int, isUnchanged: Bool) throws {
    setTimes(1000, 500)
    let file = try UploadFile(folder.file("sent"))
    #expect(truncate(path, off_t(size)) == 0)
    setTimes(seconds, nanoseconds)
    if isUnchanged {
      #expect(throws: Never.self) { try file.checkUnchanged() }
    } else {
      #expect(throws: TransferError(.file, "\(path) changed while it was sent")) { try file.checkUnchanged() }
    }
  }
}
