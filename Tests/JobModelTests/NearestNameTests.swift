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

  @Test(arguments: [
    ("abcd", "abce", true), ("abcd", "abef", false), ("abcdef", "abcdxy", true), ("abcdef", "abcxyz", false),
    ("ab", "ba", true), ("ab", "b", true), ("ab", "cd", false), ("abc", "abcd", true), ("abc", "abcde", true),
    ("xyz", "xyab", false), ("abcdefghi", "ghabcdefi", false), ("abcde", "bacde", true), ("abcdef", "badcef", true),
  ])
  func everyThreeCharactersAllowOneEdit(typed: String, name: String, isNear: Bool) {
    #expect(NearestName.of(typed, in: [name]) == (isNear ? name : nil))
  }

  @Test func theWordItselfIsNoCandidateButAnotherCaseIs() {
    #expect(NearestName.of("needs", in: ["needs"]) == nil)
    #expect(NearestName.of("needs", in: ["needs", "need"]) == "need")
    #expect(NearestName.of("Needs", in: ["need", "needs"]) == "needs")
  }

  @Test func aPrefixHasTwoCharactersAndOneContinuation() {
    #expect(NearestName.of("du", in: ["duration", "steps"]) == "duration")
    #expect(NearestName.of("d", in: ["duration"]) == nil)
    #expect(NearestName.of("dur", in: ["duration", "dur"]) == "duration")
  }

  @Test func aLongWordIsStillCompared() {
    let name = String(repeating: "n", count: 99)
    #expect(NearestName.of(name + "x", in: [name]) == name)
    #expect(NearestName.of(name + "xy", in: [name]) == nil)
  }

  @Test func aHintAsksOrIsTheOtherText() {
    #expect(NearestName.hint(for: "neds", in: ["needs"]) == ": did you mean 'needs'?")
    #expect(NearestName.hint(for: "xyz", in: ["needs"]) == "")
    #expect(NearestName.hint(for: "xyz", in: ["needs"], otherwise: ", see --help") == ", see --help")
  }
}
