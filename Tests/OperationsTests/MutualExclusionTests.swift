import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

@Suite struct MutualExclusionTests {
  /// Sees whether more than one are inside at once.
  final class Room: Sendable {
    let inside = Atomic(0)
    let faults = Atomic(0)
    let visits = Atomic(0)

    func enter() {
      if inside.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue > 1 {
        faults.wrappingAdd(1, ordering: .sequentiallyConsistent)
      }
      visits.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }

    func leave() { inside.wrappingSubtract(1, ordering: .sequentiallyConsistent) }

    var isRight: Bool { faults.load(ordering: .sequentiallyConsistent) == 0 }
    var visitCount: Int { visits.load(ordering: .sequentiallyConsistent) }
  }

  /// Is in its rooms while it executes, and finishes on another thread.
  final class Visitor: AsyncOperation, @unchecked Sendable {
    // Safe: constants.
    let rooms: [Room]

    init(_ categories: [(String, Room)]) {
      rooms = categories.map(\.1)
      super.init()
      for (name, _) in categories { addCondition(.mutuallyExclusive(ExclusionCategory(name))) }
    }

    override func main() {
      for room in rooms { room.enter() }
      DispatchQueue.global().async {
        for room in self.rooms { room.leave() }
        self.finish()
      }
    }
  }

  /// Whether no operation holds the category or waits for it.
  func isForgotten(_ category: String) -> Bool {
    DependencyGraph.contents.withLock { !$0.exclusion.has(ExclusionCategory(category)) }
  }

  func exclusive(_ name: String, _ category: ExclusionCategory) -> ManualOperation {
    let operation = ManualOperation(name)
    operation.addCondition(.mutuallyExclusive(category))
    return operation
  }

  @Test func ofOneCategoryOneExecutesAndTheOthersTakeNoSlot() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    let operations = (0..<5).map { exclusive("\($0)", "slots") }
    let free = ManualOperation()
    queue.addOperation(operations[0])
    // Before it holds the category, a machine that is slow to start it gives the turn to the next one too.
    #expect(eventually { operations[0].isExecuting })
    queue.addOperations(operations.dropFirst() + [free], waitUntilFinished: false)
    #expect(eventually { free.isExecuting })
    for count in 0..<operations.count {
      #expect(eventually { operations.contains(where: \.isExecuting) })
      #expect(operations.count(where: \.isExecuting) == 1)
      #expect(operations.count(where: \.isFinished) == count)
      operations.first(where: \.isExecuting)?.finish()
    }
    free.finish()
    queue.waitUntilAllOperationsAreFinished()
    #expect(isForgotten("slots"))
  }

  /// Operations in the line of one category, in their order.
  private struct Line {
    var table = ExclusionTable()
    let operations: [ManualOperation]
    let requests: [ExclusionTable.Request]
    var watches: [(ExclusionCategory, Int)] = []

    init(_ count: Int) {
      operations = (0..<count).map { ManualOperation("\($0)") }
      requests = operations.map { ExclusionTable.Request($0, ["line"], in: []) }
      for request in requests { watches += table.enter(request).watches }
    }
  }

  private func names(_ requests: [ExclusionTable.Request]) -> [String?] { requests.map { $0.operation?.name } }

  @Test func theReverseOrderInAnotherGroupIsADisorder() {
    let observer = QueueEntryObserver { _, _ in }
    defer { observer.close() }
    var table = ExclusionTable()
    let operations = (0..<4).map { ManualOperation("\($0)") }
    func disorder(of group: Int, _ outer: ExclusionCategory, _ inner: ExclusionCategory) -> ExclusionTable.Disorder? {
      let around = ExclusionTable.Request(operations[group], [outer], in: [])
      let child = ExclusionTable.Request(operations[group + 1], [inner], in: [ObjectIdentifier(operations[group])])
      _ = table.enter(around)
      _ = table.take(around)
      _ = table.enter(child)
      defer { for request in [child, around] { _ = table.leave(request) } }
      return table.take(child).disorder
    }
    #expect(disorder(of: 0, "x", "y") == nil)
    #expect(disorder(of: 0, "x", "y") == nil)
    let found = disorder(of: 2, "y", "x")
    #expect(found?.first == "y" && found?.second == "x" && found.map { names($0.requests) } == ["3", "1"])
    // Each contradiction is returned once.
    #expect(disorder(of: 2, "y", "x") == nil)
  }

  @Test func theyTakeTurnsInTheOrderInWhichTheyCame() {
    var line = Line(500)
    for (request, next) in zip(line.requests, line.operations.dropFirst()) {
      #expect(names(line.table.take(request).revoked) == [])
      #expect(names(line.table.leave(request).allowed) == [next.name])
    }
  }

  @Test func anUnusedTurnIsOfferedToTwiceAsMany() {
    var line = Line(9)
    var (onTurn, sizes) = (1, [1])
    while let (category, watch) = line.watches.popLast() {
      let changes = line.table.look(at: category, watch)
      line.watches += changes.watches
      onTurn += changes.allowed.count
      sizes.append(onTurn)
    }
    #expect(sizes == [1, 2, 4, 8, 9])
    #expect(names(line.table.take(line.requests[3]).revoked) == ["0", "1", "2", "4", "5", "6", "7", "8"])
    #expect(names(line.table.leave(line.requests[3]).allowed) == ["0"])
  }

  @Test func anUnusedTurnDelaysTheLinesOfItsOtherCategoriesOnlyForAWhile() {
    var table = ExclusionTable()
    let operations = (0..<3).map { ManualOperation("\($0)") }
    let requests = zip(operations, [["left"], ["left", "right"], ["right"]] as [Set<ExclusionCategory>])
      .map { ExclusionTable.Request($0, $1, in: []) }
    _ = table.enter(requests[0])
    _ = table.take(requests[0])
    for request in requests.dropFirst() { #expect(table.enter(request).allowed.isEmpty) }
    let changes = table.leave(requests[0])
    #expect(names(changes.allowed) == ["1"])
    let later = changes.watches.map { table.look(at: $0, $1) }
    #expect(later.map { names($0.allowed) } == [["2"]])
  }

  @Test func aSuspendedQueueKeepsNoneOfItsCategoriesFromOthers() {
    let (suspended, queue) = (OperationQueue(), OperationQueue())
    let first = exclusive("first", "of one")
    let both = exclusive("both", "of one")
    both.addCondition(.mutuallyExclusive("of two"))
    let last = exclusive("last", "of two")
    queue.addOperation(first)
    #expect(eventually { first.isExecuting })
    suspended.isSuspended = true
    suspended.addOperation(both)
    queue.addOperation(last)
    first.finish()
    #expect(eventually { last.isExecuting })
    last.finish()
    suspended.isSuspended = false
    #expect(eventually { both.isExecuting })
    both.finish()
    #expect(eventually { isForgotten("of one") && isForgotten("of two") })
  }

  @Test func allThatWaitForOneGetTheirTurn() {
    let queue = OperationQueue()
    let journal = Journal<Int>()
    let operations = (0..<500).map { number in
      ClosureOperation { operation in
        journal.add(number)
        operation.finish()
      }
    }
    for operation in operations { operation.addCondition(.mutuallyExclusive("order")) }
    let holder = exclusive("holder", "order")
    queue.addOperation(holder)
    #expect(eventually { holder.isExecuting })
    for operation in operations { queue.addOperation(operation) }
    #expect(journal.count == 0)
    holder.finish()
    queue.waitUntilAllOperationsAreFinished()
    #expect(journal.entries.sorted() == Array(0..<500))
  }

  @Test func thousandsMayWait() throws {
    let room = Room()
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    dependencyQueue.queue.maxConcurrentOperationCount = 2
    try dependencyQueue.add((0..<5000).map { _ in Visitor([("thousands", room)]) })
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(room.isRight && room.visitCount == 5000)
  }

  @Test func aWaiterThatIsCancelledLeaves() {
    let queue = OperationQueue()
    let operations = (0..<3).map { exclusive("\($0)", "leaving") }
    queue.addOperations(operations, waitUntilFinished: false)
    #expect(eventually { operations[0].isExecuting })
    operations[1].cancel()
    #expect(eventually { operations[1].isFinished })
    #expect(operations[1].mainCount == 0 && operations[2].state == .pending)
    operations[0].finish()
    #expect(eventually { operations[2].isExecuting })
    operations[2].finish()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func whatWaitsInASuspendedQueueIsInNobodysWay() {
    let suspended = OperationQueue()
    suspended.isSuspended = true
    let queue = OperationQueue()
    let other = exclusive("other", "suspended")
    let early = Atomic(0)
    let waiting = (0..<40).map { _ in
      let operation = ClosureOperation { _ in
        if !other.isFinished { early.wrappingAdd(1, ordering: .sequentiallyConsistent) }
      }
      operation.addCondition(.mutuallyExclusive("suspended"))
      return operation
    }
    suspended.addOperations(waiting, waitUntilFinished: false)
    queue.addOperation(other)
    #expect(eventually { other.isExecuting })
    // The least urgent: the queue starts it after all others that it may start.
    let last = ManualOperation("last")
    last.queuePriority = .veryLow
    suspended.addOperation(last)
    suspended.isSuspended = false
    // The category is taken now, and the queue that is no longer suspended must respect that.
    #expect(eventually { last.isExecuting })
    last.finish()
    other.finish()
    for _ in waiting {
      #expect(eventually { waiting.filter(\.isExecuting).count == 1 })
      waiting.first(where: \.isExecuting)?.finish()
    }
    suspended.waitUntilAllOperationsAreFinished()
    #expect(waiting.allSatisfy { $0.isFinished && !$0.isCancelled })
    #expect(early.load(ordering: .sequentiallyConsistent) == 0)
  }

  @Test func severalCategoriesAreTakenAtOnceInWhateverOrderTheyAreNamed() {
    let names = ["left", "right", "middle"]
    let rooms = names.map { _ in Room() }
    let queues = (0..<3).map { _ in OperationQueue() }
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    dependencyQueue.queue.maxConcurrentOperationCount = 3
    let visitors = (0..<600).map { number in
      let picked = [0, 1, 2].filter { (number / 3 + 1) >> $0 & 1 == 1 }
      let order = number % 2 == 0 ? picked : picked.reversed()
      return Visitor(order.map { (names[$0], rooms[$0]) })
    }
    DispatchQueue.concurrentPerform(iterations: 600) { number in
      if number % 4 == 3 {
        try? dependencyQueue.add(visitors[number])
      } else {
        queues[number % 4].addOperation(visitors[number])
      }
    }
    #expect(eventually { visitors.allSatisfy(\.isFinished) })
    #expect(rooms.allSatisfy { $0.isRight })
    let expected = visitors.reduce(0) { $0 + $1.rooms.count }
    #expect(rooms.reduce(0) { $0 + $1.visitCount } == expected)
    #expect(names.allSatisfy { isForgotten($0) })
  }

  @Test func cancelsFromManyThreadsLeaveTheRoomToOneAndThenToNobody() {
    for round in 0..<300 {
      let room = Room()
      let category = "cancels \(round)"
      let queue = OperationQueue()
      let dependencyQueue = DependencyQueue(feeding: OperationQueue())
      let visitors = (0..<12).map { _ in Visitor([(category, room)]) }
      race([
        { for visitor in visitors[0..<6] { queue.addOperation(visitor) } },
        { try? dependencyQueue.add(Array(visitors[6...])) },
        { for visitor in visitors where Bool.random() { visitor.cancel() } },
        { for visitor in visitors.reversed() where Bool.random() { visitor.cancel() } },
      ])
      #expect(eventually { visitors.allSatisfy(\.isFinished) })
      #expect(room.isRight)
      #expect(eventually { isForgotten(category) })
    }
  }

  /// ProcedureKit #47 and #486: the group waits for its child, and the child for the group's category.
  @Test func aGroupAndItsChildrenInOneCategoryDoNotWaitForEachOther() {
    let queue = OperationQueue()
    let room = Room()
    let children = (0..<4).map { _ in Visitor([("family", room)]) }
    let inner = GroupOperation([Visitor([("family", room)])])
    inner.addCondition(.mutuallyExclusive("family"))
    let group = GroupOperation(children + [inner])
    group.addCondition(.mutuallyExclusive("family"))
    let stranger = exclusive("stranger", "family")
    queue.addOperations([group, stranger], waitUntilFinished: false)
    #expect(eventually { group.isFinished })
    #expect(stranger.mainCount == 0 || stranger.isExecuting)
    #expect(group.failure == nil && room.isRight && room.visitCount == 5)
    #expect(eventually { stranger.isExecuting })
    stranger.finish()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func aChildGoesBeforeThoseWhoWaitForItsGroup() {
    let queue = OperationQueue()
    let group = GroupOperation()
    let first = ManualOperation()
    try? group.add(first)
    group.addCondition(.mutuallyExclusive("house"))
    queue.addOperation(group)
    #expect(eventually { first.isExecuting })
    let stranger = exclusive("stranger", "house")
    stranger.addCondition(.mutuallyExclusive("garden"))
    queue.addOperation(stranger)
    #expect(eventually { !isForgotten("garden") })
    // The stranger stands before it in the line for the garden, and waits for the house.
    let child = Visitor([("house", Room()), ("garden", Room())])
    #expect(throws: Never.self) { try group.add(child) }
    #expect(eventually { child.isFinished })
    first.finish()
    #expect(eventually { group.isFinished && stranger.isExecuting })
    stranger.finish()
    queue.waitUntilAllOperationsAreFinished()
  }

  /// ProcedureKit #665: two operations share one category, and their dependencies another, in the other order.
  @Test func twoOperationsAndWhatTheyNeedInTwoCategoriesComeThrough() {
    for _ in 0..<200 {
      let queue = OperationQueue()
      let pairs = (0..<2).map { _ -> [AsyncOperation] in
        let need = Visitor([("permission", Room())])
        let operation = Visitor([("permission", Room()), ("location", Room())])
        operation.addDependency(need)
        return [operation, need]
      }
      race(pairs.map { pair in { queue.addOperations(pair, waitUntilFinished: false) } })
      #expect(eventually { pairs.joined().allSatisfy(\.isFinished) })
    }
  }

  @Test func anOperationThatIsLetGoOfWhileItWaitsIsForgotten() {
    var operation: ManualOperation? = exclusive("forgotten", "forgotten")
    _ = operation?.isReady
    #expect(eventually { operation?.state == .ready })
    operation = nil
    #expect(eventually { isForgotten("forgotten") })
  }
}
