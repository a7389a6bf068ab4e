import Foundation
import Support
import Testing

@testable import Operations

/// Results read one by one as they come.
@Suite struct OperationOutcomesTests {
  struct Fault: Error {}

  final class Answer: ResultOperation<Int>, @unchecked Sendable {
    override func main() {}
    override func didCancel() { finish() }
  }

  @Test func resultsComeInTheOrderOfTheEnds() async {
    let answers = (0..<3).map { _ in Answer() }
    let queue = OperationQueue()
    queue.addOperations(answers)
    let results = answers.outcomes().makeAsyncIterator()
    #expect(await soon { answers.allSatisfy(\.isExecuting) })
    answers[1].finish(.success(1))
    let first = await results.next(isolation: nil)
    #expect(first?.operation === answers[1] && (try? first?.outcome.get()) == 1)
    answers[2].finish(with: Fault())
    answers[0].cancel()
    var seen: [Int?] = []
    while let (operation, _) = await results.next(isolation: nil) {
      seen.append(answers.firstIndex { $0 === operation })
    }
    #expect(seen == [2, 0])
  }

  @Test func whatHasFinishedBeforeIsReadAtOnce() async {
    let answers = (0..<100).map { number in Operations.ClosureOperation { number } }
    for answer in answers { answer.start() }
    var sum = 0
    for await (_, outcome) in answers.outcomes() { sum += (try? outcome.get()) ?? 0 }
    #expect(sum == 4950)
    for await _ in [Answer]().outcomes() { Issue.record("there is none") }
  }

  @Test func aCancelledReaderEndsAndLeavesTheOperationsAlone() async {
    let answer = Answer()
    answer.start()
    let reader = Task(priority: .high) {
      var count = 0
      for await _ in [answer].outcomes() { count += 1 }
      return count
    }
    reader.cancel()
    #expect(await reader.value == 0)
    #expect(answer.isExecuting && !answer.isCancelled)
    answer.finish(.success(1))
  }

  @Test func aCancelledReaderLeavesItsResultToTheNext() async {
    let answers = [Answer(), Answer()]
    for answer in answers { answer.start() }
    let outcomes = answers.outcomes()
    let reader = Task(priority: .high) { await outcomes.makeAsyncIterator().next(isolation: nil) != nil }
    reader.cancel()
    #expect(await reader.value == false)
    for (number, answer) in answers.enumerated() { answer.finish(.success(number)) }
    var seen: [Int?] = []
    for await (_, outcome) in outcomes { seen.append(try? outcome.get()) }
    #expect(seen == [0, 1])
  }

  @Test func aResultThatRacesACancelIsReadOnce() async {
    for round in 0..<300 {
      let answer = Answer()
      answer.start()
      let outcomes = [answer].outcomes()
      let readers = (0..<2).map { _ in
        Task(priority: .high) { await outcomes.makeAsyncIterator().next(isolation: nil) != nil }
      }
      race([{ readers[0].cancel() }, { answer.finish(.success(round)) }])
      let (first, second) = (await readers[0].value, await readers[1].value)
      #expect(first != second)
    }
  }
}
