import JobModel
import Testing

@testable import Reports

struct FailureListTests {
  @Test func whatARecordingSaysOfAClusterIsFiltered() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .shell(ShellWork(.script("x"))))])
    facts.job(0, .executing)
    let place = ClusterPlace(id: "7\u{1B}]52;c;UFdO\u{7}\u{1B}]0;PWN\u{7}", nodes: "n\u{1B}[2J1")
    facts.state(.jobPlaced(JobID(0), place))
    facts.job(0, .failed(JobFailure(.exit(1), "exit 1"), allowed: false), after: .seconds(1))
    let lines = FailureList(run: facts.run, paint: Paint(isColoured: false)).lines
    #expect(lines.contains("    cluster: job 7 on n1"), "\(lines)")
  }
}
