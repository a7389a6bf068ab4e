import Dispatch
import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import JobEngine

struct JobserverTests {
  private let folder: TemporaryFolder
  private let queue = DispatchQueue(label: "test")
  private let calls = Lock(0)

  init() throws { folder = try TemporaryFolder() }

  private func made(slots: Int) throws -> Jobserver {
    try Jobserver(slots: slots, path: folder.file("jobserver").path(), flags: MakeFlags("k".utf8), queue: queue) {
      [calls] in calls.withLock { $0 += 1 }
    }
  }

  /// The bytes that are in a pipe.
  private func waiting(in descriptor: Int32) -> Int {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : -1
  }

  private func take(_ count: Int, from descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: count)
    #expect(read(descriptor, &bytes, count) == count)
  }

  private func give(_ text: String, to descriptor: Int32) {
    #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
  }

  @Test func theFreeSlotsAreInThePipe() throws {
    let server = try made(slots: 4)
    defer { server.close() }
    #expect(server.held == 4 && waiting(in: server.descriptors[0]) == 0)
    for (wanted, held) in [(1, 1), (3, 3), (9, 4), (0, 1)] {
      server.balance(wanted: wanted, slots: 4)
      #expect(server.held == held && waiting(in: server.descriptors[0]) == 4 - held)
    }
  }

  @Test func whatProgramsHaveIsWaitedFor() throws {
    let server = try made(slots: 3)
    defer { server.close() }
    server.balance(wanted: 1, slots: 3)
    take(2, from: server.descriptors[0])
    server.balance(wanted: 3, slots: 3)
    #expect(server.held == 1)
    give("+", to: server.descriptors[1])
    #expect(eventually { calls.withLock(\.self) > 0 })
    server.balance(wanted: 3, slots: 3)
    #expect(server.held == 2)
    // Nothing is waited for any more.
    server.balance(wanted: 2, slots: 3)
    queue.sync {}
    let before = calls.withLock(\.self)
    give("+", to: server.descriptors[1])
    queue.sync {}
    #expect(calls.withLock(\.self) == before && waiting(in: server.descriptors[0]) == 1)
  }

  @Test func theTokensOfAKilledProgramComeBack() throws {
    let server = try made(slots: 4)
    defer { server.close() }
    server.balance(wanted: 2, slots: 4)
    take(1, from: server.descriptors[0])
    server.recount()
    #expect(server.held == 4 && waiting(in: server.descriptors[0]) == 0)
    // A program that gives back more than it took.
    server.balance(wanted: 1, slots: 4)
    give("+++", to: server.descriptors[1])
    server.recount()
    #expect(server.held == 4 && waiting(in: server.descriptors[0]) == 0)
  }

  @Test func slotsAreAddedAndRemovedWhileProgramsHaveTokens() throws {
    let server = try made(slots: 3)
    defer { server.close() }
    server.balance(wanted: 1, slots: 3)
    server.balance(wanted: 1, slots: 5)
    #expect(server.held == 1 && waiting(in: server.descriptors[0]) == 4)
    take(4, from: server.descriptors[0])
    server.balance(wanted: 1, slots: 2)
    #expect(server.held == -2)
    give("++++", to: server.descriptors[1])
    server.balance(wanted: 1, slots: 2)
    #expect(server.held == 1 && waiting(in: server.descriptors[0]) == 1)
  }

  @Test func aProgramIsToldWhereTheTokensAre() throws {
    let server = try made(slots: 2)
    let path = folder.file("jobserver").path()
    #expect(
      server.variables(.descriptors, own: nil, jobs: 2) == [
        "MAKEFLAGS": "k -j2 --jobserver-auth=3,4", "CARGO_MAKEFLAGS": "k -j2 --jobserver-auth=3,4",
      ])
    #expect(server.variables(.fifo, own: "s", jobs: 2)["MAKEFLAGS"] == "s -j2 --jobserver-auth=fifo:\(path)")
    #expect(server.descriptors.allSatisfy { $0 > 4 })
    server.close()
    #expect(folder.names().isEmpty)
  }

  // MARK: Of a make

  /// The pipe of a make with these tokens.
  private func pipe(_ tokens: String) throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [0, 0]
    try #require(Foundation.pipe(&ends) == 0)
    give(tokens, to: ends[1])
    return (ends[0], ends[1])
  }

  @Test func theTokensOfAMakeAreGivenBackAsTheyWere() throws {
    let (reader, writer) = try pipe("abc")
    defer { for descriptor in [reader, writer] { close(descriptor) } }
    let server = try #require(Jobserver(of: .descriptors(reader, writer), flags: MakeFlags([]), queue: queue) {})
    #expect(server.held == 1)
    server.balance(wanted: 3, slots: 8)
    #expect(server.held == 3 && waiting(in: reader) == 1)
    server.balance(wanted: 9, slots: 8)
    #expect(server.held == 4 && waiting(in: reader) == 0)
    server.balance(wanted: 2, slots: 8)
    #expect(server.held == 2 && waiting(in: reader) == 2)
    // Programs of this one may have the others.
    server.recount()
    #expect(server.held == 2)
    server.close()
    var bytes = [UInt8](repeating: 0, count: 4)
    #expect(read(reader, &bytes, 4) == 3)
    #expect(Set(bytes.prefix(3)) == Set("abc".utf8))
    // Make reads with its own mode.
    #expect(fcntl(reader, F_GETFL) & O_NONBLOCK == 0)
  }

  @Test func aFIFOOfAMakeIsOpened() throws {
    let path = folder.file("make").path()
    #expect(mkfifo(path, 0o600) == 0)
    let descriptor = open(path, O_RDWR)
    defer { close(descriptor) }
    give("++", to: descriptor)
    let server = try #require(Jobserver(of: .fifo(path), flags: MakeFlags([]), queue: queue) {})
    server.balance(wanted: 8, slots: 2)
    #expect(server.held == 2 && waiting(in: descriptor) == 1)
    server.close()
    #expect(waiting(in: descriptor) == 2)
  }

  @Test func whatIsNoPipeIsNoJobserver() {
    #expect(Jobserver(of: .fifo(folder.file("none").path()), flags: MakeFlags([]), queue: queue) {} == nil)
    #expect(Jobserver(of: .descriptors(9999, 9998), flags: MakeFlags([]), queue: queue) {} == nil)
  }
}
