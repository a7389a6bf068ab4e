import Foundation
import Testing

private let variables = ProcessInfo.processInfo.environment
private let folder = variables["OPDASH_COIN"].map { URL(filePath: $0) }

/// Tests that fail on purpose, for `GateTests`: each of them the first `OPDASH_COIN_FAILURES` times that it is executed.
///
/// They count their executions in the folder `OPDASH_COIN`.
@Suite(.enabled(if: folder != nil, "GateTests executes it"))
struct CoinTests {
  private func toss(_ name: String) throws {
    let folder = try #require(folder)
    let earlier = try FileManager.default.contentsOfDirectory(atPath: folder.path()).count { $0.hasPrefix(name) }
    try Data().write(to: folder.appending(path: "\(name).\(earlier)"))
    if variables["OPDASH_COIN_CRASH"] != nil { abort() }
    #expect(try earlier >= #require(variables["OPDASH_COIN_FAILURES"].flatMap(Int.init)), "tails")
  }

  @Test func first() throws { try toss("first") }

  @Test func second() throws { try toss("second") }

  @Test func third() throws { try toss("third") }

  @Test func fourth() throws { try toss("fourth") }
}
