import Dispatch
import Testing

@testable import Basics

struct BlockingCallTests {
  @Test func theValueIsWaitedFor() {
    let value = BlockingCall.value(within: .seconds(3600)) { done in
      DispatchQueue(label: "answer").async { done(5) }
    }
    #expect(value == 5)
  }

  @Test func withoutAnAnswerThereIsNoValue() {
    let value: Int? = BlockingCall.value(within: .milliseconds(1)) { _ in }
    #expect(value == nil)
  }
}
