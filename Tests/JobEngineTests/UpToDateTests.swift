import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import JobEngine

/// A folder with files, and runs of shell jobs in it, one after another.
private final class Workshop: Sendable {
  let folder: TemporaryFolder
  /// What the runs know of earlier ones.
  let earlier = Lock<[String: EarlierAttempt]>([:])
  let values = Lock<[String: [String: String]]>([:])

  init() throws { folder = try TemporaryFolder() }

  var directory: String { folder.url.standardizedFileURL.path(percentEncoded: false) }

  func path(_ name: String) -> String { directory + "/" + name }

  /// Writes a file that was changed `age` seconds ago.
  func write(_ name: String, _ text: String = "", age: Double = 0) throws {
    try Data(text.utf8).write(to: folder.url.appending(path: name))
    try touch(name, age: age)
  }

  func touch(_ name: String, age: Double = 0) throws {
    try touch(name, at: Date(timeIntervalSinceNow: -age))
  }

  func touch(_ name: String, at time: Date) throws {
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path(name))
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  /// A job whose executions leave a line each in the file `done`.
  func job(
    _ name: String, _ script: String, creates: [String] = [], inputs: [String] = [], needs: [Int] = []
  ) -> Job {
    let work = ShellWork(.script("echo \(name) >> done; \(script)"), directory: directory)
    return Job(
      name: name, work: .shell(work), needs: needs.map { JobNeed(JobID($0)) }, creates: creates.map(path),
      inputs: inputs.map(path))
  }

  func queue(_ jobs: [Job], executesAll: Bool = false) throws -> JobQueue {
    let names = jobs.map(\.name)
    var options = JobQueueOptions(slots: 2, earlier: { id in self.earlier.withLock { $0[names[id.index]] } })
    options.earlierValues = { id in self.values.withLock { $0[names[id.index]] } }
    options.executesAll = executesAll
    return try JobQueue(JobGraph(name: "test", jobs: jobs), options: options)
  }

  func run(_ jobs: Job..., executesAll: Bool = false) throws -> Run {
    let queue = try queue(jobs, executesAll: executesAll)
    queue.start()
    #expect(eventually { queue.run.isComplete })
    return queue.run
  }

  /// The names of the jobs that were executed since the last call, in order.
  func executed() -> [String] {
    defer { try? FileManager.default.removeItem(atPath: path("done")) }
    let text = (try? String(contentsOfFile: path("done"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  /// Makes the next run know what `run` has recorded.
  func record(_ run: Run) {
    earlier.withLock { earlier in
      for record in run.jobs {
        earlier[record.job.name] = record.state.isOK ? .succeeded(inputs: record.inputsHash) : .unfinished
      }
    }
    values.withLock { values in
      for record in run.jobs { values[record.job.name] = record.outputs }
    }
  }
}

private let upToDate = JobState.succeeded(upToDate: true)
private let executed = JobState.succeeded(upToDate: false)

private func notes(_ record: JobRecord) -> [String] {
  (0..<record.log.count).map { record.log[$0].line }.filter { $0.stream == .note }.map(\.text)
}

struct UpToDateTests {
  private let shop: Workshop

  init() throws { shop = try Workshop() }

  // MARK: Paths that a job creates

  /// `maker`, which makes `out` of `in` and writes a value, and `reader`, which reads the one of this name.
  private func makerAndReader(of name: String = "word") -> (maker: Job, reader: Job) {
    let maker = shop.job("maker", "echo word=new >> $OPDASH_OUTPUT; touch out", creates: ["out"], inputs: ["in"])
    var reader = shop.job("reader", "echo ${jobs.maker.\(name)}", needs: [0])
    reader.outputs = [OutputReference("${jobs.maker.\(name)}", job: JobID(0), name: name)]
    return (maker, reader)
  }

  @Test func aJobThatIsUpToDateHasTheValuesOfItsLastSuccess() throws {
    try shop.write("in", "1")
    let (maker, reader) = makerAndReader()
    shop.record(try shop.run(maker, reader))
    // The second one takes them from the first, and the third from the second.
    for _ in 0..<2 {
      let run = try shop.run(maker, reader)
      #expect(run.jobs.map(\.state) == [upToDate, executed])
      #expect(run.jobs[0].outputs == ["word": "new"])
      #expect((0..<run.jobs[1].log.count).map { run.jobs[1].log[$0].line.text } == ["new"])
      shop.record(run)
    }
    #expect(shop.executed() == ["maker", "reader", "reader", "reader"])
    try shop.write("in", "2")
    #expect(try shop.run(maker, reader).jobs.map(\.state) == [executed, executed])
  }

  @Test func aJobWithoutARecordedValueThatIsReadIsExecuted() throws {
    try shop.write("in", "1")
    let (maker, reader) = makerAndReader()
    shop.record(try shop.run(maker, reader))
    shop.values.withLock { $0["maker"] = ["other": "1"] }
    let run = try shop.run(maker, reader)
    #expect(run.jobs.map(\.state) == [executed, executed])
    #expect(
      notes(run.jobs[0]) == ["not up to date: word, which another job reads, is not recorded of its last success"])
  }

  @Test func aValueThatOnlyAConditionReadsMayBeUnwritten() throws {
    try shop.write("in", "1")
    var (maker, reader) = makerAndReader(of: "flag")
    reader.work = shop.job("reader", "true").work
    reader.condition = JobCondition("", [[.init("${jobs.maker.flag}", equals: "")]])
    maker.work = shop.job("maker", "touch out").work
    shop.record(try shop.run(maker, reader))
    #expect(try shop.run(maker, reader).jobs.map(\.state) == [upToDate, executed])
    // What is not recorded may have been written.
    shop.values.withLock { $0["maker"] = nil }
    let run = try shop.run(maker, reader)
    #expect(run.jobs.map(\.state) == [executed, executed])
    #expect(
      notes(run.jobs[0]) == ["not up to date: a value, which another job reads, is not recorded of its last success"])
  }

  @Test func aJobThatAnotherRunExecutesIsExecutedAndSaysSo() throws {
    try shop.write("out")
    shop.earlier.withLock { $0["a"] = .executing }
    let run = try shop.run(shop.job("a", "true", creates: ["out"]))
    #expect(run.jobs[0].state == executed && notes(run.jobs[0]) == ["not up to date: another run executes it now"])
  }

  @Test func aDryRunKnowsWhetherTheValuesAreRecorded() throws {
    try shop.write("in", "1")
    let (maker, reader) = makerAndReader()
    shop.record(try shop.run(maker, reader))
    let graph = JobGraph(name: "test", jobs: [maker, reader])
    let earlier = shop.earlier.withLock { $0["maker"] }
    for values in [["word": "new"], ["other": "1"], nil] {
      let found = UpToDateCheck.forecast(
        in: graph, earlier: { $0 == JobID(0) ? earlier : nil }, values: { _ in values }
      ).upToDate
      #expect(found.keys.map(\.index) == (values?["word"] == nil ? [] : [0]))
    }
  }

  @Test func aJobThatReadsAnotherValueIsNotUpToDate() throws {
    for (name, text) in [("in", "1"), ("value", "v=1")] { try shop.write(name, text) }
    let writer = shop.job("writer", "cat value >> $OPDASH_OUTPUT")
    var reader = shop.job("reader", "echo ${jobs.writer.v}", inputs: ["in"], needs: [0])
    reader.outputs = [OutputReference("${jobs.writer.v}", job: JobID(0), name: "v")]
    let hash = try shop.run(writer, reader).jobs[1].inputsHash
    let reason = "the value of ${jobs.writer.v} has changed"
    for (read, isSame) in [(["${jobs.writer.v}": "1"], true), (["${jobs.writer.v}": "0"], false), ([:], false)] {
      let earlier = EarlierAttempt.succeeded(inputs: hash, read: read)
      shop.earlier.withLock { $0["reader"] = earlier }
      let record = try shop.run(writer, reader).jobs[1]
      #expect(record.state == (isSame ? upToDate : executed))
      #expect(notes(record) == [isSame ? "up to date: the inputs have not changed" : "not up to date: \(reason)"])
      // What an executed job will write is not known before the run.
      let graph = JobGraph(name: "test", jobs: [writer, reader])
      let open = UpToDateCheck.forecast(in: graph, earlier: { $0 == JobID(1) ? earlier : nil })
      #expect(open.upToDate == [JobID(1): "the inputs have not changed, unless writer changes that"])
      let known = UpToDateCheck.forecast(
        in: graph, without: [JobID(0)], earlier: { $0 == JobID(1) ? earlier : nil }, values: { _ in ["v": "1"] })
      #expect(known.executed == (isSame ? [:] : [JobID(1): reason]))
    }
  }

  @Test func aJobThatAddedJobsIsExecutedInTheNextRun() throws {
    for name in ["in", "out"] { try shop.write(name) }
    shop.earlier.withLock { $0["plan"] = .addedJobs }
    for job in [shop.job("plan", "true", inputs: ["in"]), shop.job("plan", "true", creates: ["out"])] {
      let record = try shop.run(job).jobs[0]
      #expect(record.state == executed && notes(record) == ["not up to date: it adds jobs to the run"])
    }
  }

  @Test func aJobWhoseValuesOthersReadIsExecutedAlthoughItsPathsExist() throws {
    try shop.write("out")
    let maker = shop.job("maker", "echo word=new >> $OPDASH_OUTPUT", creates: ["out"])
    var reader = shop.job("reader", "echo ${jobs.maker.word}", needs: [0])
    reader.outputs = [OutputReference("${jobs.maker.word}", job: JobID(0), name: "word")]
    let graph = JobGraph(name: "test", jobs: [maker, reader])
    #expect(UpToDateCheck.forecast(in: graph, earlier: { _ in nil }).upToDate.isEmpty)
    let run = try shop.run(maker, reader)
    #expect(run.jobs.map(\.state) == [executed, executed])
    #expect(shop.executed() == ["maker", "reader"])
  }

  @Test func aJobWhosePathsAllExistIsNotExecuted() throws {
    let job = shop.job("clone", "mkdir -p src; touch src/a b", creates: ["src/a", "b"])
    let first = try shop.run(job)
    #expect(first.jobs[0].state == executed)
    #expect(notes(first.jobs[0]) == ["not up to date: src/a does not exist"])
    let second = try shop.run(job)
    #expect(second.jobs[0].state == upToDate)
    #expect(notes(second.jobs[0]) == ["up to date: src/a exists"])
    #expect(second.jobs[0].attempts.map(\.pid) == [nil])
    #expect(second.counts.succeeded == 1)
    #expect(shop.executed() == ["clone"])
    try FileManager.default.removeItem(atPath: shop.path("b"))
    #expect(try shop.run(job).jobs[0].state == executed)
    #expect(shop.executed() == ["clone"])
  }

  @Test func aSuccessThatLeavesAPathMissingIsSaidInItsLog() throws {
    let run = try shop.run(shop.job("make", "true", creates: ["out"]))
    #expect(run.jobs[0].state == executed)
    #expect(
      notes(run.jobs[0]).last
        == "out, which the job creates, does not exist after its success: the next run executes it again")
    let failed = try shop.run(shop.job("make", "exit 3", creates: ["out"]))
    #expect(failed.jobs[0].state == .failed(JobFailure(.exit(3), "exit 3"), allowed: false))
    #expect(notes(failed.jobs[0]) == ["not up to date: out does not exist"])
  }

  // MARK: By time

  @Test func withoutAKnownSuccessTheTimesDecideAsInMake() throws {
    let now = Date()
    for (name, age) in [("a.c", 100.0), ("b.c", 50), ("a.out", 50)] {
      try shop.write(name)
      try shop.touch(name, at: now - age)
    }
    let job = shop.job("cc", "touch a.out", creates: ["a.out"], inputs: ["*.c"])
    let run = try shop.run(job)
    #expect(run.jobs[0].state == upToDate)
    #expect(notes(run.jobs[0]) == ["up to date: no input is newer than a.out"])
    try shop.touch("b.c", age: 40)
    let again = try shop.run(job)
    #expect(again.jobs[0].state == executed)
    #expect(notes(again.jobs[0]) == ["not up to date: b.c is newer than a.out"])
    #expect(try shop.run(job).jobs[0].state == upToDate)
  }

  @Test func everyCreatedPathIsComparedWithEveryInput() throws {
    try shop.write("in", age: 50)
    try shop.write("new", age: 10)
    try shop.write("old", age: 90)
    let job = shop.job("cc", "touch new old", creates: ["new", "old"], inputs: ["in"])
    #expect(notes(try shop.run(job).jobs[0]) == ["not up to date: in is newer than old"])
    #expect(try shop.run(job).jobs[0].state == upToDate)
  }

  @Test func aMissingInputAndInputsWithoutAFileAreLeftToTheCommand() throws {
    try shop.write("out")
    let missing = try shop.run(shop.job("cc", "cat in", creates: ["out"], inputs: ["in"])).jobs[0]
    #expect(missing.state == .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    #expect(notes(missing) == ["not up to date: the input in does not exist"])
    #expect(missing.inputsHash == UpToDateCheck.unreadInputs)
    let none = try shop.run(shop.job("cc", "true", creates: ["out"], inputs: ["*.c"])).jobs[0]
    #expect(none.state == executed)
    #expect(notes(none) == ["not up to date: no file matches the inputs"])
  }

  /// A recorded success with the missing input says nothing of the one that is back.
  @Test(arguments: ["in", "i*"])
  func anInputThatIsBackIsReadAgain(pattern: String) throws {
    let job = shop.job("cc", "cat in > out || :", creates: ["out"], inputs: [pattern])
    try shop.write("in", "1", age: 100)
    shop.record(try shop.run(job))
    try FileManager.default.removeItem(atPath: shop.path("in"))
    shop.record(try shop.run(job))
    try shop.write("in", "1", age: 100)
    #expect(try shop.run(job).jobs[0].state == executed)
    #expect(try String(contentsOfFile: shop.path("out"), encoding: .utf8) == "1")
    #expect(UpToDateCheck.inputsHash(of: job)?.count == 64)
    try FileManager.default.removeItem(atPath: shop.path("in"))
    #expect(UpToDateCheck.inputsHash(of: job) == nil)
  }

  /// The second attempt has no input; it counts, and not the first one.
  @Test func theHashOfAnAttemptReplacesThatOfTheOneBefore() throws {
    try shop.write("in", "1", age: 100)
    var job = shop.job(
      "cc", "cat in > out || :; [ ! -e in ] || { mv in away; exit 1; }", creates: ["out"], inputs: ["in"])
    job.retry = RetryPolicy(max: 1, initial: .milliseconds(1))
    shop.record(try shop.run(job))
    try FileManager.default.moveItem(atPath: shop.path("away"), toPath: shop.path("in"))
    #expect(notes(try shop.run(job).jobs[0]).first == "not up to date: the inputs have changed")
  }

  // MARK: By content

  @Test func aFileThatIsOnlyTouchedLeavesTheJobUpToDate() throws {
    try shop.write("a.c", "one", age: 100)
    let job = shop.job("cc", "cp a.c a.out", creates: ["a.out"], inputs: ["a.c"])
    let first = try shop.run(job)
    #expect(first.jobs[0].state == executed)
    #expect(first.jobs[0].inputsHash?.count == 64)
    shop.record(first)
    try shop.touch("a.c", age: -100)
    let second = try shop.run(job)
    #expect(second.jobs[0].state == upToDate)
    #expect(notes(second.jobs[0]) == ["up to date: the inputs have not changed"])
    #expect(second.jobs[0].inputsHash == first.jobs[0].inputsHash)
    // Other content of an old file is seen too.
    try shop.write("a.c", "two", age: 1000)
    let third = try shop.run(job)
    #expect(third.jobs[0].state == executed)
    #expect(notes(third.jobs[0]) == ["not up to date: the inputs have changed"])
    shop.record(third)
    #expect(try shop.run(job).jobs[0].state == upToDate)
    try FileManager.default.removeItem(atPath: shop.path("a.out"))
    #expect(try shop.run(job).jobs[0].state == executed)
    #expect(shop.executed() == ["cc", "cc", "cc"])
  }

  @Test func aChangedCommandOrAnUnfinishedAttemptExecutesAJob() throws {
    try shop.write("a.c", age: 100)
    try shop.write("a.out")
    let compile = shop.job("cc", "true", creates: ["a.out"], inputs: ["a.c"])
    let clone = shop.job("clone", "true", creates: ["a.out"])
    shop.earlier.withLock { $0 = ["cc": .changed, "clone": .changed] }
    let changed = try shop.run(compile, clone)
    #expect(changed.jobs.map(\.state) == [executed, upToDate])
    #expect(notes(changed.jobs[0]) == ["not up to date: the job has changed since its last success"])
    shop.earlier.withLock { $0 = ["cc": .unfinished, "clone": .unfinished] }
    let unfinished = try shop.run(compile, clone)
    #expect(unfinished.jobs.map(\.state) == [executed, executed])
    #expect(notes(unfinished.jobs[1]) == ["not up to date: the last attempt did not succeed"])
  }

  @Test func inputsAloneAreComparedWithAKnownSuccessOnly() throws {
    try shop.write("a.c", "one")
    let job = shop.job("test", "true", inputs: ["a.c"])
    let first = try shop.run(job)
    #expect(first.jobs[0].state == executed)
    #expect(try shop.run(job).jobs[0].state == executed)
    shop.record(first)
    #expect(try shop.run(job).jobs[0].state == upToDate)
    try shop.write("a.c", "two")
    #expect(try shop.run(job).jobs[0].state == executed)
  }

  @Test func theHashIsStatedBeforeTheProgramAndItsOutput() throws {
    try shop.write("a.c", "one")
    let queue = try shop.queue([shop.job("cc", "echo hello; cp a.c out", creates: ["out"], inputs: ["a.c"])])
    let events = Lock<[JobEvent]>([])
    let subscription = queue.subscribe(on: DispatchQueue(label: "test")) { new in events.withLock { $0 += new } }
    queue.start()
    #expect(eventually { queue.run.isComplete })
    queue.send(.finish(signal: nil))
    #expect(
      eventually { events.withLock { $0.last.map { if case .runFinished = $0.fact { true } else { false } } } ?? false }
    )
    subscription.cancel()
    let order = events.withLock(\.self).compactMap { event -> String? in
      switch event.fact {
      case .jobState(_, .executing, _, _): "executing"
      case .jobState(_, let state, _, _): state.isTerminal ? "ended" : nil
      case .inputsHashed: "hashed"
      case .jobLog(_, _, let line): line.text
      default: nil
      }
    }
    // The process is stated with the start where it is known by then, and later where it lives long enough to be seen.
    let first = order.prefix(2)
    #expect(Array(first) == ["executing", "hashed"])
    #expect(
      order.dropFirst(2).filter { $0 != "executing" } == ["not up to date: out does not exist", "hello", "ended"])
  }

  // MARK: Among other jobs

  @Test func eachJobOfAChainIsDecidedByItsOwnInputs() throws {
    try shop.write("a.c", "one", age: 100)
    let jobs = [
      shop.job("cc", "grep -o one a.c > a.o || echo other > a.o", creates: ["a.o"], inputs: ["a.c"]),
      shop.job("link", "cp a.o app", creates: ["app"], inputs: ["a.o"], needs: [0]),
      shop.job("pack", "true", needs: [1]),
    ]
    shop.record(try shop.run(jobs[0], jobs[1], jobs[2]))
    #expect(shop.executed() == ["cc", "link", "pack"])
    let second = try shop.run(jobs[0], jobs[1], jobs[2])
    #expect(second.jobs.map(\.state) == [upToDate, upToDate, executed])
    shop.record(second)
    // Another source with the same object: the job behind it has nothing to do.
    try shop.write("a.c", "one more")
    let third = try shop.run(jobs[0], jobs[1], jobs[2])
    #expect(third.jobs.map(\.state) == [executed, upToDate, executed])
    shop.record(third)
    try shop.write("a.c", "two")
    #expect(try shop.run(jobs[0], jobs[1], jobs[2]).jobs.map(\.state) == [executed, executed, executed])
  }

  @Test func aRetryExecutesAlthoughTheFailedAttemptHasMadeItsPaths() throws {
    try shop.write("in", age: 100)
    var job = shop.job("flaky", "touch out; [ -e again ] || { touch again; exit 1; }", creates: ["out"], inputs: ["in"])
    job.retry = RetryPolicy(max: 1, initial: .milliseconds(1))
    let run = try shop.run(job)
    #expect(run.jobs[0].state == executed)
    #expect(run.jobs[0].attempts.count == 2)
    #expect(shop.executed() == ["flaky", "flaky"])
  }

  @Test func aRunOfAllJobsExecutesThoseThatAreUpToDate() throws {
    try shop.write("in", age: 100)
    let job = shop.job("a", "touch out", creates: ["out"], inputs: ["in"])
    let jobs = [job, shop.job("b", "touch other", creates: ["other"])]
    _ = try shop.run(jobs[0], jobs[1])
    _ = shop.executed()
    let idle = try shop.run(jobs[0], jobs[1])
    #expect(idle.jobs.map(\.state) == [upToDate, upToDate] && shop.executed() == [])
    let run = try shop.run(jobs[0], jobs[1], executesAll: true)
    #expect(run.jobs.map(\.state) == [executed, executed] && shop.executed().sorted() == ["a", "b"])
    #expect(notes(run.jobs[0]) == ["not up to date: --force"])
    // The hash is recorded for the next run.
    #expect(run.jobs[0].inputsHash != nil)
  }

  @Test func aRetryByAPersonExecutes() throws {
    let queue = try shop.queue([
      shop.job("once", "touch out; [ -e again ] || { touch again; exit 1; }", creates: ["out"])
    ])
    queue.start()
    #expect(eventually { queue.run.isComplete })
    #expect(queue.run.jobs[0].state.isFailure)
    queue.send(.retry([JobID(0)], withDependents: false))
    #expect(eventually { queue.run.jobs[0].state == executed })
    #expect(shop.executed() == ["once", "once"])
  }

  // MARK: While the files are looked at

  /// Starts a run whose only job waits in its check until `go` is signalled.
  private func held(_ job: Job, _ answer: EarlierAttempt?, _ go: DispatchSemaphore) throws -> JobQueue {
    let isAsked = DispatchSemaphore(value: 0)
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: [job]),
      options: .init(
        slots: 1,
        earlier: { _ in
          isAsked.signal()
          go.wait()
          return answer
        }))
    queue.start()
    isAsked.wait()
    #expect(eventually { queue.run.jobs.first?.state == .executing })
    return queue
  }

  @Test func aJobThatIsCancelledDuringItsCheckNeverExecutes() throws {
    try shop.write("out")
    for (answer, kill) in [(EarlierAttempt.unfinished, false), (.unfinished, true), (.changed, false)] {
      let go = DispatchSemaphore(value: 0)
      let queue = try held(shop.job("long", "true", creates: ["out"]), answer, go)
      queue.send(kill ? .kill([JobID(0)]) : .cancel([JobID(0)], by: .person))
      #expect(eventually { queue.run.jobs[0].cancelling != nil })
      go.signal()
      #expect(eventually { queue.run.jobs[0].state == .cancelled(by: .person) })
      #expect(shop.executed() == [])
    }
  }

  @Test func aJobThatIsPausedDuringItsCheckExecutesAfterItIsResumed() throws {
    try shop.write("out")
    let go = DispatchSemaphore(value: 0)
    let queue = try held(shop.job("long", "sleep 600", creates: ["out"]), .unfinished, go)
    queue.send(.pause([JobID(0)]))
    #expect(eventually { queue.run.jobs[0].state == .paused(started: true) })
    go.signal()
    #expect(eventually { !notes(queue.run.jobs[0]).isEmpty })
    #expect(!shop.exists("done"))
    queue.send(.resume([JobID(0)]))
    #expect(eventually { queue.run.jobs[0].attempt?.pid != nil && shop.exists("done") })
    let pid = try #require(queue.run.jobs[0].attempt?.pid)
    queue.send(.kill([JobID(0)]))
    #expect(eventually { queue.run.isComplete })
    #expect(kill(pid, 0) == -1)
  }

  @Test func theTimeLimitCountsDuringTheCheck() throws {
    try shop.write("out")
    var job = shop.job("long", "true", creates: ["out"])
    job.timeout = .milliseconds(100)
    let go = DispatchSemaphore(value: 0)
    let queue = try held(job, .unfinished, go)
    let operation = queue.stream.queue.sync { queue.attempts.values.first?.operation }
    #expect(eventually { operation?.isCancelled == true })
    go.signal()
    #expect(eventually { queue.run.isComplete })
    #expect(queue.run.jobs[0].state == .failed(JobFailure(.timedOut, "timed out after 100ms"), allowed: false))
    #expect(shop.executed() == [])
  }

  // MARK: Before a run

  @Test func aDryRunSaysWhichJobCouldStillChangeAnInput() throws {
    for name in ["a.c", "a.o"] { try shop.write(name, age: name == "a.o" ? 10 : 100) }
    let graph = JobGraph(
      name: "test",
      jobs: [
        shop.job("deps", "true"), shop.job("cc", "true", creates: ["a.o"], inputs: ["a.c"], needs: [0]),
        shop.job("test", "true", creates: ["a.o"], inputs: ["*.c"], needs: [1]),
        shop.job("make", "true", creates: ["none"], needs: [0]),
        shop.job("all", "true", creates: ["a.o"], inputs: ["*.c"], needs: [3]),
        shop.job("glob", "true", creates: ["a.o"], inputs: ["n*"], needs: [3]),
      ])
    let reason = "no input is newer than a.o, unless deps changes that"
    #expect(
      UpToDateCheck.forecast(in: graph, earlier: { _ in nil }).upToDate == [
        JobID(1): reason, JobID(2): reason, JobID(4): "no input is newer than a.o, unless make changes that",
      ])
    #expect(
      UpToDateCheck.forecast(in: graph, without: [JobID(0)], earlier: { _ in nil }).upToDate[JobID(1)]
        == "no input is newer than a.o")
  }

  @Test func aDryRunKnowsWhatIsUpToDateNow() throws {
    try shop.write("a.c", age: 100)
    try shop.write("a.o", age: 50)
    try shop.write("app", age: 10)
    let graph = JobGraph(
      name: "test",
      jobs: [
        shop.job("cc", "true", creates: ["a.o"], inputs: ["a.c"]),
        shop.job("link", "true", creates: ["app"], inputs: ["a.o"], needs: [0]),
        shop.job("fetch", "true", creates: ["app"], needs: [3]), shop.job("plain", "true"),
      ])
    #expect(
      UpToDateCheck.forecast(in: graph, earlier: { _ in nil }).upToDate == [
        JobID(0): "no input is newer than a.o", JobID(1): "no input is newer than app", JobID(2): "app exists",
      ])
    // What the first job makes anew decides about the second.
    try shop.touch("a.c")
    #expect(UpToDateCheck.forecast(in: graph, earlier: { _ in nil }).upToDate.keys.sorted() == [JobID(2)])
    #expect(
      UpToDateCheck.forecast(in: graph, earlier: { _ in nil }).executed == [
        JobID(0): "a.c is newer than a.o", JobID(1): "a.o will have changed",
      ])
    #expect(UpToDateCheck.inputsHash(of: graph.jobs[0])?.count == 64)
    #expect(UpToDateCheck.inputsHash(of: graph.jobs[3]) == nil)
  }

  @Test func theInputThatHasChangedSinceTheLastSuccessIsNamed() throws {
    try shop.write("a.c", "1")
    try shop.write("b.c", "1")
    let job = shop.job("cc", "true", inputs: ["*.c"])
    let begun = Date()
    func reason(since date: Date?) throws -> String? {
      let graph = JobGraph(name: "test", jobs: [job])
      let forecast = UpToDateCheck.forecast(in: graph, earlier: { _ in .succeeded(inputs: "old", begun: date) })
      return forecast.executed[JobID(0)]
    }
    // A time that no program can set tells, not the one that an editor may keep.
    // The clock of files steps by some milliseconds.
    #expect(
      try eventually {
        try shop.write("b.c", "2", age: 1000)
        return try reason(since: begun) == "b.c has changed"
      })
    #expect(try reason(since: begun) == "b.c has changed")
    #expect(try reason(since: nil) == "the inputs have changed")
    #expect(try reason(since: Date(timeIntervalSinceNow: 3600)) == "the inputs have changed")
  }
}
