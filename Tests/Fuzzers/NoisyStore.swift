import Basics
import Foundation
import JobModel
import Reports

@testable import RunStore

/// A store of two runs, of which the second goes on with the first, with values of any type in any column.
final class NoisyStore: Sendable {
  static let shared = NoisyStore()

  private static let tables: [(name: String, columns: [String])] = [
    (
      "runs",
      [
        "number", "id", "name", "origin", "file", "started", "ended", "jobs", "pid", "start_time", "boot", "cookie",
        "folder", "resumes", "succeeded", "failed", "allowed", "skipped", "cancelled", "cancelled_by_program",
        "\"left\"",
        "exit", "bytes", "log_bytes", "length",
      ]
    ),
    ("events", ["run", "first", "count", "size", "deflated"]),
    ("ended", ["run", "job", "name", "fingerprint", "attempts", "outcome", "seconds", "ended", "inputs"]),
    ("processes", ["run", "job", "name", "attempt", "pid", "start_time", "boot"]),
  ]
  private static let jobs = ["a", "b"]

  private let folder: String
  private let database: Lock<Database>

  private init() {
    folder = FileManager.default.temporaryDirectory.appending(path: "store-\(getpid())").path
    do {
      let opened = try RunStore.openForWriting(folder, patience: .seconds(10))
      try opened.execute("PRAGMA synchronous = OFF")
      database = Lock(opened)
    } catch {
      fatalError("no store: \(error)")
    }
  }

  /// Writes the runs anew, then other values into some columns.
  func write(_ noise: inout Noise) {
    let changes = changes(&noise)
    do {
      try database.withLock { database throws(RunStoreError) in
        try database.transaction { () throws(RunStoreError) in
          for table in Self.tables { try database.execute("DELETE FROM \(table.name)") }
          try Self.fill(database)
        }
        // One that a constraint refuses changes nothing.
        for change in changes { try? database.execute(change) }
      }
    } catch {
      fatalError("\(error)")
    }
  }

  private func changes(_ noise: inout Noise) -> [String] {
    var changes: [String] = []
    while !noise.isEmpty, changes.count < 8 {
      let table = noise.pick(Self.tables)
      let column = noise.pick(table.columns)
      let value =
        switch noise.byte() % 6 {
        case 0, 1, 2: noise.number()
        case 3: "NULL"
        case 4: "x'" + noise.text().utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
        default: noise.pick([column, Self.quoted(noise.text()), "id", "'r1'", "name || name", "-\(column)"])
        }
      let which = noise.pick(["", " WHERE run = 1", " WHERE number = 2", " WHERE job = 1"])
      changes.append("UPDATE OR IGNORE \(table.name) SET \(column) = \(value)\(which)")
    }
    return changes
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "''").replacing("\0", with: "") + "'"
  }

  private static func fill(_ database: Database) throws(RunStoreError) {
    for run in 1...2 {
      let end = run == 1 ? "NULL" : "5"
      try database.execute(
        """
        INSERT INTO runs (number, id, name, origin, file, started, ended, jobs, pid, start_time, boot, cookie, folder,
        resumes, succeeded, failed, allowed, skipped, cancelled, cancelled_by_program, "left", exit, length) VALUES
        (\(run), 'r\(run)', 'n', '{}', '/f', \(run), \(end), 2, 5000000, 1, 'b', NULL, NULL,
        \(run == 1 ? "NULL" : "'r1'"), 1, 1, 0, 0, 0, 0, 0, 1, 3.5)
        """)
      let lines =
        [
          #"{"v":1,"seq":0,"t":0,"type":"run_started","run":"r\#(run)","name":"n","slots":2,"at":"2026-01-01T00:00:00.250Z","jobs":2}"#
        ]
        + jobs.enumerated().map {
          #"{"v":1,"seq":\#($0 + 1),"t":0,"type":"job_added","job":"\#($1)","kind":"shell","needs":[],"command":"x"}"#
        } + [
          #"{"v":1,"seq":3,"t":1,"type":"job_state","job":"a","state":"executing","attempt":1}"#,
          #"{"v":1,"seq":4,"t":2,"type":"job_outputs","job":"a","values":{"K":"v"}}"#,
        ]
      var chunk = EventChunk(first: 0, count: lines.count, bytes: Array(lines.map { $0 + "\n" }.joined().utf8))
      guard chunk.deflate() else { throw RunStoreError(.other("no memory"), database.path) }
      try database.run(
        "INSERT INTO events (run, first, count, size, deflated) VALUES (?, 0, ?, ?, ?)", SQLValue(run),
        SQLValue(chunk.count), SQLValue(chunk.size ?? 0), .blob(chunk.bytes))
      for (index, job) in jobs.enumerated() {
        try database.execute(
          """
          INSERT INTO ended (run, job, name, fingerprint, attempts, outcome, seconds, ended, inputs)
          VALUES (\(run), \(index), '\(job)', x'00ff', 1, '\(index == 0 ? "ok" : "restored")', 2.5, 4, 'h');
          INSERT INTO processes (run, job, name, attempt, pid, start_time, boot)
          VALUES (\(run), \(index), '\(job)', 1, 5000000, 1, 'b')
          """)
      }
    }
  }

  /// Reads the store as every command that reads it does; what can't be read is an error, and nothing else.
  func read() throws {
    let store = try RunStore(folder: folder)
    let runs = try store.runs()
    let recorded = store.recordedEnds(ofFile: "/f", jobs: Self.jobs.count)
    let rows = runs.map {
      HistoryTable.Row(
        id: $0.id, name: $0.name, startedAt: $0.startedAt, endedAt: $0.endedAt, summary: $0.summary, length: $0.length,
        jobs: $0.jobs, isGoingOn: store.isGoingOn($0))
    }
    _ =
      HistoryTable(
        runs: rows, jobs: Self.jobs.map { .init(name: $0, ends: recorded[$0] ?? []) }, paint: Paint(isColoured: true),
        zone: .gmt
      ).lines
    let graph = JobGraph(name: "n", jobs: Self.jobs.map { Job(name: $0, work: .shell(ShellWork(.script("x")))) })
    for run in runs {
      _ = ResumableRun.line(of: run, in: runs).map(store.isGoingOn)
      _ = try? store.processes(of: run)
      _ = try? store.run(named: String(run.id.prefix(1)))
      if let events = try? store.events(of: run) { Playing.report(events, choice: events.count) }
      guard let earlier = try? EarlierJob.of(store.past(of: run)) else { continue }
      let plan = ResumePlan(earlier, graph, fingerprints: graph.jobs.map(Fingerprint.of), inputsHash: { _ in "h" })
      _ = ResumeText.lines(plan, of: run)
      if let summary = run.summary { precondition(summary.succeeded >= 0 && summary.left >= 0, "a negative count") }
    }
    _ = ResumableRun.choose(runs, file: "/f", directory: "/")
    _ = try? store.run(named: "last")
    let attempts = try? EarlierAttempts(store, ofFile: "/f")
    for job in graph.jobs { _ = attempts?.newest(of: job) }
    let ends = try store.lastEnds(ofFile: "/f", runs: 50, 1000).map {
      RecordedEnd(
        run: $0.run, outcome: .succeeded, took: $0.took ?? .zero, attempts: max(1, $0.attempts), work: $0.inputs)
    }
    if let usual = UsualTime(ends) { _ = UsualText.whole(usual) }
  }

  func prune() { _ = try? RunStore(folder: folder).prune(Retention(age: .seconds(1), runs: 1, bytes: 1)) }
}
