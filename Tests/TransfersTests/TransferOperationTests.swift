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
  private func download(
    notesIn path: String, keepsShort: Bool = true, masking secrets: [String] = [], sha256: String? = nil
  ) async throws -> Observed<URL> {
    let server = try RawServer { request in
      request.path == "/secret"
        ? [.send("HTTP/1.1 302 F\r\nLocation: /f\r\nContent-Length: 0\r\n\r\n"), .next]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .next]
    }
    defer { server.stop() }
    let operation = DownloadOperation(from: server.url("/secret"), to: folder.file("file"), sha256: sha256)
    operation.keepNotes(in: path, keepsShort: keepsShort, masking: SecretMask(secrets))
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

  /// Longer than what is noted of a line.
  private static let token = (100..<200).map(String.init).joined()

  private static let bodies: [(body: String, line: String)] = [
    ("token \(token) no", "token *** no"),
    // The whole of a line is no beginning of a secret.
    ("token \(token.prefix(9))", "token 100101102"),
    // The sample ends within the token.
    (String(repeating: "\n", count: 8000) + "token \(token)", "token "),
  ]

  /// In the operation's own notes and in their file.
  @Test(arguments: bodies) func aLongSecretThatAServerSaysIsMasked(body: String, line: String) async throws {
    let server = try RawServer { _ in
      [.send("HTTP/1.1 500 S\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"), .next]
    }
    defer { server.stop() }
    let operation = DownloadOperation(from: server.url("/f"), to: folder.file("file"))
    operation.keepNotes(in: folder.file("log").path(), masking: SecretMask([Self.token]))
    let download = await Observed(operation).run()
    #expect(download.notes.last == "the server says: \(line)")
    #expect(try String(contentsOf: folder.file("log"), encoding: .utf8).hasSuffix("the server says: \(line)\n"))
  }

  @Test(arguments: ["cut", "slow"])
  func theBeginningOfASecretThatAServerSaysIsNotShown(ending: String) async throws {
    let server = try RawServer { _ in
      [.send("HTTP/1.1 500 S\r\nContent-Length: 1000\r\n\r\ntoken \(Self.token.prefix(150))")]
        + (ending == "slow" ? [.hold] : [])
    }
    defer { server.stop() }
    let operation = DownloadOperation(from: server.url("/f"), to: folder.file("file"))
    operation.keepNotes(in: folder.file("log").path(), masking: SecretMask([Self.token]))
    #expect(await Observed(operation).run().notes.last == "the server says: token ")
  }

  @Test func aSuccessWithFewNotesNeedsNoFile() async throws {
    let download = try await download(notesIn: folder.file("log").path(), keepsShort: false)
    #expect(download.notes.count == 3)
    #expect(folder.names() == ["file"])
  }

  @Test func theNotesOfAFailureAreWrittenAtItsEnd() async throws {
    let path = folder.file("log").path()
    let wrong = String(repeating: "0", count: 64)
    let download = try await download(notesIn: path, keepsShort: false, masking: ["secret"], sha256: wrong)
    #expect(download.error?.code == .checksum)
    let lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
    #expect(lines.count == 5 && lines.first == "GET /*** 302 (HTTP/1.1)" && lines.last == "")
    #expect(download.notes.count == 4)
  }

  @Test func theNotesOfAFailureThatCannotBeWrittenAreReported() async throws {
    let path = folder.file("none").path() + "/log"
    let wrong = String(repeating: "0", count: 64)
    let download = try await download(notesIn: path, keepsShort: false, sha256: wrong)
    #expect(download.notes.last == "the output is not kept from here on: \(path): No such file or directory")
  }

  /// More than 4 KiB: a redirect to the same URL, again and again.
  @Test func manyNotesAreWrittenAlsoOfASuccess() async throws {
    let name = String(repeating: "n", count: 1000)
    let server = try RawServer { request in
      let number = Int(request.path.suffix(1)) ?? 0
      return number < 6
        ? [.send("HTTP/1.1 302 F\r\nLocation: /\(name)\(number + 1)\r\nContent-Length: 0\r\n\r\n"), .next]
        : [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .next]
    }
    defer { server.stop() }
    let operation = DownloadOperation(from: server.url("/\(name)0"), to: folder.file("file"))
    operation.keepNotes(in: folder.file("log").path(), keepsShort: false)
    let download = await Observed(operation).run()
    #expect(download.error == nil)
    #expect(try String(contentsOf: folder.file("log"), encoding: .utf8) == download.notes.map { $0 + "\n" }.joined())
    #expect(download.notes.count == 13)
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
