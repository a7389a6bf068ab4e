import Foundation
import JobModel
import Session
import Support
import Testing

@testable import opdash

@Suite struct DownloadListTests {
  private func names(_ urls: String...) throws -> [String] { try names(urls: urls) }

  private func names(urls: [String]) throws -> [String] {
    try graph(urls).get().jobs.map(\.name)
  }

  private func graph(_ urls: [String], _ request: DownloadRequest = .init()) -> Result<JobGraph, Faults> {
    DownloadList.graph(urls.map { .init(url: $0, place: nil) }, request, folder: "/d")
  }

  @Test(arguments: [
    ("http://h/a/b/file.tar.gz?x=1#y", "file.tar.gz"), ("https://h/", "index.html"), ("http://h", "index.html"),
    ("http://h/a%20b.txt", "a b.txt"), ("http://h/a/", "a"), ("http://h/%2e%2e", "index.html"),
    ("http://h/..%2f..%2fetc%2fpasswd", ".._.._etc_passwd"), ("http://h/%1b%5b2J", "_[2J"), ("HTTP://H/x", "x"),
  ])
  func aDownloadIsNamedAfterItsURLAndStaysInTheFolder(_ url: String, _ name: String) throws {
    let graph = try graph([url]).get()
    #expect(graph.jobs.map(\.name) == [name])
    guard case .download(let work) = graph.jobs[0].work else { return #expect(Bool(false)) }
    #expect(work.file == "/d/\(name)")
    #expect(work.url == url)
  }

  @Test func noTwoDownloadsShareAFile() throws {
    #expect(
      try names(
        "http://h/a.tar.gz", "http://i/a.tar.gz", "http://j/A.tar.gz", "http://h/a.tar.gz.1", "http://h/b",
        "http://i/b"
      )
        == ["a.tar.gz", "a.tar.gz.1", "A.tar.gz.2", "a.tar.gz.1.1", "b", "b.1"])
    #expect(try names("http://h/.x", "http://i/.x") == [".x", ".x.1"])
    let many = try names(urls: Array(repeating: "http://h/x", count: 20_000))
    #expect(Set(many).count == 20_000)
  }

  @Test func fiveDownloadsRunAtOnceAndNoneDestroysAFile() throws {
    #expect(try graph(["http://h/x"]).get().slots == 5)
    for existing in DownloadWork.Existing.allCases {
      let graph = try graph(["http://h/x"], DownloadRequest(existing: existing, usesServerName: true)).get()
      let work = DownloadWork(url: "http://h/x", file: "/d/x", existing: existing, usesServerName: true)
      #expect(graph.jobs.first?.work == .download(work))
    }
    #expect(DownloadRequest().existing == .number)
  }

  @Test func aListMayBeAPipe() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let (text, writer) = (String(repeating: "http://h/x\n", count: 20_000), ends[1])
    // Not a task: the reader blocks a thread of theirs.
    Thread.detachNewThread {
      try? FileHandle(fileDescriptor: writer, closeOnDealloc: true).write(contentsOf: Data(text.utf8))
    }
    #expect(try DownloadList.read("/dev/fd/\(ends[0])") == text)
  }

  @Test func aURLInAnotherEncodingKeepsItsBytes() throws {
    let folder = try TemporaryFolder()
    try Data("\u{FEFF}http://h/é\nhttp://h/caf".utf8 + [0xE9, 0x0A]).write(to: folder.file("list"))
    let text = try DownloadList.read(folder.file("list").path())
    #expect(DownloadList.entries(in: text, file: "list").map(\.url) == ["http://h/é", "http://h/caf%E9"])
  }

  @Test func aListThatIsNoFileIsNotRead() throws {
    let folder = try TemporaryFolder()
    let (pipe, large) = (folder.file("pipe").path(), folder.file("large").path())
    #expect(mkfifo(pipe, 0o600) == 0)
    try Data().write(to: folder.file("large"))
    #expect(truncate(large, 8 << 30) == 0)
    for (path, reason) in [
      ("/nowhere", "No such file or directory"), ("/", "it is a folder: name a regular file"),
      ("/dev/zero", "it is a device: name a regular file"), (pipe, "it is a named pipe: name a regular file"),
      (large, "it is larger than 64 MiB: split it"),
    ] { #expect(throws: UsageError("can't read \(path): \(reason)")) { try DownloadList.read(path) } }
  }

  @Test func everyFaultIsToldWithItsPlace() {
    let entries =
      [DownloadList.Entry(url: "ftp://h/x", place: nil), .init(url: "http://ok/x", place: nil)]
      + DownloadList.entries(in: "# list\n\n  http://h/a \r\nnonsense\nhttp://\n", file: "urls.txt")
    guard case .failure(let faults) = DownloadList.graph(entries, .init(), folder: "/d") else {
      return #expect(Bool(false))
    }
    #expect(
      faults.lines == [
        "'ftp://h/x' is no URL to download: write http://… or https://…",
        "urls.txt:4: 'nonsense' is no URL to download: write http://… or https://…",
        "urls.txt:5: 'http://' is no URL to download: write http://… or https://…",
      ])
  }

  @Test(arguments: [
    ("http://bücher.example/x", "x"), ("http://h/f%20g?x=[1]&sig=a%2Fb|c", "f g"), ("http://h/a%2Fb^c", "a_b^c"),
    ("http://h/café%20b", "café b"), ("http://h/f?u=http://x/%20{id}", "f"),
  ])
  func aURLThatAJobFileTakesIsTaken(_ url: String, _ name: String) throws {
    let graph = try graph([url]).get()
    #expect(graph.jobs.map(\.name) == [name])
    guard case .download(let work) = graph.jobs[0].work else { return #expect(Bool(false)) }
    #expect(work.url == url)
  }

  @Test func aBlankInAURLHasItsRemedy() {
    let line = "'http://h/a b' is no URL to download: write a blank as %20"
    #expect(graph(["http://h/a b"]) == .failure(Faults(lines: [line])))
  }

  @Test func aByteOrderMarkIsNoPartOfAURL() {
    let entries = DownloadList.entries(in: "\u{FEFF}http://h/a\r\nhttp://h/b\r\n", file: "urls.txt")
    #expect(entries == [.init(url: "http://h/a", place: "urls.txt:1"), .init(url: "http://h/b", place: "urls.txt:2")])
  }

  @Test func theStallTimeIsThatOfEachDownload() throws {
    let graph = try graph(["http://h/x"], DownloadRequest(stall: .seconds(9))).get()
    #expect(
      graph.jobs.first?.work
        == .download(DownloadWork(url: "http://h/x", file: "/d/x", existing: .number, stall: .seconds(9))))
  }

  @Test func anEmptyListIsAFault() {
    #expect(graph([]) == .failure(Faults(lines: ["there is no URL to download"])))
  }
}
