import Foundation
import Operations
import Support
import Testing

@testable import Transfers

struct ExchangeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func failing(_ body: String) throws -> RawServer {
    try RawServer { _ in [.send("HTTP/1.1 500 S\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"), .next] }
  }

  @Test(arguments: [(65_536, 1), (65_537, 2)])
  func aShortErrorBodyIsReadSoThatTheConnectionIsUsedAgain(size: Int, connections: Int) async throws {
    let server = try failing(String(repeating: "a", count: size))
    defer { server.stop() }
    let thread = TransferThread()
    for _ in 1...2 {
      let download = DownloadOperation(from: server.url("/f"), to: folder.file("file"), thread: thread)
      #expect(await Observed(download).run().error?.code == .http(500))
    }
    #expect(server.connections == connections)
  }

  @Test(arguments: [
    (" \n\t\nbusy\nmore", "busy"), (String(repeating: "\n", count: 1023) + "ab", "a"),
    (String(repeating: "\n", count: 1024) + "ab", nil), ("\n<html>", nil), ("", nil),
    (String(repeating: "x", count: 200) + "y", String(repeating: "x", count: 200)),
  ])
  func theFirstLineOfTheSampleIsNoted(body: String, line: String?) async throws {
    let server = try failing(body)
    defer { server.stop() }
    let download = await Observed(DownloadOperation(from: server.url("/f"), to: folder.file("file"))).run()
    let notes = ["GET /f 500 (HTTP/1.1)"] + (line.map { ["the server says: \($0)"] } ?? [])
    #expect(download.notes == notes)
  }
}
