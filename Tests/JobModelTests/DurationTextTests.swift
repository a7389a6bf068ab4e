import JobModel
import Testing

@Suite struct DurationTextTests {
  @Test(arguments: [
    ("500ms", 500), ("8s", 8000), ("10m", 600_000), ("1h30m", 5_400_000), ("0", 0), ("0s", 0), ("0.5s", 500),
    ("1.5h", 5_400_000), ("1h2m3s4ms", 3_723_004), ("90m", 5_400_000), ("0.1s", 100), ("100000h", 360_000_000_000),
  ])
  func aDurationIsNumbersWithUnits(text: String, milliseconds: Int64) {
    #expect(DurationText.parse(text) == .milliseconds(milliseconds))
  }

  @Test(arguments: [
    "", "10", "s", "10 minutes", "10 m", " 8s", "8s ", "-8s", "+8s", "8S", "8sec", "1m1h", "1s1s", "1.s", ".5s",
    "1.2.3s", "1e3s",
    "100000h1ms", "99999999999999999999h", "0x8s", "８s", "1d", "nan", "infs",
  ])
  func anythingElseGivesNil(text: String) {
    #expect(DurationText.parse(text) == nil)
  }

  @Test(arguments: ["0s", "1ms", "1s500ms", "1h30m", "2m", "25h1ms"])
  func theExactFormReadsBack(text: String) {
    #expect(DurationText.parse(text).map(DurationText.exact) == text)
  }

  @Test func partsOfAMillisecondAreRounded() {
    #expect(DurationText.parse("0.0004s") == .zero && DurationText.parse("1.0006s") == .milliseconds(1001))
    #expect(DurationText.parse("0.25ms") == .zero && DurationText.parse("0.75ms") == .milliseconds(1))
  }

  @Test func aNumberHasAtMostTwentyDigits() {
    #expect(DurationText.parse("00000000000000000008s") == .seconds(8))
    #expect(DurationText.parse("000000000000000000008s") == nil)
  }

  @Test func theSumOfAllUnitsIsLimitedToo() {
    #expect(DurationText.parse("99999h60m") == DurationText.limit)
    #expect(DurationText.parse("99999h61m") == nil && DurationText.parse("100000h1s") == nil)
    #expect(DurationText.parse("100001h") == nil && DurationText.parse("6000000m") == DurationText.limit)
  }

  @Test func theExactFormEndsAtMillisecondsAndAtZero() {
    #expect(DurationText.exact(.zero) == "0s" && DurationText.exact(.seconds(-5)) == "0s")
    #expect(DurationText.exact(.microseconds(1_500_900)) == "1s500ms")
    #expect(DurationText.exact(.seconds(3600)) == "1h" && DurationText.exact(.seconds(59)) == "59s")
  }
}
