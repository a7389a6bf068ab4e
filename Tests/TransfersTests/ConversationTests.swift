import Foundation
import Operations
import Support
import Testing

@testable import Transfers

/// Transfers from and to servers that reply at random, by a grammar, and know the true bytes.
///
/// `OPDASH_CONVERSATIONS` is how many there are of each kind, 1,000 together, `OPDASH_CONVERSATION_SEED` repeats one of them.
struct ConversationTests {
  private static let variables = ProcessInfo.processInfo.environment
  private static let count = variables["OPDASH_CONVERSATIONS"].flatMap(UInt64.init) ?? 500
  private static let only = variables["OPDASH_CONVERSATION_SEED"].flatMap(UInt64.init)
  /// As many conversations go on at once.
  private static let lanes: UInt64 = 4
  /// Before the server is repaired.
  private static let attempts = 12
  /// The first one after that may find a part that has to be dropped.
  private static let attemptsAfterwards = 2

  /// Holds a conversation with each seed of a lane, until a few faults are found; prints one that is alone.
  private static func check(
    _ lane: UInt64, _ hold: (UInt64) async throws -> (fault: String?, said: [String])
  ) async throws {
    let seeds = Self.only.map { $0 % lanes == lane ? [$0] : [] } ?? Array(stride(from: lane, to: count, by: Int(lanes)))
    var found = 0
    for seed in seeds where found < 3 {
      let (fault, said) = try await hold(seed)
      let text = said.joined(separator: "\n")
      if only != nil { print(text) }
      guard let fault else { continue }
      found += 1
      Issue.record("OPDASH_CONVERSATION_SEED=\(seed): \(fault)\n\(text)")
    }
  }

  @Test(arguments: 0..<lanes) func aDownloadThatSucceedsHasTheServersBytes(lane: UInt64) async throws {
    try await Self.check(lane) { seed in
      let conversation = DownloadConversation(seed: seed)
      return (try await Self.faultOfDownload(conversation), conversation.said)
    }
  }

  @Test(arguments: 0..<lanes) func anUploadThatSucceedsIsWholeAndAnswered(lane: UInt64) async throws {
    try await Self.check(lane) { seed in
      let conversation = UploadConversation(seed: seed)
      return (try await Self.faultOfUpload(conversation), conversation.said)
    }
  }

  /// Executes an operation; returns nil if it does not end.
  private static func result<Success>(of operation: TransferOperation<Success>) async -> Observed<Success>? {
    let observed = Observed(operation)
    operation.start()
    if await soon({ observed.result != nil }) { return observed }
    operation.cancel()
    return nil
  }

  /// Downloads the file by as many attempts as that takes.
  private static func faultOfDownload(_ conversation: DownloadConversation) async throws -> String? {
    let server = try RawServer(conversation.answer)
    defer { server.stop() }
    let folder = try TemporaryFolder()
    for attempt in 0..<attempts + attemptsAfterwards {
      if attempt == attempts { conversation.repair() }
      let operation = DownloadOperation(
        from: server.url("/f"), to: folder.file("file"), resume: conversation.resumes)
      guard let download = await result(of: operation) else { return "it does not end" }
      conversation.say("= \(download.result.map { "\($0)" } ?? "") \(folder.names()) \(download.notes)")
      guard case .success(let url) = download.result else {
        if folder.names().contains("file") { return "a download that failed has made the file" }
        continue
      }
      let bytes = try [UInt8](Data(contentsOf: url))
      guard let truth = conversation.truth, bytes == truth else {
        return "succeeded with \(bytes.count) bytes, of \(conversation.truth?.count ?? -1): "
          + "\(zip(bytes, conversation.truth ?? []).prefix { $0 == $1 }.count) agree"
      }
      return folder.names() == ["file"] ? nil : "it has left more than the file: \(folder.names())"
    }
    return "no success with a server without faults"
  }

  private static func faultOfUpload(_ conversation: UploadConversation) async throws -> String? {
    let server = try RawServer(conversation.answer)
    defer { server.stop() }
    let folder = try TemporaryFolder()
    try Data(conversation.file).write(to: folder.file("file"))
    for attempt in 0...attempts {
      if attempt == attempts { conversation.repair() }
      let operation = UploadOperation(folder.file("file"), to: server.url("/up"), method: conversation.method)
      guard let upload = await result(of: operation) else { return "it does not end" }
      conversation.say("= \(upload.result.map { "\($0)" } ?? "") \(upload.notes)")
      guard case .success(let status) = upload.result else { continue }
      guard await soon({ server.isIdle }) else { return "succeeded, and the server waits for more of the body" }
      return conversation.fault(ofSuccess: status)
    }
    return "no success with a server without faults"
  }
}
