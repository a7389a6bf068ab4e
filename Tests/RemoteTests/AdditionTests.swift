import Foundation
import JobModel
import Support
import Testing

@testable import Remote

/// A feed that takes jobs and answers as a test says.
private final class TakingFeed: ExtensibleFeed, @unchecked Sendable {
  // Safe: the variables are touched only before and after an addition.
  let feed = FakeFeed()
  var taken: [AddedText] = []
  var result: Result<AddedJobs, AdditionRefusal> = .success(AddedJobs(["a", "b"], notes: ["a note"]))

  func add(
    _ text: AddedText, _ style: AddedText.Style,
    _ answer: @escaping @Sendable (Result<AddedJobs, AdditionRefusal>) -> Void
  ) {
    taken.append(text)
    let result = result
    DispatchQueue.global().async { answer(result) }
  }

  func subscribe(
    on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void
  ) -> JobSubscription { feed.subscribe(on: queue, receive) }
  var elapsed: Duration { feed.elapsed }
  func send(_ command: JobCommand) { feed.send(command) }
}

@Suite struct AdditionTests {
  private let folder: TemporaryFolder
  private let feed = TakingFeed()
  private let server: RunServer

  init() throws {
    folder = try TemporaryFolder()
    feed.feed.begin(1, run: "r1")
    let folder = try #require(try SocketFolder("\(folder.url.path())/live", makes: true))
    server = RunServer(feed, Greeting(pid: getpid(), run: "", name: "g", place: "/w"), on: try folder.listen())
  }

  private func program() throws -> RemoteProgram {
    try #require(RemoteProgram.all(in: ["\(folder.url.path())/live"]).programs.first)
  }

  @Test func aTextOfManyPartsArrivesWholeAndIsAnswered() throws {
    let bytes = (0..<5 << 19).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let text = AddedText(bytes, file: "a.yml", directory: "/w", vars: ["v": "1"], writer: "forged")
    #expect(try program().add(text, AddedText.Style()) == AddedJobs(["a", "b"], notes: ["a note"]))
    var taken = text
    taken.writer = nil
    #expect(feed.taken == [taken])
  }

  @Test func aRefusalComesWithAllItsLines() throws {
    let refusal = AdditionRefusal("one", lines: ["one", "two"])
    feed.result = .failure(refusal)
    #expect(throws: refusal) { try program().add(AddedText([], file: "a", directory: "/"), AddedText.Style()) }
  }

  @Test func aTextThatIsTooLargeIsRefused() throws {
    let text = AddedText([UInt8](repeating: 0x20, count: AddedText.limit + 1), file: "a", directory: "/")
    let refusal = AdditionRefusal("the text is larger than 16 MiB")
    #expect(throws: refusal) { try program().add(text, AddedText.Style()) }
    #expect(feed.taken.isEmpty)
  }

  @Test func theQueueOfAProgramTakesNone() throws {
    let served = try Served()
    let program = try #require(served.programs.first)
    let refusal = AdditionRefusal("the queue of a program takes no jobs from elsewhere")
    #expect(throws: refusal) { try program.add(AddedText([], file: "a", directory: "/"), AddedText.Style()) }
  }

  @Test func whoShowsTheRunCanNotSendATextToo() throws {
    let raw = try RawReader(try program())
    raw.send(String(decoding: Hello(access: .readOnly, logLines: 0).line, as: UTF8.self))
    let lines = Addition.lines(AddedText([1], file: "a", directory: "/"), AddedText.Style())
    raw.send(String(decoding: lines, as: UTF8.self))
    while let line = raw.line() {
      if line.contains("refused") {
        #expect(line.contains("a command was expected"))
        break
      }
    }
    #expect(feed.taken.isEmpty)
  }
}
