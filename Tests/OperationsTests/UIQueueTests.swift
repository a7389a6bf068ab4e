import Foundation
import Operations
import Support
import Testing

@Suite(.serialized) struct UIQueueTests {
  /// A view model as it was written before there were actors.
  final class Table: @unchecked Sendable {
    // Safe as long as it is used as the tests say: one thread at a time.
    static let rowsLine: UInt = #line + 1
    @UIState var rows: [String] = []
    private(set) var title = ""

    static let showLine: UInt = #line + 2
    func show(_ title: String) {
      UIQueue.check()
      self.title = title
    }
  }

  /// The violations found while the body runs on another queue than the main one.
  func violations(_ body: @escaping @Sendable (Table) -> Void, on queue: DispatchQueue) async -> [UIQueueViolation] {
    let journal = Journal<UIQueueViolation>()
    let before = UIQueue.response
    UIQueue.response = .call { journal.add($0) }
    defer { UIQueue.response = before }
    let table = Table()
    await withCheckedContinuation { continuation in
      queue.async {
        body(table)
        continuation.resume()
      }
    }
    return journal.entries
  }

  @Test func onTheMainQueueNothingIsSaid() async {
    let told = await violations(
      {
        $0.show("a")
        $0.rows.append("a")
      }, on: .main)
    #expect(told.isEmpty)
    #expect(await MainActor.run { UIQueue.isCurrent })
  }

  @Test func aQueueThatTargetsTheMainQueueIsTheUIQueue() async {
    let queue = DispatchQueue(label: "below-main", target: .main)
    #expect(await violations({ $0.show("a") }, on: queue).isEmpty)
  }

  @Test func theFunctionItsPlaceAndTheQueueAreNamed() async throws {
    let told = await violations({ $0.show("a") }, on: DispatchQueue(label: "network"))
    let violation = try #require(told.first)
    #expect(told.count == 1)
    #expect(violation.function == "show(_:)")
    #expect(violation.file == "OperationsTests/UIQueueTests.swift" && violation.line == Table.showLine)
    #expect(violation.queue == "the queue 'network'")
    #expect(
      violation.description.contains(
        "show(_:) (OperationsTests/UIQueueTests.swift:\(Table.showLine)) ran on the queue 'network'"))
  }

  #if DEBUG && os(Linux)
  @Test func theCallThatIsAtFaultIsNamed() async throws {
    let line = #line + 1
    let told = await violations({ $0.show("a") }, on: DispatchQueue(label: "network"))
    let violation = try #require(told.first)
    #expect(violation.callers.first?.function == "UIQueueTests.Table.show(_:)", "\(violation.callers)")
    let caller = try #require(violation.caller)
    #expect(caller.file.hasSuffix("UIQueueTests.swift") && caller.line == line)
    #expect(violation.description.contains("called by closure"), "\(violation)")
  }
  #endif

  @Test func anOperationQueueIsNamed() {
    let queue = OperationQueue()
    queue.name = "downloads"
    let journal = Journal<UIQueueViolation>()
    let before = UIQueue.response
    UIQueue.response = .call { journal.add($0) }
    defer { UIQueue.response = before }
    let table = Table()
    queue.addOperations([BlockOperation { table.show("a") }], waitUntilFinished: true)
    #expect(journal.entries.map(\.operationQueue) == ["downloads"])
  }

  @Test func aPropertyOfTheUIStateIsCheckedWhenItIsReadAndWhenItIsChanged() async {
    let told = await violations({ $0.rows.append($0.rows.first ?? "a") }, on: DispatchQueue(label: "network"))
    #expect(told.count == 2)
    #expect(told.allSatisfy { $0.file == "OperationsTests/UIQueueTests.swift" && $0.line == Table.rowsLine }, "\(told)")
  }

  @Test func whatIsIgnoredIsNotLookedFor() {
    let before = UIQueue.response
    UIQueue.response = .ignore
    defer { UIQueue.response = before }
    let table = Table()
    DispatchQueue(label: "network").sync { table.show("b") }
    #expect(table.title == "b")
  }

  @Test func aReportIsALineAndTheProgramGoesOn() async {
    let result = await #expect(processExitsWith: .exitCode(7), observing: [\.standardErrorContent]) {
      UIQueue.response = .report
      DispatchQueue(label: "network").async {
        Table().show("a")
        exit(7)
      }
      MisuseRig.awaitTheEnd()
    }
    let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("UI state touched off the UI queue: show(_:)") } == 1, "\(lines)")
  }

  @Test func itStopsTheProgramAndNamesTheCall() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      UIQueue.response = .stop
      DispatchQueue(label: "network").async { Table().show("a") }
      MisuseRig.awaitTheEnd()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains("show(_:) (OperationsTests/UIQueueTests.swift:\(Table.showLine)) ran on the queue 'network'"),
      "\(text)")
  }
}
