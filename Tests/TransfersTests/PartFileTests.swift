import Foundation
import Support
import Testing

@testable import Transfers

@Suite struct PartFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A part with bytes that are in its file.
  private func part(_ text: String = "") throws -> PartFile {
    let part = try PartFile(for: folder.file("file").path(percentEncoded: false))
    try write(text, to: part)
    try part.flush()
    return part
  }

  private func write(_ text: String, to part: PartFile) throws {
    try Array(text.utf8).withUnsafeBytes { try part.write($0) }
  }

  private func content(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.file(name)), as: UTF8.self)
  }

  private func info() throws -> PartInfo {
    try JSONDecoder().decode(PartInfo.self, from: Data(#"{"url":"http://a/f","validator":"\"1\"","total":9}"#.utf8))
  }

  @Test func aPartUsesTheNamesOfItsBytes() throws {
    let part = try PartFile(for: folder.file("caf\u{e9}").path(percentEncoded: false))
    defer { part.close(keeping: false) }
    #expect(part.uses(part.path) && part.uses(part.path + ".meta"))
    #expect(!part.uses(part.path.replacing("\u{e9}", with: "e\u{301}")))
  }

  // MARK: Bytes

  @Test func bytesAreWrittenFromTheOffsetOn() throws {
    let part = try part("12345")
    #expect(part.offset == 5 && part.size == 5)
    part.seek(to: 3)
    try write("xyz", to: part)
    try part.flush()
    #expect(part.offset == 6 && part.size == 6)
    #expect(try content("file.part") == "123xyz")
  }

  @Test func aPartThatStartsAgainIsAsANewOne() throws {
    let part = try part()
    try part.startAgain()
    part.setInfo(try info())
    try write("12345", to: part)
    try part.startAgain()
    #expect(part.offset == 0 && part.size == 0 && part.info == nil)
    #expect(folder.names() == ["file.part"])
    // The info is that of the new bytes.
    part.setInfo(try info())
    try write("ab", to: part)
    try part.flush()
    #expect(try content("file.part") == "ab")
    #expect(folder.names() == ["file.part", "file.part.meta"])
  }

  @Test func gatheredBytesAreDroppedByAStartAgain() throws {
    let part = try part()
    try write("12345", to: part)
    try part.startAgain()
    try write("ab", to: part)
    #expect(part.offset == 2)
    try part.flush()
    #expect(try content("file.part") == "ab")
  }

  @Test func aFileOfOnePieceNeedsNoInfoFile() throws {
    let part = try part()
    part.setInfo(try info())
    try write("12345", to: part)
    #expect(part.offset == 5 && part.size == 0)
    #expect(folder.names() == ["file.part"])
    part.modified = 1_000_000_000
    try part.commit(replacing: folder.file("file").path())
    #expect(folder.names() == ["file"])
    #expect(try content("file") == "12345")
    // The last write comes before the time.
    #expect(FileStatus(folder.file("file").path())?.value.st_mtim.tv_sec == 1_000_000_000)
  }

  @Test func aPieceIsWrittenWithTheInfoWithoutWhichItIsLost() throws {
    let piece = String(repeating: "x", count: 64 << 10)
    let part = try part()
    part.setInfo(try info())
    try write(piece, to: part)
    #expect(part.size == 0 && folder.names() == ["file.part"])
    try write(piece, to: part)
    #expect(part.size == 128 << 10 && folder.names() == ["file.part", "file.part.meta"])
    try write("12", to: part)
    try part.flush()
    #expect(part.offset == 128 << 10 + 2 && part.size == part.offset)
    #expect(try content("file.part") == piece + piece + "12")
  }

  @Test func anInfoThatCannotBeWrittenKeepsTheBytesOut() throws {
    let part = try part()
    part.setInfo(try info())
    try Data().write(to: folder.file("file.part.meta"))
    try write("1", to: part)
    #expect(throws: TransferError.self) { try part.flush() }
    #expect(part.size == 0)
  }

  @Test func theNextTransferFindsTheBytesWithTheirInfo() throws {
    let first = try part()
    first.setInfo(try info())
    try write("1", to: first)
    first.close(keeping: true)
    let second = try part()
    #expect(try second.size == 1 && second.offset == 0 && second.info == info())
  }

  @Test func aPartWithoutBytesHasNoInfo() throws {
    try JSONEncoder().encode(info()).write(to: folder.file("file.part.meta"))
    #expect(try part().info == nil)
  }

  @Test func aNameIsUsedAsItIs() throws {
    let part = try PartFile(for: folder.file("100% of/a%20b c").path(percentEncoded: false))
    #expect(part.path == folder.url.path() + "/100% of/a%20b c.part")
    try write("1", to: part)
    try part.commit(replacing: folder.url.path() + "/100% of/a%20b c")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path()).sorted()
    #expect(names == ["100% of", "100% of/a%20b c"])
  }

  @Test func aPartThatCannotBeMadeLeavesNoFolder() throws {
    let name = String(repeating: "n", count: 300)
    #expect(throws: TransferError.self) { try PartFile(for: folder.file("a/b/\(name)").path(percentEncoded: false)) }
    #expect(folder.names().isEmpty)
  }

  @Test(arguments: [("1", false), ("", true)])
  func onlyAFinishedFileWithBytesKeepsItsName(text: String, isFree: Bool) throws {
    let finished = try PartFile(for: folder.file("file.part").path(percentEncoded: false))
    try write(text, to: finished)
    try finished.commit(replacing: folder.url.path() + "/file.part")
    #expect(PartFile.isInUse(for: folder.url.path() + "/file") == !isFree)
    #expect(((try? part()) != nil) == isFree)
  }

  // MARK: Descriptors

  /// How many files of the test's folder the process has open.
  private var openFiles: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let targets = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    return targets.filter { $0.contains(folder.url.lastPathComponent) }.count
  }

  @Test func noDescriptorStaysOpen() throws {
    let path = folder.url.path() + "/file"
    let first = try part("1")
    #expect(throws: TransferError.self) { try part() }
    #expect(openFiles == 1)
    #expect(try first.commit(numbering: path) == path)
    #expect(openFiles == 0)
    let second = try part("2")
    try second.commit(replacing: path)
    #expect(openFiles == 0)
    try part("3").close(keeping: true)
    #expect(openFiles == 0)
    withExtendedLifetime((first, second)) {}
  }

  /// The descriptor's number may be another file's by then.
  @Test func aPartIsClosedOnce() throws {
    var part: PartFile? = try part("1")
    part?.close(keeping: true)
    let others = (0..<20).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
    defer { for other in others { close(other) } }
    part = nil
    #expect(others.allSatisfy { fcntl($0, F_GETFD) >= 0 })
  }

  // MARK: The end

  @Test(arguments: [("", true, false), ("1", true, true), ("1", false, false)])
  func aPartIsKeptIfItIsWantedAndHasBytes(text: String, isWanted: Bool, isKept: Bool) throws {
    let part = try part()
    part.setInfo(try info())
    try write(text, to: part)
    part.close(keeping: isWanted)
    #expect(folder.names() == (isKept ? ["file.part", "file.part.meta"] : []))
  }

  @Test func aPartThatCannotBeRenamedStaysWithItsInfo() throws {
    let part = try part()
    part.setInfo(try info())
    try write("1", to: part)
    #expect(throws: TransferError.self) { try part.commit(replacing: folder.file("no/file").path()) }
    part.close(keeping: true)
    #expect(folder.names() == ["file.part", "file.part.meta"])
    #expect(try content("file.part") == "1")
  }

  @Test func whatAnotherProgramPutInThePlaceOfAPartStays() throws {
    let part = try part("1")
    try Data("other".utf8).write(to: folder.file("other"))
    #expect(rename(folder.file("other").path(), part.path) == 0)
    part.close(keeping: false)
    #expect(try content("file.part") == "other")
  }

  @Test func aFinishedPartReplacesTheFileWithItsPermissions() throws {
    try Data("old".utf8).write(to: folder.file("file"))
    #expect(chmod(folder.file("file").path(), 0o640) == 0)
    let part = try part()
    part.setInfo(try info())
    try write("new", to: part)
    try part.commit(replacing: folder.file("file").path())
    #expect(folder.names() == ["file"])
    #expect(try content("file") == "new")
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("file").path())
    #expect(attributes[.posixPermissions] as? Int == 0o640)
  }

  // MARK: Numbered files

  @Test(arguments: [([], "file"), (["file"], "file.1"), (["file", "file.1", "file.3"], "file.2")])
  func aNumberedDownloadGetsTheFirstNameThatIsFree(taken: [String], name: String) throws {
    for other in taken { try Data(other.utf8).write(to: folder.file(other)) }
    let part = try part("new")
    #expect(try part.commit(numbering: folder.file("file").path()) == folder.file(name).path())
    #expect(folder.names() == (taken + [name]).sorted())
    #expect(try content(name) == "new")
    for other in taken { #expect(try content(other) == other) }
  }

  @Test(arguments: ["file.part", "file.part.meta"])
  func aPartGetsNeitherItsOwnNameNorItsInfos(name: String) throws {
    let part = try part("new")
    let saved = try part.commit(numbering: folder.file(name).path())
    #expect(saved == folder.file("\(name).1").path())
    #expect(folder.names() == ["\(name).1"])
  }

  /// As on a file system that has no links.
  @Test(arguments: [false, true])
  func aPlaceholderKeepsTheNameForThePart(isTaken: Bool) throws {
    if isTaken { try Data("old".utf8).write(to: folder.file("file")) }
    let part = try part("new")
    #expect(try part.rename(toPlaceholder: folder.file("file").path()) == !isTaken)
    #expect(folder.names() == (isTaken ? ["file", "file.part"] : ["file"]))
    #expect(try content("file") == (isTaken ? "old" : "new"))
  }

  @Test func aPlaceholderWithoutAPartIsRemoved() throws {
    let part = try part("new")
    #expect(unlink(part.path) == 0)
    #expect(throws: TransferError.self) { try part.rename(toPlaceholder: folder.file("file").path()) }
    #expect(folder.names().isEmpty)
  }

  @Test(arguments: [[], ["file"]])
  func aNumberedDownloadThatFailsLeavesNoFile(taken: [String]) throws {
    for other in taken { try Data(other.utf8).write(to: folder.file(other)) }
    let part = try part("new")
    try Data("other".utf8).write(to: folder.file("other"))
    #expect(rename(folder.file("other").path(), part.path) == 0)
    #expect(throws: TransferError.self) { try part.commit(numbering: folder.file("file").path()) }
    #expect(folder.names() == taken + ["file.part"])
    for other in taken { #expect(try content(other) == other) }
  }

  /// The attribute of a file that its owner may not write is refused to anyone but root.
  @Test(.enabled(if: geteuid() != 0, "root may write every file"))
  func aFileInPlaceOfOneThatMayNotBeWrittenHasTheMark() throws {
    let path = folder.file("file").path()
    try Data("old".utf8).write(to: folder.file("file"))
    #expect(chmod(path, 0o444) == 0)
    let part = try part("new")
    part.url = "http://a/f"
    try part.commit(replacing: path)
    #expect(FileStatus(path)?.mode == 0o444)
    #expect(DownloadMark.isOn(path, "http://a/f"))
  }
}
