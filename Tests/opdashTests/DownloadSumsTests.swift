import Foundation
import Session
import Support
import Testing

@testable import opdash

struct DownloadSumsTests {
  private static let one = String(repeating: "1", count: 64)
  private static let two = String(repeating: "2", count: 64)

  private func sums(_ lines: String..., place: String = "L") throws -> DownloadSums {
    try DownloadSums(Array(lines.joined(separator: "\n").utf8), from: place)
  }

  private func faults(_ body: () throws -> [DownloadList.Entry]) throws -> [String] {
    do {
      Issue.record("there is no fault: \(try body())")
      return []
    } catch let faults as Faults {
      return faults.lines
    }
  }

  private func checked(_ url: String, by sums: DownloadSums) throws -> String? {
    try sums.checked([.init(url: url, place: nil)]).first?.sum
  }

  // MARK: Given URLs

  @Test(arguments: [
    "http://h/a.zip", "http://h/d/a.zip?x=/b.zip#c", "http://h/d/%61.zip", "https://me:pw@h/a.zip/",
    "http://[::1]/a.zip",
    "http://bücher.example/a.zip",
  ])
  func theSumIsThatBesideTheLastNameOfTheURL(url: String) throws {
    let sums = try sums("\(Self.two)  b.zip", "\(Self.one) *./d/a.zip")
    #expect(try checked(url, by: sums) == Self.one)
  }

  @Test func theLongestCommonEndOfThePathsCounts() throws {
    let sums = try sums("\(Self.two)  x/a.zip", "\(Self.one)  y/a.zip")
    #expect(try checked("http://h/v1/x/a.zip", by: sums) == Self.two)
    #expect(try checked("http://h/y/a.zip", by: sums) == Self.one)
    #expect(
      try faults { try sums.checked([.init(url: "http://me:pw@h/a.zip", place: "urls:7")]) }
        == ["urls:7: L has several sums of 'http://***@h/a.zip', in the lines 1, 2"])
    #expect(try checked("http://h/a", by: self.sums("\(Self.one)  x/a", "\(Self.one)  y/a")) == Self.one)
  }

  @Test func aURLThatTheListDoesNotNameIsAFault() throws {
    let sums = try sums("\(Self.one)  a.zip", place: "http://me:pw@h/L")
    let urls = ["http://h/A.zip", "http://h/a.zip", "http://h/"]
    #expect(
      try faults { try sums.checked(urls.map { .init(url: $0, place: nil) }) }
        == ["http://***@h/L has no sum of 'http://h/A.zip'", "http://***@h/L has no sum of 'http://h/'"])
  }

  // MARK: What the list names

  @Test(arguments: [
    ("http://h/d/L", "http://h/d/"), ("http://h/d/", "http://h/d/"), ("http://h", "http://h/"),
    ("http://h/", "http://h/"),
    ("http://me:pw@h/d/e/L?x=/y#z", "http://me:pw@h/d/e/"),
  ])
  func theFilesAreBesideTheList(base: String, folder: String) throws {
    let entries = try sums("\(Self.one)  a b%.zip", "# x", "\(Self.two) *./é/c", "\(Self.one)  a b%.zip").entries(
      base: base)
    #expect(entries.map(\.url) == ["a%20b%25.zip", "%C3%A9/c"].map { folder + $0 })
    #expect(entries.map(\.path) == ["a b%.zip", "é/c"])
    #expect(entries.map(\.sum) == [Self.one, Self.two])
    #expect(entries.map(\.place) == ["L:1", "L:3"])
  }

  @Test(arguments: [
    "../a", "a/../../b", "/etc/passwd", "..", ".", "./", "a/", ".ssh/authorized_keys", "a/.b", "a\u{1B}[2J",
    "a\u{202E}b",
    "a\0b", "..\u{301}/a", "/\u{301}a",
  ])
  func aNameNeverLeavesTheFolder(name: String) throws {
    let faults = try faults { try sums("\(Self.one)  ok", "\(Self.one)  \(name)").entries(base: "http://h/") }
    #expect(
      faults == ["L:2: '\(name)' is not a path below the list's folder of plain names: download it by its URL"])
  }

  @Test func aNameWithALineBreakOrWithoutTextIsAFault() throws {
    let escaped = try sums("\\\(Self.one)  a\\nb")
    #expect(try faults { try escaped.entries(base: "http://h/") }.count == 1)
    let bytes = try DownloadSums(Array("\(Self.one)  a".utf8) + [0xFF], from: "L")
    #expect(try faults { try bytes.entries(base: "http://h/") }.first?.hasPrefix("L:1: 'the name' is not") == true)
  }

  @Test func aNameWithTwoSumsIsAFault() throws {
    let sums = try sums("\(Self.one)  a", "\(Self.two)  ./a")
    #expect(try faults { try sums.entries(base: "http://h/") } == ["L:2: 'a' has another sum in an earlier line"])
  }

  // MARK: Reading

  @Test(arguments: ["", "# nothing\n", "<html>", "MD5 (a) = 0cc175b9c0f1b6a831c399e269772661"])
  func aListWithoutASumIsAFault(text: String) {
    #expect(throws: UsageError("L has no line with a SHA-256 sum and a name, as sha256sum writes them")) {
      try sums(text)
    }
  }

  @Test func aListIsReadFromAFileOrAURL() throws {
    let folder = try TemporaryFolder()
    let server = try RawServer { request in
      switch request.path {
      case "/none": [.send("HTTP/1.1 404 N\r\nContent-Length: 0\r\n\r\n"), .next]
      case "/large": [.send("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 40)\r\n\r\nlist"), .hold]
      default: [.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlist"), .next]
      }
    }
    defer { server.stop() }
    try Data("file".utf8).write(to: folder.file("L"))
    #expect(try DownloadSums.read(folder.file("L").path()) == Array("file".utf8))
    #expect(try DownloadSums.read(server.url("/L").absoluteString) == Array("list".utf8))
    let url = "http://127.0.0.1:\(server.port)"
    for (place, reason) in [
      ("/nowhere", "No such file or directory"), ("/dev/zero", "it is a device: name a regular file"),
      ("\(url)/none", "HTTP 404"), ("\(url)/large", "it is larger than 64 MiB"),
    ] { #expect(throws: UsageError("can't read \(place): \(reason)")) { try DownloadSums.read(place) } }
  }
}
