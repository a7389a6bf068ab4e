import Foundation
import Support
import Testing

/// The program with a collector of OpenTelemetry.
struct CollectorTests {
  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "jobs.yml": """
      secrets: [TOKEN]
      jobs:
        a-t0psecret: { run: "exit 3", retry: { max: 1, initial: 10ms } }
        b: { run: "true" }
        c: { needs: [a-t0psecret], run: "true" }
      """
    ])
  }

  @Test func aRunIsOneTraceWithoutSecrets() throws {
    let bodies = Kept()
    let server = try RawServer { _ in
      [.readBody(then: { bodies.add($0) }), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    defer { server.stop() }
    let run = try place.run(
      "run", "jobs.yml", "--ui", "plain", "--otlp", server.url("").absoluteString,
      environment: ["TOKEN": "t0psecret"])
    #expect(run.ending() == .exited(1))
    #expect(run.errorText == "")
    let texts = bodies.all.map { String(decoding: $0, as: UTF8.self) }
    #expect(!texts.contains { $0.contains("t0psecret") })
    let spans = try texts.flatMap { text -> [[String: Any]] in
      let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      let scope = ((document?["resourceSpans"] as? [[String: Any]])?.first?["scopeSpans"] as? [[String: Any]])?.first
      return try #require(scope?["spans"] as? [[String: Any]])
    }
    #expect(spans.compactMap { $0["name"] as? String }.sorted() == ["a-***", "a-***", "a-***", "b", "b", "c", "jobs"])
    #expect(Set(spans.compactMap { $0["traceId"] as? String }).count == 1)
    let failed = spans.filter { ($0["status"] as? [String: Any])?["code"] as? Int == 2 }
    #expect(failed.count == 4)
  }

  @Test func aRunDoesNotFailBecauseOfItsCollector() throws {
    let (listener, port) = try Loopback.listen()
    close(listener)
    let run = try place.run("run", "jobs.yml", "b", "--ui", "plain", "--otlp", "http://u:p@127.0.0.1:\(port)")
    #expect(run.ending() == .exited(0))
    #expect(run.errorText.contains("opdash: 3 spans were not delivered to http://***@127.0.0.1:\(port)/v1/traces: "))
    #expect(run.errorText.split(separator: "\n").count == 1)
  }
}

/// Bodies in the order of their arrival.
private final class Kept: @unchecked Sendable {
  // Safe: behind the lock.
  private var bodies: [[UInt8]] = []
  private let lock = NSLock()

  var all: [[UInt8]] { lock.withLock { bodies } }

  func add(_ body: [UInt8]) { lock.withLock { bodies.append(body) } }
}
