import Testing

@testable import Reports

@Suite struct TimeTextTests {
  @Test(arguments: [
    (Duration.zero, "00:00.0"), (.milliseconds(3199), "00:03.1"), (.seconds(754), "12:34.0"),
    (.seconds(3723), "1:02:03.0"), (.seconds(-1), "00:00.0"),
  ])
  func aStampIsCutToTenths(_ time: Duration, _ text: String) { #expect(TimeText.stamp(time) == text) }

  @Test(arguments: [
    (Duration.zero, "0.0s"), (.milliseconds(49), "0.0s"), (.milliseconds(50), "0.1s"), (.milliseconds(12_345), "12.3s"),
    (.milliseconds(59_949), "59.9s"), (.milliseconds(59_950), "1m00s"), (.seconds(124), "2m04s"),
    (.seconds(3599), "59m59s"), (.seconds(3600), "1h00m"), (.seconds(90_000), "25h00m"),
  ])
  func aLengthNamesItsUnits(_ time: Duration, _ text: String) { #expect(TimeText.length(time) == text) }
}
