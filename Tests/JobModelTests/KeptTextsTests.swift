import Foundation
import JobModel
import Support
import Testing

@Suite struct KeptTextsTests {
  private let folder: TemporaryFolder
  private let first = KeptText(
    AddedText([0x61, 0x0A, 0xFF], file: "a.yml", directory: "/w", vars: ["v": "1"], writer: "plan"), names: ["x", "y"])
  private let second = KeptText(AddedText([], file: "<stdin>", directory: "/"), names: [])

  private var run: String { folder.url.path }

  init() throws { folder = try TemporaryFolder() }

  @Test func textsAreReadInTheirOrder() throws {
    #expect(KeptTexts.read(in: run).isEmpty)
    let texts = KeptTexts(in: run)
    _ = try texts.keep(first)
    _ = try texts.keep(second)
    #expect(KeptTexts.read(in: run) == [first, second])
    var status = stat()
    #expect(stat("\(run)/added", &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func aTextThatIsTakenBackLeavesTheOthers() throws {
    let texts = KeptTexts(in: run)
    let takeBack = try texts.keep(first)
    takeBack()
    #expect(access("\(run)/added", F_OK) != 0)
    _ = try texts.keep(first)
    try texts.keep(second)()
    #expect(KeptTexts.read(in: run) == [first])
  }

  @Test func aLineThatWasCutIsLeftOut() throws {
    let texts = KeptTexts(in: run)
    _ = try texts.keep(first)
    _ = try texts.keep(second)
    #expect(truncate("\(run)/added", try #require(folder.size(of: "\(run)/added")) - 3) == 0)
    #expect(KeptTexts.read(in: run) == [first])
  }

  @Test func whatIsInThePlaceOfTheFileIsNotWrittenTo() throws {
    #expect(mkfifo("\(run)/added", 0o600) == 0)
    #expect(throws: (any Error).self) { try KeptTexts(in: run).keep(first) }
    #expect(KeptTexts.read(in: run).isEmpty)
  }
}

extension TemporaryFolder {
  fileprivate func size(of path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
  }
}
