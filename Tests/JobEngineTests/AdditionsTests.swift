import Dispatch
import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

/// Reads texts with a line for each job: its name, its script after a colon, the names of its needs before that.
private final class LineReader: AddedTextReader, @unchecked Sendable {
  // Safe: only the queue of the readings touches the variables.
  private var names: [String] = []
  private(set) var firsts: [Int] = []

  func read(
    _ text: AddedText, _ style: AddedText.Style, after known: NewlyKnown
  ) throws(AdditionRefusal) -> ReadJobs {
    names += known.jobs.map(\.name)
    var jobs: [Job] = []
    for line in String(decoding: text.bytes, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
      let words = parts[0].split(separator: " ").map(String.init)
      if names.contains(words[0]) { throw AdditionRefusal("there is a \(words[0])") }
      let all = names + jobs.map(\.name)
      let needs = words.dropFirst().compactMap { all.firstIndex(of: $0) }.map { JobNeed(JobID($0)) }
      let work = ShellWork(.script(parts.count > 1 ? parts[1] : "true"))
      jobs.append(Job(name: words[0], work: .shell(work), needs: needs))
    }
    return ReadJobs(jobs, notes: ["read \(text.file) in \(text.directory)"]) { [self] in firsts.append($0.index) }
  }
}

private final class AddingRun {
  let folder: TemporaryFolder
  let queue: JobQueue
  let reader = LineReader()

  init(
    _ scripts: KeyValuePairs<String, String>, isOpen: Bool = false, isWatching: Bool = false,
    change: (inout Job) -> Void = { _ in }
  ) throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    var options = JobQueueOptions(slots: 4, stateFolder: folder.url.path)
    options.addedTexts = reader
    (options.isOpen, options.isWatching) = (isOpen, isWatching)
    let jobs = scripts.map { name, script in
      var job = Job(name: name, work: .shell(ShellWork(.script(script), directory: folder.url.path)))
      change(&job)
      return job
    }
    queue = try JobQueue(JobGraph(name: "test", jobs: jobs), options: options)
    queue.start()
  }

  func add(_ text: String) -> Result<AddedJobs, AdditionRefusal>? {
    let answer = Lock<Result<AddedJobs, AdditionRefusal>?>(nil)
    let done = DispatchSemaphore(value: 0)
    queue.add(AddedText(Array(text.utf8), file: "more", directory: "/w"), .init()) { result in
      answer.withLock { $0 = result }
      done.signal()
    }
    #expect(done.wait(timeout: .now() + 60) == .success)
    return answer.withLock(\.self)
  }

  func state(_ name: String) -> JobState? { queue.run.id(named: name).map { queue.run[$0].state } }

  func release() { #expect(FileManager.default.createFile(atPath: folder.file("go").path, contents: nil)) }

  func ended() -> Run {
    #expect(eventually { queue.run.isComplete })
    return queue.run
  }

  var kept: [KeptText] { queue.folder.map { KeptTexts.read(in: $0.path) } ?? [] }

  deinit {
    queue.send(.stop(.kill, by: .signal))
    _ = eventually { queue.run.isComplete }
  }
}

private let nap = "while [ ! -e go ]; do sleep 0.01; done"
private let ok = JobState.succeeded(upToDate: false)

private func notes(_ record: JobRecord) -> [String] {
  (0..<record.log.count).map { record.log[$0].line }.filter { $0.stream == .note }.map(\.text)
}

@Suite struct AdditionsTests {
  @Test func jobsNeedEndedAndExecutingOnesAndTheRunWaitsForThem() throws {
    let run = try AddingRun(["done": "true", "nap": nap])
    #expect(eventually { run.state("done") == ok && run.state("nap") == .executing })
    let notes = ["read more in /w"]
    #expect(run.add("a done\nb a nap\nc later\nlater") == .success(.init(["a", "b", "c", "later"], notes: notes)))
    #expect(run.add("d b") == .success(AddedJobs(["d"], notes: notes)))
    #expect(eventually { run.state("a") == ok && run.state("b") == .waiting })
    run.release()
    #expect(run.ended().jobs.map(\.state) == [ok, ok, ok, ok, ok, ok, ok])
    #expect(run.reader.firsts == [2, 6])
    #expect(run.kept.map(\.names) == [["a", "b", "c", "later"], ["d"]])
  }

  @Test func aRefusedTextLeavesNothing() throws {
    let run = try AddingRun(["nap": nap])
    #expect(run.add("nap") == .failure(AdditionRefusal("there is a nap")))
    run.release()
    _ = run.ended()
    let refusal = "no job can be added to run \(run.queue.id): all of its jobs have ended"
    // Not its other faults.
    for text in ["a", "nap"] { #expect(run.add(text) == .failure(AdditionRefusal(refusal))) }
    #expect(run.queue.run.jobs.count == 1 && run.kept.isEmpty)
    run.queue.send(.finish(signal: nil))
    #expect(eventually { run.queue.run.summary != nil })
    #expect(run.add("a") == .failure(AdditionRefusal("no job can be added to run \(run.queue.id): it has ended")))
  }

  @Test func aRunThatIsStoppedTakesNone() throws {
    let run = try AddingRun(["nap": "trap '' TERM; touch trapped; \(nap)"])
    #expect(eventually { run.folder.names().contains("trapped") })
    run.queue.send(.stop(.terminate, by: .person))
    let refusal = "no job can be added to run \(run.queue.id): it is being stopped"
    #expect(run.add("a") == .failure(AdditionRefusal(refusal)))
    run.release()
  }

  @Test func jobsThatArriveMeanwhileComeFirst() throws {
    let run = try AddingRun([:], isOpen: true)
    for number in 0..<200 {
      run.queue.add([Job(name: "arrived \(number)", work: .shell(ShellWork(.script("true"))))])
      let result = run.add("x\(number)\ny\(number) x\(number)")
      #expect(throws: Never.self) { try result?.get() }
    }
    run.queue.endArrivals()
    let ended = run.ended()
    #expect(ended.jobs.count == 600 && ended.counts.succeeded == 600)
    for number in 0..<200 {
      let job = try #require(ended.id(named: "y\(number)"))
      #expect(ended[job].job.needs.map { ended[$0.job].job.name } == ["x\(number)"])
    }
  }

  @Test func whatAJobWritesIsAddedBeforeTheRunEnds() throws {
    let run = try AddingRun(["plan": "printf 'a:printf b > $OPDASH_ADD' > $OPDASH_ADD"])
    let ended = run.ended()
    #expect(ended.jobs.map(\.job.name) == ["plan", "a", "b"])
    #expect(ended.jobs.map(\.state) == [ok, ok, ok])
    #expect(notes(ended.jobs[0]) == ["read $OPDASH_ADD in \(run.folder.url.path)", "added 1 job: a"])
    #expect(run.kept.map(\.text.writer) == ["plan", "a"])
    #expect(run.folder.names(in: "runs/\(run.queue.id)") == ["added", "logs"])
  }

  @Test(arguments: [
    ("echo plan > $OPDASH_ADD", "there is a plan"),
    ("mkfifo $OPDASH_ADD", "it is a named pipe: leave the file in its place, and write to it"),
    ("ln -s /etc/passwd $OPDASH_ADD", "it is a symbolic link: leave the file in its place, and write to it"),
    ("truncate -s 17M $OPDASH_ADD", "it is larger than 16 MiB: split it"),
  ])
  func aFaultFailsTheJob(_ script: String, _ reason: String) throws {
    let run = try AddingRun(["plan": script])
    let whole = reason.hasPrefix("it") ? "$OPDASH_ADD is not read: \(reason)" : reason
    #expect(run.ended().jobs.map(\.state) == [.failed(JobFailure(.error, whole), allowed: false)])
    #expect(run.kept.isEmpty && run.folder.names(in: "runs/\(run.queue.id)") == ["logs"])
  }

  @Test func onlyTheAttemptThatEndsWellAdds() throws {
    let run = try AddingRun(["plan": "echo a > $OPDASH_ADD; test $OPDASH_ATTEMPT = 2"]) {
      $0.retry = RetryPolicy(max: 1, initial: .milliseconds(1))
    }
    #expect(run.ended().jobs.map(\.job.name) == ["plan", "a"])
    #expect(run.folder.names(in: "runs/\(run.queue.id)") == ["added", "logs"])
  }

  @Test func aJobThatIsExecutedAgainAddsTheSameTextOnce() throws {
    let run = try AddingRun(["plan": "echo a > $OPDASH_ADD"], isWatching: true)
    #expect(eventually { run.state("a") == ok })
    run.queue.send(.inputsChanged([JobID(0): InputChange(path: "x")]))
    #expect(eventually { run.queue.run[JobID(0)].attempts.count == 2 && run.state("plan") == ok })
    #expect(run.queue.run.jobs.map(\.job.name) == ["plan", "a"] && run.kept.count == 1)
    #expect(notes(run.queue.run[JobID(0)]).last == "$OPDASH_ADD is as it was before: its jobs were added then")
    run.queue.send(.setWatching(false))
  }

  @Test func aRunThatTakesNoneHasNoVariable() throws {
    let folder = try TemporaryFolder()
    let job = Job(name: "a", work: .shell(ShellWork(.script("test -z \"$OPDASH_ADD\""))))
    let queue = try JobQueue(JobGraph(name: "t", jobs: [job]), options: .init(slots: 1, stateFolder: folder.url.path))
    queue.start()
    #expect(eventually { queue.run.isComplete } && queue.run.jobs[0].state == ok)
  }
}

@Suite struct ExtendedScheduleTests {
  private func job(_ name: String, _ needs: [JobNeed] = [], change: (inout Job) -> Void = { _ in }) -> Job {
    var job = Job(name: name, work: .simulate(SimulatedWork(duration: .seconds(1))), needs: needs)
    change(&job)
    return job
  }

  @Test func aNeedOnAnEndedJobIsJudgedAsItStands() throws {
    var bench = Bench(graph(["a": [], "b": []]))
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    let a = JobID(0)
    bench.extend(by: [
      job("met", [JobNeed(a, when: .failed)]), job("unmet", [JobNeed(a)]), job("after", [JobNeed(JobID(3))]),
    ])
    #expect(bench.names == ["b", "met"])
    #expect(
      try bench.state("unmet") == .skipped(because: .job(a)) && bench.state("after") == .skipped(because: .job(a)))
  }

  @Test func aNewPoolIsStatedAndHeldTo() throws {
    var bench = Bench(graph(["a": []], pools: ["old": 1]))
    bench.start()
    let uses = ["new": 1]
    bench.extend(by: [job("x") { $0.uses = uses }, job("y") { $0.uses = uses }], pools: ["new": 1, "old": 7])
    #expect(bench.names == ["a", "x"] && bench.journal.run.pools == ["new": 1, "old": 1])
    try bench.end("x")
    #expect(bench.names == ["a", "y"])
  }

  @Test func jobsOfFinallyFollowJobsThatAreAdded() throws {
    var jobs = graph(["a": [], "last": []])
    jobs.jobs[1].finally = .always
    var bench = Bench(jobs)
    bench.start()
    bench.extend(by: [job("b"), job("end", [JobNeed(JobID(1))]) { $0.finally = .ok }])
    #expect(bench.scheduler.closure == nil)
    try bench.end("a")
    #expect(bench.names == ["b"])
    try bench.end("b")
    #expect(bench.names == ["last"])
    #expect(bench.scheduler.closure == "its jobs of 'finally' have begun, which follow all others")
    try bench.end("last")
    #expect(bench.names == ["end"])
    try bench.end("end")
    #expect(bench.scheduler.closure == "all of its jobs have ended")
  }

  @Test func anAddedServiceEndsWithItsUsers() throws {
    var bench = Bench(graph(["a": []]))
    bench.start()
    let api = Job(name: "api", work: .shell(ShellWork(.argv(["api"]), service: Service())))
    bench.extend(by: [api, job("user", [JobNeed(JobID(1), when: .ready)])])
    #expect(bench.names == ["a", "user"] && bench.services == ["api"])
    try bench.end("user")
    #expect(bench.cancelled == ["api"])
  }

  /// `api`, whose only user has ended, beside the long job `a`.
  private func served() throws -> Bench {
    let api = Job(name: "api", work: .shell(ShellWork(.argv(["api"]), service: Service())))
    var bench = Bench(
      JobGraph(
        name: "test", jobs: [job("a"), api, job("user", [JobNeed(JobID(1), when: .ready)])], schedule: .priority),
      slots: 4)
    bench.start()
    try bench.end("user")
    #expect(bench.cancelled == ["api"])
    return bench
  }

  @Test(arguments: [true, false]) func aServiceThatHasServedServesAddedJobsAgain(hasEnded: Bool) throws {
    var bench = try served()
    if hasEnded { try bench.endService("api", .cancelled) }
    let need = JobNeed(JobID(1), when: .ready)
    bench.extend(by: [job("late", [need]), job("other", [need]) { $0.isManual = true }])
    if !hasEnded {
      #expect(bench.names == ["a"])
      try bench.endService("api", .cancelled)
    }
    #expect(bench.services == ["api"] && bench.names == ["a", "late"] && bench.cancelled == ["api"])
    try bench.end("late")
    #expect(bench.cancelled == ["api", "api"])
  }

  @Test func aServiceThatHasFailedIsNotStartedForAddedJobs() throws {
    var bench = Bench(graph(["a": []]))
    bench.start()
    let api = Job(name: "api", work: .shell(ShellWork(.argv(["api"]), service: Service())))
    let need = JobNeed(JobID(1), when: .ready)
    bench.extend(by: [api, job("user", [need])])
    try bench.endService("api", .failed(JobFailure(.exit(1), "exit 1")))
    try bench.end("user")
    bench.extend(by: [job("late", [need])])
    #expect(bench.services.isEmpty)
    #expect(try bench.state("late") == .skipped(because: .job(JobID(1))))
  }

  @Test func noServiceStartsForAJobThatIsAddedToAClosedRun() throws {
    var bench = try served()
    try bench.endService("api", .cancelled)
    bench.send(.stop(.terminate, by: .person))
    let need = JobNeed(JobID(1), when: .ready)
    bench.extend(by: [job("late", [need]), job("last", [need]) { $0.finally = .always }])
    #expect(bench.services.isEmpty)
    #expect(try bench.state("late") == .cancelled(by: .person))
    #expect(try bench.state("last") == .skipped(because: .job(JobID(1))))
  }

  @Test func anAddedJobOfFinallyKeepsTheServicesThatItNeeds() throws {
    let db = Job(name: "db", work: .shell(ShellWork(.argv(["db"]), service: Service())))
    var api = db
    (api.name, api.needs) = ("api", [JobNeed(JobID(1), when: .ready)])
    var bench = Bench(JobGraph(name: "test", jobs: [job("a"), db, api], schedule: .priority))
    bench.start()
    bench.extend(by: [job("last", [JobNeed(JobID(2), when: .ready)]) { $0.finally = .always }])
    try bench.end("a")
    #expect(bench.names == ["last"] && bench.services == ["db", "api"])
    try bench.end("last")
    #expect(bench.cancelled == ["api"])
  }

  @Test func aLongerChainOfAddedJobsGoesFirst() throws {
    var jobs = graph(["a": []])
    jobs.schedule = .criticalPath
    var bench = Bench(jobs, slots: 1)
    bench.start()
    bench.extend(by: [job("short"), job("head"), job("tail", [JobNeed(JobID(2))])])
    try bench.end("a")
    #expect(bench.names.first == "head")
  }

  @Test func aFailureThatEndsTheRunClosesIt() throws {
    var bench = Bench(graph(["a": [], "b": []], onFailure: .finishRunning))
    bench.start()
    try bench.end("a", .failed(JobFailure(.exit(1), "exit 1")))
    #expect(bench.scheduler.closure == "a failure has ended it: on_failure is finish-running")
    bench.extend(by: [job("c")])
    #expect(try bench.state("c") == .cancelled(by: .policy))
  }
}
