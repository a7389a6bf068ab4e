import Basics
import Dispatch
import Support
import Testing

struct OperationClockTests {
  private let clock = ManualOperationClock()
  private let heard = Lock<[String]>([])

  /// A timer that notes its name and the second in which it is called.
  @discardableResult private func schedule(_ name: String, after seconds: Double) -> any OperationTimer {
    clock.schedule(after: .seconds(seconds)) { [clock, heard] in
      let now = clock.now / .seconds(1)
      heard.withLock { $0.append("\(name) at \(now)") }
    }
  }

  private var calls: [String] { heard.withLock { $0 } }

  // MARK: A clock that tests move

  @Test func theTimeIsTheSumOfAllAdvances() {
    #expect(clock.now == .zero)
    clock.advance(by: .seconds(2))
    clock.advance(by: .zero)
    clock.advance(by: .milliseconds(500))
    #expect(clock.now == .milliseconds(2500))
  }

  @Test func callsAreMadeAtTheirInstantsInTheirOrder() {
    for (name, seconds) in [("d", 4.0), ("c", 3), ("a", 1), ("b", 1)] { schedule(name, after: seconds) }
    #expect(clock.due == [.seconds(1), .seconds(1), .seconds(3), .seconds(4)])
    clock.advance(by: .seconds(3))
    #expect(calls == ["a at 1.0", "b at 1.0", "c at 3.0"])
    #expect(clock.due == [.seconds(4)])
    clock.advance(by: .milliseconds(999))
    #expect(calls.count == 3)
    #expect(clock.now == .milliseconds(3999))
    clock.advance(by: .milliseconds(1))
    #expect(calls.last == "d at 4.0")
    clock.advance(by: .seconds(10))
    #expect(calls.count == 4)
    #expect(clock.due == [])
  }

  @Test func aCancelledTimerIsNotCalled() {
    let timer = schedule("a", after: 1)
    schedule("b", after: 1)
    timer.cancel()
    timer.cancel()
    #expect(clock.due == [.seconds(1)])
    clock.advance(by: .seconds(5))
    #expect(calls == ["b at 1.0"])
  }

  @Test func whatIsDueIsCalledByTheNextAdvanceEvenByNone() {
    schedule("a", after: 0)
    #expect(calls == [])
    clock.advance(by: .zero)
    #expect(calls == ["a at 0.0"])
    clock.advance(by: .seconds(10))
    schedule("b", after: -5)
    #expect(clock.due == [.seconds(5)])
    clock.advance(by: .zero)
    // The time does not go back.
    #expect(calls.last == "b at 10.0")
    #expect(clock.now == .seconds(10))
  }

  @Test func aCallMayScheduleAnotherInTheSameAdvance() {
    _ = clock.schedule(after: .seconds(1)) {
      schedule("next", after: 1)
      schedule("late", after: 1.5)
    }
    clock.advance(by: .seconds(2))
    #expect(calls == ["next at 2.0"])
    #expect(clock.due == [.milliseconds(2500)])
  }

  @Test func aCallMayAdvanceTheClockItself() {
    _ = clock.schedule(after: .seconds(1)) { [clock] in clock.advance(by: .seconds(10)) }
    schedule("a", after: 5)
    clock.advance(by: .seconds(2))
    #expect(calls == ["a at 5.0"])
    #expect(clock.now == .seconds(11))
  }

  @Test func aCallOnAQueueIsWaitedForAlsoFromThere() {
    let (queue, key) = (DispatchQueue(label: "test"), DispatchSpecificKey<Int>())
    queue.setSpecific(key: key, value: 7)
    func schedule() {
      _ = clock.schedule(after: .seconds(1), on: queue) { [heard] in
        heard.withLock { $0.append("\(DispatchQueue.getSpecific(key: key) ?? 0)") }
      }
    }
    schedule()
    clock.advance(by: .seconds(1))
    #expect(calls == ["7"])
    schedule()
    queue.sync { clock.advance(by: .seconds(1)) }
    #expect(calls == ["7", "7"])
  }

  @Test func aCallThatWaitsForItsQueueCanBeCancelledFromThere() {
    let (queue, advanced) = (DispatchQueue(label: "test"), DispatchSemaphore(value: 0))
    let timer = clock.schedule(after: .seconds(1), on: queue) { [heard] in heard.withLock { $0.append("called") } }
    queue.sync {
      DispatchQueue.global().async { [clock] in
        clock.advance(by: .seconds(1))
        advanced.signal()
      }
      #expect(eventually { clock.now == .seconds(1) })
      timer.cancel()
    }
    advanced.wait()
    #expect(calls == [])
  }

  // MARK: The clock of the system

  @Test(arguments: [.seconds(-5), .zero, .milliseconds(1)] as [Duration])
  func aTimerOfTheSystemIsCalledOnce(duration: Duration) {
    let (queue, count) = (DispatchQueue(label: "test"), Lock(0))
    let timer = SystemOperationClock().schedule(after: duration, on: queue) { count.withLock { $0 += 1 } }
    #expect(eventually { count.withLock { $0 } == 1 })
    // After its call too, a cancellation is allowed.
    timer.cancel()
    queue.sync {}
    #expect(count.withLock { $0 } == 1)
  }

  @Test(arguments: [.seconds(3600), .seconds(1e15)] as [Duration])
  func aTimerOfTheSystemWaitsForItsTime(duration: Duration) {
    let (queue, heard) = (DispatchQueue(label: "test"), heard)
    let late = SystemOperationClock.system.schedule(after: duration, on: queue) { heard.withLock { $0.append("late") } }
    let soon = SystemOperationClock.system.schedule(after: .milliseconds(1), on: queue) {
      heard.withLock { $0.append("soon") }
    }
    #expect(eventually { !calls.isEmpty })
    #expect(calls == ["soon"])
    for timer in [late, soon] { timer.cancel() }
  }
}
