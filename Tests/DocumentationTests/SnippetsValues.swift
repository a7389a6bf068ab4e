import Foundation
import Operations
import Support
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The examples of the article `Values`.
@Suite struct ValuesArticleTests {
  private let queue = OperationQueue()
  private let said = Said()

  @Sendable private func download(_ page: String) async throws -> String { "content of \(page)" }
  @Sendable private func decode(_ page: String) throws -> String { page.uppercased() }
  @Sendable private func send(_ text: String) async throws -> Int { text.utf8.count }
  @Sendable private func save(_ page: String) throws -> Int { page.utf8.count }
  @Sendable private func addresses(in page: String) -> [String] { ["one", "two"] }
  private func retryLater() { said.append("later") }
  private func print(_ value: Int) { said.append(value) }
  private func show(_ page: Operation, _ outcome: Result<String, any Error>) { said.append(outcome) }

  @Test func valuesAreAwaitedAndPassedOn() async throws {
    let fetch = TaskOperation { try await download("page") }
    queue.addOperation(fetch)
    let page = try await fetch.value
    #expect(page == "content of page")

    let text = fetch.then { page in try decode(page) }
    let upload = text.then { text in try await send(text) }
    queue.addOperations([text, upload])
    #expect(try await upload.value == 15)
    let labelled = text.zip(upload).then { text, size in "\(size): \(text)" }
    queue.addOperations(labelled.withDependencies)
    #expect(try await labelled.value == "15: CONTENT OF PAGE")

    let pages = ["one", "two"].map { name in TaskOperation { try await download(name) } }
    let total = pages.collected().reduce(0) { $0 + $1.utf8.count }
    queue.addOperations(total.withDependencies)
    print(try await total.value)
    #expect(said.last == "28")
    for await (page, outcome) in pages.outcomes() { show(page, outcome) }
    #expect(said.count == 3)

    let saved = fetch.flatMap { page in
      RetryOperation(retries: 3) { attempt in ClosureOperation { try save(page) } }
    }
    let images = fetch.flatMap { page in
      ResultGroup(width: 4, addresses(in: page).map { address in TaskOperation { try await download(address) } })
    }
    for operation in [saved, images] as [Operation] { queue.addOperation(operation) }
    #expect(try await saved.value == 15)
    #expect(try await images.value == ["content of one", "content of two"])
    if let error = images.failure(as: URLError.self), error.code == .timedOut { retryLater() }
    #expect(said.count == 3)
    let title = RetryOperation(retries: 3) { attempt in
      TaskOperation { try await download("title") }.then { page in try decode(page) }
    }
    queue.addOperation(title)
    #expect(try await title.value == "CONTENT OF TITLE")
  }

  @Test func endsAreAwaited() async throws {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let install = ClosureOperation {}
    let cleanUp = BlockOperation {}
    queue.addOperation(install)
    queue.addOperation(cleanUp)
    try dependencyQueue.add(ClosureOperation {})
    try await install.untilFinished()
    try await cleanUp.untilFinished(cancelsOperation: true)
    try await queue.untilEmpty()
    try await dependencyQueue.untilEmpty()
    #expect(queue.operationCount == 0 && dependencyQueue.unfinishedCount == 0)
  }
}
