import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// What downloads and uploads have in common.
struct TransferOperationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A download that is redirected once.
  private func download(notesIn path: String, masking secrets: [String] = []) async throws -> Observed<URL> {
    let server = try RawServer { request in
      request.path == "/secret"
        ? [.send("HTTP/1.1 302 F\r\nLocation: /f\r\nContent-Length: 0\r\n\r\n"), .next]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .next]
    }
    defer { server.stop() }
    let operation = DownloadOperation(from: server.url("/secret"), to: folder.file("file"))
    operation.keepNotes(in: path, masking: SecretMask(secrets))
    return await Observed(operation).run()
  }

  @Test(arguments: [([], "/secret"), (["secret"], "/***")])
  func theFileHasTheNotesWithoutSecretsWhenTheTransferEnds(secrets: [String], path: String) async throws {
    let notes = try await download(notesIn: folder.file("log").path(), masking: secrets).notes
    let lines = try String(contentsOf: folder.file("log"), encoding: .utf8).components(separatedBy: "\n")
    #expect(lines.count == 4)
    #expect(lines.first == "GET \(path) 302 (HTTP/1.1)")
    #expect(lines.dropFirst().first?.hasPrefix("redirected to http://127.0.0.1:") == true)
    #expect(lines.dropFirst(2) == ["GET /f 200, 2 bytes (HTTP/1.1)", ""])
    #expect(notes.count == 3)
    #expect(notes.last == "GET /f 200, 2 bytes (HTTP/1.1)")
  }

  @Test func aFileThatCannotBeMadeIsToldOnceAndTheTransferGoesOn() async throws {
    let path = folder.file("none").path() + "/log"
    let download = try await download(notesIn: path)
    #expect(download.error == nil)
    #expect(download.notes.count == 4)
    let problem = "the output is not kept from here on: \(path): No such file or directory"
    #expect(download.notes.dropFirst().first == problem)
  }
}
