import Foundation
import Support
import Testing

@testable import Processes

struct OutputReaderTests {
  private func pipe() throws -> OutputPipe {
    var pipe = OutputPipe()
    let failure = pipe.open()
    try #require(failure == 0)
    return pipe
  }

  /// What a read of at most four bytes gives.
  private func read(_ reader: inout OutputReader) -> String {
    withUnsafeTemporaryAllocation(byteCount: 4, alignment: 1) { buffer in
      switch reader.read(into: buffer) {
      case .chunk(let bytes): "chunk " + String(decoding: bytes, as: UTF8.self)
      case .empty: "empty"
      case .end: "end"
      }
    }
  }

  @Test func aChunkIsHeldUntilItIsReleasedOnce() throws {
    let pipe = try pipe()
    var reader = OutputReader(pipe)
    #expect(reader.isOpen && !reader.isHeld)
    let nothing = read(&reader)
    #expect(nothing == "empty")
    #expect(!reader.isHeld && reader.chunks == 0)
    #expect(write(pipe.writer, "abcdef", 6) == 6)
    let first = read(&reader)
    #expect(first == "chunk abcd")
    #expect(reader.isHeld && reader.chunks == 1)
    #expect(reader.release(chunk: 2) == false)
    #expect(reader.isHeld)
    #expect(reader.release(chunk: 1) == true)
    #expect(!reader.isHeld)
    #expect(reader.release(chunk: 1) == false)
    let second = read(&reader)
    #expect(second == "chunk ef")
    #expect(reader.release(chunk: 1) == false)
    #expect(reader.isHeld && reader.chunks == 2)
    reader.close()
    #expect(!reader.isOpen)
  }

  @Test func aStreamEndsWithItsLastWriter() throws {
    let pipe = try pipe()
    let other = fcntl(pipe.writer, F_DUPFD_CLOEXEC, 0)
    var reader = OutputReader(pipe)
    reader.closeWriter()
    let open = read(&reader)
    #expect(open == "empty" && reader.isOpen)
    #expect(write(other, "last", 4) == 4)
    close(other)
    let last = read(&reader)
    #expect(last == "chunk last")
    // A process that another test has just forked may have the writer for a moment.
    #expect(eventually { read(&reader) == "end" })
    #expect(!reader.isOpen && reader.descriptor == -1)
    #expect(reader.chunks == 1)
  }

  @Test func theStreamsHaveNames() {
    #expect(ProcessStream.allCases.map(\.name) == ["standard output", "standard error"])
  }

  // MARK: The streams of a child

  private func child(_ spawned: Processes.ChildProcess.Spawned) -> Processes.ChildProcess {
    Processes.ChildProcess(
      number: 1, spawned, launch: ProcessLaunch(["true"]), launchedAt: 0, delegate: NoDelegate())
  }

  @Test(arguments: [[.stdout, .stderr], [.stderr, .stdout]] as [[ProcessStream]])
  func aChildHasOutputWhileOneStreamIsOpen(order: [ProcessStream]) throws {
    var spawned = Processes.ChildProcess.Spawned()
    (spawned.stdout, spawned.stderr) = (try pipe(), try pipe())
    let child = child(spawned)
    #expect(child.hasOutput)
    child[order[0]].close()
    #expect(!child[order[0]].isOpen && child[order[1]].isOpen)
    #expect(child.hasOutput)
    child[order[1]].close()
    #expect(!child.hasOutput)
  }

  @Test(arguments: ProcessStream.allCases) func aChildIsHeldWhileOneStreamIs(stream: ProcessStream) throws {
    var spawned = Processes.ChildProcess.Spawned()
    (spawned.stdout, spawned.stderr) = (try pipe(), try pipe())
    let writer = stream == .stdout ? spawned.stdout.writer : spawned.stderr.writer
    let child = child(spawned)
    #expect(!child.isHeld)
    #expect(write(writer, "x", 1) == 1)
    let chunk = read(&child[stream])
    #expect(chunk == "chunk x")
    #expect(child.isHeld)
    #expect(child[stream].release(chunk: 1) == true)
    #expect(!child.isHeld)
    child.closeOutput()
    #expect(!child.hasOutput)
  }

  @Test func onlyWhatRunsAndIsNotPausedMayBeStopped() {
    let child = child(Processes.ChildProcess.Spawned())
    #expect(child.mayStop)
    child.isPaused = true
    #expect(!child.mayStop)
    child.isPaused = false
    child.exit = .exited(0)
    #expect(!child.mayStop)
  }

  @Test func theDescriptorsOfSurvivorsAreClosedOnce() {
    let child = child(Processes.ChildProcess.Spawned())
    child.survivorDescriptors = [open("/dev/null", O_RDONLY | O_CLOEXEC)]
    child.closeSurvivorDescriptors()
    #expect(child.survivorDescriptors == [])
  }
}
