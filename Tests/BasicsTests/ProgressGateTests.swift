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
}
