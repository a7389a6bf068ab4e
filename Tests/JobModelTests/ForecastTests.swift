import JobModel
import Testing

@Suite struct ForecastTests {
  /// a (4 s) and b (10 s) before c (6 s); d (3 s) alone.
  private let seconds: [Double] = [4, 10, 6, 3]

  private func jobs(_ pool: [String: Int] = [:]) -> [Job] {
    var jobs = [job("a"), job("b"), job("c", 0, 1), job("d")]
    for place in [1, 3] { jobs[place].uses = pool }
    return jobs
  }

  private func forecast(_ recorder: Recorder, now: Double = 0) -> Forecast {
    Forecast(recorder.run, now: .seconds(now)) { .seconds(self.seconds[$0.index]) }
  }

  @Test func theChainIsTheLongestWayThroughTheNeeds() {
    let forecast = forecast(Recorder(jobs()))
    #expect(forecast.end == .seconds(16))
    #expect(forecast.chain.map(\.job.index) == [1, 2])
    #expect(forecast.chain.map(\.share) == [.seconds(10), .seconds(6)])
  }

  @Test func slackIsTheDelayThatDoesNotDelayTheRun() {
    let forecast = forecast(Recorder(jobs()))
    #expect(forecast.slack(JobID(0)) == .seconds(6))
    #expect(forecast.slack(JobID(1)) == .zero)
    #expect(forecast.slack(JobID(2)) == .zero)
    #expect(forecast.slack(JobID(3)) == .seconds(13))
  }

  @Test func halvingAJobSavesNoMoreThanTheNextChainAllows() {
    let forecast = forecast(Recorder(jobs()))
    #expect(forecast.saving(byHalving: JobID(1)) == .seconds(5))
    #expect(forecast.saving(byHalving: JobID(2)) == .seconds(3))
    #expect(forecast.saving(byHalving: JobID(0)) == .zero)
  }

  @Test func endedJobsCountWithTheirWaits() {
    var recorder = Recorder(jobs())
    recorder.move(1, to: .executing, after: .seconds(2))
    recorder.move(1, to: .succeeded(upToDate: false), after: .seconds(5))
    recorder.move(0, to: .executing)
    let forecast = forecast(recorder, now: 8)
    // a has executed for one second and needs three more, then c its six.
    #expect(forecast.end == .seconds(17))
    #expect(forecast.chain.map(\.job.index) == [0, 2])
    #expect(forecast.chain[0].share == .seconds(11))
    #expect(forecast.chain[0].executing == .seconds(4))
    #expect(forecast.slack(JobID(1)) == nil)
  }

  @Test func aShareHasWhatHappenedInItAlone() {
    var recorder = Recorder([job("a"), job("b", 0)])
    for id in 0..<2 {
      recorder.move(id, to: .executing)
      recorder.move(id, to: .succeeded(upToDate: false), after: .seconds(2))
    }
    recorder.move(0, to: .executing, attempt: 2, after: .seconds(4))
    recorder.move(0, to: .succeeded(upToDate: false), attempt: 2, after: .seconds(2))
    recorder.move(1, to: .ready(for: .slot), attempt: 1)
    recorder.move(1, to: .executing, attempt: 2, after: .seconds(1))
    let chain = Forecast(recorder.run, now: .seconds(12)) { _ in .seconds(3) }.chain
    #expect(chain.map(\.share) == [.seconds(10), .seconds(4)])
    #expect(chain.map(\.executing) == [.seconds(4), .seconds(3)])
    #expect(chain.map(\.idle) == [.seconds(6), .zero] && chain.map(\.waited) == [.zero, .seconds(1)])
  }

  @Test func theShareOfAnAddedJobBeginsWithItsAddition() {
    var recorder = Recorder(Array(jobs().prefix(1)))
    recorder.move(0, to: .executing)
    recorder.move(0, to: .succeeded(upToDate: false), after: .seconds(4))
    recorder.state(.jobAdded(JobID(1), job("late")), after: .seconds(20))
    recorder.move(1, to: .executing, after: .seconds(1))
    recorder.move(1, to: .succeeded(upToDate: false), after: .seconds(2))
    let chain = forecast(recorder, now: 30).chain
    #expect(chain.map(\.job.index) == [1])
    #expect(chain[0].from == .seconds(24) && chain[0].share == .seconds(3) && chain[0].executing == .seconds(2))
  }

  @Test func fewerSlotsEndLaterAndAPoolCountsToo() {
    let free = forecast(Recorder(jobs()))
    #expect(free.schedule(slots: 1).end == .seconds(23))
    #expect(free.schedule(slots: 2).end == .seconds(16))
    #expect(free.schedule(slots: 9).end == .seconds(16))
    let narrow = free.schedule(slots: 1)
    #expect(narrow.expected(JobID(1)) == .zero..<(.seconds(10)))
    #expect(narrow.expected(JobID(3)) == .seconds(20)..<(.seconds(23)))
    // d waits until b has given its unit back, and c must not wait for d.
    var jobs = jobs(["net": 1])
    jobs[2].uses = ["net": 1]
    #expect(forecast(Recorder(jobs, pools: ["net": 1])).schedule(slots: 9).end == .seconds(19))
    #expect(forecast(Recorder(jobs, pools: ["net": 2])).schedule(slots: 9).end == .seconds(16))
  }

  // MARK: Jobs of finally

  /// The jobs, then `clean` (2 s) and, after it, `tell` (1 s).
  private func withFinal() -> [Job] {
    var (clean, tell) = (job("clean"), job("tell", 4))
    (clean.finally, tell.finally) = (.always, .failed)
    return jobs() + [clean, tell]
  }

  private let secondsWithFinal: [Double] = [4, 10, 6, 3, 2, 1]

  private func finalForecast(_ recorder: Recorder, now: Double = 0) -> Forecast {
    Forecast(recorder.run, now: .seconds(now)) { .seconds(self.secondsWithFinal[$0.index]) }
  }

  @Test func theJobsOfFinallyComeAfterTheLongestChain() {
    let forecast = finalForecast(Recorder(withFinal()))
    #expect(forecast.end == .seconds(19))
    #expect(forecast.chain.map(\.job.index) == [1, 2, 4, 5])
    #expect(forecast.chain.map(\.share) == [.seconds(10), .seconds(6), .seconds(2), .seconds(1)])
    #expect([0, 1, 2, 3, 4].map { forecast.slack(JobID($0)) } == [6, 0, 0, 13, 0].map { Duration.seconds($0) })
    #expect(forecast.saving(byHalving: JobID(1)) == .seconds(5))
    #expect(forecast.saving(byHalving: JobID(4)) == .seconds(1))
  }

  @Test func aScheduleHasTheJobsOfFinallyAtItsEnd() {
    let forecast = finalForecast(Recorder(withFinal()))
    #expect(forecast.schedule(slots: 1).end == .seconds(26))
    #expect(forecast.schedule(slots: 9).end == .seconds(19))
    #expect(forecast.schedule(slots: 9).expected(JobID(4)) == .seconds(16)..<(.seconds(18)))
    #expect(forecast.schedule(slots: 9).expected(JobID(5)) == .seconds(18)..<(.seconds(19)))
  }

  @Test func aJobOfFinallyLeavesTheChainOfAnEndedRunAsItWas() {
    var recorder = Recorder(withFinal())
    for (index, seconds) in [(1, 10.0), (0, 4), (3, 3), (2, 6), (4, 2)] {
      recorder.move(index, to: .executing)
      recorder.move(index, to: .succeeded(upToDate: false), after: .seconds(seconds))
    }
    recorder.move(5, to: .skipped(because: .outcome))
    let forecast = finalForecast(recorder, now: 25)
    // `c` began when its needs had ended and waited for `d`.
    #expect(forecast.chain.map(\.job.index) == [0, 2, 4])
    #expect(forecast.chain.map(\.share).reduce(.zero, +) == .seconds(25))
    #expect(forecast.chain.last?.executing == .seconds(2))
  }

  @Test func aServiceThatGoesOnDelaysNone() {
    var (service, user) = (job("service"), job("user", 0))
    service.work = .shell(ShellWork(.script("serve"), service: Service()))
    user.needs = [JobNeed(JobID(0), when: .ready)]
    var recorder = Recorder([service, user])
    recorder.move(0, to: .executing)
    recorder.move(1, to: .executing, after: .seconds(1))
    recorder.move(1, to: .succeeded(upToDate: false), after: .seconds(8))
    recorder.move(0, to: .cancelled(by: .unneeded), after: .seconds(1))
    let forecast = Forecast(recorder.run, now: .seconds(10)) { _ in nil }
    #expect(forecast.chain.map(\.job.index) == [1] && forecast.end == .seconds(9))
    #expect(forecast.chain.map(\.executing) == [.seconds(8)])
  }

  @Test func aServiceThatServesIsNotWhatAJobHasWaitedFor() {
    var (service, user) = (job("service"), job("user", 0, 1))
    service.work = .shell(ShellWork(.script("serve"), service: Service()))
    user.needs = [JobNeed(JobID(0), when: .ready), JobNeed(JobID(1))]
    var recorder = Recorder([service, job("compile"), user])
    recorder.move(0, to: .executing)
    recorder.move(1, to: .executing)
    func chain(at now: Int) -> [Int] {
      Forecast(recorder.run, now: .seconds(now)) { _ in .seconds(10) }.chain.map(\.job.index)
    }
    #expect(chain(at: 0).last == 2)
    recorder.move(0, to: .serving, after: .seconds(1))
    #expect(chain(at: 1) == [1, 2])
    recorder.move(1, to: .succeeded(upToDate: false), after: .seconds(3))
    recorder.move(2, to: .executing)
    #expect(chain(at: 4) == [1, 2] && chain(at: 9) == [1, 2])
  }

  @Test func aRetryIsExpectedOnceItsBackOffIsOver() {
    var recorder = Recorder(jobs())
    recorder.move(3, to: .executing)
    let failure = JobFailure(.exit(1), "exit 1")
    recorder.move(3, to: .backingOff(until: .seconds(30), number: 1, limit: 1, after: failure), after: .seconds(2))
    let forecast = forecast(recorder, now: 2)
    #expect(forecast.finish(JobID(3)) == .seconds(33))
    #expect(forecast.schedule(slots: 4).expected(JobID(3)) == .seconds(30)..<(.seconds(33)))
    #expect(forecast.chain.map(\.executing) == [.seconds(5)])
  }

  @Test func aNeedOnTwoConditionsCountsOnceInASchedule() {
    func job(_ name: String, _ needs: [JobNeed] = []) -> Job {
      Job(name: name, work: .simulate(SimulatedWork(duration: .seconds(2))), needs: needs)
    }
    let both = [JobNeed(JobID(0)), JobNeed(JobID(0), when: .finished)]
    let run = Recorder([job("a"), job("b", both), job("c", [JobNeed(JobID(1))])]).run
    let forecast = Forecast(run, now: .zero) { _ in .seconds(2) }
    #expect(forecast.schedule(slots: 1).expected(JobID(2)) == .seconds(4)..<(.seconds(6)))
    #expect(forecast.schedule(slots: 4).end == .seconds(6))
  }

  @Test func aScheduleOfIndependentJobsFillsItsSlotsInTheirOrder() {
    let jobs = (0..<1000).map { Job(name: "\($0)", work: .simulate(SimulatedWork(duration: .seconds(1)))) }
    let schedule = Forecast(Recorder(jobs).run, now: .zero) { _ in .seconds(1) }.schedule(slots: 10)
    #expect(schedule.end == .seconds(100))
    for job in 0..<1000 {
      let start = Duration.seconds(job / 10)
      #expect(schedule.expected(JobID(job)) == start..<(start + .seconds(1)))
    }
  }

  @Test func clusterJobsTakeNoSlotsAndAsManyExecuteAsDoNow() {
    let there = JobWork.shell(ShellWork(.script("true"), cluster: ClusterRequest()))
    let here = Job(name: "here", work: .shell(ShellWork(.script("true"))))
    var recorder = Recorder((0..<6).map { Job(name: "there \($0)", work: there) } + [here])
    for index in 0..<2 { recorder.move(index, to: .executing) }
    let schedule = Forecast(recorder.run, now: .zero) { _ in .seconds(10) }.schedule(slots: 1)
    #expect(schedule.end == .seconds(30))
    #expect(schedule.expected(JobID(6)) == .zero..<(.seconds(10)))
  }

  @Test func aCycleOfNeedsIsWalkedOnce() {
    let jobs = [(0, 1), (1, 2), (2, 0)].map { number, need in
      Job(name: "\(number)", work: .shell(ShellWork(.script("true"))), needs: [JobNeed(JobID(need))])
    }
    let forecast = Forecast(Recorder(jobs).run, now: .zero) { _ in .seconds(10) }
    #expect(Set(forecast.chain.map(\.job)).count == forecast.chain.count && !forecast.chain.isEmpty)
  }

  @Test func aRunWithoutJobsHasNoChain() {
    let forecast = forecast(Recorder([]))
    #expect(forecast.chain.isEmpty && forecast.end == .zero && forecast.schedule(slots: 2).end == .zero)
  }

  @Test func anAttemptBeyondItsTimeEndsNow() {
    var recorder = Recorder(jobs())
    recorder.move(3, to: .executing)
    let forecast = forecast(recorder, now: 5)
    #expect(forecast.finish(JobID(3)) == .seconds(5))
    // What has not started begins now.
    #expect(forecast.finish(JobID(0)) == .seconds(9) && forecast.end == .seconds(21))
    #expect(forecast.schedule(slots: 2).expected(JobID(3)) == .seconds(5)..<(.seconds(5)))
  }

  @Test func aBackOffThatIsOverIsNotWaitedFor() {
    var recorder = Recorder(jobs())
    recorder.move(3, to: .executing)
    let failure = JobFailure(.exit(1), "exit 1")
    recorder.move(3, to: .backingOff(until: .seconds(4), number: 1, limit: 1, after: failure), after: .seconds(2))
    #expect(forecast(recorder, now: 6).finish(JobID(3)) == .seconds(9))
    #expect(forecast(recorder, now: 3).finish(JobID(3)) == .seconds(7))
  }

  @Test func aMeasuredRateDecidesWhatRemains() {
    var recorder = Recorder(jobs())
    recorder.move(1, to: .executing)
    for done in [0, 5] {
      recorder.state(
        .jobProgress(JobID(1), JobProgress(done: Int64(done), total: 50, unit: .steps)),
        after: .seconds(done == 0 ? 0 : 1))
    }
    #expect(forecast(recorder, now: 1).finish(JobID(1)) == .seconds(10))
    #expect(forecast(recorder, now: 1).end == .seconds(16))
  }

  @Test func aPausedAttemptHasItsTimeBeforeIt() {
    var recorder = Recorder(jobs())
    recorder.move(1, to: .executing)
    recorder.move(1, to: .paused(started: true), after: .seconds(4))
    #expect(forecast(recorder, now: 9).finish(JobID(1)) == .seconds(15))
  }

  @Test func aJobWithoutAnEstimateTakesASecond() {
    let forecast = Forecast(Recorder([job("a"), job("b", 0)]).run, now: .seconds(3)) { _ in nil }
    #expect(forecast.end == .seconds(5))
    #expect(
      forecast.chain.map(\.from) == [.zero, .seconds(4)] && forecast.chain.map(\.finish) == [.seconds(4), .seconds(5)])
    #expect(forecast.chain.map(\.executing) == [.seconds(1), .seconds(1)])
  }

  @Test func anEndedJobHasNoSlackAndNothingToSave() {
    var recorder = Recorder(jobs())
    recorder.move(0, to: .executing)
    recorder.move(0, to: .succeeded(upToDate: false), after: .seconds(4))
    let forecast = forecast(recorder, now: 4)
    #expect(forecast.slack(JobID(0)) == nil && forecast.slack(JobID(4)) == nil)
    #expect(forecast.saving(byHalving: JobID(0)) == .zero && forecast.saving(byHalving: JobID(1)) == .seconds(5))
    #expect(forecast.finish(JobID(0)) == .seconds(4))
  }

  @Test func aJobThatNeverExecutedIsNoEndOfTheChain() {
    var recorder = Recorder([job("a"), job("b")])
    recorder.move(0, to: .executing)
    recorder.move(0, to: .succeeded(upToDate: false), after: .seconds(2))
    recorder.move(1, to: .cancelled(by: .person), attempt: 0, after: .seconds(7))
    let forecast = Forecast(recorder.run, now: .seconds(9)) { _ in nil }
    #expect(forecast.end == .seconds(2) && forecast.chain.map(\.job) == [JobID(0)])
  }

  // MARK: Slots and pools

  @Test func aScheduleHasAtLeastOneSlot() {
    let free = forecast(Recorder(jobs()))
    #expect(free.schedule(slots: 0).end == .seconds(23) && free.schedule(slots: -3).end == .seconds(23))
  }

  @Test func theSlotOfAnAttemptIsTakenUntilItEnds() {
    var recorder = Recorder(jobs())
    recorder.move(3, to: .executing)
    let schedule = forecast(recorder).schedule(slots: 1)
    #expect(schedule.expected(JobID(3)) == .zero..<(.seconds(3)))
    #expect(schedule.expected(JobID(1)) == .seconds(3)..<(.seconds(13)))
    #expect(schedule.expected(JobID(0)) == .seconds(13)..<(.seconds(17)))
    #expect(schedule.end == .seconds(23))
  }

  @Test func thePoolOfAnAttemptIsTakenUntilItEnds() {
    var recorder = Recorder(jobs(["net": 1]), pools: ["net": 1])
    recorder.move(3, to: .executing)
    let schedule = forecast(recorder).schedule(slots: 4)
    #expect(schedule.expected(JobID(1)) == .seconds(3)..<(.seconds(13)))
    #expect(schedule.expected(JobID(0)) == .zero..<(.seconds(4)))
  }

  @Test func unitsThatAreGivenBackStartAsManyJobs() {
    var jobs = [job("a"), job("b"), job("c"), job("d")]
    for (place, units) in [2, 1, 1, 1].enumerated() { jobs[place].uses = ["net": units] }
    let run = Recorder(jobs, pools: ["net": 2]).run
    let schedule = Forecast(run, now: .zero) { .seconds($0.index == 0 ? 5 : 3) }.schedule(slots: 9)
    let starts = (0..<4).map { schedule.expected(JobID($0)).lowerBound }
    #expect(starts == [.zero, .seconds(5), .seconds(5), .seconds(8)] && schedule.end == .seconds(11))
    // A pool without a size, and a job that takes no unit of one, wait for nothing.
    jobs[3].uses = ["other": 7, "net": 0]
    let other = Forecast(Recorder(jobs, pools: ["net": 2]).run, now: .zero) { .seconds($0.index == 0 ? 5 : 3) }
    #expect(other.schedule(slots: 9).expected(JobID(3)).lowerBound == .zero)
  }

  @Test func aPoolMayBeAsLargeAsARecordingCanStateIt() {
    var jobs = [job("a"), job("b")]
    for index in jobs.indices { jobs[index].uses = ["net": 1_000_000_000] }
    let schedule = Forecast(Recorder(jobs, pools: ["net": 1_000_000_000]).run, now: .zero) { _ in .seconds(3) }
      .schedule(slots: 9)
    #expect(schedule.end == .seconds(6))
  }

  @Test func clusterJobsThatWaitExecuteOneByOneWhileNoneDoes() {
    let there = JobWork.shell(ShellWork(.script("true"), cluster: ClusterRequest()))
    let jobs = (0..<3).map { Job(name: "\($0)", work: there) }
    let schedule = Forecast(Recorder(jobs).run, now: .zero) { _ in .seconds(10) }.schedule(slots: 9)
    #expect(schedule.end == .seconds(30))
    #expect((0..<3).map { schedule.expected(JobID($0)).lowerBound } == [.zero, .seconds(10), .seconds(20)])
  }

  @Test func clusterJobsAndOthersWaitForEachOther() {
    let there = JobWork.shell(ShellWork(.script("true"), cluster: ClusterRequest()))
    let jobs = [
      job("a"), Job(name: "b", work: there, needs: [JobNeed(JobID(0))]), job("c", 1), Job(name: "d", work: there),
    ]
    let schedule = Forecast(Recorder(jobs).run, now: .zero) { .seconds($0.index == 3 ? 4 : 10) }.schedule(slots: 1)
    #expect(
      (0..<4).map { schedule.expected(JobID($0)) } == [
        .zero..<(.seconds(10)), .seconds(10)..<(.seconds(20)), .seconds(20)..<(.seconds(30)), .zero..<(.seconds(4)),
      ])
  }
}
