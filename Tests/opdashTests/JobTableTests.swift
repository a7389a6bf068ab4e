import JobFiles
import JobModel
import Screen
import Testing

@testable import opdash

/// What `list` and a dry run print.
struct JobTableTests {
  @Test func aClusterJobSaysSo() {
    func job(_ name: String, _ text: String, _ needs: [JobNeed]) -> Job {
      Job(name: name, work: .shell(ShellWork(.script(text), cluster: ClusterRequest())), needs: needs)
    }
    let graph = JobGraph(name: "x", jobs: [job("a", "./train", []), job("b", "true", [JobNeed(JobID(0))])])
    #expect(JobTable.list(graph) == ["a  ./train  (on slurm)", "b  true  (on slurm, needs a)"])
  }

  @Test func aJobOfFinallySaysWhenItRuns() throws {
    let text = """
      jobs: { a: ls }
      finally: { page: { when: failed, run: ls }, clean: { needs: { page: finished }, run: ls } }
      """
    let graph = try JobFile.decode(Array(text.utf8), file: "a.yml", directory: "/w")
    #expect(JobTable.list(graph).last == "clean  ls  (finally, needs page finished)")
  }

  private func shell(
    _ name: String, _ command: String = "true", needs: [JobNeed] = [], priority: JobPriority = .normal,
    description: String? = nil
  ) -> Job {
    Job(
      name: name, work: .shell(ShellWork(.script(command))), needs: needs, priority: priority, description: description)
  }

  @Test func aListHasDescriptionsElseCommandsAndTheNeedsInShort() {
    let graph = JobGraph(
      name: "g",
      jobs: [
        shell("fetch", "curl\n-O x", description: nil), shell("build", description: "the program\nand more"),
        Job(
          name: "publish",
          work: .upload(UploadWork(file: "/w/a.zip", url: "http://me:s3cret@h/up?token=s3cret", method: "PUT")),
          needs: [0, 1, 0, 1].enumerated().map { JobNeed(JobID($1), when: $0 == 1 ? .finished : .ok) }),
        shell("näh", "echo \u{1B}[31m"),
        shell("long", "echo " + String(repeating: "x", count: 80), needs: [JobNeed(JobID(0))]),
      ])
    #expect(
      JobTable.list(graph) == [
        "fetch    curl …", "build    the program …",
        "publish  upload /w/a.zip to http://***@h/up?token=***  (needs fetch, build finished, fetch and 1 more)",
        "näh      echo ", "long     echo \(String(repeating: "x", count: 54))…  (needs fetch)",
      ])
  }

  @Test func aLongNameMovesItsOwnLineOnly() {
    let long = String(repeating: "n", count: 41)
    let graph = JobGraph(name: "g", jobs: [shell("a"), shell(long), shell(String(long.dropLast()))])
    let pad = String(repeating: " ", count: 39)
    #expect(JobTable.list(graph) == ["a\(pad)  true", "\(long)  true", "\(long.dropLast())  true"])
  }

  @Test func aTextThatIsCutIsMarkedOnce() {
    let text = String(repeating: "x", count: 61)
    let graph = JobGraph(
      name: "g", jobs: [shell("a", description: text + "\nmore"), shell("b", description: String(text.dropLast()))])
    #expect(JobTable.list(graph) == ["a  \(text.prefix(59))…", "b  \(text.prefix(60))"])
    #expect(JobTable.list(graph, Elision(isASCII: true)).first == "a  \(text.prefix(58))..")
  }

  @Test func theNumbersOfADryRunEndInOneColumn() {
    let graph = JobGraph(name: "g", jobs: (0..<10).map { shell("\($0)") })
    let lines = JobTable.rehearsal(graph, of: graph, slots: 10)
    #expect(lines[1] == "   1  0  true" && lines[9] == "   9  8  true" && lines[10] == "  10  9  true")
  }

  @Test func aDryRunSaysTheOrderAndWhyAJobWillNotRun() throws {
    let graph = JobGraph(
      name: "release",
      jobs: [
        shell("late", priority: .low), shell("build", "make", needs: [JobNeed(JobID(2))]), shell("fetch", "get it"),
        shell("page", needs: [JobNeed(JobID(1), when: .failed)]), shell("note", needs: [JobNeed(JobID(3))]),
        shell("docs"),
      ])
    let asked = graph.restricted(to: [JobID(0), JobID(1), JobID(3), JobID(4)])
    #expect(
      JobTable.rehearsal(asked, of: graph, slots: 2) == [
        "release: 3 of 6 jobs would run, 2 slots", "  1  fetch  get it", "  2  late   true",
        "  3  build  make  (needs fetch)", "would not run:", "  page  only if build fails",
        "  note  needs page, which would not run", "  docs  not asked for, nor needed",
      ])
  }

  @Test func aNeedThatASkipMeetsIsNoReason() {
    func needs(_ when: JobNeed.Condition) -> [JobNeed] { [0, 1].map { JobNeed(JobID($0), when: when) } }
    var off = shell("off")
    off.condition = JobCondition("never")
    let jobs = [
      off, shell("on"), shell("bad", needs: needs(.notOK)), shell("any", needs: needs(.anyFailed)),
      shell("all", needs: needs(.ok)),
    ]
    let graph = JobGraph(name: "g", jobs: jobs)
    #expect(
      JobTable.rehearsal(graph, of: graph, slots: 1) == [
        "g: 1 of 5 jobs would run, 1 slot", "  1  on  true", "would not run:", "  off  its condition is false: never",
        "  bad  only if on fails", "  any  only if a job fails", "  all  needs off, which would not run",
      ])
  }

  @Test func aDryRunListsTheJobsOfFinallyLastAndSaysWhenTheOthersRun() {
    var (clean, page) = (shell("clean", "rm -rf work", priority: .veryHigh), shell("page"))
    (clean.finally, page.finally) = (.always, .failed)
    let graph = JobGraph(
      name: "g", jobs: [clean, page, shell("slow", priority: .low), shell("test", needs: [JobNeed(JobID(2))])])
    for slots in [1, 8] {
      #expect(
        JobTable.rehearsal(graph, of: graph, slots: slots) == [
          "g: 3 of 4 jobs would run, \(slots) slot\(slots == 1 ? "" : "s")", "  1  slow   true",
          "  2  test   true  (needs slow)", "  3  clean  rm -rf work  (finally)", "would not run:",
          "  page  only if a job fails",
        ])
    }
  }

  @Test func aDryRunSaysWhichValueAJobOfFinallyLacks() throws {
    let text = """
      jobs: { a: ls, b: "false", c: ls }
      finally: { z: 'echo ${jobs.a.n}', n: { needs: z, run: ls }, always: ls }
      """
    let all = try JobFile.decode(Array(text.utf8), file: "a.yml", directory: "/w")
    let graph = all.restricted(to: [JobID(1)] + all.finalJobs(after: [JobID(1)]))
    #expect(
      JobTable.rehearsal(graph, of: all, slots: 1).suffix(5) == [
        "would not run:", "  a  not asked for, nor needed", "  c  not asked for, nor needed",
        "  z  reads a value of a, which would not run", "  n  needs z, which would not run",
      ])
    // No job of finally follows one of them.
    let one = all.restricted(to: [JobID(5)])
    #expect(JobTable.rehearsal(one, of: all, slots: 1).suffix(5).allSatisfy { $0.hasSuffix("nor needed") })
  }

  @Test func aDryRunNamesTheJobsThatAreUpToDateApart() {
    let graph = JobGraph(name: "g", jobs: [shell("cc"), shell("link", needs: [JobNeed(JobID(0))]), shell("test")])
    #expect(
      JobTable.rehearsal(
        graph, of: graph, slots: 1, upToDate: [JobID(0): "no input is newer than a.o", JobID(2): "x exists"])
        == [
          "g: 1 of 3 jobs would run, 2 up to date, 1 slot", "  1  link  true  (needs cc)", "up to date:",
          "  cc    no input is newer than a.o", "  test  x exists",
        ])
  }

  @Test func aDryRunSaysWhichJobsAskForApproval() {
    let graph = JobGraph(name: "g", jobs: [shell("a"), shell("b", needs: [JobNeed(JobID(0))]), shell("c")])
    #expect(
      JobTable.rehearsal(
        graph, of: graph, slots: 1, upToDate: [JobID(2): "x exists"], asking: [JobID(0), JobID(1), JobID(2)])
        == [
          "g: 2 of 3 jobs would run, 1 up to date, 1 slot", "  1  a  true  (asks for approval)",
          "  2  b  true  (asks for approval, needs a)", "up to date:", "  c  x exists; asks for approval first",
        ])
  }

  @Test func aDryRunHasALineForEachOfManyJobs() {
    let jobs = (0..<20_000).map { number in
      shell("job\(number)", needs: number % 2 == 0 ? [] : [JobNeed(JobID(number - 1))])
    }
    let graph = JobGraph(name: "many", jobs: jobs)
    #expect(JobTable.rehearsal(graph, of: graph, slots: 100_000).count == 20_001)
  }
}
