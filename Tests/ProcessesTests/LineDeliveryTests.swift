import Dispatch
import Support
import Testing

@testable import Processes

struct LineDeliveryTests {
  private let queue = DispatchQueue(label: "test")
  private let calls = Lock<[String]>([])

  private func delivery(limit: Int) -> LineDelivery {
    LineDelivery(limit: limit, on: queue) { [calls] line in calls.withLock { $0.append(line) } }
  }

  /// What happens at a chunk, in order.
  private func take(_ text: String, _ lines: LineDelivery) -> [String] { take(Array(text.utf8), lines) }

  private func take(_ bytes: [UInt8], _ lines: LineDelivery) -> [String] {
    calls.withLock { $0 = [] }
    lines.take(
      bytes, consumed: { [calls] in calls.withLock { $0.append("(consumed)") } },
      tooLong: { [calls] in calls.withLock { $0.append("(too long)") } })
    queue.sync {}
    return calls.withLock { $0 }
  }

  private func finish(_ lines: LineDelivery) -> [String] {
    calls.withLock { $0 = [] }
    lines.finish { [calls] in calls.withLock { $0.append("(end)") } }
    queue.sync {}
    return calls.withLock { $0 }
  }

  @Test func aChunkIsConsumedAfterItsLines() {
    let lines = delivery(limit: 100)
    #expect(take("one\ntwo\nthr", lines) == ["one", "two", "(consumed)"])
    #expect(take("ee", lines) == ["(consumed)"])
    #expect(finish(lines) == ["three", "(end)"])
  }

  @Test func afterALineBeyondTheLimitNoneIsGiven() {
    let lines = delivery(limit: 3)
    #expect(take("abc\né\n", lines) == ["abc", "é", "(consumed)"])
    #expect(take("x\nabcd\ny\n", lines) == ["x", "(too long)", "(consumed)"])
    #expect(take("z\nabcd\n", lines) == ["(consumed)"])
    #expect(finish(lines) == ["(end)"])
  }

  @Test func theLineWithoutAnEndIsKept() {
    let lines = delivery(limit: 100)
    #expect(take("aé", lines) == ["(consumed)"])
    #expect(take("b\nc\nde", lines) == ["aéb", "c", "(consumed)"])
    #expect(take("\n", lines) == ["de", "(consumed)"])
    #expect(finish(lines) == ["(end)"])
  }

  @Test func theLastLineIsGivenOnce() {
    let lines = delivery(limit: 100)
    #expect(take("a\nb\r", lines) == ["a", "(consumed)"])
    #expect(finish(lines) == ["b", "(end)"])
    #expect(finish(lines) == ["(end)"])
    #expect(take("c\n", lines) == ["c", "(consumed)"])
  }

  /// The same cases as of collected lines.
  @Test(arguments: [
    ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("a\r\n\r\nb\r", ["a", "", "b"]),
    ("a\rb\n", ["a\rb"]), ("\n\n", ["", ""]),
  ])
  func byteByByteItComesToTheSame(text: String, expected: [String]) {
    let lines = delivery(limit: 100)
    let pieces = text.utf8.flatMap { take(String(UnicodeScalar($0)), lines) } + finish(lines)
    #expect(pieces.filter { !$0.hasPrefix("(") } == expected)
  }

  @Test func aLineIsTooLongBeforeItsEndToo() {
    let lines = delivery(limit: 3)
    #expect(take("abc", lines) == ["(consumed)"])
    #expect(take("d", lines) == ["(too long)", "(consumed)"])
    #expect(finish(lines) == ["(end)"])
    // The limit is one of bytes.
    #expect(take("éé\n", delivery(limit: 3)) == ["(too long)", "(consumed)"])
  }

  /// A carriage return before the line feed does not count, and neither does what a byte that is not UTF-8 becomes.
  @Test(
    arguments: [
      (Array("abc\r\n".utf8), true), ([0xFF, 0xFE, 0xFF, 0x0A], true), (Array("abc\r".utf8), true),
      (Array("abcd\n".utf8), false), (Array("abc\rd\n".utf8), false), (Array("abc\r\r\n".utf8), false),
      ([0xFF, 0xFE, 0xFF, 0xFF], false),
    ] as [([UInt8], Bool)])
  func theLimitIsTheSameHoweverALineComes(bytes: [UInt8], fits: Bool) {
    for size in 1...bytes.count {
      let lines = delivery(limit: 3)
      var calls: [String] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        calls += take(Array(bytes[start..<min(start + size, bytes.count)]), lines)
      }
      calls += finish(lines)
      #expect(calls.contains("(too long)") == !fits, "in pieces of \(size)")
      #expect(calls.count { !$0.hasPrefix("(") } == (fits ? 1 : 0))
    }
  }
}
