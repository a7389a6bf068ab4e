import Basics
import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

/// Runs whose inputs are watched, with real programs and files.
struct WatchedInputsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.file(name).standardizedFileURL.path(percentEncoded: false) }

  /// Writes the file at once: one that is emptied first changes twice, on a busy machine with more time between than a watch
  /// waits for.
  private func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: folder.file(name), options: .atomic)
  }

  private func text(_ name: String) -> String {
    (try? String(contentsOf: folder.file(name), encoding: .utf8)) ?? ""
  }

  private func job(
    _ name: String, _ script: String, inputs: [String] = [], creates: [String] = [], needs: [JobNeed] = [],
    service: Service? = nil
  ) -> Job {
    let work = ShellWork(.script(script), directory: BytePath(path("x")).folder.text, service: service)
    return Job(
      name: name, work: .shell(work), needs: needs, creates: creates.map(path), inputs: inputs.map(path))
  }

  private func start(_ jobs: [Job]) throws -> JobQueue {
    var graph = JobGraph(name: "test", jobs: jobs)
    graph.watch.debounce = .milliseconds(100)
    var options = JobQueueOptions(slots: 2)
    options.isWatching = true
    let queue = try JobQueue(graph, options: options)
    queue.start()
    return queue
  }

  private func end(_ queue: JobQueue) {
    queue.send(.stop(.terminate, by: .signal))
    #expect(eventually { queue.run.isStopped })
  }

  /// Reports a change of the job's input, as a watch does that has read other content.
  private func report(
    _ hash: String?, readAt read: Duration, gone: InputWatch.Gone? = nil, of job: Int = 0, to queue: JobQueue
  ) {
    let change = change(hash, gone: gone, readAt: read)
    queue.stream.queue.sync { queue.enter { $0.inputsChanged([JobID(job): change]) } }
  }

  private func change(
    _ hash: String?, gone: InputWatch.Gone? = nil, stillGone: String? = nil, readAt read: Duration = .zero
  ) -> InputWatch.Change {
    InputWatch.Change(
      path: gone?.path ?? "in", gone: gone, stillGone: stillGone, time: systemTime() - .seconds(1), noticed: nil,
      hash: hash, read: read)
  }

  @Test func aChangeThatWasReadBeforeTheStartExecutesNothing() throws {
    try write("in", "1")
    let queue = try start([job("a", "cat in; while [ ! -e go ]; do sleep 0.02; done", inputs: ["in"])])
    defer { end(queue) }
    let before = queue.stream.clock.now - .seconds(3600)
    #expect(eventually { queue.run[JobID(0)].inputsHash != nil })
    report("other", readAt: before, to: queue)
    #expect(queue.run[JobID(0)].attempt?.number == 1 && queue.run[JobID(0)].cancelling == nil)
    report("other", readAt: queue.stream.clock.now, to: queue)
    #expect(eventually { queue.run[JobID(0)].attempt?.number == 2 })
  }

  /// The file was missing when the watch looked, before the reader started.
  @Test(arguments: [false, true])
  func aProductIsMadeAgainHoweverLateItsReaderStarts(isService: Bool) throws {
    try write("in", "1")
    let queue = try start([
      job("make", "cat in > out", inputs: ["in"], creates: ["out"]),
      job("hold", "until [ -e go ]; do sleep 0.02; done"),
      job(
        "test", "cat out; exec sleep 600", inputs: ["out"], needs: [JobNeed(JobID(0)), JobNeed(JobID(1))],
        service: isService ? Service() : nil),
    ])
    defer { end(queue) }
    let early = InputWatch.Gone(path: path("out"), time: systemTime())
    #expect(eventually { queue.run[JobID(0)].state.isOK && queue.run[JobID(1)].state == .executing })
    let late = InputWatch.Gone(path: path("out"), time: systemTime())
    let read = queue.stream.clock.now
    try write("go", "")
    #expect(eventually { queue.run[JobID(2)].state.isActive && (isService || queue.run[JobID(2)].inputsHash != nil) })
    // Its maker has ended since.
    report("other", readAt: read, gone: early, of: 2, to: queue)
    #expect(queue.run[JobID(2)].cancelling == nil && queue.run[JobID(0)].state.isTerminal)
    report("other", readAt: read, gone: late, of: 2, to: queue)
    #expect(eventually { queue.run[JobID(0)].attempt?.number == 2 && queue.run[JobID(2)].attempt?.number == 2 })
  }

  /// The maker drops the file of its attempt before, as a bundler whose names have a hash does.
  @Test(arguments: [false, true])
  func aProductThatItsMakerReplacesRestartsNoReader(isService: Bool) throws {
    try write("in", "1")
    let queue = try start([
      job("bundle", "mkdir -p out; rm -f out/*; cp in out/$(cat in)", inputs: ["in"], creates: ["out"]),
      job(
        "test", "exec sleep 600", inputs: ["out/*"], needs: [JobNeed(JobID(0))], service: isService ? Service() : nil),
    ])
    defer { end(queue) }
    func hasStarted(_ number: Int) -> Bool {
      let record = queue.run[JobID(1)]
      return record.state.isActive && record.attempt?.number == number && (isService || record.inputsHash != nil)
    }
    #expect(eventually { hasStarted(1) })
    for number in 2...3 {
      try write("in", "\(number)")
      #expect(eventually { hasStarted(number) })
      #expect(stays(moments: 3) { queue.run.jobs.map { $0.attempt?.number } == [number, number] })
    }
  }

  @Test func aHeldChangeKeepsItsMissingFile() {
    let file = InputWatch.Gone(path: "a", time: .seconds(7))
    let (gone, other) = (change("1", gone: file), change("2", stillGone: "a"))
    let both = other.after(gone)
    #expect(both.gone == file && both.path == "a" && both.hash == "2")
    #expect(other.after(nil) == other && other.after(change("1")) == other)
    let next = change("2", gone: InputWatch.Gone(path: "b", time: .seconds(8)), stillGone: "a")
    #expect(next.after(gone) == next)
    // It is there again.
    let (back, another) = (change("2"), change("2", stillGone: "b"))
    #expect(back.after(gone) == back && another.after(gone) == another)
  }

  @Test func aChangeWhileAnAttemptReadsItsInputsWaitsForTheirHash() throws {
    try write("in", "1")
    try write("big", "")
    try FileHandle(forWritingTo: folder.file("big")).truncate(atOffset: 1 << 30)
    let reader = job("a", "while [ ! -e go ]; do sleep 0.02; done", inputs: ["in", "big"])
    let hash = try #require(UpToDateCheck.inputsHash(of: reader))
    let queue = try start([reader])
    defer { end(queue) }
    #expect(eventually { queue.run[JobID(0)].attempt != nil })
    report(hash, readAt: queue.stream.clock.now, to: queue)
    #expect(eventually { queue.run[JobID(0)].inputsHash == hash })
    #expect(stays { queue.run[JobID(0)].attempt?.number == 1 && queue.run[JobID(0)].cancelling == nil })
  }

  @Test func anInputThatIsMovedAwayAndBackExecutesItsReaderTwice() throws {
    try write("in", "1")
    let queue = try start([job("a", "cat in > out", inputs: ["in"], creates: ["out"])])
    defer { end(queue) }
    #expect(eventually { queue.run.hasEnded })
    try FileManager.default.moveItem(atPath: path("in"), toPath: path("away"))
    #expect(eventually { queue.run[JobID(0)].attempt?.number == 2 && queue.run.hasEnded })
    try FileManager.default.moveItem(atPath: path("away"), toPath: path("in"))
    #expect(eventually { queue.run[JobID(0)].attempt?.number == 3 && queue.run[JobID(0)].state.isOK })
  }

  @Test func aChangeExecutesItsReadersAndDependentsOnce() throws {
    try write("in", "1")
    let queue = try start([
      job("make", "cat in > out; echo make >> log", inputs: ["in"], creates: ["out"]),
      job("test", "cat out; echo test >> log", inputs: ["out"], needs: [JobNeed(JobID(0))]),
      job("other", "echo other >> log"),
    ])
    defer { end(queue) }
    #expect(eventually { queue.run.hasEnded })
    #expect(!queue.run.isComplete && queue.run.isWatching)
    for text in 2...4 {
      try write("in", "\(text)")
      #expect(eventually { queue.run[JobID(1)].attempt?.number == text && queue.run.hasEnded })
      // The product has changed before its reader started.
      #expect(stays { queue.run.jobs.map { $0.attempt?.number } == [text, text, 1] })
    }
    #expect(text("log").split(separator: "\n").filter { $0 == "test" }.count == 4)
    #expect(queue.run[JobID(0)].cause == JobRecord.Cause(attempt: 4, text: "in has changed"))
    #expect(queue.run[JobID(1)].cause == JobRecord.Cause(attempt: 4, text: "make is executed again"))
  }

  /// Returns once the clock of files, which moves in ticks, is past this moment.
  private func awaitTick() throws {
    let (now, other) = (Duration.seconds(Date().timeIntervalSince1970), try TemporaryFolder())
    let isPast = eventually {
      try? Data().write(to: other.file("probe"))
      return FileStatus(other.file("probe").path(percentEncoded: false)).map { $0.changed > now } ?? false
    }
    #expect(isPast)
  }

  @Test func aProductThatIsRemovedIsMadeAgainBeforeItIsRead() throws {
    try write("in", "1")
    let queue = try start([
      job("make", "cat in > out", inputs: ["in"], creates: ["out"]),
      job("test", "cat out", inputs: ["out"], needs: [JobNeed(JobID(0))]),
    ])
    defer { end(queue) }
    #expect(eventually { queue.run.hasEnded })
    // The watch may not have looked yet.
    try write("in", "2")
    #expect(eventually { queue.run[JobID(1)].attempt?.number == 2 && queue.run.hasEnded })
    try awaitTick()
    try FileManager.default.removeItem(at: folder.file("out"))
    #expect(eventually { queue.run[JobID(0)].attempt?.number == 3 && queue.run.hasEnded })
    #expect(text("out") == "2" && queue.run.counts.succeeded == 2)
  }

  @Test func aJobThatIsUpToDateAgainKeepsTheValuesOfThisRun() throws {
    for name in ["in", "other"] { try write(name, "1") }
    var reader = job("reader", "echo ${jobs.writer.v} > seen", needs: [JobNeed(JobID(1))])
    reader.outputs = [OutputReference("${jobs.writer.v}", job: JobID(1), name: "v")]
    let writer = job(
      "writer", "echo v=$(cat in) >> $OPDASH_OUTPUT", inputs: ["in"], needs: [JobNeed(JobID(0))])
    var graph = JobGraph(name: "test", jobs: [job("first", "cat other", inputs: ["other"]), writer, reader])
    graph.watch.debounce = .milliseconds(100)
    var options = JobQueueOptions(slots: 2, stateFolder: folder.file("state").path())
    options.isWatching = true
    options.earlierValues = { _ in ["v": "recorded"] }
    let queue = try JobQueue(graph, options: options)
    queue.start()
    defer { end(queue) }
    #expect(eventually { queue.run.hasEnded })
    try write("in", "2")
    #expect(eventually { queue.run[JobID(2)].attempt?.number == 2 && queue.run.hasEnded })
    try write("other", "2")
    #expect(eventually { queue.run[JobID(2)].attempt?.number == 3 && queue.run.hasEnded })
    #expect(queue.run[JobID(1)].state == .succeeded(upToDate: true))
    #expect(text("seen") == "2\n")
  }

  @Test func aJobThatReadsAnotherValueIsExecutedAgain() throws {
    for name in ["in", "value"] { try write(name, "1") }
    var reader = job("reader", "echo ${jobs.writer.v} >> seen", inputs: ["in"], needs: [JobNeed(JobID(0))])
    reader.outputs = [OutputReference("${jobs.writer.v}", job: JobID(0), name: "v")]
    let queue = try start([job("writer", "echo v=$(cat value) >> $OPDASH_OUTPUT", inputs: ["value"]), reader])
    defer { end(queue) }
    #expect(eventually { queue.run.hasEnded })
    for (number, value) in [(2, "2"), (3, "2\n")] {
      try write("value", value)
      #expect(eventually { queue.run[JobID(1)].attempt?.number == number && queue.run.hasEnded })
    }
    // The last change leaves the value as it was.
    #expect(queue.run[JobID(1)].state == .succeeded(upToDate: true))
    #expect(text("seen") == "1\n2\n")
  }

  @Test func aRunningJobAndAServiceAreStartedAgainAndLeaveNoProcess() throws {
    try write("conf", "1")
    let queue = try start([
      job("api", "cat conf > seen; exec sleep 600", inputs: ["conf"], service: Service()),
      job("long", "cat conf > read; exec sleep 600", inputs: ["conf"]),
    ])
    #expect(eventually { text("seen") == "1" && text("read") == "1" })
    // A program may be quicker than the statement of its start.
    #expect(eventually { queue.run.jobs.allSatisfy { $0.attempt?.pid != nil } })
    let old = queue.run.jobs.compactMap { $0.attempt?.pid }
    try write("conf", "2")
    #expect(eventually { text("seen") == "2" && text("read") == "2" })
    #expect(eventually { queue.run[JobID(0)].state == .serving && queue.run[JobID(1)].state == .executing })
    #expect(old.count == 2 && old.allSatisfy { kill($0, 0) != 0 })
    #expect(queue.run.jobs.map { $0.attempt?.number } == [2, 2])
    end(queue)
  }

  /// Whether the log of the first job has these words.
  private func notes(_ queue: JobQueue, _ words: String) -> Bool {
    let log = queue.run[JobID(0)].log
    return (0..<log.count).contains { log[$0].line.text.contains(words) }
  }

  @Test func aJobThatChangesItsOwnInputsIsWatchedNoLonger() throws {
    try write("in", "1")
    let queue = try start([job("self", "date +%s%N > in; echo x >> log; sleep 0.1", inputs: ["in"])])
    defer { end(queue) }
    #expect(eventually { notes(queue, "in has changed in three attempts in a row") })
    // The next attempt may have begun.
    let last = text("log").count / 2 + 1
    #expect(stays { (3...last).contains(text("log").count / 2) })
  }

  @Test(arguments: [true, false]) func aJobWhoseFollowerWritesItsInputIsWatchedNoLonger(isFinal: Bool) throws {
    try write("in", "1")
    var follower = job("stamp", "date +%s%N > in", needs: isFinal ? [] : [JobNeed(JobID(0))])
    if isFinal { follower.finally = .always }
    let queue = try start([job("test", "cat in; echo x >> log", inputs: ["in"]), follower])
    defer { end(queue) }
    #expect(eventually { notes(queue, "a job that follows seems to write it") })
    let count = text("log").count
    #expect(stays { text("log").count == count })
  }

  @Test func aServiceThatChangesItsOwnInputsIsWatchedNoLonger() throws {
    try write("in", "1")
    // A file that is written right after the start has the time of before it, on the clock of files.
    let command = "echo x >> log; sleep 0.05; date +%s%N > in; exec sleep 600"
    let queue = try start([job("self", command, inputs: ["in"], service: Service())])
    defer { end(queue) }
    #expect(eventually { notes(queue, "in has changed in five attempts in a row") })
    let count = text("log").count
    #expect(stays { text("log").count == count })
  }

  @Test func aChangeRightAfterTheEndIsNotTheJobsOwn() throws {
    try write("in", "1")
    let queue = try start([job("a", "cat in", inputs: ["in"])])
    defer { end(queue) }
    var last = 0
    for number in 1...7 {
      // On a busy machine a file that is written in two steps may be two changes.
      try #require(eventually { queue.run[JobID(0)].attempt.map { $0.number > last } ?? false && queue.run.hasEnded })
      last = try #require(queue.run[JobID(0)].attempt?.number)
      try write("in", "\(number)\n")
    }
  }

  @Test func theWatchIsSwitchedOnAndOff() throws {
    try write("in", "1")
    let queue = try JobQueue(
      JobGraph(
        name: "test",
        jobs: [
          job("a", "cat in", inputs: ["in"]), job("hold", "until [ -e go ]; do sleep 0.02; done"),
        ]), options: .init(slots: 2))
    queue.start()
    #expect(eventually { queue.run[JobID(0)].state == .succeeded(upToDate: false) })
    try write("in", "2")
    queue.send(.setWatching(true))
    #expect(eventually { queue.run.isWatching })
    #expect(
      eventually {
        try? write("in", UUID().uuidString)
        return (queue.run[JobID(0)].attempt?.number ?? 0) > 1
      })
    queue.send(.setWatching(false))
    #expect(eventually { !queue.run.isWatching })
    try write("go", "")
    #expect(eventually { queue.run.isComplete })
  }
}
