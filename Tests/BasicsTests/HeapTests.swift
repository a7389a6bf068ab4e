import Basics
import Testing

struct HeapTests {
  @Test(arguments: [0, 1, 2, 3, 10, 1000]) func theLeastElementComesFirst(count: Int) {
    var random = SplitMix(seed: UInt64(count))
    let numbers = (0..<count).map { _ in Int.random(in: 0..<100, using: &random) }
    var heap = Heap<Int>()
    for number in numbers { heap.push(number) }
    var sorted: [Int] = []
    while let first = heap.first {
      #expect(heap.pop() == first)
      sorted.append(first)
    }
    #expect(sorted == numbers.sorted())
    #expect(heap.isEmpty && heap.pop() == nil)
  }

  @Test func aFilteredHeapHasTheOtherElementsInOrder() {
    var heap = Heap<Int>()
    for number in [5, 8, 1, 9, 2, 7, 4] { heap.push(number) }
    var odd = heap.filter { !$0.isMultiple(of: 2) }
    #expect(odd.count == 4)
    #expect((0..<5).map { _ in odd.pop() } == [1, 5, 7, 9, nil])
    #expect(heap.count == 7)
    #expect(heap.first == 1)
  }
}
