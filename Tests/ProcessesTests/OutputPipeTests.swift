import Foundation
import Testing

@testable import Processes

struct OutputPipeTests {
  @Test func aPipeIsClosedOnce() throws {
    var pipe = OutputPipe()
    let failure = pipe.open()
    try #require(failure == 0)
    #expect(pipe.isOpen)
    pipe.close()
    #expect(!pipe.isOpen)
    #expect(pipe.reader == -1 && pipe.writer == -1)
    pipe.close()
    #expect(pipe.reader == -1 && pipe.writer == -1)
  }

  @Test(arguments: [false, true]) func noChildInheritsIt(isTerminal: Bool) throws {
    var pipe = OutputPipe()
    defer { pipe.close() }
    let failure = isTerminal ? pipe.openTerminal(TerminalSize(columns: 80, rows: 24)) : pipe.open()
    try #require(failure == 0)
    for end in [pipe.reader, pipe.writer] {
      #expect(end > 2)
      #expect(fcntl(end, F_GETFD) & FD_CLOEXEC != 0)
    }
    #expect(fcntl(pipe.reader, F_GETFL) & O_NONBLOCK != 0)
    #expect(fcntl(pipe.writer, F_GETFL) & O_NONBLOCK == 0)
  }

  @Test func onlyATerminalHasASize() throws {
    var (pipe, terminal) = (OutputPipe(), OutputPipe())
    defer {
      pipe.close()
      terminal.close()
    }
    let failures = [pipe.open(), terminal.openTerminal(TerminalSize(columns: 100, rows: 30))]
    try #require(failures == [0, 0])
    #expect(!pipe.resize(to: TerminalSize(columns: 1, rows: 2)))
    #expect(terminal.resize(to: TerminalSize(columns: 70, rows: 20)))
    var size = winsize()
    #expect(ioctl(terminal.writer, UInt(TIOCGWINSZ), &size) == 0)
    #expect(size.ws_col == 70 && size.ws_row == 20)
  }

  @Test func aTerminalWithoutInputIsAtItsEnd() throws {
    var terminal = OutputPipe()
    defer { terminal.close() }
    let failure = terminal.openTerminal(TerminalSize(columns: 80, rows: 24))
    try #require(failure == 0)
    terminal.endInput(alsoKeys: false)
    var byte: UInt8 = 0
    #expect(read(terminal.writer, &byte, 1) == 0)
  }

  @Test func aDescriptorAboveTheStandardStreamsIsKept() {
    #expect(OutputPipe.aboveStandard(7) == 7)
    #expect(OutputPipe.aboveStandard(-1) == -1)
  }
}
