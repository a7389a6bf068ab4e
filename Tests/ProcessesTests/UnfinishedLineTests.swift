import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// Lines without an end in the log of a process, on a clock that the tests move.
struct UnfinishedLineTests {
  /// `cat` of a named pipe that the test writes to, and what its log has said.
  private final class Reader: Sendable {
    let clock = ManualOperationClock()
    let operation: ShellOperation
    private let folder: TemporaryFolder
    private let heard = Lock<[OperationLogLine]>([])
    private let writer: Int32
    private let tokens: Lock<[ObservationToken]>

    init(unfinished: Bool = true, progress: String? = nil) throws {
      folder = try TemporaryFolder()
      let pipe = folder.file("pipe").path
      try #require(mkfifo(pipe, 0o600) == 0)
      operation = ShellOperation(
        ProcessLaunch(["cat", pipe]), logPath: folder.file("log").path, progress: progress, clock: clock)
      let queue = DispatchQueue(label: "test")
      tokens = Lock([
        operation.observeLog(unfinished: unfinished, on: queue) { [heard] _, line in heard.withLock { $0.append(line) }
        }
      ])
      OperationQueue().addOperation(operation)
      var writer: Int32 = -1
      let isOpen = eventually {
        writer = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        return writer >= 0
      }
      try #require(isOpen)
      self.writer = writer
    }

    deinit { operation.kill() }

    /// Writes, and waits until the bytes are in the file of the log.
    func write(_ text: String) throws {
      let before = bytes.count
      #expect(Foundation.write(writer, text, text.utf8.count) == text.utf8.count)
      try #require(eventually { self.bytes.count == before + text.utf8.count })
      // The timer is set after the bytes were written.
      try #require(eventually { !self.clock.due.isEmpty || text.hasSuffix("\n") })
    }

    var bytes: [UInt8] { (try? Array(Data(contentsOf: folder.file("log")))) ?? [] }

    /// The lines so far, the unfinished ones with `…`, once there are `count`.
    func lines(_ count: Int) -> [String] {
      _ = eventually { self.heard.withLock { $0.count } >= count }
      return heard.withLock { $0.map { $0.text + ($0.isUnfinished ? "…" : "") } }
    }

    func end() {
      close(writer)
      #expect(eventually { self.operation.isFinished })
    }
  }

  @Test func aPromptIsLoggedAfterAPause() throws {
    let reader = try Reader()
    try reader.write("Password? ")
    #expect(reader.lines(0).isEmpty)
    reader.clock.advance(by: ShellOutput.pause)
    #expect(reader.lines(1) == ["Password? …"])
    // Nothing waits while nothing comes.
    #expect(reader.clock.due.isEmpty)
    try reader.write("thanks\nnext\n")
    #expect(reader.lines(3) == ["Password? …", "Password? thanks", "next"])
    reader.end()
  }

  @Test func ofManyRedrawsTheNewestIsLoggedOnceInAPause() throws {
    let reader = try Reader()
    for percent in 0..<50 { try reader.write("\rdone \(percent)%") }
    reader.clock.advance(by: ShellOutput.pause)
    #expect(reader.lines(1) == ["done 49%…"])
    try reader.write("\rdone 50%")
    try reader.write("\rdone 51%")
    reader.clock.advance(by: ShellOutput.pause / 2)
    #expect(reader.lines(1).count == 1)
    reader.clock.advance(by: ShellOutput.pause / 2)
    #expect(reader.lines(2) == ["done 49%…", "done 51%…"])
    reader.end()
    #expect(reader.lines(3).last == "done 51%")
    #expect(reader.bytes.count == (0...51).reduce(0) { $0 + "\rdone \($1)%".utf8.count })
  }

  @Test func halfALineThatWasReadInTwoPiecesIsNotLogged() throws {
    let reader = try Reader()
    try reader.write("one\ntw")
    try reader.write("o\nthr")
    reader.clock.advance(by: ShellOutput.pause)
    #expect(reader.lines(2) == ["one", "two"])
    reader.clock.advance(by: ShellOutput.pause)
    #expect(reader.lines(3) == ["one", "two", "thr…"])
    reader.end()
    #expect(reader.lines(4).last == "thr")
  }

  @Test func anObserverThatDoesNotAskForThemGetsWholeLines() throws {
    let reader = try Reader(unfinished: false)
    try reader.write("working")
    reader.clock.advance(by: ShellOutput.pause)
    try reader.write("\rdone   \n")
    #expect(reader.lines(1) == ["done"])
    reader.end()
  }

  @Test func aPatternSeesAnUnfinishedLine() throws {
    let reader = try Reader(progress: #"(\d+) of (\d+)"#)
    try reader.write("\r3 of 8")
    reader.clock.advance(by: ShellOutput.pause)
    #expect(eventually { reader.operation.progress == OperationProgress(completed: 3, total: 8) })
    try reader.write("\r4 of 8\rchecking")
    #expect(eventually { reader.operation.progress == OperationProgress(completed: 4, total: 8) })
    reader.end()
  }
}
