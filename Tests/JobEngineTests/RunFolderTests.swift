import Foundation
import Testing

@testable import JobEngine

@Suite struct RunFolderTests {
  private let state = NSTemporaryDirectory() + "opdash-state-" + UUID().uuidString

  @Test func twoRunsOfOneSecondHaveFoldersOfTheirOwn() throws {
    defer { try? FileManager.default.removeItem(atPath: state) }
    let now = Date()
    let first = try RunFolder(in: state + "/deep/er", at: now)
    let second = try RunFolder(in: state + "/deep/er", at: now)
    #expect(first.id != second.id)
    #expect(FileManager.default.fileExists(atPath: second.path + "/logs"))
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
}
