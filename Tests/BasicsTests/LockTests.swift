import Basics
import Dispatch
import Testing

struct LockTests {
  private struct Fault: Error {}

  @Test func oneThreadAtATimeReachesTheValue() {
    let lock = Lock(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<20_000 { lock.withLock { $0 += 1 } }
    }
    #expect(lock.withLock { $0 } == 160_000)
  }

  @Test func anErrorLeavesTheLockFreeAndTheValueChanged() {
    let lock = Lock([1])
    #expect(throws: Fault.self) {
      try lock.withLock { value in
        value.append(2)
        throw Fault()
      }
    }
    #expect(lock.withLock { $0 } == [1, 2])
  }

  @Test func theValueGoesWithTheLock() {
    final class Value: Sendable {}
    weak var value: Value?
    do {
      let lock = Lock(Value())
      value = lock.withLock { $0 }
      #expect(value != nil)
      withExtendedLifetime(lock) {}
    }
    #expect(value == nil)
  }
}
