import JobModel
import Support
import Testing

@Suite struct DependencyOrderTests {
  @Test func everyNodeComesAfterItsNeeds() {
    let order = DependencyOrder([[1, 2], [3], [3], []])
    #expect(order.order == [3, 1, 2, 0])
    #expect(order.cycles.isEmpty)
  }

  @Test func aCycleIsItsPathFirstAndLastTheSame() {
    #expect(DependencyOrder([[1], [2], [0]]).cycles == [[0, 1, 2, 0]])
    #expect(DependencyOrder([[0]]).cycles == [[0, 0]])
    #expect(DependencyOrder([[1], [2], [1]]).cycles == [[1, 2, 1]])
  }

  @Test func cyclesThatShareNothingAreAllFound() {
    #expect(DependencyOrder([[1], [0], [3], [2], [0, 2]]).cycles == [[0, 1, 0], [2, 3, 2]])
  }

  @Test func ofCyclesThatShareANodeOneIsFound() {
    #expect(DependencyOrder([[1, 2], [0], [0]]).cycles == [[0, 1, 0]])
  }

  @Test func twoNeedsOfOneNodeAreNoCycle() {
    #expect(DependencyOrder([[1, 1], []]).cycles.isEmpty)
  }

  @Test func anEmptyGraphHasAnEmptyOrder() {
    #expect(DependencyOrder([]).order.isEmpty)
  }

  @Test func aChainOfAHundredThousandNeedsNoRecursion() {
    let chain = (0..<100_000).map { $0 == 0 ? [] : [$0 - 1] }
    #expect(DependencyOrder(chain.reversed().map { $0.map { 99_999 - $0 } }).order.count == 100_000)
    let ring = (0..<100_000).map { [($0 + 1) % 100_000] }
    #expect(DependencyOrder(ring).cycles.first?.count == 100_001)
  }

  @Test(arguments: 1...200)
  func itAgreesWithASearchFromEveryNode(seed: Int) {
    var random = SplitMix(seed: UInt64(seed))
    let count = Int.random(in: 1...8, using: &random)
    let needs = (0..<count).map { _ in
      (0..<Int.random(in: 0...2, using: &random)).map { _ in Int.random(in: 0..<count, using: &random) }
    }
    let order = DependencyOrder(needs)
    #expect(order.order.sorted() == Array(0..<count))
    // A node that can be reached from itself is on a cycle.
    func isReachable(_ goal: Int) -> Bool {
      var open = needs[goal]
      var seen = Set<Int>()
      while let node = open.popLast() {
        if node == goal { return true }
        if seen.insert(node).inserted { open += needs[node] }
      }
      return false
    }
    #expect(order.cycles.isEmpty == !(0..<count).contains(where: isReachable))
    for cycle in order.cycles {
      #expect(cycle.first == cycle.last && cycle.count > 1)
      for (node, need) in zip(cycle, cycle.dropFirst()) { #expect(needs[node].contains(need)) }
    }
    let onCycles = order.cycles.flatMap { $0.dropLast() }
    #expect(Set(onCycles).count == onCycles.count)
    if order.cycles.isEmpty {
      for (node, list) in needs.enumerated() {
        for need in list {
          #expect((order.order.firstIndex(of: need) ?? .max) < (order.order.firstIndex(of: node) ?? .max))
        }
      }
    }
  }
}
