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

  @Test func onlyTheWholeIsAHundredPerCent() {
    #expect(Format.percent(0.999) == "99%")
    #expect(Format.percent(1) == "100%")
  }
}
