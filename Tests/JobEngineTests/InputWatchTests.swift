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

  /// A watch of jobs named by their numbers, each with inputs below the folder; it has looked once.
  private func watch(_ inputs: [String]..., creates: [String] = [], ignored: [String] = []) -> InputWatch {
    var rules = WatchRules()
    rules.ignored = ignored.map { $0.contains("/") ? root + "/" + $0 : $0 }
    let jobs = inputs.enumerated().map { index, inputs in
      InputWatch.Job(
        id: JobID(index), inputs: inputs.map { BytePath(root + "/" + $0) },
        creates: creates.map { BytePath(root + "/" + $0) }, directory: BytePath(root))
    }
    let isBegun = Lock(false)
    let watch = InputWatch(jobs, rules: rules, hashes: FileHashes(), clock: clock) { [reports] result in
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

  @Test func anEditorThatReplacesAFileAndOneThatRemovesItFirstMakeOneChange() throws {
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
