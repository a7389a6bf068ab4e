import Basics
import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

/// Databases of earlier versions are brought to the newest, whole or not at all.
@Suite struct StoreSchemaTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("opdash.db").path }
  private static let next = "ALTER TABLE runs ADD COLUMN note TEXT; UPDATE runs SET note = 'old'"

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> Database { try Database(path, .create, patience: .seconds(5)) }

  private func version(_ database: Database) throws -> Int? {
    try database.all("PRAGMA user_version") { $0.int(0) }.first
  }

  /// A database of the first version, with one run.
  private func makeFirst() throws {
    let database = try open()
    try Schema.migrate(database, steps: [Schema.steps[0]])
    #expect(try version(database) == 1)
    try database.run(
      """
      INSERT INTO runs (id, name, origin, started, jobs, pid, start_time, boot) VALUES ('a', 'n', '{}', 1, 2, 3, 4, 'b')
      """)
  }

  @Test func aDatabaseOfTheFirstVersionKeepsItsRuns() throws {
    try makeFirst()
    #expect(try RunStore(folder: folder.url.path).runs().map(\.id) == ["a"])
    #expect(try version(open()) == Schema.version)
  }

  @Test func eachStepIsTakenOnce() throws {
    try makeFirst()
    for _ in 0..<2 {
      let database = try open()
      try Schema.migrate(database, steps: [Schema.steps[0], Self.next])
      #expect(try version(database) == 2)
      #expect(try database.all("SELECT id, note FROM runs") { $0.text(0) + $0.text(1) } == ["aold"])
    }
    // An earlier opdash leaves it as it is.
    #expect(throws: RunStoreError(.later(version: 2), path)) {
      try Schema.migrate(open(), steps: [Schema.steps[0]])
    }
  }

  @Test func aStepThatFailsLeavesTheDatabaseAsItWas() throws {
    try makeFirst()
    let database = try open()
    #expect(throws: RunStoreError.self) {
      try Schema.migrate(database, steps: [Schema.steps[0], Self.next, "no statement"])
    }
    #expect(try version(database) == 1)
    #expect(try database.all("SELECT id FROM runs") { $0.text(0) } == ["a"])
    #expect(throws: RunStoreError.self) { try database.all("SELECT note FROM runs") { $0.text(0) } }
  }

  @Test func programsThatMigrateAtOnceTakeEachStepOnce() throws {
    try makeFirst()
    let (path, next) = (path, Self.next)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      #expect(throws: Never.self) {
        try Schema.migrate(Database(path, .create, patience: .patience), steps: [Schema.steps[0], next])
      }
    }
    #expect(try version(open()) == 2)
  }

  @Test func aStoreThatAnotherProgramMakesIsWaitedFor() throws {
    let maker = try open()
    try maker.execute("BEGIN IMMEDIATE")
    let folder = folder.url.path
    // Empty for a reader, which makes no tables either.
    #expect(try RunStore(folder: folder).runs().isEmpty)
    let (opened, failed) = (DispatchSemaphore(value: 0), Lock(false))
    Thread.detachNewThread {
      let store = try? RunStore.openForWriting(folder, patience: .patience)
      if store == nil { failed.withLock { $0 = true } }
      opened.signal()
    }
    #expect(stays { !failed.withLock { $0 } })
    try maker.execute("COMMIT")
    #expect(opened.wait(timeout: .now() + Patience.seconds) == .success)
    #expect(!failed.withLock { $0 })
    #expect(try version(maker) == Schema.version)
  }

  @Test func aVersionBelowZeroIsDamage() throws {
    try makeFirst()
    try open().execute("PRAGMA user_version = -1")
    let damage = RunStoreError(.damaged("the version of its tables is -1"), path)
    #expect(throws: damage) { try RunStore(folder: folder.url.path) }
    #expect(throws: damage) { try RunStore.openForWriting(folder.url.path, patience: .seconds(5)) }
  }
}
