import Foundation
import JobFiles
import JobModel
import Testing

/// Real files, in a folder of their own that goes with the test.
@Suite final class LoadTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("opdash-\(UUID().uuidString)").path

  init() throws {
    try FileManager.default.createDirectory(atPath: folder + "/sub", withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func load(_ path: String) throws -> JobGraph {
    try JobFile.load(path: path, environment: [:], currentDirectory: folder)
  }

  private func message(_ path: String) -> String? {
    do {
      _ = try load(path)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func aFileIsReadAndItsPathsAreRelativeToIt() throws {
    let path = folder + "/sub/release.json"
    try Data(#"{"jobs": {"a": {"run": "ls"}}}"#.utf8).write(to: URL(fileURLWithPath: path))
    let graph = try load(path)
    #expect(graph.name == "release")
    #expect(graph.jobs.map(\.work) == [.shell(ShellWork(.script("ls"), directory: folder + "/sub"))])
  }

  @Test func theFolderOfAFileIsTheOneThatItWasOpenedIn() throws {
    for name in ["a", "b/sub"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    try FileManager.default.createSymbolicLink(atPath: "\(folder)/a/l", withDestinationPath: "../b/sub")
    try FileManager.default.createSymbolicLink(atPath: "\(folder)/b/link.yml", withDestinationPath: "../x.yml")
    for name in ["a/x.yml", "b/x.yml", "x.yml"] {
      try Data("jobs: { '\(name.first ?? " ")': ls }".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    for (name, job) in [("a/l/../x.yml", "b"), ("a/l/../link.yml", "x"), ("a/x.yml", "a")] {
      let place = folder + (job == "a" ? "/a" : "/b")
      let graph = try load("\(folder)/\(name)")
      #expect(graph.jobs.map(\.name) == [job])
      #expect(graph.jobs.map(\.work) == [.shell(ShellWork(.script("ls"), directory: place))])
      for name in [name, "\(folder)/\(name)"] {
        #expect(JobFile.path(of: name, in: folder) == "\(place)/\(name.split(separator: "/").last ?? "")")
      }
    }
    #expect(JobFile.path(of: "none/../x.yml", in: "/nowhere") == "/nowhere/x.yml")
    #expect(JobFile.path(of: "/dev/fd/9", in: folder) == "/dev/fd/9")
  }

  @Test func theFilesThatItIsReadFromAreTold() throws {
    let path = folder + "/a.yml"
    for (name, text) in [
      ("a.yml", "include: [sub/b.yml]\ndotenv: [.env]\njobs: { a: ls }"), ("sub/b.yml", "dotenv: x\njobs: { b: ls }"),
      (".env", "A=1"), ("sub/x", "B=2"),
    ] { try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name)) }
    #expect(try load(path).includedFiles.sorted() == ["/.env", "/sub/b.yml", "/sub/x"].map { folder + $0 })
  }

  @Test func anUnreadableFileIsNamedAsGiven() throws {
    #expect(message(folder + "/none.yml") == folder + "/none.yml:1:1: there is no such file: check the path")
    #expect(message(folder) == folder + ":1:1: this is a folder: name a file in it")
    #expect(message("") == "'':1:1: no file is named: give the path of a job file")
    try Data().write(to: URL(fileURLWithPath: folder + "/empty.yml"))
    #expect(
      message(folder + "/empty.yml")
        == folder + "/empty.yml:1:1: the file is empty: write a job, as in 'jobs: { build: { run: make } }'")
    #expect(
      message(folder + "/empty.yml/x")
        == folder + "/empty.yml/x:1:1: a part of the path is not a folder: check the path")
    try FileManager.default.createSymbolicLink(atPath: folder + "/loop", withDestinationPath: folder + "/loop")
    #expect(message(folder + "/loop") == folder + "/loop:1:1: its symbolic links lead in a circle: check the path")
  }

  @Test(.enabled(if: geteuid() != 0, "root may read everything"))
  func aFileThatMayNotBeReadSaysSo() throws {
    let path = folder + "/secret.yml"
    try Data("jobs: {}".utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0)
    #expect(message(path) == path + ":1:1: permission denied: make the file readable for you")
  }

  @Test func pathsFromAPipeAreRelativeToTheCurrentFolder() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let text = Array("jobs: { a: { run: ls } }".utf8)
    #expect(write(ends[1], text, text.count) == text.count)
    close(ends[1])
    let work = try load("/dev/fd/\(ends[0])").jobs.first?.work
    #expect(work == .shell(ShellWork(.script("ls"), directory: folder)))
  }
}
