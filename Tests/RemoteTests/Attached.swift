import Foundation
import JobModel
import Support
import Testing

@testable import Remote

/// A run of a fake feed that is served, and programs that attach to it.
final class Served {
  let folder: TemporaryFolder
  let feed = FakeFeed()
  private(set) var server: RunServer?

  init(jobs: Int = 3) throws {
    folder = try TemporaryFolder()
    feed.begin(jobs, run: "r1")
    let folder = try #require(try SocketFolder("\(folder.url.path())/live", makes: true))
    server = RunServer(feed, Greeting(pid: getpid(), run: "", name: "g", place: "/w"), on: try folder.listen())
  }

  var programs: [RemoteProgram] { RemoteProgram.all(in: ["\(folder.url.path())/live"]).programs }

  func attach(_ access: RemoteAccess = .full) throws -> RemoteFeed {
    try RemoteFeed(try #require(programs.first), access: access)
  }

  func end() { server = nil }
}

/// A reader that sends and takes bytes as a test says.
final class RawReader {
  let descriptor: Int32
  private var rest: [UInt8] = []
  private(set) var taken = 0

  init(_ program: RemoteProgram) throws {
    descriptor = try #require(program.takeDescriptor())
    _ = fcntl(descriptor, F_SETFL, 0)
  }

  deinit { close(descriptor) }

  func send(_ text: String) { #expect(write(descriptor, text, text.utf8.count) == text.utf8.count) }

  /// The next line; nil at the end.
  func line() -> String? {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if let feed = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest.removeFirst(feed + 1) }
        return String(decoding: rest[..<feed], as: UTF8.self)
      }
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return nil }
      taken += count
      rest += buffer[..<count]
    }
  }
}
