import Foundation
import JobModel
import Testing

@Suite struct FormatTests {
  @Test(arguments: [
    (Duration.zero, "00:00.0"), (.milliseconds(3199), "00:03.1"), (.seconds(754), "12:34.0"),
    (.seconds(3723), "1:02:03.0"), (.seconds(-1), "00:00.0"),
  ])
  func aStampIsCutToTenths(_ time: Duration, _ text: String) { #expect(Format.stamp(time) == text) }

  @Test(arguments: [
    (Duration.zero, "0.0s"), (.milliseconds(49), "0.0s"), (.milliseconds(50), "0.1s"), (.milliseconds(12_345), "12.3s"),
    (.milliseconds(59_949), "59.9s"), (.milliseconds(59_950), "1m00s"), (.seconds(124), "2m04s"),
    (.seconds(3599), "59m59s"), (.seconds(3600), "1h00m"), (.seconds(90_000), "25h00m"),
  ])
  func aLengthNamesItsUnits(_ time: Duration, _ text: String) { #expect(Format.length(time) == text) }

  @Test(
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (1_048_575, "1.0 MB"), (37_000_000, "37 MB"),
      (2_147_483_648, "2.1 GB"), (-5, "0 B"), (999_500, "1.0 MB"), (Int64.max, "9.2 EB"),
    ] as [(Int64, String)])
  func bytesHaveThreeDigitsAtMost(_ count: Int64, _ text: String) {
    #expect(Format.bytes(count) == text)
    #expect(text.filter(\.isNumber).count <= 3)
  }

  @Test(
    arguments: [
      (1_082_235_289, 2_147_483_648, "1.1 of 2.1 GB"), (900_000, 2_000_000_000, "900 KB of 2.0 GB"),
      (5, nil, "5 B"), (0, 0, "0 of 0 B"),
    ] as [(Int64, Int64?, String)])
  func anAmountNamesItsUnitOnceIfThatIsTheTotals(_ done: Int64, _ total: Int64?, _ text: String) {
    #expect(Format.bytes(done, of: total) == text)
  }

  @Test(arguments: [
    (0.0, "0:00", "00:00"), (12, "0:12", "00:12"), (62.9, "1:02", "01:02"), (3723, "1:02:03", "1:02:03"),
    (-3, "0:00", "00:00"), (360_000, "100:00:00", "100:00:00"),
  ])
  func timesAreWholeSeconds(_ seconds: Double, _ text: String, _ steady: String) {
    #expect(Format.time(.seconds(seconds)) == text)
    #expect(Format.steadyTime(.seconds(seconds)) == steady)
  }

  @Test func aCountdownEndsAtItsEnd() {
    #expect(Format.countdown(.milliseconds(7_001)) == "0:08")
    #expect(Format.countdown(.zero) == "0:00")
    #expect(Format.countdown(.seconds(-1)) == "0:00")
  }

  @Test func aTimeBeyondAllCountsHasTheGreatestOne() {
    let long = Duration.seconds(10_000_000_000_000)
    #expect(long.microseconds == .max && (.zero - long).microseconds == .min)
    let texts = [Format.length(long), Format.stretch(long), Format.stamp(long), Format.axis(long)]
    #expect(texts.allSatisfy { $0.contains { $0.isNumber } })
    let longest = Duration(secondsComponent: .max, attosecondsComponent: 1)
    #expect(Format.countdown(longest) == Format.time(.seconds(Int64.max)))
  }

  @Test func onlyTheWholeIsAHundredPerCent() {
    #expect(Format.percent(0.999) == "99%")
    #expect(Format.percent(1) == "100%")
  }

  @Test func aFractionOutsideOfTheWholeIsItsNearestEnd() {
    #expect(Format.percent(-0.5) == "0%" && Format.percent(0) == "0%" && Format.percent(0.5) == "50%")
    #expect(Format.percent(1.5) == "100%")
  }

  @Test(arguments: [
    (Duration.seconds(59), "0:59", "00:59"), (.seconds(60), "1:00", "01:00"), (.seconds(599), "9:59", "09:59"),
    (.seconds(600), "10:00", "10:00"), (.seconds(3599), "59:59", "59:59"), (.seconds(3600), "1:00:00", "1:00:00"),
    (.seconds(7260), "2:01:00", "2:01:00"),
  ])
  func minutesGetTwoDigitsUpToTen(_ time: Duration, _ text: String, _ steady: String) {
    #expect(Format.time(time) == text)
    #expect(Format.steadyTime(time) == steady)
  }

  @Test(arguments: [
    (Duration.milliseconds(-700), "0.0s"), (.milliseconds(99), "0.0s"), (.milliseconds(399), "0.3s"),
    (.milliseconds(9999), "9.9s"), (.seconds(10), "0:10"), (.milliseconds(141_900), "2:21"),
  ])
  func aStretchHasTenthsBelowTenSeconds(_ time: Duration, _ text: String) {
    #expect(Format.stretch(time) == text)
  }

  @Test(arguments: [
    (Duration.zero, "0:00"), (.milliseconds(500), "0:00.5"), (.seconds(5), "0:05"), (.milliseconds(61_500), "1:01.5"),
    (.seconds(3600), "1:00:00"),
  ])
  func anAxisHasTenthsOnlyBetweenSeconds(_ time: Duration, _ text: String) {
    #expect(Format.axis(time) == text)
  }

  @Test func aLengthOfLessThanNothingIsNothing() {
    #expect(Format.length(.seconds(-3)) == "0.0s")
    #expect(Format.length(.milliseconds(3_599_950)) == "1h00m")
  }

  @Test(arguments: [
    (0.0, 0, "00:00:00"), (50_592, 0, "14:03:12"), (86_399, 0, "23:59:59"), (86_400, 0, "00:00:00"),
    (-1, 0, "23:59:59"), (-0.5, 0, "23:59:59"), (0.9, 0, "00:00:00"), (0, 3600, "01:00:00"), (0, -3600, "23:00:00"),
    (82_800, 5400, "00:30:00"),
  ])
  func aClockIsThatOfTheZone(_ seconds: Double, _ shift: Int, _ text: String) throws {
    let zone = try #require(TimeZone(secondsFromGMT: shift))
    #expect(Format.clock(Date(timeIntervalSince1970: seconds), in: zone) == text)
  }

  @Test(
    arguments: [
      (8_100_000, .bytes, "8.1 MB/s"), (999.4, .bytes, "999 B/s"), (999.5, .bytes, "1.0 KB/s"),
      (9949, .bytes, "9.9 KB/s"), (9950, .bytes, "10 KB/s"), (-3, .bytes, "0 B/s"), (.infinity, .bytes, "?/s"),
      (0, .steps, "0.0/s"), (-3, .steps, "0.0/s"), (3.24, .steps, "3.2/s"), (9.9, .steps, "9.9/s"),
      (10, .steps, "10/s"),
      (1500, .steps, "1.5K/s"),
    ] as [(Double, JobProgress.Unit, String)])
  func aRateIsOfBytesOrOfSteps(_ rate: Double, _ unit: JobProgress.Unit, _ text: String) {
    #expect(Format.rate(rate, unit) == text)
  }

  @Test func aNumberOfThingsHasItsNoun() {
    #expect([0, 1, 2].map { Format.count($0, "job") } == ["0 jobs", "1 job", "2 jobs"])
    #expect([0, 1, 2].map { Format.tries($0) } == ["0 tries", "1 try", "2 tries"])
    #expect([0, 1, 8].map { Format.slots($0) } == ["0 slots", "1 slot", "8 slots"])
    #expect(Format.slots(Run.unlimited) == "any slots" && Format.slots(999_999) == "999999 slots")
  }

  @Test func microsecondsAreRoundedTowardZero() {
    #expect(Duration.nanoseconds(1999).microseconds == 1 && Duration.nanoseconds(-1999).microseconds == -1)
    #expect(Duration.milliseconds(2500).microseconds == 2_500_000)
  }
}
