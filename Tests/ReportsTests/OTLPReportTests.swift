import Foundation
import JobModel
import Operations
import Testing

@testable import Reports

@Suite struct OTLPReportTests {
  /// The spans of the facts, with ids that count from 1.
  private func spans(_ facts: Facts) -> [[UInt8]] {
    let spans = Lock<[[UInt8]]>([])
    let count = Lock<UInt64>(0)
    let report = OTLPReport {
      count.withLock { count in
        count += 1
        return count
      }
    } write: { more in
      spans.withLock { $0 += more }
    }
    var set = ReportSet([report])
    set.receive(facts.events)
    return spans.withLock { $0 }
  }

  private func objects(_ facts: Facts) throws -> [[String: Any]] {
    try spans(facts).map { try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]) }
  }

  @Test func aRunInWhichEverythingHappens() {
    let lines = String(decoding: OTLPReport.document(spans(.everything)), as: UTF8.self)
      .replacing("},{\"traceId\"", with: "},\n{\"traceId\"")
    expectGolden(lines + "\n", "everything.otlp.json")
  }

  @Test func everySpanIsInsideOfItsParent() throws {
    let objects = try objects(.everything)
    var byID: [String: [String: Any]] = [:]
    for object in objects { byID[try #require(object["spanId"] as? String)] = object }
    #expect(byID.count == objects.count)
    #expect(objects.count { $0["parentSpanId"] == nil } == 1)
    func time(_ object: [String: Any], _ key: String) throws -> Int { try #require(Int(object[key] as? String ?? "")) }
    for object in objects {
      #expect((object["traceId"] as? String)?.count == 32 && (object["spanId"] as? String)?.count == 16)
      guard let parent = object["parentSpanId"] as? String else { continue }
      let outer = try #require(byID[parent])
      #expect(try time(object, "startTimeUnixNano") >= time(outer, "startTimeUnixNano"))
      #expect(try time(object, "endTimeUnixNano") <= time(outer, "endTimeUnixNano"))
    }
  }

  @Test func aFailureIsTheStatusOfItsAttemptAndItsJob() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .ready(for: .slot), attempt: 0, after: .seconds(1))
    facts.job(0, .executing, after: .seconds(2))
    facts.finish(failing: 0, "exit \"7\"")
    let objects = try objects(facts)
    #expect(objects.map { $0["name"] as? String } == ["a", "a", "release"])
    for object in objects.dropLast() {
      let status = try #require(object["status"] as? [String: Any])
      #expect(status["code"] as? Int == 2 && status["message"] as? String == "exit \"7\"")
    }
    let events = try #require(objects[1]["events"] as? [[String: Any]])
    #expect(events.map { $0["name"] as? String } == ["waits for needs", "waits for a slot"])
    #expect(events[1]["timeUnixNano"] as? String == "1767225601250000000")
    #expect(objects[0]["startTimeUnixNano"] as? String == "1767225603250000000")
  }

  @Test func aJobThatIsExecutedAgainHasAnotherSpan() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    facts.job(0, .succeeded(upToDate: false), after: .seconds(1))
    facts.job(0, .ready(for: .slot), attempt: 1, after: .seconds(1))
    facts.job(0, .executing, attempt: 2)
    facts.state(.runFinished(RunSummary()), after: .seconds(1))
    let objects = try objects(facts)
    #expect(objects.count == 5)
    #expect(objects[1]["spanId"] as? String != objects[3]["spanId"] as? String)
    #expect(objects[2]["parentSpanId"] as? String == objects[3]["spanId"] as? String)
  }

  @Test func anAttemptThatEndedForAnotherIsRestarted() throws {
    let outcomes = try objects(Facts.restarted).prefix(2).map { span -> String? in
      let attributes = span["attributes"] as? [[String: Any]]
      let outcome = attributes?.first { $0["key"] as? String == "opdash.outcome" }
      return (outcome?["value"] as? [String: String])?["stringValue"]
    }
    #expect(outcomes == ["restarted", "succeeded"])
  }

  @Test func eventsOfASpanAreLimited() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    for _ in 0..<200 {
      facts.job(0, .ready(for: .slot), attempt: 0, after: .seconds(1))
      facts.job(0, .waiting, attempt: 0, after: .seconds(1))
    }
    facts.state(.runFinished(RunSummary()), after: .seconds(1))
    let job = try #require(try objects(facts).first)
    #expect((job["events"] as? [Any])?.count == 128 && job["droppedEventsCount"] as? Int == 272)
  }
}
