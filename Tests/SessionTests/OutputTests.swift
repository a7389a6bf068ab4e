import Foundation
import Operations
import Support
import Testing

@testable import Session

@Suite struct OutputTests {
  /// A pipe whose ends are closed by the test.
  private struct Pipe {
    var reading: Int32 = -1
    var writing: Int32 = -1

    init() throws {
      signal(SIGPIPE, SIG_IGN)
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      (reading, writing) = (ends[0], ends[1])
      // A child of another test would keep the end of the output from the reader.
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }
  }

  /// Two ends of a connection in which each write is a packet of its own.
  private func packets() throws -> [Int32] {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends) == 0)
    return ends
  }

  @Test func aWriteToASlowReaderGoesOutWhole() throws {
    let pipe = try Pipe()
    _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let received = Lock<[UInt8]>([])
    let reader = Thread {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(pipe.reading, &buffer, buffer.count)
        guard count > 0 else { return }
        received.withLock { $0 += buffer[..<count] }
      }
    }
    reader.start()
    let output = Output(pipe.writing)
    output.write(bytes)
    #expect(eventually { received.withLock { $0.count } == bytes.count })
    #expect(received.withLock { $0 } == bytes)
    close(pipe.writing)
    #expect(eventually { reader.isFinished })
    close(pipe.reading)
  }

  @Test func onlyAWriteThatWaitsForItsReaderIsBlocked() throws {
    let pipe = try Pipe()
    let output = Output(pipe.writing)
    #expect(!output.isBlocked)
    let writer = Thread { output.write([UInt8](repeating: 0x78, count: 1 << 20)) }
    writer.start()
    #expect(eventually { output.isBlocked })
    // Without its reader the write ends.
    close(pipe.reading)
    #expect(eventually { writer.isFinished && !output.isBlocked })
    close(pipe.writing)
  }

  @Test func aLongTextIsWrittenInPiecesOfWholeLines() throws {
    let ends = try packets()
    defer { for end in ends { close(end) } }
    let text = (1...800).map { "line \($0) of the text\n" }.joined() + String(repeating: "x", count: 5000)
    let output = Output(ends[0])
    output.write(Array(text.utf8))
    #expect(output.written == text.utf8.count)
    var received = ""
    var pieces: [Int] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while received.utf8.count < text.utf8.count {
      let count = read(ends[1], &buffer, buffer.count)
      try #require(count > 0)
      received += String(decoding: buffer.prefix(count), as: UTF8.self)
      if !received.hasSuffix("x") { #expect(received.hasSuffix("\n")) }
      pieces.append(count)
    }
    #expect(received == text)
    #expect(pieces.allSatisfy { $0 <= 4096 } && pieces.count < 8)
  }

  @Test func whatNobodyReadsIsDroppedOnceItIsDiscardedForGood() throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    try #require(openpty(&master, &slave, nil, nil, nil) == 0)
    defer {
      close(slave)
      close(master)
    }
    let output = Output(slave)
    let isWritten = Lock(false)
    let writer = Thread {
      // Two hundred times what the terminal holds.
      for _ in 0..<10 { output.write([UInt8](repeating: 0x41, count: 100_000)) }
      isWritten.withLock { $0 = true }
    }
    writer.start()
    #expect(eventually { output.discard(isForGood: false) })
    #expect(eventually { output.discard(isForGood: true) })
    // The write in progress may need one more.
    #expect(
      eventually {
        _ = output.discard(isForGood: true)
        return isWritten.withLock { $0 }
      })
    #expect(output.written < 50_000)
  }

  @Test func ofALongOutputThatIsShortenedTheLastLinesAreWritten() throws {
    let pipe = try Pipe()
    defer { close(pipe.reading) }
    let output = Output(pipe.writing)
    let lines = (1...10_000).map { "line \($0)\n" }
    output.shorten()
    output.write(Array(lines.joined().utf8))
    output.write(line: "a short one")
    close(pipe.writing)
    let text = String(decoding: FileHandle(fileDescriptor: pipe.reading).readDataToEndOfFile(), as: UTF8.self)
    #expect(text.count < 5000 && text.count > 3000)
    #expect(lines.contains(text.split(separator: "\n").first.map { "\($0)\n" } ?? ""))
    #expect(text.hasSuffix("line 10000\na short one\n"))
  }

  @Test func aReaderThatHasGoneIsToldOnce() throws {
    let pipe = try Pipe()
    close(pipe.reading)
    let output = Output(pipe.writing)
    let failures = Lock<[Int32]>([])
    output.whenLost { failure in failures.withLock { $0.append(failure) } }
    #expect(!output.isDropping)
    output.write(line: "one")
    #expect(output.isDropping)
    output.write(line: "two")
    #expect(failures.withLock { $0 } == [EPIPE])
    #expect(output.written == 0 && !output.isBlocked)
    close(pipe.writing)
  }

  /// `/dev/full` is Linux's; elsewhere no file fails so.
  @Test(.enabled(if: access("/dev/full", W_OK) == 0))
  func theReasonOfAWriteThatFailedIsKept() throws {
    let output = try Output.files([("--html", "/dev/full")])[0]
    #expect(output.failure == nil && output.loss == nil)
    // A device is written to as it is.
    output.replace(with: Array("one\n".utf8))
    #expect(output.failure == ENOSPC)
    #expect(output.loss == "can't write /dev/full: No space left on device")
  }

  @Test func aDocumentReplacesAFileOnceItIsWhole() throws {
    let folder = try TemporaryFolder()
    let (old, link) = (folder.file("old").path(), folder.file("link").path())
    try Data("a long line\n".utf8).write(to: folder.file("old"))
    try #require(chmod(old, 0o644) == 0 && symlink(old, link) == 0)
    let reader = open(old, O_RDONLY | O_CLOEXEC)
    defer { close(reader) }
    let output = try Output.files([("--html", link)])[0]
    #expect(try String(contentsOf: folder.file("old"), encoding: .utf8) == "a long line\n")
    output.replace(with: Array("short\n".utf8))
    #expect(output.failure == nil)
    #expect(try String(contentsOf: folder.file("old"), encoding: .utf8) == "short\n")
    var (status, earlier) = (stat(), stat())
    #expect(stat(old, &status) == 0 && status.st_mode & 0o777 == 0o644)
    // Who reads the earlier one sees no part of the other.
    #expect(fstat(reader, &earlier) == 0 && earlier.st_size == 12 && earlier.st_ino != status.st_ino)
    #expect(folder.names() == ["link", "old"])
    #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
  }

  @Test func aFileThatADocumentMakesIsPrivate() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("page").path()
    try Output.files([("--html", path)])[0].replace(with: Array("new\n".utf8))
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600 && status.st_size == 4)
    #expect(folder.names() == ["page"])
  }

  @Test func aFileThatCannotBeMadeIsNamedWithTheReason() {
    #expect(throws: UsageError("can't write /nowhere/at/all: No such file or directory")) {
      _ = try Output.file("/nowhere/at/all")
    }
  }

  @Test func aPipeThatNobodyReadsIsNotWaitedFor() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("pipe").path()
    try #require(mkfifo(path, 0o600) == 0)
    let reason = "it is a named pipe without a reader: start its reader first"
    #expect(throws: UsageError("can't write \(path): \(reason)")) { try Output.file(path) }
    #expect(throws: UsageError("can't write /: it is a folder: name a regular file")) { try Output.file("/") }
  }

  @Test func whatFitsInOnePieceIsWrittenAtOnceAndWhole() throws {
    let text = "a\n" + String(repeating: "b", count: 4094)
    for isShortened in [false, true] {
      let ends = try packets()
      defer { for end in ends { close(end) } }
      let output = Output(ends[0])
      if isShortened { output.shorten() }
      #expect(output.isDropping == isShortened)
      output.write(Array(text.utf8))
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      #expect(read(ends[1], &buffer, buffer.count) == 4096)
      #expect(output.written == 4096)
    }
  }

  @Test func theWidthIsThatOfTheTerminalOr80() throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 7, ws_col: 131, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&master, &slave, nil, nil, &size) == 0)
    defer {
      close(slave)
      close(master)
    }
    #expect(Output(slave).columns == 131)
    #expect(Output(-1).columns == 80)
  }

  @Test func anOutputIsCalledByItsNameOrItsUse() throws {
    #expect(Output.standardOutput.name == "standard output")
    #expect(Output.standardError.name == "standard error")
    #expect(Output(5, name: "trace.json").name == "trace.json")
    #expect(try Output.file("/dev/null").name == "/dev/null")
  }

  @Test func aFileIsTruncatedAndANewOneIsPrivate() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("report").path()
    try Output.file(path).write(line: "a long line")
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    try Output.file(path).write(line: "short")
    #expect(try String(contentsOf: folder.file("report"), encoding: .utf8) == "short\n")
  }
}
