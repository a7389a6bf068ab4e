import JobModel
import Testing

@Suite struct JobWorkTests {
  private let operation = OperationWork(className: "Op", visibility: .whole)

  @Test func aKindIsThatOfTheJobFileOrOfTheQueue() {
    let work: [JobWork] = [
      .shell(ShellWork(.script("x"))), .download(DownloadWork(url: "u", file: "f")),
      .upload(UploadWork(file: "f", url: "u")), .simulate(SimulatedWork()), .operation(operation),
      .operation(OperationWork(className: "Op", visibility: .wrapped)),
      .operation(OperationWork(className: "Op", visibility: .end)),
    ]
    #expect(
      work.map(\.kind) == ["shell", "download", "upload", "simulate", "operation", "foreign", "foreign"])
  }

  @Test func aCommandAsTextIsTheScriptOrTheWords() {
    #expect(ShellWork(.script("make -j8")).summary == "make -j8")
    #expect(ShellWork(.argv(["make", "-C", "a b"])).summary == "make -C a b")
  }

  @Test func theDefaultsAreThoseOfTheJobFile() {
    let work = ShellWork(.script("x"))
    #expect(work.stop.signal == 15 && work.stop.grace == .seconds(5))
    #expect(work.shell == ["/bin/sh", "-e", "-c"] && !work.hasTerminal && work.engine == .local)
    let policy = RetryPolicy(max: 1)
    #expect(policy.backoff == .exponential && policy.initial == .seconds(1) && policy.cap == .seconds(30))
    #expect(!policy.jitter && policy.only == nil && RetryPolicy.never.max == 0)
    let service = Service()
    #expect(service.interval == .milliseconds(500) && service.limit == .seconds(30) && service.restart == .never)
    let download = DownloadWork(url: "u", file: "f")
    #expect(download.resume && download.existing == .overwrite && !download.usesServerName)
    #expect(UploadWork(file: "f", url: "u").method == "PUT")
    #expect(download.stall == .seconds(300) && UploadWork(file: "f", url: "u").stall == .seconds(300))
    let kept = Retention()
    #expect(kept.age == .seconds(2_592_000) && kept.runs == 200 && kept.bytes == 1_000_000_000)
    let job = Job(name: "a", work: .shell(work))
    #expect(!job.allowFailure && job.priority == .normal && job.retry == .never)
    #expect(JobNeed(JobID(0)).when == .ok)
  }

  // MARK: Where it executes

  @Test func aTerminalOrAServiceStaysOnThisMachine() {
    #expect(ShellWork(.script("x")).canLeaveMachine)
    #expect(!ShellWork(.script("x"), hasTerminal: true).canLeaveMachine)
    #expect(!ShellWork(.script("x"), service: Service()).canLeaveMachine)
  }

  @Test func onlyAJobOfItsOwnOnThisMachineTakesASlot() {
    func job(_ work: ShellWork, parent: JobID? = nil) -> Job { Job(name: "a", work: .shell(work), parent: parent) }
    #expect(job(ShellWork(.script("x"))).takesSlot)
    #expect(!job(ShellWork(.script("x")), parent: JobID(0)).takesSlot)
    #expect(!job(ShellWork(.script("x"), service: Service())).takesSlot)
    #expect(!job(ShellWork(.script("x"), cluster: ClusterRequest())).takesSlot)
    #expect(Job(name: "a", work: .simulate(SimulatedWork())).takesSlot)
  }

  @Test func termsAreOfInterestOnlyWhereAClusterExecutes() {
    var work = ShellWork(.script("x"), cluster: ClusterRequest(cpus: 2))
    #expect(work.cluster == ClusterRequest(cpus: 2))
    work.engine = .local
    #expect(work.cluster == nil)
  }

  @Test func anEngineExecutesAllProgramsThatCanLeave() {
    let graph = JobGraph(
      name: "g",
      jobs: [
        Job(name: "a", work: .shell(ShellWork(.script("x")))),
        Job(name: "b", work: .shell(ShellWork(.script("x"), hasTerminal: true))),
        Job(name: "c", work: .shell(ShellWork(.script("x"), service: Service()))),
        Job(name: "d", work: .upload(UploadWork(file: "f", url: "u"))),
        Job(name: "e", work: .shell(ShellWork(.script("x"), cluster: ClusterRequest(cpus: 2)))),
      ])
    let there = graph.executed(by: .cluster)
    #expect(there.jobs.map(\.cluster) == [ClusterRequest(), nil, nil, nil, ClusterRequest(cpus: 2)])
    #expect(graph.executed(by: .local).jobs.allSatisfy { $0.cluster == nil })
    #expect(there.executed(by: .local).jobs[0] == graph.jobs[0] && there.jobs[3] == graph.jobs[3])
  }

  // MARK: Operations

  @Test func anOperationRefusesWhatItCannot() {
    let not = JobWork.operation(operation)
    #expect(not.refusal(of: .pause) == "Op has no way to pause; P holds back unstarted jobs")
    #expect(not.refusal(of: .retry) == "an operation runs once; the program has to add a new one")
    #expect(not.refusal(of: .kill) == "an operation of this program can only be asked to end: x cancels")
    let pausing = JobWork.operation(OperationWork(className: "Op", visibility: .whole, canPause: true))
    #expect(pausing.refusal(of: .pause) == nil && pausing.refusal(of: .retry) != nil)
    let again = JobWork.operation(OperationWork(className: "Op", visibility: .whole, canRetry: true))
    #expect(again.refusal(of: .retry) == nil && again.refusal(of: .pause) != nil && again.refusal(of: .kill) != nil)
  }

  @Test(arguments: [JobAbility.pause, .retry, .kill]) func otherWorkRefusesNothing(ability: JobAbility) {
    #expect(JobWork.simulate(SimulatedWork()).refusal(of: ability) == nil)
    #expect(JobWork.shell(ShellWork(.script("x"))).refusal(of: ability) == nil)
  }

  @Test func aSecondStopIsHarderThanTheFirst() {
    #expect(StopLevel.terminate < .kill)
    #expect(!(StopLevel.kill < .terminate) && !(StopLevel.kill < .kill) && !(StopLevel.terminate < .terminate))
  }
}
