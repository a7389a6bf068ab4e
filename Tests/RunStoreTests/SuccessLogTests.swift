import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

struct SuccessLogTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func success(_ job: Int, inputs: String? = nil, outputs: [String: String]? = nil) -> AttemptSuccess {
    AttemptSuccess(job: JobID(job), attempt: 2, took: .milliseconds(1500), inputsHash: inputs, outputs: outputs)
  }

  @Test func aSuccessIsReadBackAsItWasWritten() throws {
    let log = SuccessLog(folder: folder.url.path) { $0.index < 2 ? "f\($0.index)" : nil }
    #expect(folder.names() == [])
    let all = [
      success(1, inputs: "hash"), success(2), success(3, outputs: ["A": "1\n2", "B": ""]), success(4, outputs: [:]),
    ]
    all.forEach(log.append)
    let entries = SuccessLog.read(in: folder.url.path)
    #expect(entries.map(\.success) == all)
    #expect(entries.map(\.fingerprint) == ["f1", nil, nil, nil])
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("succeeded").path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func aLineIsAnEntryOnlyIfItIsWhole() throws {
    let lines = [
      "0 1 0.5 17.25 f h - .", "1 2 3 4 - - - .", "2 1 0.5 17 f h -", "3 1 0.5 17 f h - ..", "-1 1 0.5 17 f h - .",
      "x 1 0.5 17 f h - .", "4 x 0.5 17 f h - .", "5 1 x 17 f h - .", "6 1 0.5 x f h - .", "7 1 0.5 17 f h - . .", "",
      ".",
    ]
    try Data(lines.joined(separator: "\n").utf8).write(to: folder.file("succeeded"))
    let first = AttemptSuccess(job: JobID(0), attempt: 1, took: .milliseconds(500), inputsHash: "h")
    let second = AttemptSuccess(job: JobID(1), attempt: 2, took: .seconds(3), inputsHash: nil)
    #expect(
      SuccessLog.read(in: folder.url.path) == [
        SuccessLog.Entry(success: first, at: Date(timeIntervalSince1970: 17.25), fingerprint: "f"),
        SuccessLog.Entry(success: second, at: Date(timeIntervalSince1970: 4), fingerprint: nil),
      ])
  }

  @Test func aFolderWithOtherFilesStays() throws {
    let log = SuccessLog(folder: folder.url.path) { _ in nil }
    log.append(success(0))
    try Data().write(to: folder.file("a.log"))
    log.remove()
    #expect(folder.names() == ["a.log"])
  }

  @Test func whatIsPlantedInItsPlaceIsNeitherWrittenNorRead() throws {
    let path = folder.file("succeeded").path
    try Data("0 1 0.5 17.25 f h - .\n".utf8).write(to: folder.file("other"))
    for make in [{ symlink(self.folder.file("other").path, path) }, { mkfifo(path, 0o600) }, { mkdir(path, 0o700) }] {
      #expect(make() == 0)
      SuccessLog(folder: folder.url.path, fingerprint: { _ in nil }).append(success(0))
      #expect(SuccessLog.read(in: folder.url.path) == [])
      try FileManager.default.removeItem(atPath: path)
    }
    #expect(try String(contentsOf: folder.file("other"), encoding: .utf8) == "0 1 0.5 17.25 f h - .\n")
  }

  @Test func withoutAFolderNothingIsWritten() {
    let log = SuccessLog(folder: folder.file("none").path) { _ in nil }
    for _ in 0..<2 { log.append(success(0)) }
    #expect(folder.names() == [])
    #expect(SuccessLog.read(in: folder.file("none").path) == [])
  }
}
