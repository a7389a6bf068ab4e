import Basics
import Foundation
import JobModel

/// The runs and bytes that pruning removed.
package struct PrunedRuns: Sendable, Equatable {
  package var runs = 0
  package var bytes = 0
}

extension RunStore {
  /// Removes the runs that are older, more or larger than `retention` allows, with their folders; keeps runs in progress.
  ///
  /// Folders of runs that were not recorded are runs too. Every transaction is short, so that runs that are recorded
  /// meanwhile hardly wait. What is removed halfway when the process ends is removed by the next call. A folder that can't
  /// be removed keeps no other run: its error is thrown at the end.
  @discardableResult
  package func prune(_ retention: Retention = Retention(), now: Date = Date()) throws(RunStoreError) -> PrunedRuns {
    try database.withLock { database throws(RunStoreError) in
      try Pruning(database: database, folder: folder, retention: retention, now: now).perform()
    }
  }
}

/// One removal of the runs that a store keeps no longer.
private struct Pruning {
  let database: Database
  let folder: String
  let retention: Retention
  let now: Date

  func perform() throws(RunStoreError) -> PrunedRuns {
    // Work undone by a power failure is repeated.
    try database.execute("PRAGMA synchronous = NORMAL")
    try removeLeftovers()
    var pruned = PrunedRuns()
    var problem: RunStoreError?
    for run in excess(try storedRuns()) {
      if let number = run.number {
        try database.run("DELETE FROM runs WHERE number = ?", SQLValue(number))
        try removeRows(of: number)
      }
      do throws(RunStoreError) { try removeFolder(run.id) } catch {
        problem = problem ?? error
        continue
      }
      pruned.runs += 1
      pruned.bytes = pruned.bytes.plus(run.bytes)
    }
    try vacuum()
    if let problem { throw problem }
    return pruned
  }

  /// A run that may be removed, with its size.
  private struct StoredRun {
    /// Nil if it was not recorded.
    var number: Int?
    var id: String
    var startedAt: Date
    var bytes: Int
    var isGoingOn: Bool
    /// Whether jobs of its own may be in a cluster: they execute although its program was killed.
    var mayHaveClusterJobs = false
  }

  /// `runs` come newest first.
  private func excess(_ runs: [StoredRun]) -> [StoredRun] {
    var bytes = 0
    return runs.enumerated().filter { index, run in
      bytes = bytes.plus(run.bytes)
      let isOld = run.startedAt < now - retention.age / .seconds(1)
      let isBeyond = index >= retention.runs || index > 0 && bytes > retention.bytes
      return !run.isGoingOn && (isOld || isBeyond && !run.mayHaveClusterJobs)
    }.map(\.element)
  }

  /// The newest first: recorded runs by their numbers, because the clock may have been set back.
  private func storedRuns() throws(RunStoreError) -> [StoredRun] {
    let rows = try database.all(
      """
      SELECT number, id, started, bytes, log_bytes, ended IS NULL, pid, start_time, boot, resumes FROM runs
      ORDER BY number DESC
      """
    ) { row in
      let run = StoredRun(
        number: row.int(0), id: row.text(1), startedAt: row.date(2), bytes: max(0, row.int(3)),
        isGoingOn: row.int(5) != 0 && (row.process(6).isAlive || RunLock.isHeld(run: row.int(0), in: folder)))
      return (
        run, logs: row.isNull(4) ? nil : max(0, row.int(4)), isEnded: row.int(5) == 0,
        resumes: row.isNull(9) ? nil : row.text(9)
      )
    }
    var runs: [StoredRun] = []
    // The runs that have ended, or that one has resumed that has: nothing of them is left in a cluster.
    var settled: Set<String> = []
    for (var run, logs, isEnded, resumes) in rows {
      if isEnded { settled.insert(run.id) }
      if let resumes, settled.contains(run.id) { settled.insert(resumes) }
      let path = runFolder(run.id)
      let hasClusterFolder = path.map { access("\($0)/cluster", F_OK) == 0 } ?? false
      run.mayHaveClusterJobs = !settled.contains(run.id) && hasClusterFolder
      // Measured once, when they no longer grow.
      let grows = run.isGoingOn || run.mayHaveClusterJobs
      let size = logs ?? (grows ? 0 : path.map { Self.size(of: BytePath($0)) } ?? 0)
      if logs == nil, !grows {
        try database.run("UPDATE runs SET log_bytes = ? WHERE number = ?", SQLValue(size), SQLValue(run.number ?? 0))
      }
      run.bytes = run.bytes.plus(size)
      runs.append(run)
    }
    for run in unrecordedRuns(besides: Set(runs.map(\.id))) {
      runs.insert(run, at: runs.firstIndex { $0.startedAt <= run.startedAt } ?? runs.endIndex)
    }
    return runs
  }

  /// The folders of runs that the store does not know: they were not recorded, or have only just begun.
  ///
  /// The state folder may belong to anyone, so only folders with the name of a run count.
  private func unrecordedRuns(besides known: Set<String>) -> [StoredRun] {
    let names = (BytePath("\(folder)/runs").names() ?? []).map(\.text)
    let own = names.filter { $0.wholeMatch(of: /\d{8}-\d{6}-\d+(\.\d+)?/) != nil }
    return own.filter { !known.contains($0) }.compactMap { id in
      guard let path = runFolder(id),
        let date = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
      else { return nil }
      // The identifier ends with the process: `20260102-101112-4711`, or `….1` after it. It may be another's by now; then
      // the folder is kept a while longer.
      let process = id.split(separator: "-").last?.prefix { $0 != "." }
      let isHere = process.flatMap { Int32($0) }.map { ProcessIdentity.of($0) != nil } ?? false
      // Another machine may execute it.
      let isGoingOn = isHere || date > now - 86_400
      return StoredRun(id: id, startedAt: date, bytes: Self.size(of: BytePath(path)), isGoingOn: isGoingOn)
    }
  }

  /// `runs/<id>` of the state folder; nil for an identifier that leads elsewhere.
  private func runFolder(_ id: String) -> String? {
    id.isEmpty || id.hasPrefix(".") || id.utf8.contains(UInt8(ascii: "/")) ? nil : "\(folder)/runs/\(id)"
  }

  /// Removes the remains of an interrupted call.
  private func removeLeftovers() throws(RunStoreError) {
    for table in ["events", "ended", "processes"] {
      let numbers = try database.all(
        "SELECT DISTINCT run FROM \(table) WHERE run NOT IN (SELECT number FROM runs)"
      ) { $0.int(0) }
      for number in numbers { try removeRows(of: number) }
    }
  }

  private func removeRows(of run: Int) throws(RunStoreError) {
    // About a megabyte each.
    for (table, count) in [("events", 32), ("ended", 2000)] {
      repeat {
        try database.run(
          "DELETE FROM \(table) WHERE rowid IN (SELECT rowid FROM \(table) WHERE run = ? LIMIT ?)", SQLValue(run),
          SQLValue(count))
      } while database.changes > 0
    }
    try database.run("DELETE FROM processes WHERE run = ?", SQLValue(run))
  }

  private func removeFolder(_ id: String) throws(RunStoreError) {
    guard let path = runFolder(id), access(path, F_OK) == 0 else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      // Another program may be removing it too.
      guard access(path, F_OK) == 0 else { return }
      throw RunStoreError(.other("can't be removed: \(error.localizedDescription)"), path)
    }
  }

  /// Gives the free pages back to the file system, 4 MB at a time.
  private func vacuum() throws(RunStoreError) {
    func free() throws(RunStoreError) -> Int { try database.all("PRAGMA freelist_count") { $0.int(0) }.first ?? 0 }
    var left = try free()
    while left > 0 {
      // Each step of the statement frees one page.
      _ = try database.all("PRAGMA incremental_vacuum(1000)") { _ in () }
      let now = try free()
      if now >= left { break }
      left = now
    }
    // The file becomes shorter when the log is written to it.
    _ = try database.all("PRAGMA wal_checkpoint(PASSIVE)") { _ in () }
  }

  /// The bytes of the files in a folder; a run may have left tens of thousands.
  private static func size(of folder: BytePath) -> Int {
    (folder.names() ?? []).reduce(0) { size, name in
      let path = folder.appending(name)
      guard let status = FileStatus(path) else { return size }
      switch status.kind {
      case S_IFREG: return size.plus(Int(status.value.st_size))
      case S_IFDIR: return size.plus(Self.size(of: path))
      default: return size
      }
    }
  }
}
