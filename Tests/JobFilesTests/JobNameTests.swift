import Testing

@testable import JobFiles

/// The rules for names of jobs and pools.
struct JobNameTests {
  @Test func aNameHasTwoHundredCharactersAtMost() {
    #expect(JobName.fault(in: String(repeating: "é", count: 200)) == nil)
    #expect(JobName.fault(in: String(repeating: "é", count: 201)) == "is longer than 200 characters: shorten it")
  }

  @Test(arguments: [
    ("", "is empty: give it one"), ("x ", "begins or ends with a blank: delete that"),
    (" ", "begins or ends with a blank: delete that"),
    ("a[", "holds a bracket, which only instances of a matrix have: delete it"),
    ("a]", "holds a bracket, which only instances of a matrix have: delete it"),
    ("-", "begins with '-', as an option of the command line does: use another character"),
  ])
  func oneCharacterIsEnoughForAFault(name: String, fault: String) {
    #expect(JobName.fault(in: name) == fault)
  }

  @Test(arguments: ["a", "a-", "a b", "$a", "a{b}", "a$ {", "*", "a,b", "(a)"])
  func anythingElseIsAName(name: String) {
    #expect(JobName.fault(in: name) == nil)
  }
}
