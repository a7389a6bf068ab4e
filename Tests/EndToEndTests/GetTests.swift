import Foundation
import Support
import Testing

/// `opdash get` off a terminal, against servers on loopback.
struct GetTests {
  private static let old = "Sat, 01 Jan 2000 00:00:00 GMT"

  private let place: Workplace

  init() throws { place = try Workplace() }

  private func text(_ name: String) -> String? { place.contents(name).map { String(decoding: $0, as: UTF8.self) } }

  /// `/go/NAME` leads to `/NAME` in two steps, `/loop` to itself, `/none` to nothing; all else is a file of ten bytes.
  private func server(_ headers: String...) throws -> RawServer {
    let lines = headers.map { "\($0)\r\n" }.joined()
    return try RawServer { request in
      func redirect(_ path: String) -> [RawServer.Step] {
        [.send("HTTP/1.1 302 Found\r\nLocation: \(path)\r\nContent-Length: 0\r\n\r\n"), .next]
      }
      switch request.path {
      case "/loop": return redirect("/loop")
      case "/none": return [.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), .next]
      case let path where path.hasPrefix("/go/"): return redirect(path.replacing("/go/", with: "/on/"))
      case let path where path.hasPrefix("/on/"): return redirect(path.replacing("/on/", with: "/"))
      default: return [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\(lines)\r\n0123456789"), .next]
      }
    }
  }

  private func get(_ server: RawServer, _ paths: String..., options: [String] = []) throws -> Background {
    let words = ["get"] + paths.map { server.url($0).absoluteString } + options
    return try place.script("\"$OPDASH\" " + words.joined(separator: " "))
  }

  @Test func anExistingFileIsNeverDestroyed() throws {
    let server = try server()
    defer { server.stop() }
    try place.write("mine", to: "a.zip")
    let run = try get(server, "/a.zip")
    #expect(run.ending() == .exited(0))
    #expect(text("a.zip") == "mine")
    #expect(text("a.zip.1") == "0123456789")
    #expect(run.outputText.contains("a.zip | saved as a.zip.1: there is another a.zip"))
  }

  @Test func aFileThatIsThereIsUpToDateAndNotFetchedAgain() throws {
    let server = try server("Last-Modified: \(Self.old)")
    defer { server.stop() }
    for word in ["ok in", "up to date"] {
      let run = try get(server, "/a.zip")
      #expect(run.ending() == .exited(0))
      #expect(run.outputText.contains("a.zip  [1/1] \(word)"), "\(run.outputText)")
    }
    #expect(!place.has("a.zip.1"))
  }

  @Test(arguments: [("skip", "mine"), ("overwrite", "0123456789")])
  func whatHappensToAFileCanBeChosen(how: String, content: String) throws {
    let server = try server()
    defer { server.stop() }
    try place.write("mine", to: "a.zip")
    #expect(try get(server, "/a.zip", options: ["--on-exists", how]).ending() == .exited(0))
    #expect(text("a.zip") == content)
    #expect(!place.has("a.zip.1"))
  }

  @Test func theNextRunResumesAPart() throws {
    let server = try RawServer(RawServer.file(Array("0123456789".utf8), cuts: [2, 1, 1]))
    defer { server.stop() }
    #expect(try get(server, "/a.zip").ending() == .exited(1))
    #expect(place.has("a.zip.part"))
    #expect(try get(server, "/a.zip").ending() == .exited(0))
    #expect(text("a.zip") == "0123456789")
    #expect(server.requests.last?.rangeStart == 4)
  }

  @Test func aFailedDownloadLeavesNoFolder() throws {
    let server = try server()
    defer { server.stop() }
    let run = try get(server, "/none", options: ["-d", "new/folder"])
    #expect(run.ending() == .exited(1))
    #expect(run.outputText.contains("none  [1/1] failed: HTTP 404"))
    #expect(!place.has("new"))
    #expect(try get(server, "/a.zip", options: ["-d", "new/folder"]).ending() == .exited(0))
    #expect(text("new/folder/a.zip") == "0123456789")
  }

  @Test func aCircleOfRedirectsIsFinal() throws {
    let server = try server()
    defer { server.stop() }
    let run = try get(server, "/loop")
    #expect(run.ending() == .exited(1))
    #expect(run.outputText.contains("loop  [1/1] failed: more than 10 redirects"))
    #expect(server.requests.count == 11)
  }

  @Test func aFinishedFileMakesOneLine() throws {
    let server = try server()
    defer { server.stop() }
    let run = try get(server, "/go/a.zip", "/go/b.zip")
    #expect(run.ending() == .exited(0))
    for name in ["a.zip", "b.zip"] {
      let lines = run.outputLines.filter { $0.contains(name) }
      #expect(lines.count == 1)
      let line = #/^\d\d:\d\d\.\d \+ .\.zip  \[\d/2\] ok in \S+s, 10 B$/#
      #expect(lines.first?.firstMatch(of: line) != nil, "\(lines)")
    }
  }

  @Test func aServersNameIsTakenOnRequestOnly() throws {
    let server = try server("Content-Disposition: attachment; filename=\"../../.tool.zip\"")
    defer { server.stop() }
    #expect(try get(server, "/download", options: ["-d", "in"]).ending() == .exited(0))
    #expect(try get(server, "/download", options: ["-d", "in", "--content-disposition"]).ending() == .exited(0))
    #expect(text("in/download") == "0123456789")
    #expect(text("in/tool.zip") == "0123456789")
  }

  @Test(arguments: ["number", "skip", "overwrite"])
  func twoURLsOfOneServersNameAreTwoFiles(how: String) throws {
    let server = try RawServer { request in
      let name = "Content-Disposition: attachment; filename=x"
      return [.send("HTTP/1.1 200 OK\r\n\(name)\r\nContent-Length: 2\r\n\r\n\(request.path)"), .next]
    }
    defer { server.stop() }
    let run = try get(server, "/a", "/b", options: ["--content-disposition", "--on-exists", how, "-j1"])
    #expect(run.ending() == .exited(0))
    #expect([text("x"), text("x.1")] == ["/a", "/b"])
  }

  @Test func aListMayComeFromAnotherProgram() throws {
    let server = try server()
    defer { server.stop() }
    let url = server.url("/a.zip").absoluteString
    let run = try place.script("bash -c '\"$OPDASH\" get -i <(echo \(url))'")
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    #expect(text("a.zip") == "0123456789")
  }

  // MARK: Sums

  private static let digest = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
  private static let other = String(repeating: "0", count: 64)

  @Test func aFileHasTheSumOfTheListOrFails() throws {
    let server = try server()
    defer { server.stop() }
    try place.write("\(Self.digest.uppercased()) *a.zip\r\nSHA256 (b.zip) = \(Self.other)\r\n", to: "SHA256SUMS")
    let run = try get(server, "/a.zip", "/b.zip", options: ["--sums", "SHA256SUMS"])
    #expect(run.ending() == .exited(1))
    let failure = #/b\.zip  \[\d/2\] failed: sha256 is 84d89877f0d4…, expected 000000000000…/#
    #expect(run.outputText.contains(failure))
    #expect(text("a.zip") == "0123456789")
    #expect(!place.has("b.zip") && !place.has("b.zip.part"))
    let again = try get(server, "/a.zip", options: ["--sums", "SHA256SUMS"])
    #expect(again.ending() == .exited(0))
    #expect(again.outputText.contains("a.zip  [1/1] up to date"))
    let none = try get(server, "/a.zip", "/c.zip", options: ["--sums", "SHA256SUMS"])
    #expect(none.ending() == .exited(2))
    #expect(none.errorText.contains("SHA256SUMS has no sum of '\(server.url("/c.zip"))'"))
  }

  @Test func theFilesThatAListNamesAreDownloadedFromBesideIt() throws {
    let lists = Lock(["/sums/L": "\(Self.digest)  ./a.zip\n\(Self.digest)  in/b c.zip\n"])
    let server = try RawServer { request in
      let body = lists.withLock { $0[request.path] } ?? "0123456789"
      return [.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"), .next]
    }
    defer { server.stop() }
    for word in ["2 ok", "2 up to date"] {
      let run = try get(server, options: ["--sums", server.url("/sums/L").absoluteString, "-d", "to"])
      #expect(run.ending() == .exited(0), "\(run.errorText)")
      #expect(run.outputText.contains("get: \(word)"))
    }
    #expect(text("to/a.zip") == "0123456789" && text("to/in/b c.zip") == "0123456789")
    #expect(Set(server.requests.map(\.path)) == ["/sums/L", "/sums/a.zip", "/sums/in/b%20c.zip"])
    try place.write("\(Self.digest)  a.zip\n", to: "L")
    let run = try get(server, options: ["--sums", "L", "--base", server.url("/base").absoluteString])
    #expect(run.ending() == .exited(0))
    #expect(text("a.zip") == "0123456789")
    #expect(server.requests.last?.path == "/base/a.zip")
    lists.withLock { $0["/sums/L"] = "\(Self.digest)  ../a.zip\n" }
    let outside = try get(server, options: ["--sums", server.url("/sums/L").absoluteString, "-d", "new"])
    #expect(outside.ending() == .exited(2))
    #expect(outside.errorText.contains("/sums/L:1: '../a.zip' is not a path below the list's folder"))
    #expect(!place.has("new"))
  }

  @Test func fiveFilesAreFetchedAtOnce() throws {
    let release = DispatchSemaphore(value: 0)
    let server = try RawServer { _ in
      [
        .run { release.wait() },
        .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"),
      ]
    }
    defer { server.stop() }
    let run = try place.start(
      words: ["get"] + (0..<7).map { server.url("/\($0)").absoluteString } + ["--ui", "json"])
    #expect(eventually { server.requests.count == 5 })
    #expect(eventually { run.outputText.contains("\"slots\":5") })
    for _ in 0..<7 { release.signal() }
    #expect(run.ending() == .exited(0))
  }

  @Test func aServerThatGoesSilentIsAskedForTheRest() throws {
    let content = Array("0123456789".utf8)
    let file = RawServer.file(content)
    let server = try RawServer { request in
      guard request.number == 0 else { return file(request) }
      return [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"1\"\r\n\r\n01234"), .hold]
    }
    defer { server.stop() }
    let run = try get(server, "/a.zip", options: ["--stall", "500ms"])
    #expect(run.ending() == .exited(0), "\(run.outputText)")
    #expect(text("a.zip") == "0123456789")
    #expect(server.requests.map(\.rangeStart) == [nil, 5])
  }

  @Test func aURLAndAListAreTakenAsTheyAreWritten() throws {
    let server = try server()
    defer { server.stop() }
    let target = "/a%2Fb%20c?sig=a%2Fb|c&x=[1]"
    try place.write("\u{FEFF}http://127.0.0.1:\(server.port)\(target)\r\n", to: "list")
    let run = try place.script("\"$OPDASH\" get -i list 'http://127.0.0.1:\(server.port)\(target)&y'")
    #expect(run.ending() == .exited(0), "\(run.outputText)")
    #expect(Set(server.requests.map(\.path)) == [target, target + "&y"])
    #expect(place.has("a_b c") && place.has("a_b c.1"))
  }
}
