import JobModel
import Testing

@Suite struct JobPatternTests {
  @Test(arguments: [
    ("test-*", "test-a", true), ("test-*", "test-", true), ("test-*", "a-test-", false), ("*", "", true),
    ("b?ld", "bild", true), ("b?ld", "bld", false), ("b?ld", "büld", true), ("*a*b", "xaxxab", true),
    ("*a*b", "xaxxabc", false), ("build[linux,*]", "build[linux,x64]", true),
    ("build[linux,*]", "build[mac,x64]", false), ("[ab]*", "a", false), ("[ab]*", "[ab]c", true), ("a**b", "ab", true),
  ])
  func aStarStandsForAnyCharactersAndAQuestionMarkForOne(pattern: String, name: String, isMatch: Bool) throws {
    #expect(try #require(JobPattern(pattern)).matches(name) == isMatch)
  }

  @Test func textWithoutWildcardsIsNoPattern() {
    #expect(JobPattern("build[linux]") == nil)
    #expect(JobPattern("") == nil)
  }

  @Test func manyStarsTakeNoLongerThanTheProductOfBothTexts() throws {
    let pattern = try #require(JobPattern(String(repeating: "a*", count: 500) + "b"))
    #expect(!pattern.matches(String(repeating: "a", count: 2000)))
  }

  private let graph: JobGraph = {
    func instance(_ name: String) -> Job {
      Job(name: name, work: .simulate(SimulatedWork()), matrix: String(name.prefix { $0 != "[" }))
    }
    return JobGraph(
      name: "g",
      jobs: [
        job("fetch"), instance("build[linux,x64]"), instance("build[mac,arm]"), job("test-a"), job("test-b"),
        job("tes*"), instance("unit[linux]"), job("test-a"),
      ])
  }()

  @Test(arguments: [
    ("fetch", [0]), ("build", [1, 2]), ("build[mac,arm]", [2]), ("build[*,arm]", [2]), ("*[linux*", [1, 6]),
    ("test-?", [3, 4, 7]), ("test-a", [3]), ("tes*", [5]), ("te*", [3, 4, 5, 7]), ("*", [0, 1, 2, 3, 4, 5, 6, 7]),
    ("none", []), ("none*", []), ("", []), ("build[linux]", []),
  ])
  func aNameComesBeforeAMatrixAndAMatrixBeforeAPattern(text: String, jobs: [Int]) {
    #expect(graph.jobs(matching: text) == jobs.map { JobID($0) })
  }

  @Test func aPatternIsComparedOnlyWithNamesThatBeginLikeIt() {
    var index = JobNameIndex((0..<100_000).map { ("job[\($0 % 1000),\($0 / 1000)]", "job") })
    #expect(index.jobs(matching: "job[7,*]").count == 100)
    #expect(index.comparisons == 100)
    #expect(index.jobs(matching: "job[7,*]").count == 100)
    #expect(index.comparisons == 100)
  }

  @Test func aPrefixEndsAtTheFirstWildcard() throws {
    for (pattern, prefix) in [("test-*", "test-"), ("b?ld*", "b"), ("*", ""), ("a[1]*?", "a[1]"), ("é?*", "é")] {
      #expect(try #require(JobPattern(pattern)).prefix == prefix)
    }
  }

  @Test(arguments: [
    ("?", "a", true), ("?", "", false), ("?", "ab", false), ("a*", "a", true), ("*a", "ba", true), ("*a", "ab", false),
    ("a*b*c", "a1b2c", true), ("a*b*c", "acb", false), ("a?", "a", false), ("*?", "", false), ("*?", "a", true),
    ("*ab", "aab", true), ("a*a", "a", false), ("**", "x", true), ("a*?b", "axb", true), ("a*?b", "ab", false),
  ])
  func aMatchIsOfTheWholeName(pattern: String, name: String, isMatch: Bool) throws {
    #expect(try #require(JobPattern(pattern)).matches(name) == isMatch)
  }

  @Test func anIndexFindsTheFirstOfAName() {
    let jobs: [(name: String, matrix: String?)] = [("b", nil), ("m[1]", "m"), ("a", nil), ("b", nil), ("m[2]", "m")]
    var index = JobNameIndex(jobs)
    #expect(index.job(named: "b") == 0 && index.job(named: "a") == 2 && index.job(named: "m") == nil)
    #expect(index.instances(of: "m") == [1, 4] && index.instances(of: "b") == nil)
    #expect(index.jobs(matching: "b*") == [0, 3])
    #expect(index.jobs(matching: "?") == [0, 2, 3])
    #expect(index.jobs(matching: "b") == [])
  }
}
