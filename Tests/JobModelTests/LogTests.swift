import Foundation
import Testing

@testable import JobModel

@Suite struct LogTests {
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
