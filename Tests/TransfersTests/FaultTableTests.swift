import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// What a download leaves of its file, `0123456789` or a beginning of it.
enum Kept: Sendable, Equatable, CustomStringConvertible {
  case nothing
  /// The part, of so many bytes.
  case part(Int)
  case file

  var description: String {
    switch self {
    case .nothing: "nothing"
    case .part(let count): "the part, \(count) bytes"
    case .file: "the whole file"
    }
  }
}

/// A fault of a server or a connection, what the user sees of it, and what is kept.
struct Fault: Sendable, CustomTestStringConvertible {
  var name: String
  /// Nil where the download succeeds.
  var message: String?
  var kept: Kept
  var note: String?
  var sha256: String?
  /// Whether nothing listens.
  var isRefused = false
  let reply: @Sendable (RawServer.Request) -> [RawServer.Step]

  init(
    _ name: String, _ message: String?, _ kept: Kept, note: String? = nil,
    reply: @escaping @Sendable (RawServer.Request) -> [RawServer.Step]
  ) {
    self.name = name
    self.message = message
    self.kept = kept
    self.note = note
    self.reply = reply
  }

  /// The bytes of the reply; the connection is closed after them.
  init(_ name: String, _ message: String?, _ kept: Kept, note: String? = nil, _ reply: String) {
    self.init(name, message, kept, note: note) { _ in [.send(reply)] }
  }

  var testDescription: String { name }
}

extension Fault {
  func with(sha256: String) -> Fault {
    var fault = self
    fault.sha256 = sha256
    return fault
  }

  static let refused: Fault = {
    var fault = Fault("no server", "connection refused", .nothing, "")
    fault.isRefused = true
    return fault
  }()
}

/// One row for each fault: what the user sees, and what is kept.
struct FaultTableTests {
  private static let content = Array("0123456789".utf8)
  private static let ok = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n"
  private static let partial = "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\n"
  private static let longLine = String(repeating: "x", count: 200_000)

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  static let connections = [
    .refused,
    Fault("a reset before the reply", "connection reset by peer", .nothing) { _ in [.reset] },
    Fault(
      "the end of the connection before the reply", "the server closed the connection without a reply", .nothing, ""),
    Fault("a status line cut short", "the server closed the connection without a reply", .nothing, "HTTP/1.1 2"),
    Fault("a header cut short", "the reply ended in its header", .nothing, ok + "Content-Le"),
    Fault("a header without its end", "the reply ended in its header", .nothing, ok + "Content-Length: 10\r\n"),
    Fault("a reset in the header", "connection reset by peer", .nothing) { _ in [.send(ok), .reset] },
    Fault("a reply that is not HTTP", "the reply is not HTTP", .nothing, "SSH-2.0-OpenSSH_9.2\r\n"),
    Fault(
      "a header line of 200 KB", "a line of the reply's header is too long", .nothing, ok + "A: \(longLine)\r\n\r\n"),
    Fault(
      "a status line of 200 KB", "a line of the reply's header is too long", .nothing,
      "HTTP/1.1 200 \(longLine)\r\n\r\n"),
  ]

  static let lengths = [
    Fault(
      "a body shorter than its length", "ended after 3 of 10 bytes", .part(3), ok + "Content-Length: 10\r\n\r\n012"),
    Fault(
      "a body longer than its length", "the server sent more than it said", .nothing,
      ok + "Content-Length: 3\r\n\r\n0123"),
    Fault("no length, and an orderly end", nil, .file, ok + "\r\n0123456789"),
    Fault(
      "a length that no number holds", "the server's Content-Length is not a length: 99999999999999999999", .nothing,
      ok + "Content-Length: 99999999999999999999\r\n\r\n0123456789"),
    Fault(
      "the greatest length", "ended after 10 of 9223372036854775807 bytes", .part(10),
      ok + "Content-Length: 9223372036854775807\r\n\r\n0123456789"),
    Fault("a negative length", "Invalid Content-Length: value", .nothing, ok + "Content-Length: -10\r\n\r\n0123456789"),
    Fault(
      "a length that is not a number", "Invalid Content-Length: value", .nothing,
      ok + "Content-Length: ten\r\n\r\n0123456789"),
    Fault(
      "two lengths that differ", "the server's Content-Length is not a length: 10, 3", .nothing,
      ok + "Content-Length: 10\r\nContent-Length: 3\r\n\r\n012"),
    Fault(
      "a list of lengths that differ", "the server's Content-Length is not a length: 3, 10", .nothing,
      ok + "Content-Length: 3, 10\r\n\r\n012"),
    Fault("the same length twice", nil, .file, ok + "Content-Length: 10\r\nContent-Length: 10\r\n\r\n0123456789"),
    Fault("a chunk cut short", "the connection was cut", .part(3), ok + "Transfer-Encoding: chunked\r\n\r\na\r\n012"),
    Fault(
      "chunks without the last one", "the connection was cut", .part(3),
      ok + "Transfer-Encoding: chunked\r\n\r\n3\r\n012\r\n"),
    Fault(
      "a chunk whose size is not a number", "the server's chunks are broken", .nothing,
      ok + "Transfer-Encoding: chunked\r\n\r\nno\r\n012"),
    Fault(
      "a chunk whose size no number holds", "the server's chunks are broken", .nothing,
      ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n012"),
    Fault(
      "a length beside chunks", nil, .file,
      ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n"),
    Fault(
      "status 200 with a piece", "the server sent a piece of the file as the whole: bytes 0-2/10", .nothing,
      ok + "Content-Range: bytes 0-2/10\r\nContent-Length: 3\r\n\r\n012"),
    Fault(
      "status 200 with the range of the whole", nil, .file,
      ok + "Content-Range: bytes 0-9/10\r\nContent-Length: 10\r\n\r\n0123456789"),
    Fault(
      "status 200 with two ranges", "the server sent a piece of the file as the whole: bytes 0-9/10", .nothing,
      ok + "Content-Range: bytes 0-9/10\r\nContent-Range: bytes 0-2/10\r\nContent-Length: 10\r\n\r\n0123456789"),
    Fault(
      "status 200 with a range of no known size", "the server sent a piece of the file as the whole: bytes 0-9/*",
      .nothing, ok + "Content-Range: bytes 0-9/*\r\n\r\n0123456789"),
    Fault(
      "status 200 with a range, cut short", "ended after 3 of 10 bytes", .part(3),
      ok + "Content-Range: bytes 0-9/10\r\n\r\n012"),
    Fault(
      "an encoded body", nil, .file, note: "the file is kept as the server encoded it: gzip",
      ok + "Content-Encoding: gzip\r\nContent-Length: 10\r\n\r\n0123456789"),
    Fault(
      "another sha256", "sha256 is 84d89877f0d4…, expected 000000000000…", .nothing,
      ok + "Content-Length: 10\r\n\r\n0123456789"
    ).with(sha256: String(repeating: "0", count: 64)),
  ]

  static let statuses = [
    Fault("status 101", "HTTP 101", .nothing, "HTTP/1.1 101 Switching Protocols\r\n\r\nhello"),
    Fault("status 204", "HTTP 204, which is an answer without a file", .nothing, "HTTP/1.1 204 No Content\r\n\r\n"),
    Fault(
      "status 205", "HTTP 205, which is an answer without a file", .nothing,
      "HTTP/1.1 205 R\r\nContent-Length: 0\r\n\r\n"),
    Fault(
      "status 202", "HTTP 202, which is an answer without a file", .nothing,
      "HTTP/1.1 202 A\r\nContent-Length: 4\r\n\r\nwait"),
    Fault(
      "status 206 to no range", "HTTP 206 to a request for the whole file", .nothing,
      partial + "Content-Range: bytes 0-2/10\r\nContent-Length: 3\r\n\r\n012"),
    Fault("status 304", "HTTP 304", .nothing, "HTTP/1.1 304 N\r\n\r\n"),
    Fault(
      "status 404", "HTTP 404", .nothing, note: "the server says: gone",
      "HTTP/1.1 404 N\r\nContent-Length: 4\r\n\r\ngone"),
    Fault("status 416 to no range", "HTTP 416", .nothing, "HTTP/1.1 416 R\r\nContent-Length: 0\r\n\r\n"),
    Fault(
      "status 429 with Retry-After", "HTTP 429", .nothing, note: "the server asks to wait 7 s",
      "HTTP/1.1 429 T\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"),
    Fault(
      "status 503 with Retry-After", "HTTP 503", .nothing, note: "the server asks to wait 3600 s",
      "HTTP/1.1 503 S\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n"),
    Fault("status 500", "HTTP 500", .nothing, "HTTP/1.1 500 S\r\nContent-Length: 0\r\n\r\n"),
    Fault("a redirect without a target", "HTTP 302", .nothing, "HTTP/1.1 302 F\r\nContent-Length: 0\r\n\r\n"),
    Fault(
      "a redirect to another scheme", "redirected: ftp is neither http nor https: ftp://***@h/f?sig=***", .nothing,
      "HTTP/1.1 302 F\r\nLocation: ftp://me:pw@h/f?sig=s\r\nContent-Length: 0\r\n\r\n"),
    Fault(
      "a redirect to what is no URL", "redirected to what is no URL: http://***@[h", .nothing,
      "HTTP/1.1 302 F\r\nLocation: http://me@[h\r\nContent-Length: 0\r\n\r\n"),
    Fault("a redirect to itself", "more than 10 redirects", .nothing) { _ in
      [.send("HTTP/1.1 302 F\r\nLocation: /f\r\nContent-Length: 0\r\n\r\n"), .next]
    },
  ]

  /// Of a part of four bytes, from a server that said the file's size and a tag.
  static let resumptions = [
    Fault("another tag", nil, .file, note: changed, reply: RawServer.file(content, tag: "\"2\"")),
    Fault("another tag in a 206", nil, .file, note: changed) {
      restart($0, "HTTP/1.1 206 P\r\nETag: \"2\"\r\nContent-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\r\nxxxxxx")
    },
    Fault("another size in a 206", nil, .file, note: changed) {
      restart($0, partial + "Content-Range: bytes 4-8/9\r\nContent-Length: 5\r\n\r\nxxxxx")
    },
    Fault("a server that ignores ranges", nil, .file, note: "the server ignored the range: starting again") { _ in
      [.send(ok + "Content-Length: 10\r\n\r\n0123456789")]
    },
    Fault("status 416", nil, .file, note: "the server has nothing after byte 4: starting again") {
      restart($0, "HTTP/1.1 416 R\r\nContent-Length: 0\r\n\r\n")
    },
    Fault("another range", nil, .file, note: other) {
      restart($0, partial + "Content-Range: bytes 0-5/10\r\nContent-Length: 6\r\n\r\nxxxxxx")
    },
    Fault("a 206 without its range", nil, .file, note: other) {
      restart($0, partial + "Content-Length: 6\r\n\r\nxxxxxx")
    },
    Fault("a range of another length than the body", nil, .file, note: contradiction) {
      restart($0, partial + "Content-Range: bytes 4-6/10\r\nContent-Length: 6\r\n\r\nxxxxxx")
    },
    Fault("a range beyond the size", nil, .file, note: contradiction) {
      restart($0, partial + "Content-Range: bytes 4-10/*\r\nContent-Length: 7\r\n\r\nxxxxxxx")
    },
    Fault("a range with the greatest end", nil, .file, note: contradiction) {
      restart($0, partial + "Content-Range: bytes 4-9223372036854775807/*\r\n\r\nxxxxxxx")
    },
    Fault(
      "a range that ends early", "ended after 7 of 10 bytes", .part(7),
      partial + "Content-Range: bytes 4-6/10\r\nContent-Length: 3\r\n\r\n456"),
    Fault(
      "a body beyond its range", "the server sent more than it said", .nothing,
      partial + "Content-Range: bytes 4-6/10\r\n\r\n456789"),
    Fault(
      "a body cut within its range", "ended after 5 of 10 bytes", .part(5),
      partial + "Content-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\r\n4"),
    Fault("status 204 to a range", "HTTP 204, which is an answer without a file", .part(4), "HTTP/1.1 204 N\r\n\r\n"),
    Fault("status 200 with the rest", nil, .file, note: piece) {
      restart($0, ok + "Content-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\r\n456789")
    },
    Fault("status 200 with the rest alone", nil, .file, note: unclear) {
      restart($0, ok + "ETag: \"1\"\r\nContent-Length: 6\r\n\r\n456789")
    },
    Fault("status 200 with the rest in chunks", nil, .file, note: unclear) {
      restart($0, ok + "Transfer-Encoding: chunked\r\n\r\n6\r\n456789\r\n0\r\n\r\n")
    },
    Fault("another coding in a 206", nil, .file, note: coding) {
      restart($0, partial + "Content-Encoding: gzip\r\nContent-Range: bytes 4-9/10\r\n\r\nxxxxxx")
    },
    Fault("status 403 to a range", nil, .file, note: "the server answers HTTP 403 to the range: starting again") {
      restart($0, "HTTP/1.1 403 F\r\nContent-Length: 0\r\n\r\n")
    },
    Fault("status 503 to a range", "HTTP 503", .part(4)) {
      restart($0, "HTTP/1.1 503 S\r\nContent-Length: 0\r\n\r\n")
    },
    Fault("status 404 to a range", "HTTP 404", .part(4), "HTTP/1.1 404 N\r\nContent-Length: 0\r\n\r\n"),
  ]

  /// Of a part of four bytes, from a server that said a tag and no size.
  static let resumptionsOfUnknownSize = [
    Fault("a range of a file of unknown size", nil, .file, note: endless) {
      restart($0, partial + "Content-Range: bytes 4-6/*\r\nContent-Length: 3\r\n\r\n456")
    },
    Fault(
      "a range that says the size", nil, .file,
      partial + "Content-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\r\n456789"),
    Fault(
      "a range that ends early and says the size", "ended after 7 of 10 bytes", .part(7),
      partial + "Content-Range: bytes 4-6/10\r\nContent-Length: 3\r\n\r\n456"),
  ]

  private static let unclear = "the server doesn't say whether this is the whole file: starting again"
  private static let changed = "the file changed on the server: starting again"
  private static let other = "the server sent another range than asked for: starting again"
  private static let contradiction = "the server sent another range than it said: starting again"
  private static let piece = "the server sent a piece of the file as the whole: bytes 4-9/10: starting again"
  private static let coding = "the server encodes the file in another way: starting again"
  private static let endless = "the server doesn't say where the file ends: starting again"

  /// This reply to a request for a range, the whole file to any other.
  private static func restart(_ request: RawServer.Request, _ reply: String) -> [RawServer.Step] {
    request.headers["range"] == nil ? RawServer.file(content)(request) : [.send(reply)]
  }

  @Test(arguments: connections + lengths + statuses)
  func aFaultHasItsMessageAndKeepsWhatIsRight(fault: Fault) async throws { try await check(fault) }

  @Test(arguments: resumptions)
  func aFaultOfAResumptionHasItsMessageAndKeepsWhatIsRight(fault: Fault) async throws {
    try await check(fault, partOfTotal: "Content-Length: 10\r\n")
  }

  @Test(arguments: resumptionsOfUnknownSize)
  func withoutASizeTheEndOfTheFileIsNeverGuessed(fault: Fault) async throws {
    try await check(fault, partOfTotal: "")
  }

  /// The tables of the article on faults, recorded with OPDASH_RECORD=1 in the environment.
  @Test func theReferenceHasEveryFault() throws {
    let article = "Sources/Transfers/Transfers.docc/Faults.md"
    #expect(try faultOfTables(Self.tables, in: article, from: "## Connections") == nil)
  }

  private static var tables: String {
    func table(_ title: String, _ rows: [[String]]) -> String {
      articleTable(title, columns: ["Fault", "Message", "Kept"], rows)
    }
    func rows(_ faults: [Fault]) -> [[String]] {
      faults.map { fault in
        let message = fault.message.map { "`\($0)`" } ?? "none"
        return [fault.name, fault.note.map { "\(message); note: `\($0)`" } ?? message, fault.kept.description]
      }
    }
    return [
      table("Connections", rows(connections)), table("Lengths and bodies", rows(lengths)),
      table("Statuses", rows(statuses)),
      table("The rest of a part of 4 bytes", rows(resumptions)),
      table("The rest of a part of a file of unknown size", rows(resumptionsOfUnknownSize)),
      table("Files", TargetFaultTests.refusals.map { [$0.name, "`\($0.message)`", "all as it was"] }),
    ].joined(separator: "\n")
  }

  private func check(_ fault: Fault, partOfTotal header: String? = nil) async throws {
    let server = try RawServer(fault.reply)
    defer { server.stop() }
    if let header { try await leavePart(header, for: server) }
    let url = fault.isRefused ? URL(string: "http://127.0.0.1:1/f") : server.url("/f")
    let operation = DownloadOperation(from: try #require(url), to: folder.file("file"), sha256: fault.sha256)
    let download = await Observed(operation).run()
    #expect(download.error?.message == fault.message, "\(download.notes)")
    if let note = fault.note { #expect(download.notes.contains(note), "\(download.notes)") }
    #expect(try kept() == fault.kept, "\(folder.names())")
  }

  /// Writes the part and the info that an interrupted transfer of four bytes leaves.
  private func leavePart(_ header: String, for server: RawServer) async throws {
    try Data(Self.content.prefix(4)).write(to: folder.file("file.part"))
    var reply = try #require(Reply(statusLine: "HTTP/1.1 200 OK"))
    for line in ("ETag: \"1\"\r\n" + header).components(separatedBy: "\r\n") { reply.add(line: line) }
    let info = try #require(PartInfo(url: server.url("/f").absoluteString, reply: reply))
    try JSONEncoder().encode(info).write(to: folder.file("file.part.meta"))
  }

  private func kept() throws -> Kept {
    let names = folder.names().filter { $0 != "file.part.meta" }
    guard let name = names.first else {
      #expect(folder.names().isEmpty)
      return .nothing
    }
    #expect(names.count == 1)
    let data = try Data(contentsOf: folder.file(name))
    #expect(data == Data(Self.content.prefix(data.count)))
    guard name == "file.part" else {
      #expect(data.count == Self.content.count && folder.names() == ["file"])
      return .file
    }
    return .part(data.count)
  }
}
