import JobModel
import Reports
import Testing

/// The lines of the jobs of one run: a program with a note about it, and a download, whose log is made of notes.
struct LogLinesTextTests {
  private func text(of jobs: Set<JobID>?) -> String {
    var facts = Facts()
    facts.begin([
      Job(name: "build", work: .shell(ShellWork(.script("make")))),
      Job(name: "fetch", work: .download(DownloadWork(url: "http://h/f", file: "/f"))),
    ])
    facts.log(0, "compiled")
    facts.log(0, "the rest is not kept", .note)
    facts.log(1, "GET /f 200", .note)
    var lines = LogLinesText(jobs: jobs, paint: Paint(isColoured: false))
    return lines.text(of: facts.events).text
  }

  @Test func allJobsAreShownWithTheirNamesAndNotes() {
    #expect(text(of: nil) == "build | compiled\nbuild : the rest is not kept\nfetch : GET /f 200\n")
  }

  @Test(arguments: [(0, "compiled\n"), (1, "GET /f 200\n")])
  func ofOneJobTheLogIsShownAsItIs(job: Int, shown: String) { #expect(text(of: [JobID(job)]) == shown) }
}
