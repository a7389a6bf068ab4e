import Basics
import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

struct InputWatchTests {
  private let folder: TemporaryFolder
  private let clock = ManualOperationClock()
  private let reports = Lock<[[String: String]]>([])
  private let root: String

  init() throws {
    folder = try TemporaryFolder()
    root = folder.url.standardizedFileURL.path(percentEncoded: false)
  }

  private func write(_ name: String, _ text: String = UUID().uuidString) throws {
    let file = folder.file(name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  /// Writes the file by one event: an event that comes after the report would make the watch wait once more.
  private func place(_ name: String) throws {
    try write(".new")
    #expect(rename(root + "/.new", root + "/" + name) == 0)
  }

  /// A watch of jobs named by their numbers, each with inputs below the folder; it has looked once.
  private func watch(
    _ inputs: [String]..., creates: [String] = [], ignored: [String] = [], hashes: FileHashes = FileHashes()
  ) -> InputWatch {
    var rules = WatchRules()
    rules.ignored = ignored.map { $0.contains("/") ? root + "/" + $0 : $0 }
    let jobs = inputs.enumerated().map { index, inputs in
      InputWatch.Job(
        id: JobID(index), inputs: inputs.map { BytePath(root + "/" + $0) },
        creates: creates.map { BytePath(root + "/" + $0) }, directory: BytePath(root))
    }
    let isBegun = Lock(false)
    let watch = InputWatch(jobs, rules: rules, hashes: hashes, clock: clock) { [reports] result in
      guard case .success(let changes) = result else { return }
      let named = changes.map { (String($0.key.index), $0.value.path) }
      reports.withLock { $0.append(Dictionary(uniqueKeysWithValues: named)) }
    }
    watch.whenIdle { isBegun.withLock { $0 = true } }
    #expect(eventually { isBegun.withLock(\.self) })
    return watch
  }

  /// Lets the files be at rest until the next report; nil if the change makes none.
  private func settle() -> [String: String] {
    let before = reports.withLock(\.count)
    #expect(
      eventually {
        if !clock.due.isEmpty { clock.advance(by: .milliseconds(300)) }
        return reports.withLock(\.count) > before
      })
    return reports.withLock { $0[before] }
  }

  @Test func aChangeIsReportedForEachJobThatReadsTheFile() throws {
    try write("src/a.c")
    try write("src/deep/b.c")
    try write("c.txt")
    let watch = watch(["src/**/*.c"], ["c.txt"], ["src"])
    defer { watch.stop() }
    try write("src/deep/b.c")
    #expect(settle() == ["0": "src/deep/b.c", "2": "src/deep/b.c"])
    try write("c.txt")
    #expect(settle() == ["1": "c.txt"])
    // A new file, in a folder that is new too.
    try write("src/new/folder/d.c")
    #expect(settle() == ["0": "src/new/folder/d.c", "2": "src/new/folder/d.c"])
    try write("src/new/folder/e.c")
    #expect(settle() == ["0": "src/new/folder/e.c", "2": "src/new/folder/e.c"])
    try FileManager.default.removeItem(at: folder.file("src/a.c"))
    #expect(settle() == ["0": "src/a.c", "2": "src/a.c"])
  }

  @Test func aChangeThatALookSeesBeforeItsEventHasTheTimeOfTheEvent() throws {
    try write("a.txt")
    let job = InputWatch.Job(id: JobID(0), inputs: [BytePath(root + "/a.txt")], creates: [], directory: nil)
    let noticed = Lock<[Duration?]>([])
    let watch = InputWatch([job], rules: WatchRules(), hashes: FileHashes(), clock: clock) { result in
      if case .success(let changes) = result { noticed.withLock { $0 += changes.values.map(\.noticed) } }
    }
    defer { watch.stop() }
    watch.whenIdle {
      // The look at the new job comes before the queue tells of the event.
      watch.add([InputWatch.Job(id: JobID(1), inputs: [], creates: [], directory: nil)])
      // Of another size: within one tick of the clock of files the time is the same.
      #expect(throws: Never.self) { try write("a.txt", "more") }
    }
    #expect(eventually { noticed.withLock { !$0.isEmpty } })
    #expect(noticed.withLock(\.self) == [clock.now])
  }

  /// The event of another file may come much later.
  @Test func aMissingFileHasGoneWhenItsFolderChanged() throws {
    for name in ["sub/a", "sub/b", "sub/c"] { try write(name) }
    let job = InputWatch.Job(id: JobID(0), inputs: [BytePath(root + "/sub")], creates: [], directory: nil)
    let changes = Lock<[InputWatch.Change]>([])
    let watch = InputWatch([job], rules: WatchRules(), hashes: FileHashes(), clock: clock) { result in
      if case .success(let new) = result { changes.withLock { $0 += new.values } }
    }
    defer { watch.stop() }
    let isBegun = Lock(false)
    watch.whenIdle { isBegun.withLock { $0 = true } }
    #expect(eventually { isBegun.withLock(\.self) })
    func next() throws -> InputWatch.Change {
      let count = changes.withLock(\.count)
      #expect(
        eventually {
          if !clock.due.isEmpty { clock.advance(by: .milliseconds(300)) }
          return changes.withLock(\.count) > count
        })
      return try #require(changes.withLock(\.last))
    }
    let path = root + "/sub/a"
    try FileManager.default.removeItem(atPath: path)
    let changed = try #require(FileStatus(root + "/sub")).changed
    // A change of content does not change the folder.
    #expect(eventually { systemTime() > changed + InputWatch.tick })
    let file = try FileHandle(forWritingTo: folder.file("sub/b"))
    try file.write(contentsOf: Data("more than before, which was an identifier".utf8))
    try file.close()
    let first = try next()
    #expect(first.gone == InputWatch.Gone(path: path, time: changed) && first.path == path && first.stillGone == nil)
    #expect(first.time > changed)
    try place("sub/c")
    let second = try next()
    #expect(second.gone == nil && second.stillGone == path)
    try place("sub/a")
    #expect(try next().stillGone == nil)
  }

  @Test func anEditorThatReplacesOrRemovesAFileMakesOneChange() throws {
    try write("a.txt")
    let watch = watch(["a.txt"])
    defer { watch.stop() }
    for _ in 1...3 {
      try write(".a.txt.swp")
      #expect(rename(root + "/.a.txt.swp", root + "/a.txt") == 0)
      #expect(settle() == ["0": "a.txt"])
      try FileManager.default.removeItem(at: folder.file("a.txt"))
      try write("a.txt")
      #expect(settle() == ["0": "a.txt"])
    }
  }

  @Test func aBurstOfChangesIsOneReport() throws {
    try write("src/0")
    let watch = watch(["src/**"])
    defer { watch.stop() }
    for burst in 1...20 {
      for number in 0..<50 { try write("src/d\(number % 10)/f\(number)") }
      _ = settle()
      #expect(reports.withLock(\.count) == burst)
    }
  }

  private func move(_ name: String, _ other: String) { #expect(rename(root + "/" + name, root + "/" + other) == 0) }

  private func link(_ name: String, to target: String) { #expect(symlink(target, root + "/" + name) == 0) }

  @Test func aFolderThatWasMovedAwayAndMadeAgainIsWatchedWhole() throws {
    try write("src/sub/f")
    let watch = watch(["src"])
    defer { watch.stop() }
    move("src", "old")
    #expect(settle() == ["0": "src/sub/f"])
    try write("src/sub/f")
    #expect(settle() == ["0": "src/sub/f"])
    try write("src/sub/f")
    #expect(settle() == ["0": "src/sub/f"])
  }

  @Test func aFolderAboveTheInputThatIsReplacedIsAChange() throws {
    try write("a/b/f")
    try write("new/b/f")
    let watch = watch(["a/b/f"])
    defer { watch.stop() }
    move("a", "old")
    move("new", "a")
    #expect(settle() == ["0": "a/b/f"])
    try write("a/b/f")
    #expect(settle() == ["0": "a/b/f"])
  }

  @Test(arguments: ["cur/s/*", "cur/s/f", "cur", "*/s/f"]) func aLinkOnTheWayToTheInputIsFollowed(input: String) throws
  {
    try write("rel/1/s/f")
    try write("rel/2/s/f")
    link("cur", to: "rel/1")
    let watch = watch([input])
    defer { watch.stop() }
    link("new", to: "rel/2")
    move("new", "cur")
    #expect(settle() == ["0": "cur/s/f"])
    try write("rel/2/s/f")
    #expect(settle() == ["0": "cur/s/f"])
    move("rel", "old")
    #expect(settle() == ["0": "cur/s/f"])
  }

  @Test func theFileThatAnInputIsALinkToIsWatched() throws {
    try write("common/conf")
    link("conf", to: "common/../common/conf")
    // As Kubernetes mounts a map.
    try write("..1/km")
    try write("..2/km")
    link("..data", to: "..1")
    link("km", to: "..data/km")
    let watch = watch(["conf"], ["km"])
    defer { watch.stop() }
    try write("common/conf")
    #expect(settle() == ["0": "conf"])
    link("..tmp", to: "..2")
    move("..tmp", "..data")
    #expect(settle() == ["1": "km"])
    try write("..2/km")
    #expect(settle() == ["1": "km"])
  }

  @Test func aFileWithTheSameSizeAndTimeIsAChange() throws {
    try write("a", "1")
    let watch = watch(["a"])
    defer { watch.stop() }
    let time = try FileManager.default.attributesOfItem(atPath: root + "/a")[.modificationDate] as? Date
    try write("a", "2")
    try FileManager.default.setAttributes([.modificationDate: #require(time)], ofItemAtPath: root + "/a")
    #expect(settle() == ["0": "a"])
  }

  @Test func whatTheProgramWritesIsNoChange() throws {
    try write("state/opdash.db")
    try write("reports/events")
    try write("src/a")
    let own = Set([FileIdentity(path: root + "/reports/events")].compactMap(\.self))
    let watch = watch(["src", "state", "reports"], ["state"], ["reports"], hashes: FileHashes(written: own))
    defer { watch.stop() }
    for name in ["opdash.db", "opdash.db-wal", "opdash.live", "runs/1/logs/a"] { try write("state/" + name) }
    let events = try FileHandle(forWritingTo: folder.file("reports/events"))
    try events.write(contentsOf: Data("x".utf8))
    try write("src/a")
    #expect(settle() == ["0": "src/a"])
  }

  @Test func filesThatNobodyReadsProductsAndIgnoredOnesAreNoChange() throws {
    try write("src/a.c")
    let watch = watch(["src/**"], creates: ["src/out"], ignored: ["*.tmp", "src/gen"])
    defer { watch.stop() }
    try write("other.txt")
    try write("src/out/a.o")
    try write("src/b.tmp")
    try write("src/gen/c.c")
    try write("src/.hidden/d.c")
    // A file with the content that it had.
    try write("src/a.c", String(contentsOf: folder.file("src/a.c"), encoding: .utf8))
    try write("src/a.c")
    #expect(settle() == ["0": "src/a.c"])
    #expect(reports.withLock(\.count) == 1)
  }

  private func add(_ input: String, to watch: InputWatch, as id: JobID) {
    watch.add([
      InputWatch.Job(id: id, inputs: [BytePath(root + "/" + input)], creates: [], directory: BytePath(root))
    ])
  }

  @Test(arguments: [true, false]) func addedJobsAreWatchedAndTheChangeThatWaitsIsReported(isGone: Bool) throws {
    try write("a.txt")
    try write("b.txt")
    let watch = watch(["a.txt"])
    defer { watch.stop() }
    if isGone { try FileManager.default.removeItem(at: folder.file("a.txt")) } else { try place("a.txt") }
    #expect(eventually { !clock.due.isEmpty })
    add("b.txt", to: watch, as: JobID(1))
    #expect(settle() == ["0": "a.txt"])
    try place("b.txt")
    #expect(settle() == ["1": "b.txt"])
    add("c.txt", to: watch, as: JobID(2))
    let isIdle = Lock(false)
    watch.whenIdle { isIdle.withLock { $0 = true } }
    #expect(eventually { isIdle.withLock(\.self) })
    try place("c.txt")
    #expect(settle() == ["2": "c.txt"])
  }

  @Test func afterTheStopNothingIsReported() throws {
    try write("a.txt")
    let watch = watch(["a.txt"])
    watch.stop()
    try write("a.txt")
    let isIdle = Lock(false)
    watch.whenIdle { isIdle.withLock { $0 = true } }
    #expect(eventually { isIdle.withLock(\.self) })
    #expect(clock.due.isEmpty && reports.withLock(\.isEmpty))
  }
}
