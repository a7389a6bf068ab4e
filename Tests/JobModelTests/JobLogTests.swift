import Foundation
import Testing

@testable import JobModel

@Suite struct JobLogTests {
  @Test func theRingKeepsTheNewestAndCountsThemAll() {
    var ring = LogRing()
    #expect(ring.isEmpty)
    for number in 0..<(LogRing.capacity + 5) {
      ring.append(LogLine(.stdout, "line \(number)"), seq: number, at: .seconds(number), attempt: 1)
    }
    #expect(ring.count == LogRing.capacity)
    #expect(ring.total == LogRing.capacity + 5)
    #expect(ring.dropped == 5)
    let lines = (0..<ring.count).map { ring[$0] }
    #expect(lines.map(\.number) == Array(5..<(LogRing.capacity + 5)))
    #expect(lines.first?.line.text == "line 5")
    #expect(lines.last?.time == .seconds(LogRing.capacity + 4))
  }

  @Test func trimmingReleasesMemory() {
    var ring = LogRing()
    for number in 0..<3000 { ring.append(LogLine(.stdout, "line \(number)"), seq: number, at: .zero, attempt: 1) }
    ring.trim(to: 20)
    #expect(ring.count == 20)
    #expect(ring[0].line.text == "line 2980")
    #expect(ring.dropped == 2980)
    #expect(ring.storage.capacity < 100)
  }

  @Test func aSmallRingTakesLittleMemory() {
    var ring = LogRing(capacity: 10)
    for number in 0..<3000 { ring.append(LogLine(.stdout, "line \(number)"), seq: number, at: .zero, attempt: 1) }
    #expect(ring.count == 10)
    #expect(ring[9].number == 2999)
    #expect(ring.storage.capacity < 100)
  }

  @Test func theLogsOfEndedJobsTakeBoundedMemory() {
    var run = Run()
    func apply(_ fact: JobFact) { run.apply(JobEvent(seq: run.nextSeq, time: .zero, fact: fact)) }
    let count = 450
    apply(.runStarted(RunStart(id: "1", name: "g", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: count)))
    for id in 0..<count { apply(.jobAdded(JobID(id), job("\(id)"))) }
    for id in 0..<count {
      apply(.jobState(JobID(id), .executing, attempt: 1, pid: nil))
      for number in 0..<2000 { apply(.jobLog(JobID(id), attempt: 1, LogLine(.stdout, "\(number)"))) }
      apply(.jobState(JobID(id), .succeeded(upToDate: false), attempt: 1, pid: nil))
    }
    #expect(run.jobs.reduce(0) { $0 + $1.log.memory } < 70 << 20)
    #expect(run.jobs[0].log.count == 20)
    #expect(run.jobs[count - 1].log.count == 2000)
  }

  @Test func equalHistoriesMakeEqualRings() {
    var left = LogRing()
    var right = LogRing()
    for ring in 0..<2 {
      for number in 0..<3000 {
        if ring == 0 {
          left.append(LogLine(.stderr, "\(number)"), seq: number, at: .zero, attempt: 1)
        } else {
          right.append(LogLine(.stderr, "\(number)"), seq: number, at: .zero, attempt: 1)
        }
      }
    }
    #expect(left == right)
    right.append(LogLine(.stderr, "more"), seq: 3000, at: .zero, attempt: 1)
    #expect(left != right)
  }

  /// A ring after lines of one attempt, with events from 0 on.
  private func ring(_ lines: [LogLine], capacity: Int = LogRing.capacity) -> LogRing {
    var ring = LogRing(capacity: capacity)
    for (seq, line) in lines.enumerated() { ring.append(line, seq: seq, at: .seconds(seq), attempt: 1) }
    return ring
  }

  private func unfinished(_ text: String, _ stream: LogLine.Stream = .stdout) -> LogLine {
    LogLine(stream, text, isUnfinished: true)
  }

  private func texts(_ ring: LogRing) -> [String] { (0..<ring.count).map { ring[$0].line.text } }

  @Test func aLineReplacesTheUnfinishedOneOfItsStreamInItsPlace() {
    let ring = ring([LogLine(.stdout, "a"), unfinished("1%"), unfinished("2%"), LogLine(.stdout, "done")])
    #expect(texts(ring) == ["a", "done"])
    #expect((ring[1].number, ring[1].seq, ring[1].time) == (1, 1, .seconds(3)))
    #expect((ring.total, ring.dropped) == (2, 0))
    #expect(ring.unfinishedLine == nil)
    #expect(ring.memory == self.ring([LogLine(.stdout, "a"), LogLine(.stdout, "done")]).memory)
  }

  @Test func anUnfinishedLineThatIsDrawnAgainAfterOthersMovesToTheEnd() {
    let ring = ring([
      unfinished("1%", .stderr), LogLine(.stdout, "a"), unfinished("2%", .stderr), LogLine(.stdout, "b"),
    ])
    #expect(texts(ring) == ["a", "2%", "b"])
    #expect((0..<3).map { ring[$0].seq } == [1, 2, 3])
    #expect((0..<3).map { ring[$0].number } == [1, 0, 2])
    #expect(ring.total == 3)
    #expect(ring.unfinishedLine?.text == "2%")
  }

  @Test func anUnfinishedLineIsReplacedByItsStreamAndAttemptOnly() {
    var ring = ring([unfinished("out"), unfinished("err", .stderr), LogLine(.note, "note")])
    #expect(texts(ring) == ["out", "err", "note"])
    ring.append(LogLine(.stdout, "again"), seq: 3, at: .zero, attempt: 2)
    #expect(texts(ring) == ["out", "err", "note", "again"])
  }

  @Test func anErasedLineLeavesNothing() {
    let ring = ring([unfinished("working"), unfinished(""), unfinished(""), LogLine(.stdout, "")])
    #expect(texts(ring) == [""])
    #expect((ring[0].seq, ring.total) == (3, 1))
  }

  @Test func anUnfinishedLineThatHasLeftMemoryIsReplacedByANewOne() {
    let ring = ring(
      [unfinished("bar", .stderr)] + (0..<30).map { LogLine(.stdout, "\($0)") } + [LogLine(.stderr, "end")], capacity: 5
    )
    #expect(texts(ring) == ["26", "27", "28", "29", "end"])
    #expect((ring.total, ring.dropped) == (32, 27))
    var trimmed = self.ring([unfinished("bar"), LogLine(.stderr, "a"), LogLine(.stderr, "b")])
    trimmed.trim(to: 1)
    trimmed.append(LogLine(.stdout, "end"), seq: 9, at: .zero, attempt: 1)
    #expect(texts(trimmed) == ["b", "end"])
  }

  @Test func progressThatIsWithdrawnLeavesNeitherBarNorRate() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    for done in 1...3 {
      recorder.state(.jobProgress(JobID(0), JobProgress(done: Int64(done), total: 3, unit: .steps)), after: .seconds(1))
    }
    #expect(recorder.run.jobs[0].rate(at: recorder.run.time) != nil)
    recorder.state(.jobProgress(JobID(0), JobProgress(done: 0, total: nil, unit: .steps)))
    #expect(recorder.run.jobs[0].progress == nil)
    #expect(recorder.run.jobs[0].rate(at: recorder.run.time) == nil)
    #expect(recorder.run.jobs[0].rates == RateHistory())
  }

  @Test(arguments: [
    ("build[linux]", "/s/logs/build_linux_.12.1.log"), ("a/../b", "/s/logs/a____b.12.1.log"),
    ("é", "/s/logs/_.12.1.log"),
    ("", "/s/logs/.12.1.log"),
    (String(repeating: "x", count: 300), "/s/logs/\(String(repeating: "x", count: 80)).12.1.log"),
  ])
  func aLogsFileNameIsSafeWhateverTheJobIsCalled(job: String, path: String) {
    #expect(LogPath.file(in: "/s", job: job, id: JobID(12), attempt: 1) == path)
  }

  @Test func logsOfTwoJobsOrAttemptsNeverMeet() {
    let paths = [("a/b", 1, 1), ("a_b", 2, 1), ("a_b", 2, 2), ("a_b.1", 2, 2)].map {
      LogPath.file(in: "/s", job: $0.0, id: JobID($0.1), attempt: $0.2)
    }
    #expect(Set(paths).count == 4)
  }
}
