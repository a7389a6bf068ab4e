import Foundation
import JobModel
import Testing

@testable import RunStore

private let began = Date(timeIntervalSince1970: 1_000_000)

private func entry(
  _ id: String, file: String? = "/w/opdash.yml", exit: Int32? = nil, at age: Double = 0, resumes: String? = nil
) -> RunEntry {
  let origin = RunOrigin(command: "run", file: file, directory: "/w", slots: 1, onFailure: "keep-going")
  var summary: RunSummary?
  if let exit {
    summary = RunSummary()
    summary?.exit = exit
    // What a signal ends has work left.
    summary?.cancelled = exit > 128 ? 1 : 0
  }
  return RunEntry(
    id: id, name: "w", origin: origin, startedAt: began - age, endedAt: exit.map { _ in began }, summary: summary,
    jobs: 1,
    process: ProcessIdentity(pid: 123, startTime: 1, boot: "b"), resumes: resumes)
}

@Suite struct ResumeTextTests {
  @Test func theLinesSayWhatIsDoneWhatIsToDoAndWhy() {
    let success = EarlierSuccess(run: "r", at: began, took: .seconds(1))
    let names = ["fetch", "build", "test", "lint", "page", "fresh", "late"]
    let graph = JobGraph(
      name: "w",
      jobs: names.enumerated().map { index, name in
        Job(
          name: name, work: .simulate(SimulatedWork()), needs: index == 2 ? [JobNeed(JobID(1))] : [])
      })
    let earlier = [
      EarlierJob("fetch", .done(success), fingerprint: "1"), EarlierJob("build", .done(success), fingerprint: "0"),
      EarlierJob("test", .done(success), fingerprint: "1"), EarlierJob("lint", .failed, fingerprint: "1"),
      EarlierJob("page", .executing, fingerprint: "1"), EarlierJob("late", .waiting, fingerprint: "1"),
      EarlierJob("old", .waiting, fingerprint: "1"),
    ]
    let plan = ResumePlan(earlier, graph, fingerprints: names.map { _ in "1" }, inputsHash: { _ in nil })
    #expect(
      ResumeText.lines(plan, of: entry("r"), at: began + 725) == [
        "resuming r of 12 minutes ago: 1 job is done, 6 to do",
        "failed: lint",
        "running when it ended: page",
        "changed in the file: build",
        "needs a job that has changed: test",
        "new in the file: fresh",
        "no longer in the file: old",
      ])
  }

  @Test func manyNamesAreCounted() {
    let names = (1...30).map { "job-\($0)" }
    let graph = JobGraph(name: "w", jobs: names.map { Job(name: $0, work: .simulate(SimulatedWork())) })
    let plan = ResumePlan(
      names.map { EarlierJob($0, .cancelled, fingerprint: $0) }, graph, fingerprints: names, inputsHash: { _ in nil })
    #expect(
      ResumeText.lines(plan, of: entry("r"), at: began)[1]
        == "cancelled: job-1, job-2, job-3, job-4, job-5, job-6, job-7, job-8 and 22 more")
  }

  @Test(arguments: [
    (0, "0 seconds ago"), (1, "1 second ago"), (59, "59 seconds ago"), (60, "1 minute ago"), (7199, "1 hour ago"),
    (86_400, "1 day ago"), (864_000, "10 days ago"),
  ])
  func anAgeIsToldInItsLargestUnit(seconds: Int, text: String) {
    #expect(ResumeText.ago(.seconds(seconds)) == text)
  }

  @Test func theNewestUnfinishedRunOfTheFileIsResumed() {
    func choice(_ entries: [RunEntry], file: String? = "/w/opdash.yml") -> String? {
      ResumableRun.choose(entries, file: file, directory: "/w")?.id
    }
    #expect(choice([]) == nil)
    #expect(choice([entry("3", exit: 0), entry("2", exit: 130), entry("1")]) == "2")
    #expect(choice([entry("3", file: "/x.yml"), entry("2", exit: 0), entry("1", exit: 1)]) == "1")
    // Of a file without unfinished runs, the newest; without runs of the file, the newest of all.
    #expect(choice([entry("3", file: "/x.yml"), entry("2", exit: 0)]) == "2")
    #expect(choice([entry("3", file: "/x.yml"), entry("2", file: "/y.yml")]) == "3")
    // A run that another one goes on with is the other one's.
    #expect(choice([entry("2", exit: 0, resumes: "1"), entry("1")]) == "2")
    #expect(choice([entry("3", resumes: "1"), entry("2"), entry("1")]) == "3")
    // Without a job file, the runs of the folder.
    #expect(choice([entry("2", file: nil)], file: nil) == "2")
  }

  @Test func aRunIsResumedAsItsNewestResumption() {
    let entries = [entry("4"), entry("3", resumes: "2"), entry("2", resumes: "1"), entry("1")]
    func line(_ index: Int) -> [String] { ResumableRun.line(of: entries[index], in: entries).map(\.id) }
    #expect(line(3) == ["3", "2", "1"])
    #expect(line(2) == ["3", "2"])
    #expect(line(1) == ["3"] && line(0) == ["4"])
    #expect(
      ResumeText.isResumed(entries[3], by: entries[1])
        == "run 1 was resumed already: its newest resumption, run 3, is resumed")
  }

  @Test func aRunThatGoesOnIsRefusedWithItsProcess() {
    #expect(
      ResumeText.goesOn(entry("r"), isHere: true)
        == "run r is going on, process 123: opdash resume waits for its end")
    #expect(
      ResumeText.goesOn(entry("r"), isHere: false)
        == "run r is going on, on another machine or in another container: opdash resume waits for its end")
  }

  // MARK: Counts and bounds

  /// A plan of jobs that all ended so in the earlier run.
  private func plan(_ names: [String], _ end: EarlierJob.End, onlyFailed: Bool = false) -> ResumePlan {
    let graph = JobGraph(name: "w", jobs: names.map { Job(name: $0, work: .simulate(SimulatedWork())) })
    return ResumePlan(
      names.map { EarlierJob($0, end, fingerprint: $0) }, graph, fingerprints: names, onlyFailed: onlyFailed,
      inputsHash: { _ in nil })
  }

  @Test(arguments: [
    (8, "1, 2, 3, 4, 5, 6, 7, 8"), (9, "1, 2, 3, 4, 5, 6, 7, 8, 9"), (10, "1, 2, 3, 4, 5, 6, 7, 8 and 2 more"),
  ])
  func nineNamesAreNamedAndOfMoreEight(count: Int, names: String) {
    let plan = plan((1...count).map(String.init), .failed)
    #expect(
      ResumeText.lines(plan, of: entry("r"), at: began) == [
        "resuming r of 0 seconds ago: 0 jobs are done, \(count) to do", "failed: \(names)",
      ])
    let pids = ResumeText.processesLeft((1...Int32(count)).map { $0 }, of: entry("r"))
    let text = "processes of run r do not end: \(names); nothing was started, so that no job runs twice"
    #expect(pids == text)
  }

  @Test func theJobsThatAreDoneAreCounted() {
    let done = EarlierJob.End.done(EarlierSuccess(run: "r", at: began, took: .seconds(1)))
    func first(_ names: [String]) -> String? { ResumeText.lines(plan(names, done), of: entry("r"), at: began).first }
    #expect(first(["a"]) == "resuming r of 0 seconds ago: 1 job is done, 0 to do")
    #expect(first(["a", "b"]) == "resuming r of 0 seconds ago: 2 jobs are done, 0 to do")
  }

  @Test func whatHasNotFailedIsSaidToBeLeftOut() {
    let lines = ResumeText.lines(plan(["a", "b"], .cancelled, onlyFailed: true), of: entry("r"), at: began)
    #expect(
      lines == ["resuming r of 0 seconds ago: 0 jobs are done, 0 to do", "not failed, so left out: a, b"])
  }

  @Test func aRunFromTheFutureBeganNow() {
    let line = ResumeText.lines(plan(["a"], .waiting), of: entry("r"), at: began - 5).first
    #expect(line == "resuming r of 0 seconds ago: 0 jobs are done, 1 to do")
  }

  @Test(arguments: [
    (119, "1 minute ago"), (120, "2 minutes ago"), (3599, "59 minutes ago"), (3600, "1 hour ago"),
    (7200, "2 hours ago"), (86_399, "23 hours ago"), (172_799, "1 day ago"), (172_800, "2 days ago"),
  ])
  func anAgeIsRoundedDown(seconds: Int, text: String) { #expect(ResumeText.ago(.seconds(seconds)) == text) }

  @Test func eachAnswerNamesItsRun() {
    #expect(ResumeText.nothingLeft(of: entry("r"), onlyFailed: true) == "no job of run r has failed: nothing is run")
    #expect(ResumeText.nothingLeft(of: entry("r"), onlyFailed: false) == "nothing is left to do of run r")
    #expect(
      ResumeText.isTaken(entry("r")) == "another opdash is going on with run r: `opdash history` lists it")
  }
}
