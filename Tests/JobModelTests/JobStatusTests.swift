import JobModel
import Testing

/// The status of a job in words, state by state; the Dashboard's tests have those of a whole run.
@Suite struct JobStatusTests {
  private let failure = JobFailure(.network, "no route")

  private func status(_ recorder: Recorder, _ id: Int = 0, at seconds: Double = 0, room: Int = .max) -> StatusText {
    StatusText(JobID(id), recorder.run, now: .seconds(seconds), room: room)
  }

  /// The words of job 0 after one change of its state.
  private func text(_ state: JobState, attempt: Int = 1, job: Job? = nil, at seconds: Double = 0) -> String {
    var recorder = Recorder([job ?? JobModelTests.job("a")])
    recorder.move(0, to: state, attempt: attempt)
    return status(recorder, at: seconds).whole
  }

  // MARK: Waiting

  @Test func aJobNamesTheNeedsThatAreNotMetAndHow() {
    var all = job("all", 0, 1, 2, 3, 4, 5)
    for (place, when) in JobNeed.Condition.allCases.enumerated() { all.needs[place].when = when }
    var recorder = Recorder((0..<6).map { job("j\($0)") } + [all])
    let others = "j2 to fail, j3 to end without success, j4 to finish, j5 to serve"
    #expect(status(recorder, 6).whole == "waits for j0, j1 to finish, \(others)")
    recorder.move(1, to: .cancelled(by: .person))
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(status(recorder, 6).whole == "waits for \(others)")
    #expect(status(recorder, 6).detail == "" && status(recorder, 6).status == status(recorder, 6).whole)
  }

  @Test func eightNeedsAreNamedAtMost() {
    var last = job("last")
    last.needs = (0..<10).map { JobNeed(JobID($0)) }
    var recorder = Recorder((0..<10).map { job("j\($0)") } + [last])
    #expect(status(recorder, 10).whole == "waits for j0, j1, j2, j3, j4, j5, j6, j7 and 2 more")
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(status(recorder, 10).whole == "waits for j1, j2, j3, j4, j5, j6, j7, j8 and 1 more")
    recorder.move(1, to: .succeeded(upToDate: false))
    #expect(status(recorder, 10).whole == "waits for j2, j3, j4, j5, j6, j7, j8, j9")
  }

  @Test func needsThatDoNotFitAreCounted() {
    let recorder = Recorder([job("first"), job("second"), job("third"), job("last", 0, 1, 2)])
    #expect(status(recorder, 3, room: 30).whole == "waits for first, second, third")
    #expect(status(recorder, 3, room: 29).whole == "waits for first and 2 more")
    // One is named however little room there is.
    #expect(status(recorder, 3, room: 1).whole == "waits for first and 2 more")
  }

  @Test func aJobWithoutUnmetNeedsWaitsForNothingOrForAllOthers() {
    var final = job("b")
    final.finally = .always
    let recorder = Recorder([job("a"), final])
    #expect(status(recorder, 0).whole == "waiting" && status(recorder, 1).whole == "waits for all other jobs")
  }

  // MARK: Ready

  @Test func aReadyJobSaysForWhat() {
    #expect(text(.ready(for: .slot)) == "waits for a slot")
    #expect(text(.ready(for: .pool("net"))) == "waits for pool net")
    #expect(text(.ready(for: .person)) == "waits for approval")
    #expect(
      text(.ready(for: .person), job: Job(name: "a", work: job("a").work, approval: "go?")) == "waits for approval: go?"
    )
  }

  @Test func aStopComesBeforeADrainAndTheClusterBeforeBoth() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .ready(for: .slot))
    recorder.state(.drainChanged(true))
    #expect(status(recorder).whole == "waits: nothing new starts")
    recorder.state(.stopRequested(.terminate, by: .person))
    #expect(status(recorder).whole == "waits: the run is stopping")
    recorder.move(0, to: .ready(for: .cluster(reason: "Priority")))
    #expect(status(recorder).whole == "waits for the cluster: Priority")
  }

  @Test func aQuestionHasTheValuesOfTheNeeds() {
    var ask = job("ask", 0, 1)
    ask.approval = "Ship ${jobs.a.version} to ${jobs.b.site}, ${jobs.c.x}?"
    var recorder = Recorder([job("a"), job("b"), ask])
    recorder.state(.jobOutputs(JobID(0), ["version": "1.2", "site": "no"]))
    recorder.state(.jobOutputs(JobID(1), ["site": "prod"]))
    #expect(recorder.run.question(of: JobID(2)) == "Ship 1.2 to prod, ${jobs.c.x}?")
    #expect(recorder.run.question(of: JobID(0)) == nil)
  }

  @Test func aQuestionHasTheValueOfAJobThatAnotherNeeds() {
    var ask = job("ask", 1)
    ask.approval = "Ship ${jobs.a.version}?"
    ask.outputs = [OutputReference("${jobs.a.version}", job: JobID(0), name: "version")]
    var recorder = Recorder([job("a"), job("b", 0), ask])
    #expect(recorder.run.question(of: JobID(2)) == "Ship ${jobs.a.version}?")
    recorder.state(.jobOutputs(JobID(0), ["version": "1.2"]))
    #expect(recorder.run.question(of: JobID(2)) == "Ship 1.2?")
  }

  // MARK: Executing

  @Test func anAttemptSaysWhatItDoes() {
    #expect(text(.executing) == "running" && text(.executing, attempt: 2) == "running, try 2")
    #expect(text(.paused(started: false), attempt: 0) == "paused before its start")
    let service = Job(name: "a", work: .shell(ShellWork(.script("x"), service: Service())))
    #expect(
      text(.executing, job: service) == "starting" && text(.executing, attempt: 2, job: service) == "starting, try 2")
  }

  @Test func aServiceThatIsStartedAgainSaysWhichTryItIs() {
    var recorder = Recorder([Job(name: "a", work: .shell(ShellWork(.script("x"), service: Service())))])
    recorder.move(0, to: .executing)
    recorder.move(0, to: .serving)
    #expect(status(recorder).whole == "serving")
    recorder.move(0, to: .backingOff(until: .zero, number: 1, limit: 2, after: failure))
    recorder.move(0, to: .executing, attempt: 2)
    recorder.move(0, to: .serving, attempt: 2)
    #expect(status(recorder).status == "serving" && status(recorder).detail == ", try 2")
  }

  @Test func aPausedAttemptIsPaused() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.move(0, to: .paused(started: true))
    #expect(status(recorder).whole == "paused")
  }

  @Test func anAttemptThatIsEndedSaysWhenItIsKilled() {
    let stop = ShellWork.Stop(grace: .seconds(7))
    var recorder = Recorder([Job(name: "a", work: .shell(ShellWork(.script("x"), stop: stop))), job("b")])
    for id in 0..<2 {
      recorder.move(id, to: .executing)
      #expect(recorder[id].killTime == nil)
    }
    recorder.state(.cancelRequested(JobID(0), by: .person, kill: false), after: .seconds(3))
    recorder.state(.cancelRequested(JobID(1), by: .person, kill: false))
    #expect(recorder[0].killTime == .seconds(10) && recorder[1].killTime == nil)
    #expect(status(recorder, 0, at: 4).whole == "stopping, killed in 0:06")
    #expect(status(recorder, 1, at: 4).whole == "stopping")
    recorder.state(.cancelRequested(JobID(0), by: .person, kill: true))
    #expect(recorder[0].killTime == nil)
    #expect(status(recorder, 0, at: 4).whole == "stopping, SIGKILL was sent")
    recorder.move(0, to: .paused(started: true))
    #expect(status(recorder, 0, at: 4).whole == "stopping, SIGKILL was sent")
  }

  @Test func progressHasItsAmountItsTryAndItsRate() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing, attempt: 2)
    func report(_ done: Int64, _ total: Int64?, _ unit: JobProgress.Unit, after wait: Duration) {
      recorder.state(.jobProgress(JobID(0), JobProgress(done: done, total: total, unit: unit)), after: wait)
    }
    report(3, nil, .steps, after: .zero)
    #expect(ProgressText.parts(recorder[0], at: recorder.run.time) == ["step 3", "try 2"])
    report(5, 9, .steps, after: .seconds(1))
    #expect(ProgressText.parts(recorder[0], at: recorder.run.time) == ["5 of 9", "try 2", "2.0/s"])
    recorder.move(0, to: .backingOff(until: .seconds(1), number: 2, limit: 2, after: failure), attempt: 2)
    recorder.move(0, to: .executing, attempt: 3)
    #expect(ProgressText.parts(recorder[0], at: recorder.run.time) == ["try 3"])
    report(1_000_000, 2_000_000, .bytes, after: .zero)
    #expect(status(recorder).whole == "running, 1.0 of 2.0 MB, try 3")
    report(1_500_000, nil, .bytes, after: .seconds(1))
    #expect(ProgressText.parts(recorder[0], at: recorder.run.time) == ["1.5 MB", "try 3", "500 KB/s"])
  }

  @Test func anAttemptThatIsSlowerThanUsualSaysSoFirst() {
    var slow = job("a")
    slow.usual = UsualTime(median: .seconds(10), ninetieth: .seconds(10), count: 3)
    var recorder = Recorder([slow])
    recorder.move(0, to: .executing)
    recorder.state(.jobProgress(JobID(0), JobProgress(done: 1, total: 4, unit: .steps)))
    #expect(status(recorder, at: 10).whole == "running, 1 of 4")
    #expect(status(recorder, at: 15).whole == "running, slower than usual +50 %, 1 of 4")
  }

  // MARK: Ends

  @Test func anEndSaysHowOftenAJobWasTried() {
    #expect(text(.succeeded(upToDate: true), attempt: 0) == "up to date")
    #expect(text(.failed(failure, allowed: false), attempt: 0) == "no route")
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    #expect(recorder[0].tries == "")
    recorder.move(0, to: .backingOff(until: .seconds(9), number: 1, limit: 3, after: failure))
    #expect(status(recorder, at: 1.5).whole == "retry 1 of 3 in 0:08, after no route")
    recorder.move(0, to: .executing, attempt: 2)
    recorder.move(0, to: .failed(failure, allowed: true), attempt: 2)
    #expect(status(recorder).status == "no route" && status(recorder).detail == ", after 2 tries, allowed to fail")
    recorder.move(0, to: .executing, attempt: 3)
    recorder.move(0, to: .succeeded(upToDate: false), attempt: 3)
    #expect(status(recorder).status == "ok" && status(recorder).detail == ", after 3 tries")
  }

  @Test func aRestoredSuccessIsThatOfAnEarlierRun() {
    var recorder = Recorder([job("a")])
    recorder.state(
      .jobRestored(JobID(0), EarlierSuccess(run: "r1", at: .distantPast, took: .milliseconds(2590))))
    recorder.move(0, to: .succeeded(upToDate: true), attempt: 0)
    #expect(status(recorder).status == "ok in an earlier run" && status(recorder).detail == ", took 2.5s")
    recorder.move(0, to: .waiting, attempt: 0)
    recorder.move(0, to: .succeeded(upToDate: true), attempt: 0)
    #expect(status(recorder).whole == "up to date")
  }

  @Test(arguments: [
    (JobState.Canceller.person, "cancelled by you"), (.signal, "cancelled by a signal"),
    (.policy, "cancelled by on_failure"), (.program, "cancelled by the program"),
    (.timeout, "cancelled by the time limit of the run"), (.unneeded, "cancelled because no job needs it any more"),
  ])
  func aCancellationNamesWhoAskedForIt(_ canceller: JobState.Canceller, _ words: String) {
    #expect(text(.cancelled(by: canceller)) == words)
    // The policy alone has a failure as its reason.
    var recorder = Recorder([job("a"), job("b")])
    recorder.move(1, to: .executing)
    recorder.move(1, to: .failed(JobFailure(.timedOut, "timed out"), allowed: false))
    recorder.move(0, to: .cancelled(by: canceller))
    #expect(status(recorder).whole == (canceller == .policy ? "cancelled, b timed out" : words))
  }

  @Test func anAttemptMayEndBecauseOfALimitOfItsOwn() {
    #expect(JobState.Canceller.timeout.attemptPhrase == "because of a limit")
    #expect(JobState.Canceller.person.attemptPhrase == "by you")
  }

  @Test func aSkipNamesItsCause() {
    var clean = job("clean")
    (clean.finally, clean.condition) = (.ok, JobCondition("os == linux"))
    var recorder = Recorder([job("a"), job("b", 0), clean])
    recorder.move(0, to: .executing)
    recorder.move(0, to: .failed(failure, allowed: false))
    recorder.move(1, to: .skipped(because: .job(JobID(0))), attempt: 0)
    #expect(status(recorder, 1).status == "skipped" && status(recorder, 1).detail == ", a failed")
    func reason(_ cause: JobState.SkipCause, _ id: Int) -> String {
      cause.phrase(JobID(id), in: recorder.run)
    }
    #expect(reason(.job(JobID(1)), 2) == "b was skipped")
    #expect(reason(.condition, 2) == "its condition is false: os == linux")
    #expect(reason(.condition, 1) == "its condition is false")
    #expect(reason(.unneeded, 1) == "no job needs it any more")
    #expect(reason(.outcome, 2) == "not every job succeeded" && reason(.outcome, 1) == "no job failed")
  }
}
