import Foundation
import JobModel
import Reports
import Testing

@Suite struct TraceReportTests {
  private func trace(_ facts: Facts) throws -> [[String: Any]] {
    let text = report(facts) { TraceReport(write: $0) }.text
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
  }

  @Test func aRunInWhichEverythingHappens() {
    expectGolden(report(.everything) { TraceReport(write: $0) }.text, "everything.trace.json")
  }

  @Test func slicesOfOneTrackNeverOverlap() throws {
    let slices = try trace(.everything).filter { $0["ph"] as? String == "X" && $0["cat"] as? String != "pause" }
    #expect(slices.count == 5)
    for (_, track) in Dictionary(grouping: slices, by: { $0["tid"] as? Int }) {
      let spans = track.compactMap { slice in (slice["ts"] as? Int).map { ($0, $0 + (slice["dur"] as? Int ?? 0)) } }
        .sorted { $0 < $1 }
      for (first, second) in zip(spans, spans.dropFirst()) { #expect(first.1 <= second.0) }
    }
  }

  @Test func everyArrowHasItsTwoEndsInsideSlices() throws {
    let events = try trace(.everything)
    let arrows = Dictionary(grouping: events.filter { $0["cat"] as? String == "needs" }) { $0["id"] as? Int }
    #expect(arrows.count == 2)
    for ends in arrows.values {
      #expect(ends.map { $0["ph"] as? String } == ["s", "f"])
      for end in ends {
        let at = try #require(end["ts"] as? Int)
        let isInside = events.contains { slice in
          guard slice["ph"] as? String == "X", slice["tid"] as? Int == end["tid"] as? Int,
            let start = slice["ts"] as? Int,
            let length = slice["dur"] as? Int
          else { return false }
          return (start..<(start + length)).contains(at)
        }
        #expect(isInside)
      }
    }
  }

  @Test func anAttemptThatIsLeftIsClosedAtTheEnd() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    facts.state(.runFinished(RunSummary()), after: .seconds(2))
    let slice = try #require(try trace(facts).first { $0["ph"] as? String == "X" })
    #expect(slice["dur"] as? Int == 2_000_000)
  }

  @Test func aRunWithoutEventsIsAnArrayToo() throws {
    var facts = Facts()
    facts.begin([])
    facts.state(.runFinished(RunSummary()))
    #expect(try trace(facts).count == 1)
  }
}
