import JobModel
import Testing

/// Whether a job's `if` holds.
@Suite struct ConditionTermTests {
  private typealias Term = JobCondition.Term

  private func holds(_ term: Term) -> Bool { JobCondition("", [[term]]).holds() }

  @Test(arguments: ["", "false", "FALSE", "False", "0", "no", "No", "off", "OFF"])
  func aFalsehoodIsFalseInAnyCaseOfLetters(text: String) {
    #expect(!holds(Term(text)))
    #expect(holds(Term(text, isNegated: true)))
  }

  @Test(arguments: ["true", "1", "yes", "00", "nope", " ", "f", "offs"]) func allOtherTextsAreTrue(text: String) {
    #expect(holds(Term(text)))
    #expect(!holds(Term(text, isNegated: true)))
  }

  @Test func aComparisonIsOfEqualTexts() {
    #expect(holds(Term("a", equals: "a")) && !holds(Term("a", equals: "A")))
    #expect(!holds(Term("a", equals: "a", isNegated: true)) && holds(Term("a", equals: "b", isNegated: true)))
    #expect(holds(Term("0", equals: "0")) && !holds(Term("0", equals: "")))
  }

  @Test func allTermsOfOneAlternativeMustHold() {
    let (yes, no) = (Term("1"), Term("0"))
    #expect(JobCondition("", [[yes, yes]]).holds())
    #expect(!JobCondition("", [[yes, no]]).holds() && !JobCondition("", [[no, yes]]).holds())
    #expect(JobCondition("", [[no], [yes]]).holds() && JobCondition("", [[yes], [no]]).holds())
    #expect(!JobCondition("", [[no], [no]]).holds())
    #expect(!JobCondition("").holds())
  }

  @Test func bothSidesAreResolved() {
    let condition = JobCondition("", [[Term("${x}", equals: "${y}")]])
    #expect(!condition.holds())
    #expect(condition.holds { $0 == "${x}" || $0 == "${y}" ? "1" : $0 })
    #expect(!condition.holds { $0 == "${x}" ? "1" : $0 })
    #expect(JobCondition("", [[Term("${x}")]]).holds { _ in "yes" })
    #expect(!JobCondition("", [[Term("${x}")]]).holds { _ in "no" })
  }

  @Test func aConditionMayHoldWhileAValueOfItIsNotKnown() {
    let known = Term("a", equals: "b")
    #expect(JobCondition("", [[Term("v${x}", equals: "1")]]).mayHold(without: ["${x}"]))
    #expect(JobCondition("", [[Term("1", equals: "v${x}")]]).mayHold(without: ["${y}", "${x}"]))
    #expect(!JobCondition("", [[Term("v${x}", equals: "1")]]).mayHold(without: ["${y}"]))
    #expect(!JobCondition("", [[Term("${x}"), known]]).mayHold(without: ["${x}"]))
    #expect(JobCondition("", [[Term("${x}"), known], [Term("yes")]]).mayHold(without: ["${x}"]))
    #expect(!JobCondition("", [[Term("no")]]).mayHold(without: []))
    // The two sides are not one text.
    #expect(!JobCondition("", [[Term("${", equals: "x}")]]).mayHold(without: ["${x}"]))
  }
}
