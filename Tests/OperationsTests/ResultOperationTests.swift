import Foundation
import Support
import Testing

@testable import Operations

@Suite struct ResultOperationTests {
  final class Answer: ResultOperation<Int>, @unchecked Sendable {
    override func main() {}
    override func didCancel() { finish() }
  }

  @Test func theFirstResultCounts() throws {
    let answer = Answer()
    answer.start()
    answer.finish(.success(1))
    answer.finish(.success(2))
    #expect(try answer.outcome?.get() == 1)
  }

  @Test func aHandlerIsCalledOnceBeforeOrAfterTheEnd() {
    let answer = Answer()
    let journal = Journal<Int>()
    answer.whenDone { journal.add((try? $0.get()) ?? -1) }
    answer.start()
    #expect(journal.entries == [])
    answer.finish(.success(4))
    #expect(journal.entries == [4])
    answer.whenDone { journal.add((try? $0.get()) ?? -1) }
    #expect(journal.entries == [4, 4])
  }

  @Test func itIsFinishedWhenItsHandlersAreCalled() {
    let answer = Answer()
    let journal = Journal<Bool>()
    answer.whenDone { [unowned answer] _ in journal.add(answer.isFinished) }
    answer.start()
    answer.finish(.success(4))
    #expect(journal.entries == [true])
  }

  @Test func whoeverSeesThatItIsFinishedSeesItsResult() {
    for round in 0..<3000 {
      let answer = Answer()
      let journal = Journal<Int?>()
      answer.start()
      race([
        { answer.finish(.success(round)) },
        {
          while !answer.isFinished {}
          journal.add(try? answer.outcome?.get())
        },
      ])
      #expect(journal.entries == [round])
    }
  }

  @Test func theQueueStartsNothingInItsPlaceBeforeItsHandlersAreThrough() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let journal = Journal<String>()
    let answer = Answer()
    let next = BlockOperation { journal.add("next") }
    answer.whenDone { _ in
      _ = stays { !next.isExecuting }
      journal.add("handler")
    }
    queue.addOperations([answer, next], waitUntilFinished: false)
    #expect(eventually { answer.isExecuting })
    answer.finish(.success(1))
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.entries == ["handler", "next"])
  }

  @Test func cancelledBeforeItStartsItFailsWithCancellation() {
    let answer = Answer()
    let journal = Journal<Bool>()
    answer.whenDone { result in
      guard case .failure(is CancellationError) = result else { return }
      journal.add(true)
    }
    answer.cancel()
    #expect(journal.count == 0)
    answer.start()
    #expect(journal.count == 1)
  }

  @Test func finishedWithoutAResultItSaysWhichOperationOwesOne() {
    let answer = Answer()
    answer.name = "sum"
    answer.start()
    answer.finish()
    guard case .failure(let error) = answer.outcome else {
      Issue.record("there is a result")
      return
    }
    #expect("\(error)" == "sum finished without a result; call finish(_:) with one")
  }

  @Test func aResultArrivesOnTheQueueAskedFor() {
    let queue = DispatchQueue(label: "results")
    let answer = Answer()
    let journal = Journal<Int>()
    answer.result(on: queue) { result in
      dispatchPrecondition(condition: .onQueue(queue))
      journal.add((try? result.get()) ?? -1)
    }
    answer.start()
    answer.finish(.success(9))
    #expect(eventually { journal.entries == [9] })
  }

  @Test func aResultArrivesOnTheMainQueueByDefault() async {
    let answer = Answer()
    answer.start()
    // Not Thread.isMainThread: the main queue may be served by another thread under dispatchMain().
    let value = await withCheckedContinuation { continuation in
      answer.result { result in
        dispatchPrecondition(condition: .onQueue(.main))
        continuation.resume(returning: try? result.get())
      }
      answer.finish(.success(9))
    }
    #expect(value == 9)
  }
}
