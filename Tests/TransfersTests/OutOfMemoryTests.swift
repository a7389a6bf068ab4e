import CCurl
import Foundation
import Operations
import Support
import Synchronization
import Testing

@testable import Transfers

/// The allocator of libcurl in a process of its own, which fails on demand.
private enum Allocator {
  static let calls = Atomic(0)
  static let failingCall = Atomic(0)
  static let failsAlways = Atomic(false)

  private static func fails() -> Bool {
    let call = calls.add(1, ordering: .relaxed).newValue
    return call == failingCall.load(ordering: .relaxed) || failsAlways.load(ordering: .relaxed)
  }

  /// Must be called before any transfer: libcurl ignores it later.
  static func install() {
    curl_global_init_mem(
      Int(CURL_GLOBAL_DEFAULT), { Allocator.fails() ? nil : malloc($0) }, { free($0) },
      { Allocator.fails() ? nil : realloc($0, $1) }, { text in text.flatMap { Allocator.fails() ? nil : strdup($0) } },
      { Allocator.fails() ? nil : calloc($0, $1) })
  }

  /// Makes only the call with this number fail, counted from here.
  static func fail(at call: Int) {
    calls.store(0, ordering: .relaxed)
    failingCall.store(call, ordering: .relaxed)
  }
}

private struct WrongEnd: Error {
  let description: String
}

private struct Transfers {
  let folder: TemporaryFolder
  let server: RawServer
  let content = randomBytes(100_000)

  init() throws {
    folder = try TemporaryFolder()
    server = try RawServer { [content] request in
      request.method == "GET"
        ? RawServer.file(content)(request)
        : [.readBody(), .send("HTTP/1.1 201 C\r\nContent-Length: 0\r\n\r\n"), .next]
    }
    try Data(content).write(to: folder.file("sent"))
  }

  /// Returns the error of the transfer, nil after a success.
  private func run<Success>(_ operation: TransferOperation<Success>) throws -> TransferError? {
    operation.start()
    guard eventually({ operation.isFinished }) else { throw WrongEnd(description: "not finished") }
    switch operation.outcome {
    case .success: return nil
    case .failure(let error as TransferError): return error
    case let other: throw WrongEnd(description: "\(String(describing: other))")
    }
  }

  func download() throws -> TransferError? {
    let headers = ["Authorization": "Bearer t", "X-Empty": ""]
    let error = try run(DownloadOperation(from: server.url("/f"), to: folder.file("file"), headers: headers))
    if error == nil, try Data(contentsOf: folder.file("file")) != Data(content) {
      throw WrongEnd(description: "the file differs")
    }
    return error
  }

  func upload() throws -> TransferError? { try run(UploadOperation(folder.file("sent"), to: server.url("/x"))) }
}

@Suite struct OutOfMemoryTests {
  @Test func withoutMemoryForLibcurlATransferFailsAndALaterOneSucceeds() async {
    await #expect(processExitsWith: .success) {
      Allocator.install()
      let transfers = try Transfers()
      Allocator.failsAlways.store(true, ordering: .relaxed)
      for error in [try transfers.download(), try transfers.upload()] where error?.code != .outOfMemory {
        throw WrongEnd(description: "\(String(describing: error))")
      }
      Allocator.failsAlways.store(false, ordering: .relaxed)
      // The thread tries again every 50 milliseconds.
      var error = try transfers.download()
      for _ in 0..<100 where error != nil { error = try transfers.download() }
      if let error { throw error }
    }
  }

  @Test func everyAllocationOfLibcurlMayFailAndOnlyItsTransferFails() async {
    await #expect(processExitsWith: .success) {
      Allocator.install()
      let transfers = try Transfers()
      var failures = 0
      var call = 0
      repeat {
        call += 1
        for transfer in [transfers.download, transfers.upload] {
          Allocator.fail(at: call)
          if try transfer()?.code == .outOfMemory { failures += 1 }
        }
      } while Allocator.calls.load(ordering: .relaxed) >= call && call < 5000
      Allocator.fail(at: 0)
      if let error = try transfers.download() ?? transfers.upload() { throw error }
      if failures < 10 { throw WrongEnd(description: "only \(failures) transfers ran out of memory") }
    }
  }
}
