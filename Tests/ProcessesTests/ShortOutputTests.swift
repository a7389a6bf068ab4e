import Operations
import Testing

@testable import Processes

struct ShortOutputTests {
  private func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "x"), count: count) }

  @Test func fourKibibytesAreShort() {
    var output = ShortOutput()
    #expect(output.hasRoom(for: bytes(4096)))
    #expect(!output.hasRoom(for: bytes(4097)))
    output.take(bytes(4000))
    #expect(output.hasRoom(for: bytes(96)))
    #expect(!output.hasRoom(for: bytes(97)))
    output.take(bytes(96))
    #expect(output.hasRoom(for: []))
    #expect(!output.hasRoom(for: bytes(1)))
    #expect(output.bytes == bytes(4096))
  }

  @Test(arguments: [
    ("a\nb\n", ["a", "b"], true), ("", [], true), ("a\nb", ["a", "b"], false), ("b\na\n", ["a", "b"], false),
    ("a\n\n", ["a"], false), ("a\r\n", ["a"], false), ("a\n", [], false),
  ])
  func linesTellAnOutputIfTheySayEachByte(text: String, lines: [String], isTold: Bool) {
    var output = ShortOutput()
    output.take(Array(text.utf8))
    for line in lines { output.take([OperationLogLine(text: line)]) }
    #expect(output.isTold == isTold)
  }

  @Test func aLineThatMayChangeYetTellsNothing() {
    var output = ShortOutput()
    output.take(Array("a\n".utf8))
    output.take([OperationLogLine(text: "a", isUnfinished: true)])
    #expect(!output.isTold)
    output.take([OperationLogLine(text: "a")])
    #expect(output.isTold)
  }
}
