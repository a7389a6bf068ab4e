import Testing

@testable import JobModel

@Suite struct JobNamesTests {
  private func names(_ list: String...) -> JobNames {
    var names = JobNames()
    for name in list { names.append(name) }
    return names
  }

  @Test func aNameThatOneJobHasTellsItFromAllOthers() {
    let names = names("a", "b")
    #expect(names.count == 2)
    #expect(names[JobID(1)] == "b" && names[JobID(2)] == nil && names[JobID(-1)] == nil)
    #expect(names.id(named: "a") == JobID(0) && names.id(named: "c") == nil)
    #expect(names.number(of: JobID(0)) == nil && names.number(of: JobID(1)) == nil)
  }

  @Test func aNameThatSeveralHaveNeedsTheNumberToo() {
    let names = names("a", "b", "a", "a")
    #expect((0..<4).map { names.number(of: JobID($0)) } == [0, nil, 2, 3])
    #expect(names.id(named: "a") == nil && names.id(named: "b") == JobID(1))
  }

  @Test func aJobThatIsNotAddedYetHasOnlyItsNumber() {
    #expect(names("a").number(of: JobID(1)) == 1)
    #expect(names("a", "a").number(of: JobID(5)) == 5)
  }
}
