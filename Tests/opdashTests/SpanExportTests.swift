import Foundation
import JobModel
import Operations
import Support
import Testing
import Transfers

@testable import opdash

@Suite struct SpanExportTests {
  private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

  /// A run of one job that succeeds, whose spans are sent.
  private func run(to url: String, jobs: Int = 1, patience: DispatchTimeInterval = .seconds(300)) -> String? {
    let feed = FakeFeed()
    let export = SpanExport(to: url, thread: TransferThread(), patience: patience)
    let pump = export.start(feed)
    feed.post(
      .runStarted(RunStart(id: "run-1", name: "r", slots: 1, at: Date(timeIntervalSince1970: 1), jobs: jobs)), at: .zero
    )
    for id in (0..<jobs).map(JobID.init) {
      feed.post(.jobAdded(id, Job(name: "job\(id.index)", work: .simulate(SimulatedWork()))))
      feed.post(.jobState(id, .executing, attempt: 1, pid: nil))
      feed.post(.jobState(id, .succeeded(upToDate: false), attempt: 1, pid: nil))
    }
    feed.post(.runFinished(RunSummary()), at: .seconds(1))
    return withExtendedLifetime(pump) { export.finish() }
  }

  @Test func aCollectorGetsTheSpansOfARun() throws {
    let bodies = Lock<[[UInt8]]>([])
    let server = try RawServer { _ in
      [.readBody(then: { body in bodies.withLock { $0.append(body) } }), .send(Self.answer), .next]
    }
    defer { server.stop() }
    #expect(run(to: server.url("").absoluteString, jobs: 600) == nil)
    let requests = server.requests
    #expect(requests.allSatisfy { $0.method == "POST" && $0.path == "/v1/traces" })
    #expect(requests.allSatisfy { $0.headers["content-type"] == "application/json" })
    var names: [String] = []
    for body in bodies.withLock(\.self) {
      let document = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
      let resource = try #require((document["resourceSpans"] as? [[String: Any]])?.first)
      let scope = try #require((resource["scopeSpans"] as? [[String: Any]])?.first)
      let spans = try #require(scope["spans"] as? [[String: Any]])
      #expect(spans.count <= 512)
      names += spans.compactMap { $0["name"] as? String }
    }
    #expect(names.count == 1201 && names.last == "r" && Set(names).count == 601)
  }

  @Test func aCollectorThatIsDownLosesTheSpans() throws {
    let (listener, port) = try Loopback.listen()
    close(listener)
    let line = try #require(run(to: "http://127.0.0.1:\(port)"))
    #expect(line.hasPrefix("3 spans were not delivered to http://127.0.0.1:\(port)/v1/traces: "))
  }

  @Test func aCollectorThatNeverAnswersIsNotWaitedFor() throws {
    let server = try RawServer { _ in [.readBody(), .hold] }
    defer { server.stop() }
    let line = try #require(run(to: server.url("/x?token=a").absoluteString, patience: .seconds(2)))
    #expect(line.hasPrefix("3 spans were not delivered to \(server.url("/x").absoluteString)"))
    #expect(line.hasSuffix(": the collector has not answered in time"))
  }

  @Test func spansThatAreNotReadyInTimeAreSaidToBeMissing() {
    let export = SpanExport(to: "http://127.0.0.1:1", thread: TransferThread(), patience: .milliseconds(1))
    let url = "http://127.0.0.1:1/v1/traces"
    #expect(export.finish() == "the last spans were not delivered to \(url): they were not ready in time")
  }

  @Test func anAnswerThatIsAnErrorIsTold() throws {
    let server = try RawServer { _ in [.readBody(), .send("HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n")] }
    defer { server.stop() }
    #expect(run(to: server.url("/x").absoluteString)?.contains("400") == true)
  }

  @Test func aCollectorBehindALoginHasNotTheSpans() throws {
    let server = try RawServer { request in
      let head = request.path == "/login" ? "200 OK" : "302 Found\r\nLocation: /login"
      return [.readBody(), .send("HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    defer { server.stop() }
    let line = try #require(run(to: server.url("/x").absoluteString))
    #expect(line.hasPrefix("3 spans were not delivered to") && line.contains("302"), "\(line)")
    #expect(server.requests.allSatisfy { $0.path == "/x" })
  }

  @Test func memoryForSpansIsBounded() throws {
    let server = try RawServer { _ in [.readBody(), .hold] }
    defer { server.stop() }
    let export = SpanExport(to: server.url("/x").absoluteString, thread: TransferThread())
    let span = [UInt8](repeating: 0x20, count: 1 << 20)
    for _ in 0..<12 { export.send([span]) }
    export.complete()
    #expect(export.finish()?.contains("12 spans were not delivered to") == true)
  }

  @Test(arguments: [
    ("http://h:4318", "http://h:4318/v1/traces"), ("http://h/", "http://h/v1/traces"), ("https://h/x", "https://h/x"),
    ("http://h/v1/traces", "http://h/v1/traces"),
  ])
  func aURLWithoutPathGetsTheStandardOne(_ url: String, _ endpoint: String) {
    #expect(SpanExport.endpoint(url) == endpoint)
  }
}
