import Foundation
import Testing

@testable import JobModel

/// Fields of a job and of a start that stand beside each other in no other test.
@Suite struct EventFieldsTests {
  private func start(jobs: Int, timeout: Duration? = nil, isOpen: Bool = false) -> RunStart {
    RunStart(
      id: "r", name: "n", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: jobs, timeout: timeout, isOpen: isOpen)
  }

  /// What the line of a job named `a` has behind its name, once it is read back as the same job.
  private func fields(_ job: Job, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let events = [JobEvent](facts: [(.zero, .runStarted(start(jobs: 1))), (.zero, .jobAdded(JobID(0), job))])
    #expect(try Recording(events.ndjson).events == events, sourceLocation: sourceLocation)
    let line = try #require(events.lines.last)
    let head = #"{"v":1,"seq":1,"t":0,"type":"job_added","job":"a","#
    #expect(line.hasPrefix(head), sourceLocation: sourceLocation)
    return String(line.dropFirst(head.count).dropLast())
  }

  private func shell(_ work: ShellWork) -> Job { Job(name: "a", work: .shell(work)) }

  @Test func aStartStatesItsLimitAndThatJobsArrive() throws {
    for (start, end) in [
      (start(jobs: 0, timeout: .seconds(5400), isOpen: true), #""jobs":0,"timeout":5400,"open":true}"#),
      (start(jobs: 0), #""jobs":0}"#),
    ] {
      let events = [JobEvent](facts: [(.zero, .runStarted(start))])
      #expect(events.lines.last?.hasSuffix(end) == true)
      #expect(try Recording(events.ndjson).events == events)
    }
  }

  @Test func aCommandStatesItsShellItsTerminalAndItsSilence() throws {
    let work = ShellWork(.script("x"), shell: ["bash", "-c"], hasTerminal: true, silence: .seconds(90))
    #expect(
      try fields(shell(work))
        == #""kind":"shell","needs":[],"command":"x","shell":["bash","-c"],"tty":true,"silence":90"#)
  }

  @Test func aCommandStatesThatItsStreamsAreApart() throws {
    #expect(
      try fields(shell(ShellWork(.script("x"), stderr: .apart)))
        == #""kind":"shell","needs":[],"command":"x","stderr":"apart""#)
  }

  @Test func aCommandWithoutAnythingOfItsOwnStatesNothingMore() throws {
    #expect(try fields(shell(ShellWork(.script("x")))) == #""kind":"shell","needs":[],"command":"x""#)
  }

  @Test(arguments: [
    (ShellWork.Stop(signal: 2), #"{"signal":2,"grace":5}"#), (.init(grace: .seconds(6)), #"{"signal":15,"grace":6}"#),
  ])
  func aStopThatDiffersInOnePartIsStatedWhole(stop: ShellWork.Stop, text: String) throws {
    #expect(
      try fields(shell(ShellWork(.script("x"), stop: stop)))
        == #""kind":"shell","needs":[],"command":"x","stop":\#(text)"#)
  }

  @Test(
    arguments: [
      (Service.Probe.url("http://h/up"), #""url":"http://h/up","#),
      (.port(host: "h", 65_535), #""host":"h","port":65535,"#),
      (.port(host: "h", 0), #""host":"h","port":0,"#),
      (.command(.script("true")), #""command":"true","#),
      (.command(.argv(["nc", "h"])), #""command":["nc","h"],"#),
      (.output("ready"), #""output":"ready","#),
      (nil, ""),
    ] as [(Service.Probe?, String)])
  func aServiceStatesItsProbeAndItsTimes(probe: Service.Probe?, text: String) throws {
    #expect(
      try fields(shell(ShellWork(.script("s"), service: Service(probe: probe))))
        == #""kind":"shell","needs":[],"command":"s","service":{\#(text)"every":0.5,"timeout":30,"restart":"never"}"#)
  }

  @Test func aPolicyStatesItsExitsInOrderAndItsPatterns() throws {
    let policy = RetryPolicy(max: 3, exits: [75, 2, -1], patterns: ["reset", "lost"])
    #expect(
      try fields(Job(name: "a", work: .simulate(SimulatedWork()), retry: policy))
        == #""kind":"simulate","needs":[],"duration":0,"steps":1,"retries":3,"#
        + #""retry":{"backoff":"exponential","initial":1,"cap":30,"jitter":false,"exits":[-1,2,75],"#
        + #""output":["reset","lost"]}"#)
  }

  @Test func aJobStatesWhatDecidesWhetherItRuns() throws {
    let job = Job(
      name: "a", work: .simulate(SimulatedWork()), matrix: "build", condition: JobCondition("os == linux"),
      approval: "go?", finally: .always)
    #expect(
      try fields(job)
        == #""kind":"simulate","needs":[],"duration":0,"steps":1,"matrix":"build","if":"os == linux","#
        + #""approve":"go?","finally":"always""#)
  }

  @Test func anApprovalThatFailedIsReadBack() throws {
    let events = [JobEvent](facts: [
      (.zero, .runStarted(start(jobs: 1))), (.zero, .jobAdded(JobID(0), job("a"))),
      (.zero, .jobState(JobID(0), .failed(JobFailure(.approval, "no"), allowed: false), attempt: 0, pid: nil)),
      (.zero, .jobOutputs(JobID(0), ["b": "2", "a": "1"])), (.zero, .arrivalsEnded), (.zero, .poolChanged("net", 0)),
    ])
    #expect(events.lines[2].hasSuffix(#""state":"failed","attempt":0,"reason":"no","exit":null,"cause":"approval"}"#))
    #expect(events.lines[3].hasSuffix(#""type":"job_outputs","job":"a","values":{"a":"1","b":"2"}}"#))
    #expect(events.lines[4] == #"{"v":1,"seq":4,"t":0,"type":"arrivals_ended"}"#)
    #expect(events.lines[5] == #"{"v":1,"seq":5,"t":0,"type":"pool_changed","pool":"net","size":0}"#)
    #expect(try Recording(events.ndjson).events == events)
  }

  // MARK: The reference

  /// What Events.md has in backquotes, and its headings.
  private static func referenceWords() throws -> Set<String> {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appending(path: "Sources/Reports/Reports.docc/Events.md"), encoding: .utf8)
    let code = text.matches(of: /`([^`\n]+)`/).flatMap { match in
      match.output.1.split { !$0.isLetter && !$0.isNumber && !"_-".contains($0) }
    }
    let headings = text.matches(of: /(?m)^### (.+)$/).flatMap { $0.output.1.split(separator: ", ") }
    return Set((code + headings).map(String.init))
  }

  /// The one that follows another, until none does: a new one must be put in.
  private static func canceller(after canceller: JobState.Canceller) -> JobState.Canceller? {
    switch canceller {
    case .person: .signal
    case .signal: .policy
    case .policy: .program
    case .program: .timeout
    case .timeout: .unneeded
    case .unneeded: .restart
    case .restart: nil
    }
  }

  @Test func theReferenceNamesEveryTypeAndWord() throws {
    let words = try Self.referenceWords()
    let cancellers = sequence(first: JobState.Canceller.person, next: Self.canceller(after:)).map(\.rawValue)
    let all =
      FactType.allCases.map(\.rawValue) + JobNeed.Condition.allCases.map(\.rawValue) + cancellers
      + StateClass.allCases.map(\.eventWord) + RunWarning.Kind.allCases.map(\.rawValue)
    #expect(all.filter { !words.contains($0) } == [])
  }

  /// The names of the fields of every event and of the objects in them, but for names that a job file gives.
  @Test func theReferenceNamesEveryField() throws {
    var job = Job(name: "a", work: .shell(ShellWork(.script("s"), shell: ["bash", "-c"], hasTerminal: true)))
    (job.matrix, job.condition, job.approval, job.finally) = ("m", JobCondition("a == b"), "go?", .always)
    job.retry = RetryPolicy(max: 3, exits: [75], patterns: ["reset"])
    var start = start(jobs: 1)
    (start.timeout, start.isOpen) = (.seconds(1), true)
    let events = [JobEvent](facts: [
      (.zero, .runStarted(start)), (.zero, .jobAdded(JobID(0), job)), (.zero, .jobOutputs(JobID(0), [:])),
      (.zero, .poolChanged("net", 1)),
    ])
    let given: Set = ["net", "heavy"]
    let fields = (events.lines + [JobEvent].everyField.lines).flatMap { line in
      line.matches(of: /[{,]"([a-z_0-9]+)":/).map { String($0.output.1) }
    }
    let words = try Self.referenceWords()
    #expect(Set(fields).subtracting(given).filter { !words.contains($0) } == [])
  }
}
