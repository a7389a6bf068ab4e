import Testing

@testable import OperationDashboard

struct LookScheduleTests {
  private var looks = LookSchedule()

  @Test func atRestAQueueIsLookedAtOnceASecondAndFourTimesWhileItWorks() {
    #expect(looks.next(isRegular: true, isWorking: false) == .seconds(1))
    #expect(looks.next(isRegular: true, isWorking: true) == .milliseconds(250))
    #expect(looks.next(isRegular: false, isWorking: true) == nil)
  }

  @Test mutating func aLookFollowsTheFirstOfSeveralChanges() {
    looks.changed(at: .milliseconds(100))
    looks.changed(at: .milliseconds(110))
    #expect(looks.next(isRegular: false, isWorking: false) == .milliseconds(120))
    #expect(looks.next(isRegular: true, isWorking: false) == .milliseconds(120))
    looks.looked(at: .milliseconds(125), taking: .zero)
    #expect(looks.next(isRegular: false, isWorking: false) == nil)
    #expect(looks.next(isRegular: true, isWorking: true) == .milliseconds(375))
  }

  @Test mutating func aChangeDelaysNoRegularLook() {
    looks.changed(at: .milliseconds(990))
    #expect(looks.next(isRegular: true, isWorking: false) == .seconds(1))
    #expect(looks.next(isRegular: false, isWorking: false) == .milliseconds(1010))
  }

  @Test mutating func looksTakeATwentiethOfTheTimeAtMost() {
    looks.looked(at: .seconds(10), taking: .milliseconds(10))
    looks.changed(at: .milliseconds(10_050))
    #expect(looks.next(isRegular: false, isWorking: true) == .milliseconds(10_200))
    looks.looked(at: .seconds(20), taking: .milliseconds(30))
    #expect(looks.next(isRegular: true, isWorking: true) == .milliseconds(20_600))
    #expect(looks.next(isRegular: true, isWorking: false) == .seconds(21))
  }
}
