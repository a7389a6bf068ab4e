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
    let there = JobWork.shell(ShellWork(.script("true"), cluster: ClusterTerms()))
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
}
