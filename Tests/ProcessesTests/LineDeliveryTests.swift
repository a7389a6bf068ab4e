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
  private func take(_ text: String, _ lines: LineDelivery) -> [String] {
    calls.withLock { $0 = [] }
    lines.take(
      Array(text.utf8), consumed: { [calls] in calls.withLock { $0.append("(consumed)") } },
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

  @Test func aLineIsTooLongBeforeItsEndToo() {
    let lines = delivery(limit: 3)
    #expect(take("abc", lines) == ["(consumed)"])
    #expect(take("d", lines) == ["(too long)", "(consumed)"])
    #expect(finish(lines) == ["(end)"])
    // The limit is one of bytes.
    #expect(take("éé\n", delivery(limit: 3)) == ["(too long)", "(consumed)"])
  }
}
