import JobModel
import Testing

@Suite struct NearestNameTests {
  @Test(arguments: [
    ("neds", "needs"), ("need", "needs"), ("nedes", "needs"), ("NEEDS", "needs"), ("timout", "timeout"),
    ("alow_failure", "allow_failure"), ("allow-failure", "allow_failure"), ("rnu", "run"),
  ])
  func aMisspeltWordFindsItsName(typed: String, meant: String) {
    #expect(NearestName.of(typed, in: ["run", "needs", "timeout", "allow_failure"]) == meant)
  }

  @Test(arguments: ["", "xyz", "download", "n", String(repeating: "n", count: 500)])
  func aDistantWordFindsNone(typed: String) {
    #expect(NearestName.of(typed, in: ["run", "needs", "timeout"]) == nil)
  }

  @Test func theNearestWinsAndTheFirstOfEquals() {
    #expect(NearestName.of("build", in: ["built", "build1", "guild"]) == "built")
    #expect(NearestName.of("buidl", in: ["bundle", "build"]) == "build")
  }

  @Test func theOnlyNameWithThisPrefixIsFound() {
    #expect(NearestName.of("dur", in: ["steps", "duration"]) == "duration")
    #expect(NearestName.of("dur", in: ["durable", "duration"]) == nil)
  }

  @Test func aShortWordIsNotReplacedByAnyOther() {
    #expect(NearestName.of("a", in: ["b"]) == nil)
  }
}
