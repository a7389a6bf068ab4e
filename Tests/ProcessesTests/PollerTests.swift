import CProcess
import Foundation
import Support
import Testing

@testable import Processes

struct PollerTests {
  private let poller = Poller()

  private func tokens(atMost milliseconds: Int64 = 0) -> [UInt64] {
    var tokens: [UInt64] = []
    poller.wait(atMost: milliseconds) { tokens.append($0) }
    return tokens
  }

  @Test func aWakeEndsAWaitWithoutAToken() {
    poller.wake()
    #expect(tokens(atMost: -1) == [])
  }

  @Test func bytesAreReportedOnceWithTheirToken() throws {
    var pipe = OutputPipe()
    defer { pipe.close() }
    let failure = pipe.open()
    try #require(failure == 0)
    #expect(poller.watch(pipe.reader, for: .output, token: 7))
    #expect(tokens() == [])
    #expect(write(pipe.writer, "x", 1) == 1)
    #expect(tokens(atMost: -1) == [7])
    #expect(tokens() == [])
    pipe.closeWriter()
    #expect(tokens(atMost: -1) == [7])
  }

  @Test func theEndOfAProcessIsReportedOnce() throws {
    let child = try Support.ChildProcess(["true"])
    let descriptor = cprocess_open(child.pid)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    #expect(poller.watch(descriptor, for: .end, token: 9))
    #expect(tokens(atMost: -1) == [9])
    #expect(tokens() == [])
    _ = child.ending(waiting: true)
  }

  @Test func aClosedDescriptorIsRefused() {
    #expect(!poller.watch(-1, for: .output, token: 1))
  }
}
