import JobModel
import Testing

@testable import Dashboard

@Suite struct JobFilterTests {
  private func admits(_ text: String, _ name: String, _ state: StateClass?, _ kind: String) -> Bool {
    JobFilter(text).admits(name: Needle.haystack(name), state: state?.names ?? [], kind: kind)
  }

  @Test(arguments: ["", " ", "!", "state:", "!kind:", "! state: kind:"])
  func anIncompleteTermExcludesNothing(_ text: String) {
    #expect(JobFilter(text).isEmpty)
    #expect(admits(text, "a", .failed, "shell"))
  }

  @Test(arguments: [
    ("api", true), ("API", true), ("!api", false), ("web", false), ("!web", true), ("api state:running", true),
    ("api state:exec", true), ("web state:running", false), ("api state:failed", false), ("!state:failed", true),
    ("kind:sh", true), ("kind:hell", false), ("!kind:download", true), ("api !kind:shell", false),
    ("!!api", true), ("state:running kind:shell api", true), ("State:Running", true), ("!STATE:running", false),
    ("KIND:Shell", true), ("Kind:download", false),
  ])
  func everyTermMustHold(_ text: String, _ holds: Bool) {
    #expect(admits(text, "the-api", .executing, "shell") == holds)
  }

  @Test func anEventOfTheRunHasNeitherStateNorKind() {
    #expect(!admits("state:failed", "", nil, ""))
    #expect(admits("!state:failed", "", nil, ""))
    #expect(!admits("kind:shell", "", nil, ""))
  }

  @Test(arguments: [
    ("", "", true), ("", "abc", true), ("a", "", false), ("abc", "abc", true), ("abcd", "abc", false),
    ("bc", "abc", true), ("bd", "abc", false), ("aab", "aaab", true), ("c", "abc", true), ("CB", "acbd", true),
    ("\u{e9}", "caf\u{c9}", true), ("\u{e9}", "cafe\u{301}", true), ("E\u{301}", "caf\u{e9}", true),
    ("\u{e9}", "cafe", false),
  ])
  func aNeedleIsFoundWhereverItStands(_ needle: String, _ text: String, _ isFound: Bool) {
    #expect(Needle(needle).isFound(in: Needle.haystack(text)) == isFound)
  }

  // MARK: The filtered jobs

  @Test func theVersionChangesWithWhatIsAdmitted() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    var index = JobIndex(builder.run)
    var jobs = FilteredJobs()
    func admitted() -> [Bool] { builder.run.ids.map(jobs.admits) }
    jobs.update(builder.run, index)
    #expect(jobs.version == 0 && admitted() == [true, true])

    jobs.setFilter(JobFilter("state:executing"))
    jobs.update(builder.run, index)
    #expect(jobs.version == 1 && admitted() == [false, false])
    jobs.setFilter(JobFilter("state:executing"))
    jobs.update(builder.run, index)
    #expect(jobs.version == 1)

    builder.move("b", .executing)
    index.move(JobID(1), builder.run)
    jobs.note(JobID(1))
    jobs.update(builder.run, index)
    #expect(jobs.version == 2 && admitted() == [false, true])
    // A change that admits the same.
    jobs.note(JobID(0))
    jobs.update(builder.run, index)
    #expect(jobs.version == 2)

    jobs.invalidate()
    jobs.update(builder.run, index)
    #expect(jobs.version == 3)
    jobs.update(builder.run, index)
    #expect(jobs.version == 3)

    jobs.setFilter(.everything)
    jobs.update(builder.run, index)
    #expect(jobs.version == 4 && admitted() == [true, true])
    jobs.update(builder.run, index)
    #expect(jobs.version == 4)
  }

  @Test func aJobThatIsAddedIsFilteredByItsName() {
    var builder = RunBuilder([.shell("api")])
    var index = JobIndex(builder.run)
    var jobs = FilteredJobs()
    jobs.setFilter(JobFilter("api"))
    jobs.update(builder.run, index)
    for (number, name) in ["web", "api-2"].enumerated() {
      builder.state(.jobAdded(JobID(number + 1), .shell(name)))
      index.add(JobID(number + 1), builder.run)
      jobs.update(builder.run, index)
    }
    #expect(builder.run.ids.map(jobs.admits) == [true, false, true])
  }

  @Test func withoutAFilterAChangeIsNotKept() {
    let builder = RunBuilder([.shell("a")])
    var jobs = FilteredJobs()
    jobs.note(JobID(0))
    jobs.update(builder.run, JobIndex(builder.run))
    #expect(jobs.version == 0)
  }
}
