import Foundation
import Testing

@testable import JobEngine

struct RunFolderTests {
  private let state = NSTemporaryDirectory() + "opdash-state-" + UUID().uuidString

  @Test func twoRunsOfOneSecondHaveFoldersOfTheirOwn() throws {
    defer { try? FileManager.default.removeItem(atPath: state) }
    let now = Date()
    let first = try RunFolder(in: state + "/deep/er", at: now)
    let second = try RunFolder(in: state + "/deep/er", at: now)
    #expect(first.id != second.id)
    #expect(FileManager.default.fileExists(atPath: second.path + "/logs"))
  }

  @Test func aRunIsNamedByItsBeginningInUTC() throws {
    defer { try? FileManager.default.removeItem(atPath: state) }
    let folder = try RunFolder(in: state, at: Date(timeIntervalSince1970: 951_868_799.25), process: 42)
    #expect(folder.id == "20000229-235959-42")
  }

  @Test func aFolderThatCannotBeMadeSaysWhyAndWhatToDo() throws {
    defer { try? FileManager.default.removeItem(atPath: state) }
    try Data().write(to: URL(fileURLWithPath: state))
    #expect {
      try RunFolder(in: state + "/below")
    } throws: { error in
      "\(error)".contains(": Not a directory; name another with --state DIR")
    }
  }

  @Test func onlyTheOwnerMayEnterTheFoldersThatAreMade() throws {
    defer { try? FileManager.default.removeItem(atPath: state) }
    let folder = try RunFolder(in: state + "/deep")
    for path in [state, state + "/deep", state + "/deep/runs", folder.path, folder.path + "/logs"] {
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700, "\(path)")
    }
  }

  @Test func theModeOfAStateFolderThatIsThereIsLeftAlone() throws {
    defer { try? FileManager.default.removeItem(atPath: state) }
    try FileManager.default.createDirectory(
      atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    _ = try RunFolder(in: state)
    #expect(try FileManager.default.attributesOfItem(atPath: state)[.posixPermissions] as? Int == 0o755)
  }

  @Test func aPlantedLinkInPlaceOfTheRunsFolderIsNotFollowed() throws {
    defer { try? FileManager.default.removeItem(atPath: state) }
    let now = Date()
    let first = try RunFolder(in: state, at: now)
    try FileManager.default.createDirectory(atPath: state + "/elsewhere", withIntermediateDirectories: false)
    for (number, target) in ["/elsewhere", "/nowhere"].enumerated() {
      try FileManager.default.createSymbolicLink(
        atPath: "\(first.path).\(number + 1)", withDestinationPath: state + target)
    }
    let second = try RunFolder(in: state, at: now)
    #expect(second.id == first.id + ".3")
    #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/elsewhere").isEmpty)
  }

  @Test func onlyAnEmptyFolderIsRemoved() throws {
    defer { try? FileManager.default.removeItem(atPath: state) }
    let empty = try RunFolder(in: state)
    empty.removeIfEmpty()
    #expect(!FileManager.default.fileExists(atPath: empty.path))
    let full = try RunFolder(in: state)
    try Data("kept".utf8).write(to: URL(fileURLWithPath: full.path + "/logs/a.log"))
    full.removeIfEmpty()
    #expect(FileManager.default.fileExists(atPath: full.path + "/logs/a.log"))
  }

  @Test func aRunIsNamedByItsBeginAndItsProcess() throws {
    defer { try? FileManager.default.removeItem(atPath: state) }
    let date = Date(timeIntervalSince1970: 86_400 + 3 * 3600 + 4 * 60 + 5)
    let folder = try RunFolder(in: state, at: date, process: 77)
    #expect(folder.id == "19700102-030405-77")
    #expect(folder.path == state + "/runs/19700102-030405-77")
    #expect(try RunFolder(in: state, at: date, process: 77).id == "19700102-030405-77.1")
    #expect(try RunFolder(in: state, at: date, process: 78).id == "19700102-030405-78")
  }
}
