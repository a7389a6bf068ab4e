import Foundation
import Support
import Testing

@testable import DemoServer

@Suite struct DemoServerTests {
  let server: DemoServer
  let client: Client

  init() throws {
    server = try DemoServer()
    client = Client(server: server)
  }

  @Test func aFileIsTheBytesThatItsSizeAndSeedDetermine() {
    let answer = client.get("/file/a.bin?size=200000&seed=7")
    #expect(answer.status == 200)
    #expect(answer["Content-Length"] == "200000")
    #expect(answer["Accept-Ranges"] == "bytes")
    #expect(answer["Last-Modified"] != nil)
    #expect(answer.body == DemoContent(size: 200_000, seed: 7).bytes)
  }

  @Test func aRangeGetsItsPart() {
    let answer = client.get("/file/a.bin?size=1000", headers: ["Range: bytes=300-"])
    #expect(answer.status == 206)
    #expect(answer["Content-Range"] == "bytes 300-999/1000")
    #expect(answer.body == Array(DemoContent(size: 1000).bytes[300...]))
  }

  @Test func aRangeOfSomethingElseGetsTheWhole() throws {
    let tag = try #require(client.get("/file/a.bin?size=1000&seed=1")["ETag"])
    let headers = ["Range: bytes=300-", "If-Range: \(tag)"]
    #expect(client.get("/file/a.bin?size=1000&seed=1", headers: headers).status == 206)
    #expect(client.get("/file/a.bin?size=1000&seed=2", headers: headers).status == 200)
    let date = try #require(client.get("/file/a.bin?size=1000")["Last-Modified"])
    let dated = client.get("/file/a.bin?size=1000", headers: ["Range: bytes=300-", "If-Range: \(date)"])
    #expect(dated.status == 206)
  }

  @Test func aRangeBeyondTheEndIsRefused() {
    let answer = client.get("/file/a.bin?size=1000", headers: ["Range: bytes=1000-"])
    #expect(answer.status == 416)
    #expect(answer["Content-Range"] == "bytes */1000")
  }

  @Test func aServerWithoutRangesSendsTheWhole() {
    let answer = client.get("/file/a.bin?size=1000&ranges=0", headers: ["Range: bytes=300-"])
    #expect(answer.status == 200)
    #expect(answer["Accept-Ranges"] == "none")
    #expect(answer.body.count == 1000)
  }

  @Test func headHasTheHeaderAndNoBody() {
    let answer = client.ask("HEAD", "/file/a.bin?size=1000")
    #expect(answer.status == 200)
    #expect(answer["Content-Length"] == "1000")
    #expect(answer.body.isEmpty)
    #expect(server.requestCount("/file/a.bin") == 0)
  }

  @Test func aStatusOnOrderHoldsAsOftenAsItSays() {
    let address = "/file/a.bin?size=10&status=503&times=2"
    #expect((0..<3).map { _ in client.get(address).status } == [503, 503, 200])
    #expect(server.requestCount("/file/a.bin") == 3)
    #expect(client.get("/file/b.bin?size=10&status=503&times=2").status == 503)
  }

  @Test func aCutEndsTheConnectionAfterSoManyBytes() {
    let address = "/file/a.bin?size=300000&cut=100000&times=1"
    let first = client.get(address)
    #expect(first.status == 200)
    #expect(first["Content-Length"] == "300000")
    #expect(first.body == Array(DemoContent(size: 300_000).bytes[..<100_000]))
    #expect(first.end == .orderly)
    let rest = client.get(address, headers: ["Range: bytes=100000-"])
    #expect(rest.status == 206)
    #expect(first.body + rest.body == DemoContent(size: 300_000).bytes)
  }

  @Test func aResetIsAReset() {
    let answer = client.get("/file/a.bin?size=300000&reset=1000")
    #expect(answer.end == .reset)
    #expect(answer.body.count <= 1000)
  }

  @Test func aCutInTheHeaderLeavesHalfAHeader() {
    let answer = client.get("/file/a.bin?size=10&cut=header")
    #expect(answer.head == "HTTP/1.1 200 OK\r\nContent-Le")
  }

  @Test func aHangUpSendsNothing() {
    let answer = client.get("/file/a.bin?size=10&hangup")
    #expect(answer.head.isEmpty && answer.body.isEmpty)
  }

  @Test func aDelayComesBeforeTheHeader() {
    #expect(client.get("/file/a.bin?size=10&delay=60").status == 200)
    let late = client.connect()
    defer { close(late) }
    client.write("GET", "/file/late.bin?size=10&delay=3600000", to: late)
    #expect(eventually { server.requestCount("/file/late.bin") == 1 })
    #expect(stays { client.waiting(on: late) == 0 })
  }

  @Test func aStallHoldsAsOftenAsItSays() {
    let address = "/file/a.bin?size=10&stall=600000&times=1"
    let stalled = client.connect()
    defer { close(stalled) }
    client.write("GET", address, to: stalled)
    #expect(eventually { server.requestCount("/file/a.bin") == 1 })
    #expect(client.get(address).status == 200)
  }

  @Test func aRateIsAnUpperBound() {
    let answer = client.get("/file/a.bin?size=100000&rate=500000")
    #expect(answer.body == DemoContent(size: 100_000).bytes)
    let slow = client.connect()
    defer { close(slow) }
    client.write("GET", "/file/slow.bin?size=100000&rate=1", to: slow)
    #expect(eventually { client.waiting(on: slow) > 0 })
    // The header, and hardly a byte of the body.
    #expect(stays { client.waiting(on: slow) < 1000 })
  }

  @Test func slowConnectionsDoNotHoldEachOther() {
    let slow = (0..<50).map { _ in client.connect() }
    for socket in slow { client.write("GET", "/file/slow.bin?size=1000000&rate=10", to: socket) }
    #expect(eventually { server.requestCount("/file/slow.bin") == 50 })
    #expect(client.get("/file/quick.bin?size=1000").body.count == 1000)
    for socket in slow { close(socket) }
  }

  @Test func anUploadIsKeptAndAnsweredWithItsSum() {
    let bytes = DemoContent(size: 300_000, seed: 9).bytes
    let answer = client.ask("PUT", "/upload/a.bin", body: bytes)
    #expect(answer.status == 201)
    #expect(answer.text.contains("\"size\" : 300000"))
    #expect(answer.text.contains("\"sha256\" : \"\(DemoContent(size: 300_000, seed: 9).sha256)\""))
    let stored = client.get("/upload/a.bin")
    #expect(stored.status == 200 && stored.body == bytes)
    #expect(stored["ETag"] == "\"\(DemoContent(size: 300_000, seed: 9).sha256)\"")
    #expect(client.get("/upload/b.bin").status == 404)
  }

  @Test func anUploadIsTakenAtItsRate() {
    let bytes = DemoContent(size: 100_000).bytes
    #expect(client.ask("POST", "/upload/a.bin?rate=500000", body: bytes).status == 201)
    #expect(client.get("/upload/a.bin").body == bytes)
    let slow = client.connect()
    defer { close(slow) }
    client.write("POST", "/upload/slow.bin?rate=1", body: [UInt8](repeating: 0, count: 10_000), to: slow)
    #expect(eventually { server.requestCount("/upload/slow.bin") == 1 })
    #expect(stays { client.waiting(on: slow) == 0 })
  }

  @Test func aClientThatExpectsContinueIsRefusedBeforeTheBody() {
    let socket = client.connect()
    defer { close(socket) }
    let headers = ["Content-Length: 1000000", "Expect: 100-continue"]
    client.write("PUT", "/upload/a.bin?status=503", headers: headers, to: socket)
    #expect(client.read(from: socket).status == 503)
  }

  @Test func anUploadCanBeCut() {
    let bytes = DemoContent(size: 100_000).bytes
    #expect(client.ask("PUT", "/upload/a.bin?cut=5000&times=1", body: bytes).status == nil)
    #expect(client.get("/upload/a.bin").status == 404)
    #expect(client.ask("PUT", "/upload/a.bin?cut=5000&times=1", body: bytes).status == 201)
  }

  @Test func anItemPassesItsStagesInOrder() {
    let draft = Array(#"{"title":"Aurora over Inari"}"#.utf8)
    #expect(client.get("/content/aurora?size=100").status == 404)
    #expect(client.ask("POST", "/content/aurora", body: Array("no JSON".utf8)).status == 400)
    #expect(client.ask("POST", "/content/aurora", body: draft).status == 201)
    #expect(client.ask("POST", "/content/aurora", body: draft).status == 409)
    #expect(client.ask("PUT", "/assets/aurora", body: [1]).status == 409)
    #expect(client.get("/content/aurora?size=100").body.count == 100)
    #expect(client.ask("POST", "/enrich/aurora", body: [1]).status == 409)
    #expect(client.ask("PUT", "/assets/aurora", body: [1, 2, 3]).status == 201)
    #expect(client.ask("POST", "/enrich/aurora", body: [1]).status == 200)
    let catalogue = client.get("/content").text
    #expect(catalogue.contains("\"title\" : \"Aurora over Inari\""))
    #expect(catalogue.contains("\"stage\" : \"enriched\""))
    #expect(catalogue.contains("\"bytes\" : 3"))
  }

  @Test func anUnfinishedDownloadIsNotReceived() {
    _ = client.ask("POST", "/content/aurora", body: Array(#"{"title":"Aurora"}"#.utf8))
    _ = client.get("/content/aurora?size=100000&cut=5000")
    #expect(client.ask("PUT", "/assets/aurora", body: [1]).status == 409)
  }

  @Test func anUnknownAddressIsNamed() {
    #expect(client.get("/nothing").status == 404)
    let answer = client.get("/file/a.bin?sise=4")
    #expect(answer.status == 400)
    #expect(answer.text == "'sise' is not an option of this server\n")
  }

  @Test func stoppingEndsSlowConnectionsAtOnce() {
    let socket = client.connect()
    client.write("GET", "/file/slow.bin?size=1000000&rate=10", to: socket)
    let waiting = client.connect()
    client.write("GET", "/file/late.bin?size=10&delay=60000", to: waiting)
    #expect(eventually { server.requestCount("/file/slow.bin") == 1 && server.requestCount("/file/late.bin") == 1 })
    server.stop()
    server.stop()
    #expect(client.read(from: socket).body.count < 1_000_000)
    _ = client.read(from: waiting)
    close(socket)
    close(waiting)
    #expect(client.connect() == -1)
  }

  @Test func aPortInUseIsNamed() {
    #expect {
      _ = try DemoServer(port: server.port)
    } throws: { error in
      "\(error)".hasPrefix("the demo server can't listen on 127.0.0.1:\(server.port): ")
    }
  }

  @Test func aSlowConnectionIsLeftAloneBetweenItsBytes() {
    let slow = client.connect()
    let late = client.connect()
    defer {
      close(slow)
      close(late)
    }
    client.write("GET", "/file/slow.bin?size=1000000&rate=1", to: slow)
    client.write("GET", "/file/late.bin?size=10&delay=600000", to: late)
    #expect(eventually { server.requestCount("/file/slow.bin") == 1 && server.requestCount("/file/late.bin") == 1 })
    #expect(
      eventually {
        let turns = server.turnCount
        return stays { server.turnCount == turns }
      })
  }
}
