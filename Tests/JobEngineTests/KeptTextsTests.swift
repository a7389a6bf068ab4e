import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

@Suite struct KeptTextsTests {
  private let folder: TemporaryFolder
  private let run: RunFolder
  private let first = KeptText(
    AddedText([0x61, 0x0A, 0xFF], file: "a.yml", directory: "/w", vars: ["v": "1"], writer: "plan"), names: ["x", "y"])
  private let second = KeptText(AddedText([], file: "<stdin>", directory: "/"), names: [])

  init() throws {
    folder = try TemporaryFolder()
    run = try RunFolder(in: folder.url.path)
  }

  @Test func textsAreReadInTheirOrder() throws {
    #expect(KeptTexts.read(in: run.path).isEmpty)
    let texts = KeptTexts(in: run)
    _ = try texts.keep(first)
    _ = try texts.keep(second)
    #expect(KeptTexts.read(in: run.path) == [first, second])
    var status = stat()
    #expect(stat("\(run.path)/added", &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func aTextThatIsTakenBackLeavesTheOthers() throws {
    let texts = KeptTexts(in: run)
    let takeBack = try texts.keep(first)
    takeBack()
    #expect(access("\(run.path)/added", F_OK) != 0)
    _ = try texts.keep(first)
    try texts.keep(second)()
    #expect(KeptTexts.read(in: run.path) == [first])
  }

  @Test func aLineThatWasCutIsLeftOut() throws {
    let texts = KeptTexts(in: run)
    _ = try texts.keep(first)
    _ = try texts.keep(second)
    #expect(truncate("\(run.path)/added", try #require(folder.size(of: "\(run.path)/added")) - 3) == 0)
    #expect(KeptTexts.read(in: run.path) == [first])
  }

  @Test func whatIsInThePlaceOfTheFileIsNotWrittenTo() throws {
    #expect(mkfifo("\(run.path)/added", 0o600) == 0)
    #expect(throws: (any Error).self) { try KeptTexts(in: run).keep(first) }
    #expect(KeptTexts.read(in: run.path).isEmpty)
  }
}

extension TemporaryFolder {
  fileprivate func size(of path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
  }
}
