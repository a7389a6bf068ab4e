import Basics
import Testing

struct ProgressGateTests {
  private var gate = ProgressGate<Int, String>(interval: .milliseconds(100))

  @Test mutating func aReportIsMadeAtOnceOrAtTheEndOfItsInterval() {
    #expect(gate.report("a", of: 0, now: .zero) == "a")
    #expect(gate.report("b", of: 0, now: .milliseconds(10)) == nil)
    #expect(gate.report("c", of: 0, now: .milliseconds(20)) == nil)
    #expect(gate.nextWake == .milliseconds(100))
    #expect(gate.due(now: .milliseconds(99)).isEmpty)
    #expect(gate.due(now: .milliseconds(100)).map(\.1) == ["c"])
    #expect(gate.nextWake == nil)
  }

  @Test mutating func aReportThatWasHeldBackDoesNotFollowANewerOne() {
    #expect(gate.report("a", of: 0, now: .zero) == "a")
    #expect(gate.report("b", of: 0, now: .milliseconds(50)) == nil)
    // The timer is late.
    #expect(gate.report("c", of: 0, now: .milliseconds(150)) == "c")
    #expect(gate.nextWake == nil)
    #expect(gate.flush(0) == nil)
  }

  @Test mutating func anEndedKeyBeginsAnew() {
    #expect(gate.report("a", of: 0, now: .zero) == "a")
    #expect(gate.report("b", of: 0, now: .milliseconds(10)) == nil)
    #expect(gate.report("x", of: 1, now: .milliseconds(10)) == "x")
    #expect(gate.flush(0) == "b")
    #expect(gate.nextWake == nil)
    #expect(gate.report("c", of: 0, now: .milliseconds(20)) == "c")
  }

  @Test mutating func atTheEndOfItsIntervalAReportIsMadeAtOnce() {
    #expect(gate.report("a", of: 0, now: .milliseconds(30)) == "a")
    #expect(gate.report("b", of: 0, now: .milliseconds(129)) == nil)
    #expect(gate.report("c", of: 0, now: .milliseconds(130)) == "c")
    #expect(gate.report("d", of: 0, now: .milliseconds(229)) == nil)
    #expect(gate.nextWake == .milliseconds(230))
  }

  @Test(arguments: [[1, 0], [0, 1]]) mutating func theOldestReportThatIsHeldBackWakes(order: [Int]) {
    for (key, time) in [(0, 0), (1, 30)] { _ = gate.report("first", of: key, now: .milliseconds(time)) }
    for key in order { #expect(gate.report("\(key)", of: key, now: .milliseconds(40)) == nil) }
    #expect(gate.nextWake == .milliseconds(100))
    #expect(gate.due(now: .milliseconds(100)).map(\.1) == ["0"])
    #expect(gate.nextWake == .milliseconds(130))
    #expect(gate.due(now: .milliseconds(129)).isEmpty)
    #expect(gate.due(now: .milliseconds(130)).map(\.1) == ["1"])
    #expect(gate.nextWake == nil)
  }

  @Test mutating func reportsThatAreDueTogetherComeByKey() {
    for key in [3, 1, 2] { _ = gate.report("first", of: key, now: .zero) }
    for key in [2, 3, 1] { _ = gate.report("\(key)", of: key, now: .milliseconds(50)) }
    let due = gate.due(now: .milliseconds(120))
    #expect(due.map(\.0) == [1, 2, 3])
    #expect(due.map(\.1) == ["1", "2", "3"])
    // They count as made now.
    #expect(gate.report("later", of: 2, now: .milliseconds(219)) == nil)
    #expect(gate.nextWake == .milliseconds(220))
  }

  @Test mutating func ofSeveralReportsThatAreNotDueTheEarliestWakes() {
    for (key, time) in [(0, 0), (1, 60), (2, 40)] { _ = gate.report("first", of: key, now: .milliseconds(time)) }
    for key in 0..<3 { _ = gate.report("\(key)", of: key, now: .milliseconds(70)) }
    #expect(gate.due(now: .milliseconds(100)).map(\.0) == [0])
    #expect(gate.nextWake == .milliseconds(140))
  }

  @Test mutating func whileAnotherReportIsHeldBackTheGateWakes() {
    for key in 0..<3 { _ = gate.report("first", of: key, now: .zero) }
    for key in 0..<3 { _ = gate.report("\(key)", of: key, now: .milliseconds(50)) }
    #expect(gate.flush(0) == "0")
    #expect(gate.nextWake == .milliseconds(100))
    #expect(gate.report("newer", of: 1, now: .milliseconds(100)) == "newer")
    #expect(gate.nextWake == .milliseconds(100))
    #expect(gate.due(now: .milliseconds(100)).map(\.1) == ["2"])
  }

  @Test func aReportIsMadeTenTimesASecondUnlessItIsToldOtherwise() {
    var gate = ProgressGate<Int, String>()
    #expect(gate.report("a", of: 0, now: .zero) == "a")
    #expect(gate.report("b", of: 0, now: .milliseconds(99)) == nil)
    #expect(gate.report("c", of: 0, now: .milliseconds(100)) == "c")
  }
}
