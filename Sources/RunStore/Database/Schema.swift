/// The tables of the store, by version.
///
/// `PRAGMA user_version` is the number of steps that a database has taken. A step is never changed once released: a new
/// version appends one.
enum Schema {
  static var version: Int { steps.count }

  static let steps = [
    // 1. `runs.bytes` is the size of its events and `log_bytes` the size of its log files, if measured. A run's number
    // is never reused, so that rows of a removed run can't become another's.
    """
    CREATE TABLE runs (
      number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, origin TEXT NOT NULL,
      file TEXT, started REAL NOT NULL, ended REAL, jobs INTEGER NOT NULL, pid INTEGER NOT NULL,
      start_time INTEGER NOT NULL, boot TEXT NOT NULL, cookie TEXT, folder TEXT, resumes TEXT, succeeded INTEGER,
      failed INTEGER, allowed INTEGER, skipped INTEGER, cancelled INTEGER, cancelled_by_program INTEGER, "left" INTEGER,
      exit INTEGER, bytes INTEGER NOT NULL DEFAULT 0, log_bytes INTEGER);
    CREATE INDEX runs_of_file ON runs (file);
    CREATE TABLE events (
      run INTEGER NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL, size INTEGER NOT NULL,
      deflated BLOB NOT NULL);
    CREATE UNIQUE INDEX events_of_run ON events (run, first);
    CREATE TABLE ended (
      run INTEGER NOT NULL, job INTEGER NOT NULL, name TEXT NOT NULL, fingerprint BLOB, attempts INTEGER NOT NULL,
      outcome TEXT NOT NULL, seconds REAL, ended REAL NOT NULL, inputs TEXT);
    CREATE INDEX ended_by_name ON ended (name);
    CREATE INDEX ended_of_run ON ended (run);
    CREATE TABLE processes (
      run INTEGER NOT NULL, job INTEGER NOT NULL, name TEXT NOT NULL, attempt INTEGER NOT NULL, pid INTEGER NOT NULL,
      start_time INTEGER NOT NULL, boot TEXT NOT NULL, PRIMARY KEY (run, job, attempt)) WITHOUT ROWID;
    """,
    // 2. The seconds until the last end of a job: a dashboard may stay open after it.
    "ALTER TABLE runs ADD COLUMN length REAL",
  ]

  /// Brings a database to this version; nothing is written to one of a later version.
  static func migrate(_ database: Database, steps: [String] = steps) throws(RunStoreError) {
    try check(database, version: steps.count)
    guard try stepsTaken(database) < steps.count else { return }
    try database.transaction { () throws(RunStoreError) in
      // Another program may have done it since.
      for number in try stepsTaken(database)..<max(steps.count, try stepsTaken(database)) {
        try database.execute(steps[number])
        try database.execute("PRAGMA user_version = \(number + 1)")
      }
    }
  }

  /// Throws for a database of a later version.
  static func check(_ database: Database, version: Int = version) throws(RunStoreError) {
    let found = try stepsTaken(database)
    if found > version { throw RunStoreError(.later(version: found), database.path) }
  }

  /// 0 for a database without tables.
  static func stepsTaken(_ database: Database) throws(RunStoreError) -> Int {
    let number = try database.all("PRAGMA user_version") { $0.int(0) }.first ?? 0
    guard number >= 0 else { throw RunStoreError(.damaged("the version of its tables is \(number)"), database.path) }
    return number
  }
}
