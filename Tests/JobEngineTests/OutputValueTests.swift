import JobModel
import Testing

@testable import JobEngine

/// The values of other jobs in the texts of a job.
@Suite struct OutputValueTests {
  /// The work of a job that reads `path` of another, which has written `value`.
  private func work(_ work: JobWork, reading value: String) throws -> JobWork {
    var graph = graph(["a": [], "b": ["a"]])
    graph.jobs[1].work = work
    graph.jobs[1].outputs = [OutputReference("${jobs.a.path}", job: JobID(0), name: "path")]
    var bench = Bench(graph)
    bench.start()
    bench.journal.state(.jobOutputs(JobID(0), ["path": value]))
    return try bench.journal.run.resolved(graph.jobs[1]).work
  }

  @Test(arguments: [
    ("/jobs/${jobs.a.path}", "sub", "/jobs/sub"), ("/jobs/${jobs.a.path}", "/abs/x", "/abs/x"),
    ("/jobs/${jobs.a.path}/in", "/abs", "/abs/in"), ("/jobs/pre-${jobs.a.path}", "1", "/jobs/pre-1"),
    ("/${jobs.a.path}/${jobs.a.path}", "/x", "/x"), ("${jobs.a.path}", "/x", "/x"),
  ]) func aValueThatIsAnAbsolutePathIsReadFromThere(_ text: String, _ value: String, _ path: String) throws {
    #expect(
      try work(.shell(ShellWork(.argv(["x"]), directory: text)), reading: value)
        == .shell(ShellWork(.argv(["x"]), directory: path)))
    let url = "http://host/up"
    #expect(
      try work(.upload(UploadWork(file: text, url: url)), reading: value) == .upload(UploadWork(file: path, url: url)))
    #expect(
      try work(.download(DownloadWork(url: url, file: text)), reading: value)
        == .download(DownloadWork(url: url, file: path)))
  }

  @Test func whatAValueHoldsIsNotReplacedAgain() {
    #expect("x${a}y${b}".replacing([("${a}", "${b}"), ("${b}", "${a}")]) == "x${b}y${a}")
    #expect("${a}${a}".replacing([("${a}", "1")]) == "11")
    #expect("none".replacing([("${a}", "1")]) == "none" && "none".replacing([]) == "none")
  }

  @Test func aValueInATextThatIsNoPathIsPutInAsItIs() throws {
    #expect(
      try work(.shell(ShellWork(.script("ls /jobs/${jobs.a.path}"))), reading: "/x")
        == .shell(ShellWork(.script("ls /jobs//x"))))
  }

  @Test func onlyTheWorkAndTheQuestionNeedTheirValues() throws {
    var graph = graph(["a": [], "b": ["a"]])
    let reference = OutputReference("${jobs.a.path}", job: JobID(0), name: "path")
    graph.jobs[1].outputs = [reference]
    graph.jobs[1].condition = JobCondition("", [[.init(reference.text, equals: "yes", isNegated: true)]])
    var bench = Bench(graph)
    bench.start()
    try bench.end("a")
    #expect(bench.names == ["b"])
    let run = bench.journal.run
    #expect(try run.resolved(graph.jobs[1]).work == graph.jobs[1].work)
    var asking = graph.jobs[1]
    asking.approval = "Publish ${jobs.a.path}?"
    #expect(throws: JobFailure.self) { try run.resolved(asking) }
    graph.jobs[1].work = .shell(ShellWork(.script("ls ${jobs.a.path}")))
    #expect(throws: JobFailure.self) { try run.resolved(graph.jobs[1]) }
  }
}
