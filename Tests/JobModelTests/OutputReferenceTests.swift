import JobModel
import Testing

@Suite struct OutputReferenceTests {
  @Test(arguments: [
    ("", ""), ("plain", "plain"), ("${a}", "1"), ("x${a}y${b}z", "x1y22z"), ("${b}${a}", "221"),
    ("${a}${a}", "11"), ("${c}", "${a}"), ("${c}${a}", "${a}1"), ("$${a}}", "$1}"),
  ])
  func eachKeyIsReplacedOnceAndNoValueIs(text: String, result: String) {
    #expect(text.replacing([("${a}", "1"), ("${b}", "22"), ("${c}", "${a}")]) == result)
  }

  @Test(arguments: ["\u{301}", "\u{200D}", "\u{FE0F}"])
  func aKeyIsReplacedWhateverMarkFollowsIt(mark: String) {
    #expect(Array("x${a}\(mark)".replacing([("${a}", "1")]).unicodeScalars) == Array("x1\(mark)".unicodeScalars))
  }

  @Test func aValueThatOnlyTheConditionNamesIsNoneOfTheWork() {
    let environment = ["TAG": "v${jobs.a.tag}"]
    var job = Job(
      name: "b", work: .shell(ShellWork(.script("cp ${jobs.a.file} x"), environment: environment)),
      condition: JobCondition("${jobs.a.go}", [[.init("${jobs.a.go}")]]))
    #expect(job.outputsInWork.isEmpty)
    job.outputs = ["file", "go", "tag"].map { OutputReference("${jobs.a.\($0)}", job: JobID(0), name: $0) }
    #expect(job.outputsInWork.map(\.name) == ["file", "tag"])
  }

  @Test func ofKeysThatOverlapTheFirstInTheTextCounts() {
    #expect("abcd".replacing([("bc", "-"), ("ab", "+")]) == "+cd")
    #expect("abcd".replacing([]) == "abcd")
  }
}
