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
      (0, "0"), (999, "999"), (1000, "1.0K"), (1024, "1.0K"), (1_048_575, "1.0M"), (37_000_000, "35M"),
      (2_147_483_648, "2.0G"), (-5, "0"), (Int64.max, "8.0E"),
    ] as [(Int64, String)])
  func bytesTakeFourCellsAtMost(_ count: Int64, _ text: String) {
    #expect(Format.bytes(count) == text)
    #expect(text.count <= 4)
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
