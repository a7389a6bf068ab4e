import Foundation
import Operations
import Support
import Testing
import Transfers

/// The examples of the article `Transfers`, with a server of the test at their addresses.
@Suite struct TransferSnippetTests {
  private let folder: TemporaryFolder
  private let server: RawServer

  init() throws {
    folder = try TemporaryFolder()
    server = try RawServer { request in
      let isThere = request.method == "GET" && request.path == "/sdk.tar.gz"
      let status = isThere || request.method == "PUT" ? "200 OK" : "404 Not Found"
      return [.readBody(), .send("HTTP/1.1 \(status)\r\nContent-Length: 3\r\n\r\nsdk")]
    }
  }

  @Test func theOverviewSavesAFileAndSendsIt() {
    let said = Said()
    @Sendable func print(_ text: Any) { said.append(text) }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    func URL(string: String) -> Foundation.URL? { Foundation.URL(string: string).map { server.url($0.path()) } }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    func URL(filePath name: String) -> Foundation.URL { folder.file(name) }

    // swift-format-ignore: NeverForceUnwrap
    let url = URL(string: "https://example.org/sdk.tar.gz")!
    let download = DownloadOperation(from: url, to: URL(filePath: "sdk.tar.gz"))
    let queue = OperationQueue()
    queue.addOperations([download], waitUntilFinished: true)
    switch download.outcome {
    case .success(let file)?: print("saved \(file.lastPathComponent)")
    case .failure(let error)?: print(error)  // HTTP 404
    case nil: break
    }
    #expect(said.last == "saved sdk.tar.gz")

    // swift-format-ignore: NeverForceUnwrap
    let mirror = UploadOperation(to: URL(string: "https://example.org/mirror/sdk.tar.gz")!)
    mirror.takeInput(from: download)
    queue.addOperation(mirror)
    #expect(eventually { (try? mirror.outcome?.get()) == 200 })

    let once = DownloadOperation(
      from: url, to: URL(filePath: "sdk.tar.gz"), headers: ["Accept-Language": "en"], existing: .skip)
    queue.addOperation(once)
    #expect(eventually { (try? once.outcome?.get())?.lastPathComponent == "sdk.tar.gz" })
  }

  @Test func aFailureHasACode() {
    let said = Said()
    @Sendable func print(_ text: Any) { said.append(text) }
    let download = DownloadOperation(from: server.url("/nothing"), to: folder.file("nothing"))
    download.result { result in
      guard case .failure(let error as TransferError) = result else { return }
      switch error.code {
      case .http(404): print("there is no such file")
      case .network, .timedOut: print("try again: \(error)")
      default: print(error)
      }
    }
    OperationQueue().addOperation(download)
    #expect(eventually { said.last == "there is no such file" })
  }
}
