import Foundation
import Support
import Testing

@testable import Basics

struct LogFileReaderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var path: String { folder.file("log").path() }

  @Test func theFileIsReadWholeInPieces() throws {
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    try Data(bytes).write(to: folder.file("log"))
    let reader = try #require(LogFileReader(path))
    var pieces: [[UInt8]] = []
    while let piece = reader.next() { pieces.append(piece) }
    #expect(Array(pieces.joined()) == bytes)
    #expect(pieces.count == 4)
    #expect(reader.identity == FileIdentity(path: path))
  }

  @Test func whatIsAddedLaterIsNotRead() throws {
    try Data("early".utf8).write(to: folder.file("log"))
    let reader = try #require(LogFileReader(path))
    try Data("early and late".utf8).write(to: folder.file("log"))
    #expect(reader.next() == Array("early".utf8))
    #expect(reader.next() == nil)
  }

  @Test func whatNoLogFileCanBeIsNotRead() throws {
    #expect(LogFileReader(path) == nil)
    try Data().write(to: folder.file("log"))
    #expect(truncate(path, off_t(LogFile.sizeLimit)) == 0)
    #expect(LogFileReader(path) != nil)
    #expect(truncate(path, off_t(LogFile.sizeLimit) + 1) == 0)
    #expect(LogFileReader(path) == nil)
    #expect(symlink(path, folder.file("link").path()) == 0)
    #expect(LogFileReader(folder.file("link").path()) == nil)
  }
}
