import Foundation
import Support
import Testing

@testable import Operations

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `URLSession` against a server of the test's own.
@Suite struct URLSessionTaskTests {
  let session = URLSession(configuration: .ephemeral)
  let queue = OperationQueue()

  func server(_ steps: [RawServer.Step]) throws -> RawServer { try RawServer { _ in steps } }

  @Test func aDataTaskEndsWithItsValueAndResponse() throws {
    let server = try server([.send("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")])
    defer { server.stop() }
    let fetch = URLSessionTaskOperation { session.dataTask(with: server.url("/"), completionHandler: $0) }
    queue.addOperation(fetch)
    #expect(eventually { fetch.isFinished })
    let (data, response) = try #require(try fetch.outcome?.get())
    #expect(String(decoding: data, as: UTF8.self) == "hello")
    #expect((response as? HTTPURLResponse)?.statusCode == 404)
  }

  @Test func aDownloadsFileIsMovedBeforeItIsGone() throws {
    let server = try server([.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")])
    defer { server.stop() }
    let fetch = URLSessionTaskOperation {
      try Data(contentsOf: $0)
    } _: {
      session.downloadTask(with: server.url("/"), completionHandler: $0)
    }
    queue.addOperation(fetch)
    #expect(eventually { fetch.isFinished })
    #expect(try fetch.outcome?.get().0 == Data("hello".utf8))
  }

  @Test func aSessionsErrorIsTheFailure() throws {
    // No test gets this port.
    let url = try #require(URL(string: "http://127.0.0.1:1/"))
    let fetch = URLSessionTaskOperation { session.dataTask(with: url, completionHandler: $0) }
    queue.addOperation(fetch)
    #expect(eventually { fetch.isFinished })
    #expect(fetch.failure is URLError)
  }

  @Test func cancelCancelsTheTask() throws {
    let server = try server([.hold])
    defer { server.stop() }
    let fetch = URLSessionTaskOperation { session.dataTask(with: server.url("/"), completionHandler: $0) }
    queue.addOperation(fetch)
    #expect(eventually { server.requests.count == 1 })
    fetch.cancel()
    #expect(eventually { fetch.isFinished })
    #expect((fetch.failure as? URLError)?.code == .cancelled)
  }
}
