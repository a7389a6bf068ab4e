import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// Connections that are not made, not trusted or not used.
struct ConnectionFaultTests {
  private let folder: TemporaryFolder
  private let content = Array("0123456789".utf8)

  init() throws { folder = try TemporaryFolder() }

  private func download(_ url: URL, thread: TransferThread = .shared) -> Observed<URL> {
    Observed(DownloadOperation(from: url, to: folder.file("file"), thread: thread))
  }

  private func file() throws -> String { try String(contentsOf: folder.file("file"), encoding: .utf8) }

  @Test(.enabled(if: Loopback.hasIPv6, "this machine has no ::1"))
  func aServerIsReachedByIPv6() async throws {
    let server = try RawServer(isIPv6: true, RawServer.file(content))
    #expect(await download(server.url("/f")).run().error == nil)
    #expect(try file() == "0123456789")
    server.stop()
    let url = try #require(URL(string: "http://[::1]:1/f"))
    #expect(await download(url).run().error == TransferError(.network, "connection refused"))
  }

  @Test func aSlowServerIsWaitedFor() async throws {
    let mayGoOn = DispatchSemaphore(value: 0)
    let server = try RawServer { _ in
      [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")]
        + "0123456789".flatMap { [.run { _ = mayGoOn.wait(timeout: .now() + Patience.seconds) }, .send(String($0))] }
    }
    defer { server.stop() }
    let download = download(server.url("/f"))
    download.operation.start()
    for count in 1...10 {
      mayGoOn.signal()
      #expect(eventually { download.done == count })
    }
    await download.ended()
    #expect(download.error == nil)
    #expect(try file() == "0123456789")
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 10\r\n\r\n012"])
  func aSilentServerIsWaitedForNoLongerThanTheTimeLimit(start: String) async throws {
    let server = try RawServer { _ in [.send(start), .hold] }
    defer { server.stop() }
    let download = download(server.url("/f"))
    let clock = ManualOperationClock()
    download.operation.setTimeout(.seconds(60), clock: clock)
    download.start(until: start.isEmpty ? 0 : 3)
    #expect(eventually { server.requests.count == 1 })
    clock.advance(by: .seconds(59))
    #expect(!download.operation.isCancelled)
    clock.advance(by: .seconds(1))
    await download.ended()
    guard case .failure(let error as OperationError) = download.result else {
      Issue.record("it ended with \(String(describing: download.result))")
      return
    }
    #expect(error.code == .timedOut && error.limit == .seconds(60))
    #expect(folder.names() == (start.isEmpty ? [] : ["file.part", "file.part.meta"]))
  }

  @Test(.enabled(if: TLSServer.isAvailable, "there is no openssl"))
  func aCertificateThatNobodyTrustsIsAFailure() async throws {
    let server = try TLSServer(content)
    let download = await download(server.url("127.0.0.1"), thread: TransferThread(environment: [:])).run()
    let message = "the server's certificate is self-signed: to trust it, name its file in CURL_CA_BUNDLE"
    #expect(download.error == TransferError(.certificate, message))
    #expect(folder.names().isEmpty)
  }

  @Test(.enabled(if: TLSServer.isAvailable, "there is no openssl"))
  func aCertificateThatHasExpiredIsAFailure() async throws {
    let server = try TLSServer(content, days: -1)
    let thread = TransferThread(environment: ["SSL_CERT_FILE": server.certificate])
    let error = await download(server.url("127.0.0.1"), thread: thread).run().error
    #expect(error == TransferError(.certificate, "the server's certificate has expired"))
  }

  @Test func anAnswerWithoutTLSIsAFailureThatSaysSo() async throws {
    let nginx = try Nginx()
    let url = try #require(URL(string: "https://127.0.0.1:\(nginx.port)/files/f"))
    let message = "the server doesn't answer in TLS: write http://, or another port"
    #expect(await download(url).run().error == TransferError(.network, message))
  }

  @Test(.enabled(if: TLSServer.isAvailable, "there is no openssl"), arguments: ["CURL_CA_BUNDLE", "SSL_CERT_FILE"])
  func theEnvironmentNamesTrustedCertificates(variable: String) async throws {
    let server = try TLSServer(content)
    let thread = TransferThread(environment: [variable: server.certificate])
    #expect(await download(server.url("127.0.0.1"), thread: thread).run().error == nil)
    #expect(try file() == "0123456789")
    // The certificate is for another name.
    let wrong = await download(server.url("localhost"), thread: thread).run().error
    #expect(wrong?.code == .certificate)
    #expect(wrong?.message.contains("localhost") == true, "\(String(describing: wrong))")
  }

  @Test(.enabled(if: TLSServer.isAvailable, "there is no openssl"))
  func aMissingFileOfCertificatesIsAFailureThatNamesIt() async throws {
    let server = try TLSServer(content)
    let thread = TransferThread(environment: ["SSL_CERT_FILE": "/no/such/file"])
    let error = await download(server.url("127.0.0.1"), thread: thread).run().error
    #expect(error?.code == .certificate)
    #expect(error?.message.contains("/no/such/file") == true, "\(String(describing: error))")
  }

  @Test(
    arguments: [
      ([:], nil, nil), (["SSL_CERT_FILE": "f"], "f", nil), (["SSL_CERT_DIR": "d"], nil, "d"),
      (["SSL_CERT_FILE": "f", "SSL_CERT_DIR": "d"], "f", "d"), (["CURL_CA_BUNDLE": "", "SSL_CERT_FILE": ""], nil, nil),
      (["CURL_CA_BUNDLE": "b", "SSL_CERT_FILE": "f", "SSL_CERT_DIR": "d"], "b", nil),
    ] as [([String: String], String?, String?)])
  func theVariablesCountInTheOrderOfTheCurlTool(environment: [String: String], file: String?, folder: String?) {
    let store = CertificateStore(environment: environment)
    #expect(store.file == file && store.folder == folder)
  }

  /// libcurl reads these variables itself, so the process is one of its own.
  @Test func aProxyIsUsedAndItsPasswordIsNotShown() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let proxy = try RawServer(RawServer.file(Array("0123456789".utf8)))
      func run(_ value: String) async -> Observed<URL> {
        setenv("http_proxy", value, 1)
        guard let url = URL(string: "http://example.invalid/f") else { fatalError("no URL") }
        return await Observed(DownloadOperation(from: url, to: folder.file("file"))).run()
      }
      let used = await run("http://me:pw@127.0.0.1:\(proxy.port)")
      guard used.error == nil, proxy.requests.map(\.path) == ["http://example.invalid/f"] else {
        fatalError("\(String(describing: used.error)) \(proxy.requests)")
      }
      let wrong = await run("nonsense://me:pw@127.0.0.1:1")
      guard let message = wrong.error?.message, message.contains("nonsense://***@127.0.0.1"), !message.contains("pw")
      else { fatalError("\(String(describing: wrong.error))") }
      let refused = await run("http://me:pw@127.0.0.1:1")
      guard refused.error == TransferError(.network, "connection refused") else {
        fatalError("\(String(describing: refused.error))")
      }
    }
  }
}

/// A server with a certificate of its own for 127.0.0.1, gone when the value is, or when the test's process dies.
private final class TLSServer: Sendable {
  private let folder: TemporaryFolder
  private let port: UInt16
  private let process: ChildProcess
  private let lifeline: Int32

  static let isAvailable = (try? ChildProcess.run(["openssl", "version"]).output.hasPrefix("OpenSSL")) == true

  init(_ content: [UInt8], days: Int = 1) throws {
    folder = try TemporaryFolder()
    try Data(content).write(to: folder.file("f"))
    let request = """
      cd '\(folder.url.path())' && openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out certificate -days 1 \
      -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 2>log \
      && openssl x509 -in certificate -signkey key -days \(days) -out certificate 2>>log
      """
    guard try ChildProcess.run(["/bin/sh", "-c", request]).ending == .exited(0) else {
      throw ChildProcess.Failure(description: "no certificate")
    }
    // The shell ends the server when its standard input ends, which only this process holds open.
    let script = """
      cd '\(folder.url.path())'
      exec 3<&0
      openssl s_server -WWW -accept 127.0.0.1:0 -cert certificate -key key </dev/null >log 2>&1 3<&- &
      read -r line <&3
      kill -9 $!
      wait
      """
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw ChildProcess.Failure(description: "no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    lifeline = ends[1]
    defer { close(ends[0]) }
    process = try ChildProcess(["/bin/sh", "-c", script], descriptors: [ends[0]])
    let log = folder.file("log")
    var port: UInt16?
    _ = eventually {
      let line = try? String(contentsOf: log, encoding: .utf8).split(separator: "\n").first { $0.hasPrefix("ACCEPT") }
      port = line?.split(separator: ":").last.flatMap { UInt16($0) }
      return port != nil
    }
    guard let port else {
      close(lifeline)
      throw ChildProcess.Failure(description: "openssl s_server does not start")
    }
    self.port = port
  }

  deinit {
    close(lifeline)
    _ = process.ending(waiting: true)
  }

  var certificate: String { folder.file("certificate").path() }

  func url(_ host: String) -> URL {
    guard let url = URL(string: "https://\(host):\(port)/f") else { fatalError("no URL") }
    return url
  }
}
