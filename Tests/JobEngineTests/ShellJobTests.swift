import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

/// A run of shell jobs in a folder of its own that goes with it.
private final class ShellRun {
  let folder: String
  let queue: JobQueue

  init(_ jobs: [Job], slots: Int = 4, clock: any OperationClock = .system) throws {
    folder = NSTemporaryDirectory() + "opdash-" + UUID().uuidString
    queue = try JobQueue(
      JobGraph(name: "test", jobs: jobs), options: .init(slots: slots, stateFolder: folder), clock: clock)
    queue.start()
  }

  /// The run once every job has ended.
  func ended() -> Run {
    #expect(eventually { queue.run.isComplete })
    return queue.run
  }

  deinit {
    queue.send(.stop(.kill, by: .signal))
    _ = eventually { queue.run.isComplete }
    try? FileManager.default.removeItem(atPath: folder)
  }
}

private func shell(_ name: String, _ script: String, needs: [Int] = [], change: (inout Job) -> Void = { _ in }) -> Job {
  var job = Job(name: name, work: .shell(ShellWork(.script(script))), needs: needs.map { JobNeed(JobID($0)) })
  change(&job)
  return job
}

private func lines(_ record: JobRecord?) -> [String] {
  guard let log = record?.log else { return [] }
  return (0..<log.count).map { log[$0].line.text }
}

@Suite struct ShellJobTests {
  @Test func aRetryPatternThatTakesTooLongIsNotedAndNotMet() throws {
    let line = String(repeating: "a", count: 47) + "!"
    let run = try ShellRun([
      shell("a", "echo '\(line)'; exit 1") { $0.retry = RetryPolicy(max: 3, patterns: ["(a|aa)+$"]) }
    ]).ended()
    #expect(run.jobs[0].state == .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    #expect(run.jobs[0].attempts.count == 1)
    #expect(lines(run.jobs.first).contains { $0.hasPrefix("the pattern of retry.only took more than") })
  }

  @Test func aLineThatMatchesTheRetryPatternIsFollowedByARetry() throws {
    let run = try ShellRun([
      shell("a", "echo 'try later'; exit 1") {
        $0.retry = RetryPolicy(max: 1, initial: .milliseconds(1), patterns: ["later$"])
      }
    ]).ended()
    #expect(run.jobs[0].attempts.count == 2)
  }

  @Test func theStatusOfACommandDecidesAndItsReasonIsShort() throws {
    let run = try ShellRun([shell("ok", "true"), shell("no", "exit 3"), shell("shot", "kill -SEGV $$")]).ended()
    #expect(run.jobs[0].state == .succeeded(upToDate: false))
    #expect(run.jobs[1].state == .failed(JobFailure(.exit(3), "exit 3"), allowed: false))
    #expect(run.jobs[2].state == .failed(JobFailure(.signal(SIGSEGV), "SIGSEGV (139)"), allowed: false))
  }

  @Test func theTerminalOfAJobHasAColumnAndARow() throws {
    var work = ShellWork(.script("until [ \"$(stty size)\" = '1 1' ]; do sleep 0.02; done"))
    work.hasTerminal = true
    let run = try ShellRun([Job(name: "size", work: .shell(work))])
    run.queue.send(.setTerminalSize(columns: 0, rows: 0))
    #expect(run.ended().jobs[0].state == .succeeded(upToDate: false))
  }

  @Test func aProgramThatIsNotThereFailsWithItsName() throws {
    let job = Job(name: "none", work: .shell(ShellWork(.argv(["no-such-program-at-all"]))))
    let run = try ShellRun([job]).ended()
    guard case .failed(let failure, _) = run.jobs[0].state else {
      Issue.record("it is \(run.jobs[0].state)")
      return
    }
    #expect(failure.cause == .launch)
    #expect(failure.reason.contains("no-such-program-at-all"))
  }

  @Test func allOutputIsStatedBeforeTheEndAndKeptWholeInAFile() throws {
    let shellRun = try ShellRun([shell("talk", "echo one; echo two >&2; printf three"), shell("mute", "true")])
    let run = shellRun.ended()
    #expect(lines(run.jobs[0]) == ["one", "two", "three"])
    let path = try #require(run.logPath(JobID(0), attempt: 1))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text == "one\ntwo\nthree")
    #expect(!FileManager.default.fileExists(atPath: try #require(run.logPath(JobID(1), attempt: 1))))
  }

  @Test func bothStreamsAreOneInTheirOrderUnlessTheyAreApart() throws {
    let script = "for i in 1 2 3; do echo out$i; echo err$i >&2; done"
    let apart = Job(name: "apart", work: .shell(ShellWork(.script(script), stderr: .apart)))
    let run = try ShellRun([shell("one", script), apart]).ended()
    func streams(_ record: JobRecord) -> [[String]] {
      let lines = (0..<record.log.count).map { record.log[$0].line }
      return [LogLine.Stream.stdout, .stderr].map { stream in lines.filter { $0.stream == stream }.map(\.text) }
    }
    #expect(streams(run.jobs[0]) == [["out1", "err1", "out2", "err2", "out3", "err3"], []])
    #expect(streams(run.jobs[1]) == [["out1", "out2", "out3"], ["err1", "err2", "err3"]])
  }

  @Test func everyAttemptHasALogOfItsOwn() throws {
    let run = try ShellRun([
      shell("again", "echo try; exit 1") { $0.retry = RetryPolicy(max: 2, initial: .milliseconds(1)) }
    ]).ended()
    #expect(run.jobs[0].attempts.map(\.number) == [1, 2, 3])
    #expect(run.jobs[0].attempts.compactMap(\.failure?.reason) == ["exit 1", "exit 1", "exit 1"])
    #expect(lines(run.jobs[0]) == ["try", "try", "try"])
  }

  @Test func theProcessOfAnExecutingJobIsKnownAndStopsWhenItIsPaused() throws {
    let shellRun = try ShellRun([shell("long", "exec sleep 600")])
    #expect(eventually { shellRun.queue.run.jobs.first?.attempt?.pid != nil })
    let pid = try #require(shellRun.queue.run.jobs[0].attempt?.pid)
    func state() -> Character? {
      guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return nil }
      return stat.split(separator: ")").last?.first { $0 != " " }
    }
    shellRun.queue.send(.pause([JobID(0)]))
    #expect(eventually { state() == "T" })
    #expect(shellRun.queue.run.jobs[0].state == .paused(started: true))
    shellRun.queue.send(.resume([JobID(0)]))
    #expect(eventually { state() == "S" })
    shellRun.queue.send(.cancel([JobID(0)], by: .person))
    #expect(shellRun.ended().jobs[0].state == .cancelled(by: .person))
    #expect(kill(pid, 0) == -1)
  }

  @Test func aTimeoutEndsWhatIgnoresItsSignal() throws {
    let clock = ManualOperationClock()
    let deaf = shell("deaf", "trap '' TERM; echo deaf; while :; do sleep 0.05; done") { job in
      job.timeout = .milliseconds(200)
      if case .shell(var work) = job.work {
        work.stop.grace = .milliseconds(100)
        job.work = .shell(work)
      }
    }
    let run = try ShellRun([deaf], clock: clock)
    #expect(eventually { lines(run.queue.run.jobs.first) == ["deaf"] })
    clock.advance(by: .milliseconds(200))
    #expect(run.ended().jobs[0].state == .failed(JobFailure(.timedOut, "timed out after 200ms"), allowed: false))
  }

  @Test func progressIsReadFromTheOutput() throws {
    let run = try ShellRun([
      shell("build", "echo '[3/8] cc a.c'; echo '[8/8] link'") { job in
        if case .shell(var work) = job.work {
          work.progress = #"\[(\d+)/(\d+)\]"#
          job.work = .shell(work)
        }
      }
    ]).ended()
    #expect(run.jobs[0].progress == JobProgress(done: 8, total: 8, unit: .steps))
  }

  @Test func aFloodOfOutputLeavesABoundedRingAndAWholeFile() throws {
    let shellRun = try ShellRun([shell("flood", "yes 0123456789 | head -n 300000")])
    let run = shellRun.ended()
    #expect(run.jobs[0].log.total == 300_000)
    #expect(run.jobs[0].log.count <= LogRing.capacity)
    let path = try #require(run.logPath(JobID(0), attempt: 1))
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    #expect(size == 300_000 * 11)
  }

  @Test func aSlowReaderHoldsTheOutputBack() throws {
    let gate = DispatchSemaphore(value: 0)
    let graph = JobGraph(name: "test", jobs: [shell("flood", "yes | head -n 2000000")])
    let queue = try JobQueue(graph, options: .init(slots: 1))
    let subscription = queue.subscribe(on: DispatchQueue(label: "slow")) { _ in gate.wait() }
    queue.start()
    // Far fewer lines than there are come in while the reader stands.
    #expect(eventually { queue.run.jobs.first?.log.total ?? 0 > 20_000 })
    var (before, still) = (-1, 0)
    #expect(
      eventually {
        let total = queue.run.jobs[0].log.total
        still = total == before ? still + 1 : 0
        before = total
        return still == 200
      })
    #expect(queue.run.jobs[0].log.total < 1_000_000)
    for _ in 0..<10_000 { gate.signal() }
    #expect(eventually { queue.run.isComplete })
    #expect(queue.run.jobs[0].log.total == 2_000_000)
    subscription.cancel()
  }

  @Test func aRunWithoutOutputLeavesNoFolderBehind() throws {
    let shellRun = try ShellRun([shell("mute", "true")])
    _ = shellRun.ended()
    shellRun.queue.send(.finish(signal: nil))
    #expect(eventually { shellRun.queue.run.summary != nil })
    shellRun.queue.settled()
    #expect(try FileManager.default.contentsOfDirectory(atPath: shellRun.folder + "/runs").isEmpty)
  }

  @Test func aPatternThatTakesTooLongIsSwitchedOffAndHoldsUpNothing() throws {
    let slow = shell("slow", "printf '%040d\\n' 0 | tr 0 a; echo 7%; seq 100") { job in
      if case .shell(var work) = job.work {
        work.progress = "(?:(a+)+)+%"
        job.work = .shell(work)
      }
    }
    let run = try ShellRun([slow, shell("other", "echo here")]).ended()
    #expect(run.counts.succeeded == 2)
    #expect(lines(run.jobs[0]).filter { $0.hasPrefix("the progress pattern took more than") }.count == 1)
    #expect(run.jobs[0].log.total == 103)
  }

  @Test func aPipeInThePlaceOfTheValuesHoldsUpNothing() throws {
    let jobs = [
      shell("piped", "rm -f \"$OPDASH_OUTPUT\"; mkfifo \"$OPDASH_OUTPUT\""), shell("other", "echo here", needs: [0]),
    ]
    let run = try ShellRun(jobs).ended()
    #expect(run.counts.succeeded == 2)
    #expect(lines(run.jobs[0]).contains { $0.hasPrefix("$OPDASH_OUTPUT is not read: it is a named pipe") })
  }

  @Test func valuesOfSeveralLinesReachTheJobsThatReadThem() throws {
    var reader = shell("reader", "echo '[${jobs.writer.notes}]'", needs: [0])
    reader.outputs = [OutputReference("${jobs.writer.notes}", job: JobID(0), name: "notes")]
    let script = "printf 'notes<<END\\r\\none\\r\\ntwo\\r\\nEND\\r\\n' >> \"$OPDASH_OUTPUT\""
    let run = try ShellRun([shell("writer", script), reader]).ended()
    #expect(lines(run.jobs[1]) == ["[one", "two]"])
  }

  @Test func valuesOfAnEarlierAttemptDoNotCount() throws {
    var reader = shell("reader", "echo '${jobs.writer.v}'", needs: [0])
    reader.outputs = [OutputReference("${jobs.writer.v}", job: JobID(0), name: "v")]
    let folder = try TemporaryFolder()
    let mark = folder.file("mark").path()
    let writer = shell("writer", "[ -e '\(mark)' ] && exit; touch '\(mark)'; echo v=1 >> \"$OPDASH_OUTPUT\"; exit 1") {
      $0.retry = RetryPolicy(max: 1, initial: .milliseconds(1))
    }
    let run = try ShellRun([writer, reader]).ended()
    #expect(run.jobs[0].state == .succeeded(upToDate: false))
    #expect(run.jobs[0].outputs == [:])
    #expect(
      run.jobs[1].state
        == .failed(JobFailure(.launch, "writer has written no v to $OPDASH_OUTPUT"), allowed: false))
  }

  @Test func aLogFileThatIsNoFileHoldsUpNothing() throws {
    let folder = try TemporaryFolder()
    let jobs = [shell("blocked", "echo one; echo two"), shell("other", "echo here")]
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: jobs), options: .init(slots: 2, stateFolder: folder.url.path()))
    let path = LogPath.file(in: try #require(queue.folder?.path), job: "blocked", id: JobID(0), attempt: 1)
    #expect(mkfifo(path, 0o600) == 0)
    queue.start()
    #expect(eventually { queue.run.isComplete })
    #expect(queue.run.counts.succeeded == 2)
    let said = lines(queue.run.jobs[0])
    #expect(
      said.filter { $0 != "one" && $0 != "two" } == ["the output is not kept from here on: \(path): a named pipe"]
    )
  }
}
