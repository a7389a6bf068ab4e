import JobModel
import Testing

@Suite struct PhrasesTests {
  @Test func aListHasCommasAndAWordBeforeTheLast() {
    #expect([String]().joined(last: "or") == "" && ["a"].joined(last: "or") == "a")
    #expect(["a", "b"].joined(last: "or") == "a or b" && ["a", "b", "c"].joined(last: "and") == "a, b and c")
  }

  @Test func aLongListNamesTheFirstAndCountsTheRest() {
    let list = ["a", "b", "c", "d"]
    #expect(list.joined(most: 4) == "a, b, c, d" && list.joined(most: 5) == "a, b, c, d")
    #expect(list.joined(most: 3) == "a, b, c and 1 more" && list.joined(most: 1) == "a and 3 more")
  }

  @Test func aStatusAbove128IsThatOfASignalWithAName() {
    func text(_ code: Int32) -> String {
      JobFailure.text(exit: code) { [1: "SIGHUP", 6: "SIGABRT"][$0] }
    }
    #expect(text(134) == "SIGABRT (134)" && text(129) == "SIGHUP (129)")
    #expect(text(128) == "exit 128" && text(1) == "exit 1" && text(6) == "exit 6" && text(200) == "exit 200")
  }

  @Test func slotsWithoutALimitAreAny() {
    #expect(Run.slotsText(Run.unlimited) == "any" && Run.slotsText(999_999) == "999999" && Run.slotsText(0) == "0")
  }

  @Test func theEndOfARunIsDoneOrStoppedOrFailed() {
    func text(_ states: [JobState], _ facts: JobFact...) -> String {
      var recorder = Recorder(states.indices.map { job("\($0)") })
      for (id, state) in states.enumerated() { recorder.move(id, to: state) }
      for fact in facts { recorder.state(fact) }
      return EndText.of(recorder.run, name: "release")
    }
    let (ok, failure) = (JobState.succeeded(upToDate: false), JobFailure(.exit(1), "exit 1"))
    #expect(text([ok, ok, .failed(failure, allowed: true)]) == "release: done 3/3")
    #expect(text([ok, .failed(failure, allowed: false), .waiting]) == "release: 1 of 3 failed")
    #expect(text([ok, .cancelled(by: .person)]) == "release: stopped 2/2")
    #expect(text([ok, .waiting], .stopRequested(.terminate, by: .signal)) == "release: stopped 1/2")
    #expect(
      text([.failed(failure, allowed: false), .failed(failure, allowed: true), .cancelled(by: .policy)])
        == "release: 1 of 3 failed")
  }

  @Test func usualTimesAreNamedOnceWhereBothAreTheSame() {
    let near = UsualTime(median: .milliseconds(3210), ninetieth: .milliseconds(3290), count: 4)
    #expect(UsualText.whole(near) == "usually 3.2s (4 runs)")
    let far = UsualTime(median: .milliseconds(3210), ninetieth: .milliseconds(3310), count: 4)
    #expect(UsualText.whole(far) == "usually 3.2s, 9 of 10 within 3.3s (4 runs)")
    #expect(UsualText.percent(0.006) == "+1 %" && UsualText.percent(2) == "+200 %")
  }
}
