import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

/// Which runs are removed, at the exact bounds, and what is left of them.
struct RunPruningTests {
  private let rows: StoreRows
  private static let now = Date(timeIntervalSince1970: 10_000_000)

  init() throws { rows = try StoreRows() }

  private func prune(_ retention: Retention = Retention()) throws -> PrunedRuns {
    try rows.store().prune(retention, now: Self.now)
  }

  private func kept() throws -> [String] { try rows.store().runs().map(\.id).sorted() }

  private func makeFile(_ path: String, bytes: Int) throws {
    let url = rows.folder.file(path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(count: bytes).write(to: url)
  }

  private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: rows.folder.file(path).path) }

  // MARK: Bounds

  @Test func aRunIsTooOldAfterItsAgeNotAtIt() throws {
    let month = 30.0 * 86_400
    for (id, age) in [("older", month + 1), ("old", month), ("new", 1)] {
      try rows.addRun(id, started: 10_000_000 - age, bytes: 7, logs: 3)
    }
    #expect(try prune() == PrunedRuns(runs: 1, bytes: 10))
    #expect(try kept() == ["new", "old"])
  }

  @Test func runsMayHaveAsManyBytesAsTheLimit() throws {
    for (index, id) in ["c", "b", "a"].enumerated() {
      try rows.addRun(id, started: 9_999_000 + Double(index), bytes: 100, logs: 50)
    }
    #expect(try prune(Retention(bytes: 450)) == PrunedRuns())
    #expect(try prune(Retention(bytes: 300)) == PrunedRuns(runs: 1, bytes: 150))
    #expect(try kept() == ["a", "b"])
    #expect(try prune(Retention(bytes: 299)) == PrunedRuns(runs: 1, bytes: 150))
    #expect(try prune(Retention(bytes: 149)) == PrunedRuns())
    #expect(try kept() == ["a"])
  }

  @Test func thereMayBeAsManyRunsAsTheLimit() throws {
    // The newest is the one that was recorded last, whatever the clock said.
    for (id, time) in [("c", 3.0), ("b", 1), ("a", 2)] { try rows.addRun(id, started: 9_999_000 + time) }
    #expect(try prune(Retention(runs: 3)) == PrunedRuns())
    #expect(try prune(Retention(runs: 2)).runs == 1)
    #expect(try kept() == ["a", "b"])
  }

  @Test func onlyALivingProcessWithoutAnEndKeepsARun() throws {
    try rows.addRun("on", ended: nil, process: .current)
    try rows.addRun("ended", process: .current)
    try rows.addRun("killed", ended: nil)
    #expect(try prune().runs == 2)
    #expect(try kept() == ["on"])
  }

  // MARK: Runs with jobs in a cluster

  /// Adds runs that began one second after the other, each with a folder of cluster jobs.
  private func addClusterRuns(_ runs: [(id: String, ended: Double?, resumes: String?)], daysAgo: Double = 1) throws {
    for (index, run) in runs.enumerated() {
      let started = 10_000_000 - daysAgo * 86_400 + Double(index)
      try rows.addRun(run.id, started: started, ended: run.ended, bytes: 10, resumes: run.resumes)
      try makeFile("runs/\(run.id)/cluster/a.1.out", bytes: 10)
    }
  }

  private static let none = Retention(runs: 0, bytes: 0)

  /// Its jobs may execute; only another run ends them or goes on with them.
  @Test func aKilledRunWithClusterJobsIsKeptUntilItIsTooOld() throws {
    try addClusterRuns([("killed", nil, nil), ("ended", 1, nil)])
    try rows.addRun("local", started: 9_990_000, ended: nil)
    #expect(try prune(Self.none).runs == 2)
    #expect(try kept() == ["killed"])
    #expect(isThere("runs/killed/cluster/a.1.out"))
    #expect(try rows.store().prune(Self.none, now: Self.now + 31 * 86_400).runs == 1)
    #expect(try kept() == [])
  }

  @Test func aKilledRunIsRemovedOnceAResumedOneHasEnded() throws {
    try addClusterRuns([("a", nil, nil), ("b", nil, "a"), ("c", nil, "b")])
    #expect(try prune(Self.none).runs == 0)
    try rows.execute("UPDATE runs SET ended = 5 WHERE id = 'c'")
    #expect(try prune(Self.none).runs == 3)
  }

  @Test func aKilledRunIsKeptForTheRunThatFollowsItsJobs() throws {
    try addClusterRuns([("a", nil, nil)])
    try rows.addRun("on", started: 9_999_000, ended: nil, process: .current, resumes: "a")
    #expect(try prune(Self.none).runs == 0)
    #expect(isThere("runs/a/cluster/a.1.out"))
  }

  // MARK: Sizes

  @Test func theLogsAreMeasuredOnceTheRunHasEnded() throws {
    try rows.addRun("a", started: 9_999_000, bytes: 100, logs: nil)
    try rows.addRun("on", started: 9_999_001, ended: nil, logs: nil, process: .current)
    try makeFile("runs/a/logs/one", bytes: 10)
    try makeFile("runs/a/two", bytes: 5)
    try makeFile("runs/on/logs/one", bytes: 10)
    try makeFile("large", bytes: 5000)
    let link = rows.folder.file("runs/a/link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: rows.folder.file("large").path)
    #expect(try prune() == PrunedRuns())
    #expect(try rows.numbers("SELECT log_bytes FROM runs ORDER BY number") == [15, -1])
    // Not measured again.
    try makeFile("runs/a/two", bytes: 1000)
    #expect(try prune(Retention(runs: 1)) == PrunedRuns(runs: 1, bytes: 115))
    #expect(!isThere("runs/a") && isThere("runs/on/logs/one") && isThere("large"))
  }

  // MARK: Rows

  @Test func allRowsOfARemovedRunGoAndNoOthers() throws {
    let old = try rows.addRun("old")
    let new = try rows.addRun("new", started: 9_999_000)
    for (run, count) in [(old, 70), (new, 40)] {
      for number in 0..<count {
        try rows.addEvents(run, first: number, ["{}"])
        try rows.addEnd(run, "job", at: 1)
        try rows.addProcess(run, job: number)
      }
    }
    #expect(try prune().runs == 1)
    for table in ["events", "ended", "processes"] {
      #expect(try rows.numbers("SELECT count(*) FROM \(table)") == [40])
      #expect(try rows.numbers("SELECT DISTINCT run FROM \(table)") == [new])
    }
  }

  @Test(arguments: ["events", "ended", "processes"]) func whatAnInterruptedCallLeftGoes(table: String) throws {
    let run = try rows.addRun("new", started: 9_999_000)
    for number in [run, run + 1, run + 2] {
      switch table {
      case "events": try rows.addEvents(number, first: 0, ["{}"])
      case "ended": try rows.addEnd(number, "job", at: 1)
      default: try rows.addProcess(number, job: 0)
      }
    }
    #expect(try prune() == PrunedRuns())
    #expect(try rows.numbers("SELECT run FROM \(table)") == [run])
  }

  @Test(arguments: ["..", "x/../../victim", ""]) func noIdentifierLeadsElsewhere(id: String) throws {
    try rows.addRun(id)
    for path in ["victim/file", "runs/x/file"] { try makeFile(path, bytes: 1) }
    #expect(try prune() == PrunedRuns(runs: 1, bytes: 0))
    #expect(try kept() == [])
    for path in ["victim/file", "runs/x/file", "opdash.db"] { #expect(isThere(path)) }
  }
}
