import Basics
import Foundation
import Support
import Testing

@testable import JobFiles

/// Files as they are read, before anything is understood of them.
struct JobFileInputTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func aFileIsThereUnlessItIsCertainlyNot() throws {
    let file = folder.file("a.yml").path
    try Data("jobs: {}".utf8).write(to: URL(filePath: file))
    let loop = folder.file("loop").path
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    #expect(JobFileInput.exists(file))
    #expect(JobFileInput.exists(folder.url.path))
    #expect(!JobFileInput.exists(folder.file("none.yml").path))
    #expect(!JobFileInput.exists(file + "/x"))
    #expect(JobFileInput.exists(loop))
  }

  @Test func aRegularFileHasItsBytesAndItsName() throws {
    let path = folder.file("a.yml").path
    try Data("jobs: {}".utf8).write(to: URL(filePath: path))
    let input = try JobFileInput(path: path)
    #expect(input.bytes == Array("jobs: {}".utf8))
    #expect(input.shown == path)
    #expect(input.isRegular)
  }

  @Test func moreThanTheLimitIsReadToKnowThatItIsMore() throws {
    let path = folder.file("large.yml").path
    try Data().write(to: URL(filePath: path))
    #expect(truncate(path, off_t(SourceText.limit + 1)) == 0)
    #expect(try JobFileInput(path: path).bytes.count == SourceText.limit + 1)
  }

  @Test func whatIsNoFileIsRefusedWithoutWaitingForIt() throws {
    let path = folder.file("pipe.yml").path
    #expect(mkfifo(path, 0o600) == 0)
    for (path, place, words) in [
      (path, .argument, "this is a named pipe: name a file, or give its content on standard input"),
      (path, .named, "this is a named pipe: name a file"), ("/dev/zero", .argument, "this is a device: name a file"),
      ("/dev/zero", .named, "this is a device: name a file"),
    ] as [(String, ForeignFile.Place, String)] {
      let error = #expect(throws: JobFileFaults.self) { try JobFileInput(path: path, place) }
      #expect(error?.description == "\(path):1:1: \(words)")
    }
  }

  @Test func onlyAnArgumentIsAPipeThatWasPassed() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    close(ends[1])
    let path = "/dev/fd/\(ends[0])"
    #expect(try !JobFileInput(path: path, .argument).isRegular)
    #expect(throws: JobFileFaults.self) { try JobFileInput(path: path) }
  }

  @Test func aPathThatIsTooLongSaysSo() {
    let path = "/" + String(repeating: "a", count: 5000)
    let error = #expect(throws: JobFileFaults.self) { try JobFileInput(path: path) }
    #expect(error?.description == path + ":1:1: the path is too long: check it")
  }
}
