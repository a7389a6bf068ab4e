import Basics
import Foundation
import Support
import Testing

/// What stands in the place of a file that is opened.
struct ForeignFileTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try write("content", to: "file")
  }

  private func path(_ name: String) -> String { folder.file(name).path() }
  private func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: folder.file(name)) }
  private func text(_ name: String) -> String? { try? String(contentsOfFile: path(name), encoding: .utf8) }

  private func reason(_ body: () throws(FileProblem) -> Int32) -> FileProblem.Reason? {
    do throws(FileProblem) {
      close(try body())
      return nil
    } catch {
      return error.reason
    }
  }

  private func problem(
    of name: String, for purpose: ForeignFile.Purpose = .reading, _ place: ForeignFile.Place
  ) -> FileProblem.Reason? {
    reason { () throws(FileProblem) in try ForeignFile.open(path(name), for: purpose, place) }
  }

  // MARK: What it is

  private static let purposes: [ForeignFile.Purpose] = [.reading, .appending, .replacing, .updating(mode: 0o600)]
  private static let places: [ForeignFile.Place] = [.named, .argument, .own, .shared]

  @Test(arguments: purposes, places)
  func whatIsNoRegularFileIsRefused(_ purpose: ForeignFile.Purpose, _ place: ForeignFile.Place) throws {
    try #require(mkfifo(path("pipe"), 0o600) == 0)
    try #require(mkdir(path("folder"), 0o700) == 0)
    #expect(problem(of: "pipe", for: purpose, place) == .isPipe)
    #expect(problem(of: "folder", for: purpose, place) == .isFolder)
    #expect(reason { () throws(FileProblem) in try ForeignFile.open("/dev/zero", for: purpose, place) } == .isDevice)
    #expect(problem(of: "file", for: purpose, place) == nil)
  }

  @Test(arguments: [ForeignFile.Place.own, .shared]) func aLinkInThePlaceOfOurFileIsRefused(_ place: ForeignFile.Place)
    throws
  {
    try #require(symlink(path("file"), path("link")) == 0 && symlink(path("none"), path("loose")) == 0)
    for purpose in Self.purposes {
      #expect(problem(of: "link", for: purpose, place) == .isLink)
      #expect(problem(of: "loose", for: purpose, place) == .isLink)
    }
    #expect(folder.names() == ["file", "link", "loose"] && text("file") == "content")
  }

  @Test func aLinkThatAPersonNamesIsFollowed() throws {
    try #require(symlink(path("file"), path("link")) == 0)
    #expect(try ForeignFile.contents(path("link"), .named, limit: 10) == Array("content".utf8))
  }

  @Test func aSecondNameOfOurFileIsNotWritten() throws {
    try #require(link(path("file"), path("other")) == 0)
    for purpose in Self.purposes.dropFirst() { #expect(problem(of: "other", for: purpose, .own) == .hasOtherNames) }
    #expect(problem(of: "other", .own) == nil)
    #expect(text("file") == "content")
  }

  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func theFileOfAnotherUserIsNotOurs() throws {
    try #require(chown(path("file"), 1, 1) == 0)
    #expect(problem(of: "file", .own) == .isOfAnotherUser)
    #expect(problem(of: "file", .named) == nil)
    // Where each may replace the others' files, nothing is won by a refusal.
    #expect(problem(of: "file", .shared) == nil)
    try #require(chmod(folder.url.path(), 0o1777) == 0)
    #expect(problem(of: "file", .shared) == .isOfAnotherUser)
    // A disk on which one user owns all.
    try #require(chown(folder.url.path(), 1, 1) == 0)
    #expect(problem(of: "file", .own) == nil && problem(of: "file", .shared) == nil)
  }

  @Test func aFileThatIsNotThereIsMadeForItsOwnerAlone() throws {
    #expect(problem(of: "new", .own) == .system(ENOENT))
    #expect(FileProblem(path("new"), .system(ENOENT)).isAbsence)
    #expect(problem(of: "new", for: .appending, .own) == nil)
    let attributes = try FileManager.default.attributesOfItem(atPath: path("new"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func aFileIsEmptiedOnlyWhereItIsReplaced() {
    for purpose in [ForeignFile.Purpose.appending, .updating(mode: 0o600), .output] {
      #expect(problem(of: "file", for: purpose, .named) == nil)
      #expect(text("file") == "content")
    }
    #expect(problem(of: "file", for: .replacing, .own) == nil)
    #expect(text("file") == "")
  }

  @Test func aNameDoesNotEndAtAZeroByte() {
    let path = folder.url.path() + "/file\0.log"
    #expect(reason { () throws(FileProblem) in try ForeignFile.open(path, .named) } == .system(EINVAL))
  }

  @Test func programsDoNotInheritTheDescriptor() throws {
    let descriptor = try ForeignFile.open(path("file"), .own)
    defer { close(descriptor) }
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
  }

  // MARK: Reading

  @Test func aFileThatIsTooLargeIsNotRead() throws {
    #expect(try ForeignFile.contents(path("file"), .own, limit: 7) == Array("content".utf8))
    let small = FileProblem(path("file"), .isTooLarge(limit: 6))
    #expect(throws: small) { try ForeignFile.contents(path("file"), .own, limit: 6) }
    try #require(truncate(path("file"), 8 << 30) == 0)
    let large = FileProblem(path("file"), .isTooLarge(limit: 1 << 20))
    #expect(throws: large) { try ForeignFile.contents(path("file"), .own, limit: 1 << 20) }
    #expect(large.message == "it is larger than 1 MiB: split it")
  }

  @Test func theFirstBytesOfALargeFileCanBeRead() throws {
    let descriptor = try ForeignFile.open(path("file"), .own)
    defer { close(descriptor) }
    #expect(try ForeignFile.prefix(of: descriptor, path("file"), 3) == Array("con".utf8))
    #expect(try ForeignFile.prefix(of: descriptor, path("file"), 9) == Array("tent".utf8))
  }

  // MARK: What the caller has passed

  @Test func aPassedPipeIsReadAsAnArgumentOnly() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    #expect(Foundation.write(ends[1], "abc", 3) == 3)
    close(ends[1])
    let path = "/dev/fd/\(ends[0])"
    for passed in [path, "/dev/stdin", "/proc/self/fd/9"] { #expect(ForeignFile.isPassed(passed)) }
    for other in ["/dev/fd/", "/dev/fd/1x", "/dev/tty", "file"] { #expect(!ForeignFile.isPassed(other)) }
    #expect(["-", "/dev/fd/63"].allSatisfy(ForeignFile.isReadOnce) && !ForeignFile.isReadOnce("/dev/tty"))
    #expect(throws: FileProblem(path, .isPipe)) { try ForeignFile.contents(path, .named, limit: 9) }
    #expect(throws: FileProblem(path, .isTooLarge(limit: 2))) { try ForeignFile.contents(path, .argument, limit: 2) }
    #expect(try ForeignFile.contents(path, .argument, limit: 2) == [])
  }

  @Test func aDescriptorThatWasNotPassedIsAFailure() {
    #expect(throws: FileProblem("/dev/fd/99999", .system(EBADF))) {
      try ForeignFile.contents("/dev/fd/99999", .argument, limit: 1)
    }
  }

  // MARK: Outputs

  @Test func anOutputMayBeADeviceOrAPipeThatIsRead() throws {
    try #require(mkfifo(path("pipe"), 0o600) == 0)
    #expect(problem(of: "pipe", for: .output, .argument) == .isPipe)
    let reader = open(path("pipe"), O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let descriptor = try ForeignFile.open(path("pipe"), for: .output, .argument)
    defer { close(descriptor) }
    // A write waits for the reader.
    #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0)
    #expect(reason { () throws(FileProblem) in try ForeignFile.open("/dev/null", for: .output, .argument) } == nil)
    #expect(reason { () throws(FileProblem) in try ForeignFile.open("/", for: .output, .argument) } == .isFolder)
  }

  // MARK: Files that something else opens

  @Test func theKindOfAFileIsToldWithoutOpeningIt() throws {
    try #require(mkfifo(path("pipe"), 0o600) == 0)
    #expect(ForeignFile.problem(at: path("pipe"), .named) == FileProblem(path("pipe"), .isPipe))
    #expect(ForeignFile.problem(at: path("file"), .own) == nil)
    #expect(ForeignFile.problem(at: path("none"), .own) == nil)
  }
}
