import Foundation
import Support
import Testing

@testable import Transfers

struct StatusOperationTests {
  private func ask(
    _ thread: TransferThread = .shared, _ steps: @escaping @Sendable (RawServer.Request) -> [RawServer.Step]
  ) async throws -> Observed<Int> {
    let server = try RawServer(steps)
    defer { server.stop() }
    return await Observed(StatusOperation(of: server.url("/healthz"), thread: thread)).run()
  }

  @Test(arguments: [200, 204, 302, 399, 400, 404, 503]) func aStatusBelow400IsTheResult(_ status: Int) async throws {
    let asked = try await ask { _ in [.send("HTTP/1.1 \(status) X\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")] }
    if status < 400 {
      #expect(try asked.result?.get() == status)
    } else {
      #expect(asked.error?.code == .http(status))
    }
  }

  @Test func aBodyThatDoesNotEndIsNotWaitedFor() async throws {
    for step in [RawServer.Step.hold, .sendBytes([UInt8](repeating: 0x7A, count: 8 << 20))] {
      let asked = try await ask { _ in [.send("HTTP/1.1 200 OK\r\n\r\n"), step, .hold] }
      #expect(try asked.result?.get() == 200)
    }
  }

  @Test func aServerThatSaysNothingIsAFailure() async throws {
    let asked = try await ask { _ in [] }
    #expect(asked.error?.code == .network)
  }
}
