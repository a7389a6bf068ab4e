import Foundation
import Testing

@testable import JobModel

@Suite struct EventTimeTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (0.25, "1970-01-01T00:00:00.250Z"), (0.001, "1970-01-01T00:00:00.001Z"),
    (59.999, "1970-01-01T00:00:59.999Z"), (0.9996, "1970-01-01T00:00:01.000Z"), (-0.001, "1969-12-31T23:59:59.999Z"),
    (1_767_225_600.25, "2026-01-01T00:00:00.250Z"),
  ])
  func aDateIsWrittenToTheMillisecondAndReadBack(seconds: Double, text: String) {
    let date = Date(timeIntervalSince1970: seconds)
    #expect(date.eventText == text)
    #expect(Date(eventText: text) == date.wholeMilliseconds)
  }

  @Test(arguments: [
    "", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.25Z", "2026-01-01T00:00:00.2500Z", "2026-01-01T00:00:00.250",
    "2026-01-01T00:00:00.250z", "2026-01-01T00:00:00.-25Z", "2026-01-01T00:00:00.2x0Z", "today.250Z",
    "2026-01-01T00:00:00.250.250Z", ".250Z", "2026-01-01T00:00:00.+25Z", "2026-01-01T00:00:00.-00Z",
    "+2026-01-01T00:00:00.250Z", "2026-1-1T0:0:0.250Z",
    "99999-01-01T00:00:00.250Z",
  ])
  func anotherTextIsNoDate(text: String) {
    #expect(Date(eventText: text) == nil)
  }

  @Test func aDateIsRoundedToMillisecondsAndATimeCutToMicroseconds() {
    #expect(Date(timeIntervalSinceReferenceDate: 1.0004).wholeMilliseconds == Date(timeIntervalSinceReferenceDate: 1))
    #expect(Date(timeIntervalSinceReferenceDate: 1.0006).wholeMilliseconds.timeIntervalSinceReferenceDate == 1.001)
    #expect(Duration.nanoseconds(1_001_999).wholeMicroseconds == .microseconds(1001))
    #expect(Duration.microseconds(7).wholeMicroseconds == .microseconds(7))
  }
}
