import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// URLs as they go on the wire.
struct WireURLTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Paths and queries that mix escapes with bytes that have to be escaped, and with some that browsers escape.
  private static let mixed = [
    "/f?sig=a%2Fb%2B&name=\"a.zip\"", "/f?sig=a%2fb|c", "/up/my%20file[1].txt", "/My%20File (1).zip", "/café%20b",
    "/100%25 sure", "/a%2Fb^c", "/ok%2Fonly", "/f?u=http://x/%20{id}", "/%zz%", "/a;b=c&d='e'!$*,@:~",
  ]

  @Test(arguments: [
    ("http://h/My%20File (1).zip", "http://h/My%20File%20(1).zip"), ("http://h/é%20b", "http://h/%c3%a9%20b"),
    ("http://h/a%2Fb|c[1]", "http://h/a%2Fb|c[1]"), ("http://h/f?a b=%20", "http://h/f?a%20b=%20"),
    ("HTTP://h", "http://h/"), ("http://h?a", "http://h/?a"), ("http://h/a#b%20c d", "http://h/a"),
    ("http://me:p%40ss@h/", "http://me:p%40ss@h/"), ("http://m e@h/", "http://m%20e@h/"),
    ("http://[::1]:8/x", "http://[::1]:8/x"), ("http://h:/x", "http://h/x"),
    ("http://h/#\u{301}", "http://h/"),
  ])
  func whatAURLCannotHaveIsEscapedAndEscapesStay(written: String, text: String) throws {
    #expect(try WireURL(written).text == text)
    #expect(try WireURL(text).text == text)
  }

  @Test(arguments: [
    ("http://bücher.example/x", "http://xn--bcher-kva.example/x"),
    ("http://me@BÜCHER.example:8/", "http://me@xn--bcher-kva.example:8/"),
    ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
    ("http://例え.jp/é", "http://xn--r8jz45g.jp/%c3%a9"),
  ])
  func aHostHasTheNameThatDNSKnows(written: String, text: String) throws { #expect(try WireURL(written).text == text) }

  @Test(arguments: [
    ("ftp://h/x", "ftp is neither http nor https: ftp://h/x"),
    ("file:///etc/passwd", "file is neither http nor https: file:///etc/passwd"),
    ("/x", "not a whole URL: /x"), ("", "not a whole URL: "), ("h/x", "not a whole URL: h/x"),
    ("http:///x", "no host in http:///x"), ("http:/x", "no host in http:/x"), ("http://", "no host in http://"),
    ("http://?x", "no host in http://?x"), ("http://me:pw@[h/", "'http://***@[h/' is no URL"),
    ("http://a b/", "'http://a b/' is no URL"), ("http://h/a\tb", "'http://h/a\tb' is no URL"),
    ("http://h\u{FF0F}x/", "'http://h\u{FF0F}x/' is no URL"),
    ("gopher://me:secret@h/", "gopher is neither http nor https: gopher://***@h/"),
  ])
  func onlyWholeHTTPURLsAreTaken(written: String, message: String) {
    #expect(throws: TransferError(.unsupportedURL, message)) { try WireURL(written) }
  }

  @Test(arguments: [
    ("http://h/a/b", "c", "http://h/a/c"), ("http://h/a/b", "/c?d", "http://h/c?d"),
    ("http://h/a", "//g/c", "http://g/c"), ("https://h/a", "//g/c", "https://g/c"),
    ("https://h/a", "http://g:81/", "http://g:81/"), ("http://h/a?b", "?c", "http://h/a?c"),
    ("http://h/a/b?c", "", "http://h/a/b?c"), ("http://h/a/b?c", "#d", "http://h/a/b?c"),
    ("http://h/a/b", "../../c", "http://h/c"), ("http://h/a%2Fb/c", "d%2Fe |", "http://h/a%2Fb/d%2Fe%20|"),
  ])
  func aLocationIsResolvedAgainstTheRedirectingURL(base: String, location: String, text: String) throws {
    #expect(try WireURL(base).resolving(location).text == text)
  }

  @Test(arguments: [
    ("/b", "http://me:p%40@h/b"), ("http://H:80/b", "http://me:p%40@H:80/b"), ("//h/b", "http://me:p%40@h/b"),
    ("http://you@h/b", "http://you@h/b"), ("http://you:x@h/b", "http://you:x@h/b"),
    ("https://h/b", "https://h/b"), ("http://h:81/b", "http://h:81/b"), ("http://g/b", "http://g/b"),
  ])
  func theNameAndThePasswordStayWithTheirOrigin(location: String, text: String) throws {
    #expect(try WireURL("http://me:p%40@h/a").resolving(location).text == text)
  }

  @Test(arguments: [
    ("http://me:pw@h/f?a=b", "http://h/f?a=b"), ("http://me@h/f", "http://h/f"),
    ("http://h/f?key=secret", "http://h/f?key=secret"), ("http://:pw@h/f", "http://h/f"),
  ])
  func aURLWithoutItsUserKeepsTheRest(written: String, rest: String) throws {
    #expect(try WireURL(written).withoutUser == rest)
  }

  // MARK: On the wire

  @Test(arguments: mixed) func aRedirectLeadsWhereCurlGoes(target: String) async throws {
    let server = try RawServer { request in
      request.path == "/go"
        ? [.send("HTTP/1.1 302 F\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n"), .next]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .next]
    }
    defer { server.stop() }
    let download = DownloadOperation(from: server.url("/go"), to: folder.file("file"))
    #expect(await Observed(download).run().error == nil)
    let curl = ["curl", "-gsL", "--noproxy", "*", "-o", "/dev/null", server.url("/go").absoluteString]
    #expect(try ChildProcess.run(curl).ending == .exited(0))
    let paths = server.requests.map(\.path)
    #expect(paths.count == 4 && paths.first == paths[2] && paths[1] == paths[3], "\(paths)")
  }

  @Test func theBytesOfALocationThatIsNoUTF8AreKept() async throws {
    let server = try RawServer { request in
      request.path == "/go"
        ? [
          .sendBytes(Array("HTTP/1.1 302 F\r\nlocation: /caf".utf8) + [0xE9] + Array("?a=%20\r\n".utf8)),
          .send("Content-Length: 0\r\n\r\n"), .next,
        ]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .next]
    }
    defer { server.stop() }
    let download = DownloadOperation(from: server.url("/go"), to: folder.file("file"))
    #expect(await Observed(download).run().error == nil)
    #expect(server.requests.last?.path == "/caf%E9?a=%20")
  }

  @Test(arguments: mixed.filter { !$0.contains(" ") })
  func whatIsWrittenIsWhatTheServerIsAskedFor(target: String) async throws {
    let server = try RawServer { _ in [.readBody(), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .next] }
    defer { server.stop() }
    let url = "http://127.0.0.1:\(server.port)\(target)"
    try Data("up".utf8).write(to: folder.file("sent"))
    let download = DownloadOperation(from: url, to: folder.file("file"), thread: .shared)
    #expect(await Observed(download).run().error == nil)
    let upload = UploadOperation(folder.file("sent"), to: url, thread: .shared)
    #expect(await Observed(upload).run().error == nil)
    #expect(await Observed(StatusOperation(of: url)).run().error == nil)
    #expect(server.requests.map(\.path) == Array(repeating: target.replacing("é", with: "%c3%a9"), count: 3))
  }

  @Test func credentialsReachAnAbsoluteRedirectOfTheSameServer() async throws {
    let nginx = try Nginx()
    try nginx.add("f", size: 1000)
    let base = "127.0.0.1:\(nginx.port)"
    let url = "http://me:p%40ss@\(base)/to?http://\(base)/private/f"
    let download = DownloadOperation(from: url, to: folder.file("file"), thread: .shared)
    #expect(await Observed(download).run().error == nil)
    let elsewhere = "http://me:p%40ss@\(base)/to?http://localhost:\(nginx.port)/private/f"
    let other = DownloadOperation(from: elsewhere, to: folder.file("other"), thread: .shared)
    #expect(await Observed(other).run().error?.code == .http(401))
    for (url, ending) in [(url, 0), (elsewhere, 22)] {
      let curl = ["curl", "-sfL", "--noproxy", "*", "-o", "/dev/null", url]
      #expect(try ChildProcess.run(curl).ending == .exited(Int32(ending)))
    }
  }
}
