import Basics
import JobModel
import Testing

@Suite struct JobTextsTests {
  /// The work with `!` behind replaced texts and `/` before replaced paths.
  private func mapped(_ work: JobWork) -> JobWork { work.mapTexts({ $0 + "!" }, path: { "/" + $0 }) }

  @Test func everyTextOfACommandIsReplaced() {
    let work = ShellWork(
      .script("s"), directory: "d", environment: ["K": "v"], progress: "p", shell: ["sh", "-c"], silence: .seconds(1))
    #expect(
      mapped(.shell(work))
        == .shell(
          ShellWork(
            .script("s!"), directory: "/d", environment: ["K": "v!"], progress: "p!", shell: ["sh!", "-c!"],
            silence: .seconds(1))))
    #expect(
      mapped(.shell(ShellWork(.argv(["a", "b"]), shell: [])))
        == .shell(ShellWork(.argv(["a!", "b!"]), shell: [])))
  }

  @Test(arguments: [
    (Service.Probe.url("u"), Service.Probe.url("u!")), (.port(host: "h", 80), .port(host: "h!", 80)),
    (.command(.script("c")), .command(.script("c!"))), (.command(.argv(["c", "d"])), .command(.argv(["c!", "d!"]))),
    (.output("o"), .output("o!")),
  ])
  func theTextOfAProbeIsReplaced(probe: Service.Probe, result: Service.Probe) {
    let work = mapped(.shell(ShellWork(.script("s"), shell: [], service: Service(probe: probe))))
    #expect(work == .shell(ShellWork(.script("s!"), shell: [], service: Service(probe: result))))
  }

  @Test func everyTextOfATransferIsReplaced() {
    #expect(
      mapped(.download(DownloadWork(url: "u", file: "f", sha256: "abc", headers: ["H": "v"])))
        == .download(DownloadWork(url: "u!", file: "/f", sha256: "abc", headers: ["H": "v!"])))
    #expect(
      mapped(.upload(UploadWork(file: "f", url: "u", method: "PUT", headers: ["H": "v"])))
        == .upload(UploadWork(file: "/f", url: "u!", method: "PUT!", headers: ["H": "v!"])))
    #expect(mapped(.simulate(SimulatedWork(steps: 3))) == .simulate(SimulatedWork(steps: 3)))
  }

  // MARK: Secrets

  private var mask: SecretMask {
    get throws { try #require(SecretMask(["pw"])) }
  }

  @Test func aJobIsMaskedInAllTextsButItsName() throws {
    let open = Job(
      name: "pw", work: .shell(ShellWork(.script("echo pw"), directory: "/pw", shell: [])), description: "the pw",
      creates: ["/out/pw"], inputs: ["/in/pw"], condition: JobCondition("x == pw", [[.init("x", equals: "pw")]]),
      approval: "use pw?")
    let masked = Job(
      name: "pw", work: .shell(ShellWork(.script("echo ***"), directory: "/***", shell: [])), description: "the ***",
      creates: ["/out/***"], inputs: ["/in/***"], condition: JobCondition("x == ***", [[.init("x", equals: "pw")]]),
      approval: "use ***?")
    #expect(try open.masked(by: mask) == masked)
  }

  @Test func aGraphWithoutSecretsIsShownAsItIs() {
    let graph = JobGraph(name: "g", jobs: [Job(name: "a", work: .shell(ShellWork(.script("pw"), shell: [])))])
    #expect(graph.masked == graph)
    var secret = graph
    secret.secrets = ["pw"]
    #expect(secret.masked.jobs[0].work == .shell(ShellWork(.script("***"), shell: [])))
    #expect(secret.masked.secrets == ["pw"])
  }

  @Test func whatACallerAsksOfAClusterAndOfARetryIsMasked() throws {
    func job(_ text: String) -> Job {
      let clusterRequest = ClusterRequest(
        name: text, partition: text, account: text, qos: text, constraint: text, options: ["-x", text])
      return Job(
        name: "a", work: .shell(ShellWork(.script("ls"), cluster: clusterRequest)),
        retry: RetryPolicy(max: 1, patterns: [text]))
    }
    #expect(try job("a pw").masked(by: mask) == job("a ***"))
    let waiting = JobFact.jobState(JobID(0), .ready(for: .cluster(reason: "pw")), attempt: 1, pid: nil)
    let masked = JobFact.jobState(JobID(0), .ready(for: .cluster(reason: "***")), attempt: 1, pid: nil)
    #expect(try waiting.masked(by: mask) == masked)
    #expect(try JobFact.clusterChanged(fault: "no pw").masked(by: mask) == .clusterChanged(fault: "no ***"))
  }

  @Test func hiddenNamesStayDifferent() {
    let names = ["a[pw]", "a", "a[key]", "a[***]", "b[x,pw]", "b[x,key]", "a[pwkey]"]
    let jobs = names.map { Job(name: $0, work: .simulate(SimulatedWork()), matrix: "pw") }
    var graph = JobGraph(name: "of pw", jobs: jobs)
    graph.hide(["pw", "key"])
    #expect(graph.name == "of ***" && graph.secrets == ["pw", "key"])
    #expect(graph.jobs.map(\.name) == ["a[***2]", "a", "a[***3]", "a[***]", "b[x,***]", "b[x,***2]", "a[******]"])
    #expect(graph.jobs[0].matrix == "***" && graph.jobs[1].matrix == "pw")
  }

  @Test func theReasonOfAFailureIsMasked() throws {
    let (open, masked) = (
      JobFailure(.network, "no pw", retryAfter: .seconds(3)), JobFailure(.network, "no ***", retryAfter: .seconds(3))
    )
    func fact(_ state: JobState) -> JobFact { .jobState(JobID(1), state, attempt: 2, pid: 7) }
    #expect(try fact(.failed(open, allowed: true)).masked(by: mask) == fact(.failed(masked, allowed: true)))
    #expect(
      try fact(.backingOff(until: .seconds(9), number: 1, limit: 2, after: open)).masked(by: mask)
        == fact(.backingOff(until: .seconds(9), number: 1, limit: 2, after: masked)))
  }

  @Test func notesAndTheProgramsLinesAreMaskedAndAJobsOutputIsAlready() throws {
    func line(_ stream: LogLine.Stream, _ text: String) -> JobFact {
      .jobLog(JobID(0), attempt: 3, LogLine(stream, text, isCut: true))
    }
    #expect(try line(.note, "a pw").masked(by: mask) == line(.note, "a ***"))
    #expect(try line(.stdout, "a pw").masked(by: mask) == line(.stdout, "a pw"))
    #expect(try line(.stderr, "a pw").masked(by: mask) == line(.stderr, "a pw"))
    #expect(
      try JobFact.programLog(LogLine(.stderr, "pw")).masked(by: mask) == .programLog(LogLine(.stderr, "***")))
    #expect(try JobFact.jobAdded(JobID(0), job("a")).masked(by: mask) == .jobAdded(JobID(0), job("a")))
    let added = JobFact.jobAdded(JobID(0), Job(name: "a", work: .simulate(SimulatedWork()), description: "pw"))
    #expect(
      try added.masked(by: mask)
        == .jobAdded(JobID(0), Job(name: "a", work: .simulate(SimulatedWork()), description: "***")))
  }
}
