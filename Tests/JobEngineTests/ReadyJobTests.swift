import JobModel
import Testing

@testable import JobEngine

@Suite struct ReadyJobTests {
  private static func entry(_ level: Int, _ rank: Duration, _ order: Int) -> ReadyJob {
    ReadyJob(level: level, rank: rank, order: order, job: JobID(0), lane: .slots, stamp: 0)
  }

  /// The level before the rank, the rank before the order.
  @Test func priorityThenPathThenOrderDecidesWhichJobComesFirst() {
    let sorted = [
      entry(2, .seconds(1), 9), entry(1, .seconds(8), 7), entry(1, .seconds(3), 1), entry(1, .seconds(3), 2),
      entry(0, .seconds(9), 0),
    ]
    for first in sorted.indices {
      for second in sorted.indices { #expect((sorted[first] < sorted[second]) == (first < second)) }
    }
  }

  private func entry(_ level: Int, _ rank: Duration, _ order: Int) -> ReadyJob { Self.entry(level, rank, order) }
}
