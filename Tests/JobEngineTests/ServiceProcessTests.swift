import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

/// Services that are real programs: when they can be used, and how they end.
struct ServiceProcessTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func service(
    _ name: String, _ script: String, _ probe: Service.Probe? = nil, limit: Duration = .seconds(3600),
    restart: Service.Restart = .never, needs: [Int] = [], stop: Int32 = SIGTERM
  ) -> Job {
    let service = Service(probe: probe, interval: .milliseconds(20), limit: limit, restart: restart)
    let work = ShellWork(
      .script(script), directory: folder.url.path(), stop: ShellWork.Stop(signal: stop, grace: .seconds(3600)),
      service: service)
    return Job(name: name, work: .shell(work), needs: needs.map { JobNeed(JobID($0), when: .ready) })
  }

  private func job(_ name: String, _ script: String, needs: [Int]) -> Job {
    let work = ShellWork(.script(script), directory: folder.url.path())
    return Job(name: name, work: .shell(work), needs: needs.map { JobNeed(JobID($0), when: .ready) })
  }

  private func start(
    _ jobs: [Job], secrets: Set<String> = [], clock: any OperationClock = .system
  ) throws -> JobQueue {
    let graph = JobGraph(name: "test", jobs: jobs, secrets: secrets)
    let queue = try JobQueue(graph, options: .init(slots: 4), clock: clock)
    queue.start()
    return queue
  }

  private func ended(_ queue: JobQueue) -> Run {
    if !eventually({ queue.run.isComplete }) {
      Issue.record("it has not ended: \(queue.run.jobs.map(\.state))")
      queue.send(.stop(.kill, by: .signal))
    }
    return queue.settled()
  }

  private func text(_ name: String) -> String {
    (try? String(contentsOf: folder.file(name), encoding: .utf8)) ?? ""
  }

  /// Checks that the job waits until `open` has been called, and that both succeed then.
  private func isServedOnlyAfter(_ service: Job, _ open: () throws -> Void) throws {
    let queue = try start([service, job("user", "true", needs: [0])])
    #expect(eventually { queue.run.jobs[0].state == .executing })
    #expect(queue.run.jobs[1].state == .waiting)
    try open()
    let run = ended(queue)
    #expect(run.jobs.map(\.state) == [.succeeded(upToDate: false), .succeeded(upToDate: false)])
  }

  private func touch(_ name: String) throws { try Data().write(to: folder.file(name)) }

  // MARK: Probes

  @Test func anHTTPProbeIsAnsweredByAStatusBelow400() throws {
    let isUp = Lock(false)
    // Nothing is there when it is asked before the start.
    let server = try RawServer { request in
      let status = isUp.withLock(\.self) ? "200 OK" : "503 Service Unavailable"
      return request.number == 0 ? [.reset] : [.send("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")]
    }
    defer { server.stop() }
    let probe = Service.Probe.url(server.url("/healthz").absoluteString)
    try isServedOnlyAfter(service("api", "exec sleep 600", probe)) { isUp.withLock { $0 = true } }
  }

  @Test func aBodyThatDoesNotEndIsAnAnswerToAnHTTPProbe() throws {
    // Nothing is there when it is asked before the start.
    let server = try RawServer { request in
      request.number == 0
        ? [.reset] : [.send("HTTP/1.1 200 OK\r\n\r\nbody"), .hold]
    }
    defer { server.stop() }
    let probe = Service.Probe.url(server.url("/healthz").absoluteString)
    let run = ended(try start([service("api", "exec sleep 600", probe), job("user", "true", needs: [0])]))
    #expect(run.jobs[1].state == .succeeded(upToDate: false))
  }

  @Test func aTCPProbeIsAnsweredByAConnection() throws {
    // The backlog is full and no connection is accepted, so the kernel answers no further SYN.
    let (listener, port) = try Loopback.listen(backlog: 0)
    let taken = try Loopback.connect(to: port)
    defer {
      close(taken)
      close(listener)
    }
    try isServedOnlyAfter(service("db", "exec sleep 600", .port(host: "127.0.0.1", port))) {
      close(try #require(Loopback.accept(on: listener)))
    }
  }

  @Test func aCommandProbeRunsInTheFolderOfTheServiceUntilItSucceeds() throws {
    let probe = Service.Probe.command(.script("test -e go"))
    try isServedOnlyAfter(service("db", "exec sleep 600", probe)) { try touch("go") }
  }

  @Test func aCommandProbeIsRunByTheShellOfTheJob() throws {
    var api = service("api", "exec sleep 600", .command(.script("[[ -d . ]]")))
    guard case .shell(var work) = api.work else { return }
    work.shell = ["bash", "-c"]
    api.work = .shell(work)
    let run = ended(try start([api, job("user", "true", needs: [0])]))
    #expect(run.jobs[1].state == .succeeded(upToDate: false))
  }

  @Test func aLineOfTheOutputIsFoundBehindItsColors() throws {
    let script = #"until [ -e go ]; do sleep 0.02; done; printf '\033[32mlistening\033[0m on 80\n'; exec sleep 600"#
    try isServedOnlyAfter(service("api", script, .output(#"listening on \d+"#))) { try touch("go") }
  }

  @Test func aProgramSaysThatItCanBeUsedByTheProtocolOfSystemd() throws {
    let script = #"""
      cat > say.py <<'E'
      import os, socket, sys
      name = os.environ["NOTIFY_SOCKET"]
      s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
      s.connect("\0" + name[1:] if name[0] == "@" else name)
      s.send(sys.argv[1].encode())
      E
      python3 -B say.py 'STATUS=READY=1 soon'
      until [ -e go ]; do sleep 0.02; done
      python3 -B say.py "$(printf 'MAINPID=1\nREADY=1')"; exec sleep 600
      """#
    try isServedOnlyAfter(service("api", script, .notification)) { try touch("go") }
  }

  @Test func noOtherProgramGetsTheSocketOfThisOne() throws {
    setenv("NOTIFY_SOCKET", "/nowhere", 1)
    defer { unsetenv("NOTIFY_SOCKET") }
    let queue = try start([job("plain", "echo ${NOTIFY_SOCKET-none} > seen", needs: [])])
    _ = ended(queue)
    #expect(text("seen") == "none\n")
  }

  @Test func aServiceThatNoLongerAnswersIsStartedAgain() throws {
    let clock = ManualOperationClock()
    var api = service("api", "echo x >> starts; exec sleep 600", restart: .onFailure)
    guard case .shell(var work) = api.work else { return }
    var alive = Service.Liveness(.command(.script("test ! -e dead")))
    alive.failures = 1
    work.service?.alive = alive
    api.work = .shell(work)
    let queue = try start([api, job("user", "until [ -e go ]; do sleep 0.02; done", needs: [0])], clock: clock)
    #expect(eventually { queue.run.jobs[0].state == .serving && text("starts") == "x\n" })
    try touch("dead")
    #expect(eventually { clock.due.contains { $0 <= clock.now + .seconds(10) } })
    clock.advance(by: .seconds(10))
    let failure = JobFailure(.error, "service.alive failed")
    #expect(
      eventually { if case .backingOff(_, _, _, failure) = queue.run.jobs[0].state { true } else { false } })
    try FileManager.default.removeItem(at: folder.file("dead"))
    clock.advance(by: .seconds(30))
    #expect(eventually { queue.run.jobs[0].state == .serving && text("starts") == "x\nx\n" })
    try touch("go")
    #expect(ended(queue).jobs.map(\.state) == [.succeeded(upToDate: false), .succeeded(upToDate: false)])
  }

  @Test func aServiceThatCannotBeUsedInTimeIsEndedAndSkipsWhatNeedsIt() throws {
    let clock = ManualOperationClock()
    let never = service("api", "exec sleep 600", .command(.script("false")), limit: .seconds(30))
    let queue = try start([never, job("user", "true", needs: [0])], clock: clock)
    #expect(eventually { queue.run.jobs[0].attempt?.pid != nil })
    let pid = try #require(queue.run.jobs[0].attempt?.pid)
    clock.advance(by: .seconds(30))
    let run = ended(queue)
    #expect(run.jobs[0].state == .failed(JobFailure(.timedOut, "could not be used within 30s"), allowed: false))
    #expect(run.jobs[1].state == .skipped(because: .job(JobID(0))))
    #expect(kill(pid, 0) != 0)
  }

  // MARK: Before the start

  /// Checks that the service of this probe is not started, and fails with this sentence.
  private func isNotStarted(_ probe: Service.Probe, _ sentence: String) throws {
    let run = ended(
      try start([service("api", "touch started; exec sleep 600", probe), job("user", "touch used", needs: [0])]))
    #expect(run.jobs[0].state == .failed(JobFailure(.launch, sentence), allowed: false))
    #expect(run.jobs[1].state == .skipped(because: .job(JobID(0))))
    #expect(!FileManager.default.fileExists(atPath: folder.file("started").path))
  }

  @Test func aServiceWhosePortIsHeldIsNotStarted() throws {
    let (listener, port) = try Loopback.listen()
    defer { close(listener) }
    try isNotStarted(
      .port(host: "127.0.0.1", port),
      "127.0.0.1:\(port) answers before the service is started: another program has the port")
  }

  @Test func aServiceWhoseURLIsServedIsNotStarted() throws {
    let server = try RawServer { _ in [.send("HTTP/1.1 204 No Content\r\n\r\n")] }
    defer { server.stop() }
    let url = server.url("/healthz").absoluteString
    try isNotStarted(.url(url), "\(url) answers before the service is started: another program serves it")
  }

  /// It may serve what is asked for a moment later.
  @Test func aServiceWhoseURLAnswersWithAnErrorIsNotStarted() throws {
    let server = try RawServer { _ in [.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")] }
    defer { server.stop() }
    let url = server.url("/healthz").absoluteString
    try isNotStarted(.url(url), "\(url) answers before the service is started: another program serves it")
  }

  @Test(arguments: [502, 504]) func aGatewayWithoutItsServerDoesNotAnswer(status: Int) throws {
    let server = try RawServer { request in
      [.send("HTTP/1.1 \(request.number == 0 ? status : 200) X\r\nContent-Length: 0\r\n\r\n")]
    }
    defer { server.stop() }
    let url = server.url("/healthz").absoluteString
    let run = ended(
      try start([service("api", "exec sleep 600", .url(url)), job("user", "true", needs: [0])]))
    #expect(run.jobs.map(\.state) == [.succeeded(upToDate: false), .succeeded(upToDate: false)])
  }

  @Test func aServiceThatIsCancelledWhileItsURLIsAskedEnds() throws {
    let isAsked = Lock(false)
    let silent = try RawServer { _ in
      isAsked.withLock { $0 = true }
      return [.hold]
    }
    defer { silent.stop() }
    let probe = Service.Probe.url(silent.url("/").absoluteString)
    let queue = try start([service("api", "exec sleep 600", probe)], clock: ManualOperationClock())
    #expect(eventually { isAsked.withLock(\.self) })
    queue.send(.cancel([JobID(0)], by: .person))
    #expect(ended(queue).jobs[0].state == .cancelled(by: .person))
  }

  @Test func aServiceWhoseOutputTakesTooLongToSearchFails() throws {
    let line = String(repeating: "a", count: 47) + "!"
    let queue = try start([
      service("api", "echo '\(line)'; exec sleep 600", .output("(a|aa)+$")), job("user", "touch used", needs: [0]),
    ])
    let run = ended(queue)
    guard case .failed(let failure, allowed: false) = run.jobs[0].state else {
      Issue.record("\(run.jobs[0].state)")
      return
    }
    #expect(failure.cause == .error)
    #expect(failure.reason.hasPrefix("the pattern of service.ready took too long on its output"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("used").path))
  }

  // MARK: Ends

  /// Says its signal in `order` and ends.
  private func saying(_ name: String, _ signal: String) -> String {
    "trap 'echo \(name) \(signal) >> order; exit 0' \(signal); echo up; while :; do sleep 0.02; done"
  }

  @Test func servicesEndInReverseOrderEachByItsOwnSignal() throws {
    let up = Service.Probe.output("^up$")
    let run = ended(
      try start([
        service("db", saying("db", "INT"), up, stop: SIGINT),
        service("api", saying("api", "TERM"), up, needs: [0]),
        job("user", "echo user >> order", needs: [1]),
      ]))
    #expect(text("order") == "user\napi TERM\ndb INT\n")
    #expect(run.jobs.allSatisfy { $0.state == .succeeded(upToDate: false) })
  }

  @Test func aServiceThatIgnoresItsSignalIsKilledAfterItsGrace() throws {
    var deaf = service("deaf", "trap '' TERM; echo up; while :; do sleep 0.02; done", .output("^up$"))
    guard case .shell(var work) = deaf.work else { return }
    work.stop.grace = .milliseconds(100)
    deaf.work = .shell(work)
    let run = ended(try start([deaf, job("user", "true", needs: [0])]))
    #expect(run.jobs[1].state == .succeeded(upToDate: false))
    #expect(run.jobs[0].state.isTerminal)
  }

  @Test func aServiceThatEndsWhileNeededFailsAndItsUserGoesOn() throws {
    let queue = try start([
      service("api", "echo up; until [ -e die ]; do sleep 0.02; done; exit 3", .output("^up$")),
      job("user", "touch die; until [ -e go ]; do sleep 0.02; done", needs: [0]),
    ])
    #expect(eventually { queue.run.jobs[0].state.isTerminal })
    try touch("go")
    let run = ended(queue)
    #expect(run.jobs[0].state == .failed(JobFailure(.exit(3), "exit 3"), allowed: false))
    #expect(run.jobs[1].state == .succeeded(upToDate: false))
  }

  @Test func whatNeedsAServiceReadsTheValuesThatItHasWrittenBefore() throws {
    var user = job("user", "echo ${jobs.api.port} >> got", needs: [0])
    user.outputs = [OutputReference("${jobs.api.port}", job: JobID(0), name: "port")]
    let script = "echo port=123 >> $OPDASH_OUTPUT; echo up; while ! [ -e end ]; do sleep 0.02; done; exit 3"
    let queue = try start([
      service("api", script, .output("up"), restart: .onFailure), user,
      job("holder", "while ! [ -e over ]; do sleep 0.02; done", needs: [0]),
    ])
    #expect(eventually { queue.run.jobs[1].state.isTerminal })
    #expect(queue.run.jobs[1].state == .succeeded(upToDate: false))
    #expect(text("got") == "123\n" && queue.run.jobs[0].outputs == ["port": "123"])
    try touch("over")
    #expect(ended(queue).jobs[0].outputs == ["port": "123"])
  }

  /// A job that reads a value of the first one, a service.
  private func reader(of name: String, needs: [Int] = [0]) -> Job {
    var reader = job("reader", "echo ${jobs.api.\(name)} >> got", needs: needs)
    reader.outputs = [OutputReference("${jobs.api.\(name)}", job: JobID(0), name: name)]
    return reader
  }

  private static func missing(_ name: String) -> JobState {
    .failed(JobFailure(.launch, "api has written no \(name) to $OPDASH_OUTPUT"), allowed: false)
  }

  @Test func aRestartedServiceDoesNotHandOnItsEarlierValues() throws {
    let script = """
      if [ -e again ]; then touch second; else echo port=1 >> $OPDASH_OUTPUT; fi
      echo up; until [ -e die ]; do sleep 0.02; done; rm die; touch again; exit 3
      """
    var api = service("api", script, .output("^up$"), restart: .onFailure)
    api.retry = RetryPolicy(max: 3, initial: .milliseconds(10))
    var reader = reader(of: "port")
    reader.needs.append(JobNeed(JobID(1)))
    let killer = job("killer", "touch die; until [ -e second ]; do sleep 0.02; done", needs: [0])
    let run = ended(try start([api, killer, reader]))
    #expect(run.jobs[0].attempts.count == 2 && run.jobs[0].outputs == [:])
    #expect(run.jobs[2].state == Self.missing("port") && text("got") == "")
  }

  @Test func whyAServicesSecretIsNotHandedOnIsNotedOnce() throws {
    let script = "echo token=s3cr3t-value >> $OPDASH_OUTPUT; echo up; exec sleep 600"
    let holder = job("holder", "until [ -e over ]; do sleep 0.02; done", needs: [0])
    let queue = try start(
      [service("api", script, .output("^up$")), reader(of: "token"), holder], secrets: ["s3cr3t-value"])
    func notes(_ run: Run) -> [String] {
      let log = run.jobs[0].log
      return (0..<log.count).map { log[$0].line }.filter { $0.stream == .note }.map(\.text)
    }
    let note = "token of $OPDASH_OUTPUT holds a secret, and is not given to other jobs"
    #expect(eventually { queue.run.jobs[1].state.isTerminal })
    #expect(queue.run.jobs[1].state == Self.missing("token") && notes(queue.run) == [note])
    try touch("over")
    #expect(notes(ended(queue)) == [note])
  }

  @Test func aServiceThatIsRestartedServesAgain() throws {
    let script = "echo start >> starts; echo up; until [ -e die ]; do sleep 0.02; done; rm die; exit 3"
    var api = service("api", script, .output("^up$"), restart: .onFailure)
    api.retry = RetryPolicy(max: 3, initial: .milliseconds(10))
    let user = job("user", "touch die; until [ $(grep -c start starts) = 2 ]; do sleep 0.02; done", needs: [0])
    let run = ended(try start([api, user]))
    #expect(run.jobs[0].state == .succeeded(upToDate: false))
    #expect(run.jobs[0].attempts.count == 2)
    #expect(run.jobs[1].state == .succeeded(upToDate: false))
  }
}
