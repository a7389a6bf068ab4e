import Foundation
import Support
import Testing

@testable import Operations

@Suite struct DependencyTests {
  let queue = OperationQueue()

  @Test func aDependentWaitsInAPlainQueueForAllItsDependencies() {
    let first = ManualOperation("first")
    let second = ManualOperation("second")
    let last = ManualOperation("last")
    last.addDependency(first)
    last.addDependency(second)
    last.addDependency(second)
    #expect(last.state == .pending && !last.isReady)
    #expect(last.dependencies == [first, second])
    queue.addOperations([last, second, first], waitUntilFinished: false)
    #expect(eventually { first.isExecuting && second.isExecuting })
    first.finish()
    #expect(last.state == .pending)
    second.finish()
    #expect(eventually { last.isExecuting })
    // Its main may still read their results.
    #expect(last.dependencies == [first, second])
    last.finish()
    queue.waitUntilAllOperationsAreFinished()
    #expect(last.dependencies == [])
  }

  @Test func aDependentOfACancelledOperationGoesOn() {
    let first = ManualOperation()
    let last = ManualOperation()
    last.addDependency(first)
    first.cancel()
    queue.addOperations([last, first], waitUntilFinished: false)
    #expect(eventually { last.isExecuting })
    last.finish()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func aCancelledDependentWaitsForNothing() {
    let first = ManualOperation()
    let last = ManualOperation()
    last.addDependency(first)
    queue.addOperations([first, last], waitUntilFinished: false)
    last.cancel()
    #expect(eventually { last.isFinished })
    #expect(last.mainCount == 0 && !first.isFinished)
    first.finish()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func aFinishedDependencyHoldsNothingUp() {
    let first = ManualOperation()
    first.start()
    first.finish()
    let last = ManualOperation()
    last.addDependency(first)
    #expect(last.isReady)
    #expect(last.dependencies == [first])
  }

  @Test func removingAnUnfinishedDependencyLetsTheOperationGo() {
    let first = ManualOperation()
    let last = ManualOperation()
    last.addDependency(first)
    queue.addOperation(last)
    #expect(last.state == .pending)
    last.removeDependency(first)
    #expect(eventually { last.isExecuting })
    #expect(last.dependencies == [])
    last.finish()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func foreignAndOwnOperationsMayWaitForEachOther() {
    let journal = Journal<String>()
    let block = BlockOperation { journal.add("block") }
    let middle = ClosureOperation { operation in
      journal.add("middle")
      operation.finish()
    }
    let end = BlockOperation { journal.add("end") }
    middle.addDependency(block)
    end.addDependency(middle)
    queue.addOperations([end, middle, block], waitUntilFinished: true)
    #expect(journal.entries == ["block", "middle", "end"])
  }

  @Test func replacingAForeignDependencysCompletionBlockLosesNothing() {
    let block = BlockOperation {}
    let last = ManualOperation()
    last.addDependency(block)
    block.completionBlock = {}
    queue.addOperations([last, block], waitUntilFinished: false)
    #expect(eventually { last.isExecuting })
    last.finish()
  }

  @Test func aForeignDependencyCanBeRemoved() {
    let block = BlockOperation {}
    let last = ManualOperation()
    last.addDependency(block)
    #expect(!last.isReady)
    last.removeDependency(block)
    #expect(last.isReady)
    block.start()
    #expect(last.isReady)
  }

  @Test func readinessIsObserved() {
    let delivery = DispatchQueue(label: "observers")
    let journal = Journal<AsyncOperation.State>()
    let first = ManualOperation()
    let last = ManualOperation()
    let token = last.observe(\.state, on: delivery, options: .initial) { _, change in journal.add(change.newValue) }
    last.addDependency(first)
    first.start()
    first.finish()
    last.start()
    delivery.sync {}
    delivery.sync {}
    #expect(journal.entries == [.ready, .pending, .ready, .executing])
    token.cancel()
  }

  // MARK: Cycles

  @Test func aSelfDependencyIsRefused() {
    let a = ManualOperation("a")
    #expect(throws: OperationError(cycle: [a, a])) { try a.addDependencyOrThrow(a) }
    #expect(a.dependencies == [] && a.isReady)
  }

  @Test func aCycleIsRefusedWithItsPathAndChangesNothing() throws {
    let a = ManualOperation("a")
    let b = ManualOperation("b")
    let c = ManualOperation("c")
    a.addDependency(b)
    b.addDependency(c)
    let cycle = #expect(throws: OperationError.self) { try c.addDependencyOrThrow(a) }
    #expect(cycle?.names == ["c", "a", "b", "c"])
    #expect(cycle?.description.hasSuffix("c -> a -> b -> c") == true)
    #expect(c.dependencies == [] && c.isReady)
    queue.addOperations([a, b, c], waitUntilFinished: false)
    for operation in [c, b, a] {
      #expect(eventually { operation.isExecuting })
      operation.finish()
    }
  }

  @Test func aCycleThroughAForeignOperationIsRefused() {
    let a = ManualOperation("a")
    let block = BlockOperation {}
    block.name = "block"
    let c = ManualOperation("c")
    block.addDependency(a)
    c.addDependency(block)
    let cycle = #expect(throws: OperationError.self) { try a.addDependencyOrThrow(c) }
    #expect(cycle?.names == ["a", "c", "block", "a"])
    // An operation that waits for a foreign one is freed when that has finished.
    a.cancel()
    OperationQueue().addOperations([a, block], waitUntilFinished: true)
  }

  @Test func addDependencyStopsTheProgramOnACycleAndSaysThePath() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let a = ManualOperation("a")
      let b = ManualOperation("b")
      a.addDependency(b)
      b.addDependency(a)
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("b -> a -> b"))
  }

  @Test func startedByHandBeforeItsDependenciesIsAFault() async {
    await #expect(processExitsWith: .failure) {
      let a = ManualOperation("a")
      let b = ManualOperation("b")
      a.addDependency(b)
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          a.start()
          continuation.resume()
        }
      }
    }
  }

  /// Against a walk over the whole graph at each step, on graphs wired in every order.
  @Test(arguments: 0..<40) func everyCycleIsFoundAndNothingElse(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    let count = 12
    let operations = (0..<count).map { ManualOperation("\($0)") }
    var links = Set<[Int]>()
    func leads(_ from: Int, _ to: Int) -> Bool {
      var seen: Set = [from]
      var pile = [from]
      while let node = pile.popLast() {
        if node == to { return true }
        for next in 0..<count where links.contains([node, next]) && seen.insert(next).inserted { pile.append(next) }
      }
      return false
    }
    for _ in 0..<120 {
      let from = Int.random(in: 0..<count, using: &random)
      let to = Int.random(in: 0..<count, using: &random)
      if Int.random(in: 0..<8, using: &random) == 0 {
        operations[from].removeDependency(operations[to])
        links.remove([from, to])
        continue
      }
      let isCycle = leads(to, from)
      do {
        try operations[from].addDependencyOrThrow(operations[to])
        #expect(!isCycle)
        links.insert([from, to])
      } catch {
        #expect(isCycle)
        let path = error.names.compactMap { Int($0) }
        #expect(path.first == from && path.dropFirst().first == to && path.last == from)
        #expect(zip(path.dropFirst(), path.dropFirst(2)).allSatisfy { links.contains([$0, $1]) }, "\(path)")
      }
    }
    // And the order still lets all of them run.
    for operation in operations { #expect(operation.isReady == !links.contains { $0[0] == Int(operation.name ?? "") }) }
  }

  @Test func linkingBothWaysFromTwoThreadsRefusesExactlyOne() {
    for _ in 0..<1000 {
      let a = ManualOperation("a")
      let b = ManualOperation("b")
      let refused = Journal<Int>()
      race([
        { do { try a.addDependencyOrThrow(b) } catch { refused.add(1) } },
        { do { try b.addDependencyOrThrow(a) } catch { refused.add(2) } },
      ])
      #expect(refused.count == 1)
    }
  }

  @Test func linkingRacingTheEndOfTheDependencyNeverLosesIt() {
    for _ in 0..<2000 {
      let first = ManualOperation()
      first.start()
      let last = ManualOperation()
      race([{ first.finish() }, { last.addDependency(first) }])
      #expect(last.isReady)
    }
  }

  // MARK: Release

  @Test func aLongChainThatNeverRanIsFreedWithoutRecursion() {
    weak var first: ManualOperation?
    do {
      var last = ManualOperation()
      first = last
      for _ in 0..<100_000 {
        let next = ManualOperation()
        next.addDependency(last)
        last = next
      }
      #expect(last.state == .pending)
    }
    #expect(first == nil)
  }

  @Test func aChainBuiltFromItsEndIsNoHarder() {
    var first = ManualOperation()
    let last = first
    var all = [first]
    for _ in 0..<100_000 {
      let next = ManualOperation()
      first.addDependency(next)
      first = next
      all.append(next)
    }
    let cycle = #expect(throws: OperationError.self) { try first.addDependencyOrThrow(last) }
    #expect(cycle?.description.count ?? .max < 1000)
    #expect(first.isReady)
  }
}
