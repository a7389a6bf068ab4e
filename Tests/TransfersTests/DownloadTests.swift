import Foundation
import Operations
import Support
import Testing

@testable import Transfers

@Suite struct DownloadTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func download(
    _ url: URL, to name: String = "file", headers: [String: String] = [:], sha256: String? = nil, resume: Bool = true
  ) -> Observed<URL> {
    Observed(DownloadOperation(from: url, to: folder.file(name), headers: headers, sha256: sha256, resume: resume))
  }

  @Test func theFileIsTheServersFile() async throws {
    let nginx = try Nginx()
    let data = try nginx.add("a.bin", size: 3_000_001)
    let download = await download(nginx.url("/files/a.bin"), to: "deep/er/a.bin").run()
    #expect(try download.result?.get() == folder.file("deep/er/a.bin"))
    #expect(try Data(contentsOf: folder.file("deep/er/a.bin")) == data)
    #expect(folder.names(in: "deep/er") == ["a.bin"])
    #expect(download.progress.first == OperationProgress(completed: 0, total: 3_000_001))
    #expect(download.progress.last == OperationProgress(completed: 3_000_001, total: 3_000_001))
    #expect(download.operation.progress == OperationProgress(completed: 3_000_001, total: 3_000_001))
    #expect(download.notes == ["GET /files/a.bin 200, 3000001 bytes (HTTP/1.1)"])
  }

  @Test func anEmptyFileIsDownloaded() async throws {
    let nginx = try Nginx()
    try nginx.add("empty", size: 0)
    let download = await download(nginx.url("/files/empty")).run()
    #expect(try download.result?.get() != nil)
    #expect(try Data(contentsOf: folder.file("file")).isEmpty)
  }

  @Test(arguments: [403, 404, 429, 500, 503])
  func aBadStatusIsAFailureAndItsBodyIsNotTheFile(status: Int) async throws {
    let nginx = try Nginx()
    let download = await download(nginx.url("/status/\(status)")).run()
    #expect(download.error == TransferError(.http(status), "HTTP \(status)"))
    #expect(folder.names().isEmpty)
    #expect(download.notes == ["GET /status/\(status) \(status) (HTTP/1.1)", "the server says: this is a \(status)"])
  }

  @Test func aServerThatRecoversServesTheSecondAttempt() async throws {
    let nginx = try Nginx()
    let data = try nginx.add("r", size: 5_000)
    #expect(await download(nginx.url("/recover/r")).run().error?.code == .http(503))
    try nginx.recover()
    #expect(try await download(nginx.url("/recover/r")).run().result?.get() != nil)
    #expect(try Data(contentsOf: folder.file("file")) == data)
  }

  @Test func aPausedDownloadIsResumedFromItsByteAndIsByteIdentical() async throws {
    let nginx = try Nginx()
    // 16 KiB a second: it can't end before the pause, however late that is.
    let data = try nginx.add("p", size: 40_000_000)
    let download = download(nginx.url("/slow/p"))
    download.operation.start()
    #expect(eventually { download.done > 0 })
    download.operation.pause()
    try nginx.recover()
    download.operation.resume()
    await download.ended()
    _ = try #require(try? download.result?.get(), "\(String(describing: download.result)) \(download.notes)")
    #expect(try Data(contentsOf: folder.file("file")) == data)
    #expect(folder.names() == ["file"])
    let resumed = download.notes.filter { $0.contains("206, from byte ") }
    #expect(resumed.count == 1, "\(download.notes)")
  }

  @Test func aCutConnectionIsAFailureAndTheNextOperationResumes() async throws {
    let content = randomBytes(500_000)
    let server = try RawServer(RawServer.file(content, cuts: [200_000]))
    defer { server.stop() }
    let first = await download(server.url("/f")).run()
    #expect(first.error == TransferError(.network, "ended after 200000 of 500000 bytes"))
    #expect(folder.names() == ["file.part", "file.part.meta"])
    let second = await download(server.url("/f")).run()
    #expect(try second.result?.get() != nil)
    #expect(second.progress.first == OperationProgress(completed: 200_000, total: 500_000))
    #expect(second.notes == ["GET /f 206, from byte 200000 of 500000 (HTTP/1.1)"])
    #expect(try Data(contentsOf: folder.file("file")) == Data(content))
    #expect(folder.names() == ["file"])
    #expect(server.requests.last?.headers["if-range"] == "\"1\"")
  }
}
