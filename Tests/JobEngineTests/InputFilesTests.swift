import Basics
import Foundation
import Support
import Testing

@testable import JobEngine

@Suite struct InputFilesTests {
  private let folder: TemporaryFolder
  private let hashes = FileHashes()

  init() throws {
    folder = try TemporaryFolder()
    for path in [
      "a.c", "b.c", "b.h", ".hidden.c", "src/main.c", "src/sub/deep.c", "src/sub/deep.h", "src/.git/config.c",
      "pages/[id].c", "out/gen.c",
    ] { try write(path, path) }
  }

  private func path(_ name: String) -> String {
    folder.url.standardizedFileURL.path(percentEncoded: false) + "/" + name
  }

  private func write(_ name: String, _ text: String) throws {
    let url = folder.url.appending(path: name)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  private func files(_ inputs: String..., without: [String] = []) throws -> InputFiles {
    try InputFiles(inputs.map(bytePath), without: without.map(bytePath), isCancelled: { false })
  }

  private func bytePath(_ name: String) -> BytePath { BytePath(path(name)) }

  private func names(_ inputs: String..., without: [String] = []) throws -> [String] {
    try InputFiles(inputs.map(bytePath), without: without.map(bytePath), isCancelled: { false }).paths.map {
      try #require($0.relative(to: BytePath(String(path("").dropLast())))).text
    }
  }

  private func hash(_ inputs: String...) throws -> String {
    try InputFiles(inputs.map(bytePath), without: [], isCancelled: { false }).hash(by: hashes, isCancelled: { false })
  }

  @Test func wildcardsMatchWithinAName() throws {
    #expect(try names("*.c") == ["a.c", "b.c"])
    #expect(try names("b.?") == ["b.c", "b.h"])
    #expect(try names("[a-b].c") == ["a.c", "b.c"])
    #expect(try names("*/*.c") == ["out/gen.c", "pages/[id].c", "src/main.c"])
    #expect(try names(".*.c") == [".hidden.c"])
  }

  @Test func twoAsterisksMatchAnyNumberOfFolders() throws {
    #expect(try names("src/**/*.c") == ["src/main.c", "src/sub/deep.c"])
    #expect(try names("**/deep.*") == ["src/sub/deep.c", "src/sub/deep.h"])
    #expect(try names("src/**") == ["src/main.c", "src/sub/deep.c", "src/sub/deep.h"])
    #expect(try names("**/**/main.c") == ["src/main.c"])
    #expect(try names("**/sub/**/*.h") == ["src/sub/deep.h"])
  }

  @Test func aFolderStandsForAllFilesBelowIt() throws {
    #expect(try names("src") == ["src/.git/config.c", "src/main.c", "src/sub/deep.c", "src/sub/deep.h"])
  }

  @Test func aPatternWithoutAMatchIsAPathIfThatExists() throws {
    #expect(try names("pages/[id].c") == ["pages/[id].c"])
    let none = try files("*.java")
    #expect(none.paths == [])
    #expect(none.missing == nil)
  }

  @Test func aPathThatDoesNotExistIsMissing() throws {
    let files = try files("a.c", "gone.c", "gone.h")
    #expect(files.paths == [bytePath("a.c")])
    #expect(files.missing == bytePath("gone.c"))
  }

  private func write(_ text: String, to name: [UInt8]) throws {
    let descriptor = open(
      BytePath(path("odd")).appending(BytePath(name)).cString, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    #expect(Foundation.write(descriptor, text, text.utf8.count) == text.utf8.count)
  }

  @Test(arguments: ["odd", "odd/*", "odd/b?.txt", "**/*.txt"]) func aNameThatIsNotTextIsAnInput(input: String) throws {
    try write("odd/a.txt", "1")
    let name = [0x62, 0xFF] + Array(".txt".utf8)
    try write("1", to: name)
    let before = try hash(input)
    #expect(try names(input).contains("odd/b\u{FFFD}.txt"))
    try write("2", to: name)
    #expect(try hash(input) != before)
    try write("1", to: name)
    #expect(try hash(input) == before)
    #expect(try !names(input, without: ["odd"]).contains { $0.hasPrefix("odd") })
  }

  @Test func namesThatLookTheSameAreTwoInputs() throws {
    try FileManager.default.createDirectory(atPath: path("odd"), withIntermediateDirectories: true)
    for name in ["\u{E9}", "e\u{301}"] { try write("1", to: Array(name.utf8)) }
    #expect(try names("odd").count == 2)
    #expect(try names("odd/\u{E9}", "odd/e\u{301}").count == 2)
    #expect(try names("odd", without: ["odd/\u{E9}"]).map { Array($0.utf8) } == [Array("odd/e\u{301}".utf8)])
    let before = try hash("odd")
    try write("2", to: Array("e\u{301}".utf8))
    #expect(try hash("odd") != before)
  }

  @Test func aFileCountsOnceAndWhatTheJobCreatesDoesNotCount() throws {
    #expect(try names("a.c", "*.c", "a.*") == ["a.c", "b.c"])
    #expect(try names("*/*.c", without: ["out", "src/main.c"]) == ["pages/[id].c"])
  }

  @Test func whatTheProgramWritesIsNoInputUnlessItIsNamed() throws {
    for name in ["st/opdash.db", "st/opdash.db-wal", "st/opdash.live", "st/runs/1/logs/a.log", "st/live/1", "st/x.c"] {
      try write(name, "1")
    }
    #expect(try names("st") == ["st/x.c"])
    #expect(try names("*/*.*") == ["out/gen.c", "pages/[id].c", "src/main.c", "st/x.c"])
    #expect(try names("st/opdash.db") == ["st/opdash.db"])
    // Without a store beside them they are folders like others.
    try write("src/runs/a.c", "1")
    #expect(try names("src/runs") == ["src/runs/a.c"] && names("src").contains("src/runs/a.c"))
    let own = try FileHashes(written: [#require(FileIdentity(path: path("b.c")))])
    func found(_ input: String) throws -> [BytePath] {
      try InputFiles([bytePath(input)], without: [], hashes: own, isCancelled: { false }).paths
    }
    #expect(try found("*.c") == [bytePath("a.c")])
    #expect(try found("b.c") == [bytePath("b.c")])
  }

  @Test func aLinkInACircleEndsTheSearch() throws {
    try FileManager.default.createSymbolicLink(atPath: path("src/loop"), withDestinationPath: "..")
    #expect(try names("src/**/*.c") == ["src/main.c", "src/sub/deep.c"])
    #expect(try names("src").contains("src/loop"))
    #expect(try hash("src").count == 64)
  }

  @Test func theHashIsThatOfNamesAndContents() throws {
    let before = try hash("*.c")
    #expect(try hash("a.c", "b.c") == before)
    try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path("a.c"))
    #expect(try hash("*.c") == before)
    try write("a.c", "A.c")
    let changed = try hash("*.c")
    #expect(changed != before)
    try write("a.c", "a.c")
    #expect(try hash("*.c") == before)
    try FileManager.default.moveItem(atPath: path("a.c"), toPath: path("c.c"))
    #expect(try hash("*.c") != before)
  }

  @Test func contentThatMovesFromOneFileToTheNextIsAnotherHash() throws {
    try write("x/1", "ab")
    try write("x/2", "")
    let before = try hash("x")
    try write("x/1", "a")
    try write("x/2", "b")
    #expect(try hash("x") != before)
  }

  @Test func aPipeIsNotWaitedForAndAnUnreadableFileIsNamed() throws {
    #expect(mkfifo(path("pipe"), 0o600) == 0)
    #expect(try hash("pipe").count == 64)
    try FileManager.default.createSymbolicLink(atPath: path("broken"), withDestinationPath: "nowhere")
    #expect(try hash("broken").count == 64)
    let gone = try files("a.c")
    try FileManager.default.removeItem(atPath: path("a.c"))
    #expect {
      try gone.hash(by: hashes, isCancelled: { false })
    } throws: {
      "\($0)" == "cannot read \(path("a.c")): No such file or directory"
    }
  }

  @Test func aPipeIsNotOpened() throws {
    #expect(mkfifo(path("pipe"), 0o600) == 0)
    let notices = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    defer { close(notices) }
    #expect(inotify_add_watch(notices, path("pipe"), UInt32(IN_OPEN)) >= 0)
    #expect(try hash("pipe").count == 64)
    var notice = [UInt8](repeating: 0, count: 1024)
    #expect(read(notices, &notice, notice.count) == -1 && errno == EAGAIN)
  }

  @Test func aFileOfManyChunksIsHashedAsAWholeAndReadOnce() throws {
    let bytes = [UInt8]((0..<5_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try Data(bytes).write(to: folder.url.appending(path: "large"))
    let files = try files("large")
    #expect(try files.hash(by: hashes, isCancelled: { false }) == files.hash(by: FileHashes(), isCancelled: { false }))
  }

  @Test func aCancelledSearchOrHashEnds() throws {
    #expect(throws: CancellationError.self) { try InputFiles([bytePath("**")], without: [], isCancelled: { true }) }
    let files = try files("*.c")
    #expect(throws: CancellationError.self) { try files.hash(by: hashes, isCancelled: { true }) }
  }
}
