import Foundation
import Operations
import Support
import Testing

@testable import Transfers

struct ContentOperationTests {
  private func content(
    limit: Int = 1 << 20, _ script: @escaping @Sendable (RawServer.Request) -> [RawServer.Step]
  ) async throws -> Observed<[UInt8]> {
    let server = try RawServer(script)
    defer { server.stop() }
    return await Observed(ContentOperation(of: server.url("/list"), limit: limit)).run()
  }

  @Test func theBodyIsTheResult() async throws {
    let read = try await content { request in
      request.path == "/list"
        ? [.send("HTTP/1.1 302 F\r\nLocation: /other\r\nContent-Length: 6\r\n\r\nmoved!"), .next]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234"), .send("56789"), .next]
    }
    #expect(try read.result?.get() == Array("0123456789".utf8))
    #expect(read.progress.last == OperationProgress(completed: 10, total: 10))
    #expect(read.notes.count == 3, "\(read.notes)")
  }

  @Test(arguments: [
    ("404 N\r\nContent-Length: 4\r\n\r\ngone", "HTTP 404"),
    ("204 N\r\n\r\n", "HTTP 204, which is an answer without a file"),
    ("200 OK\r\nContent-Length: 10\r\n\r\n0123", "ended after 4 of 10 bytes"),
    ("200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n", "the connection was cut"),
    ("200 OK\r\nContent-Length: 4\r\nContent-Encoding: gzip\r\n\r\n0123", "the server has encoded it: gzip"),
    ("200 OK\r\nContent-Length: \(2 << 20)\r\n\r\n0123", "it is larger than 1 MiB"),
    ("206 P\r\nContent-Range: bytes 0-3/4\r\n\r\n0123", "HTTP 206 to a request for the whole file"),
    ("302 F\r\nLocation: /list\r\n\r\n", "more than 10 redirects"), ("302 F\r\n\r\n", "HTTP 302"),
    ("302 F\r\nLocation: file:///etc/passwd\r\n\r\n", "redirected: file is neither http nor https: file:///etc/passwd"),
  ])
  func whatIsNotTheWholeBodyIsAFailure(reply: String, message: String) async throws {
    let read = try await content { _ in [.send("HTTP/1.1 \(reply)")] }
    #expect(read.error?.message == message)
  }

  @Test func aBodyOfUnknownSizeEndsAtTheLimit() async throws {
    let read = try await content { _ in
      [.send("HTTP/1.1 200 OK\r\n\r\n"), .sendBytes([UInt8](repeating: 0x7A, count: 2 << 20)), .hold]
    }
    #expect(read.error?.message == "it is larger than 1 MiB")
  }

  @Test func itStartsAgainAfterAPause() async throws {
    let server = try RawServer { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234"), .hold] }
    let read = Observed(ContentOperation(of: server.url("/list"), limit: 10))
    read.start(until: 5)
    read.operation.pause()
    read.operation.resume()
    #expect(eventually { server.requests.count == 2 })
    await read.cancel()
    server.stop()
    #expect(read.isCancelled)
  }
}
