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
}
