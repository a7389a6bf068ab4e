import Testing

@testable import JobModel

@Suite struct RunWarningTests {
  private func fold(_ facts: [JobFact]) -> Run {
    var run = Run()
    for (seq, fact) in facts.enumerated() { run.apply(JobEvent(seq: seq, time: .zero, fact: fact)) }
    return run
  }

  @Test func theFoldKeepsWhatIsRaisedUntilItIsCleared() {
    let first = RunWarning(.slotsHeld, [JobID(1), JobID(2)], "2 of 2 slots", since: .zero)
    let second = RunWarning(.uiQueueBusy, [], "busy for 3.2s", since: .seconds(1))
    var later = first
    later.evidence = "3 of 3 slots"
    #expect(fold([.warningRaised(first), .warningRaised(second)]).warnings == [first, second])
    #expect(fold([.warningRaised(first), .warningRaised(second), .warningRaised(later)]).warnings == [later, second])
    #expect(fold([.warningRaised(first), .warningRaised(second), .warningCleared(first.key)]).warnings == [second])
    let run = fold([.warningRaised(first), .warningRaised(second)])
    #expect(run.warnings(about: JobID(2)) == [first] && run.warnings(about: JobID(0)) == [])
  }

  @Test func aRunKeepsNoMoreThanTheLimits() {
    let many = (0..<300).map { JobFact.warningRaised(RunWarning(.slotsHeld, [JobID($0)], "", since: .zero)) }
    #expect(fold(many).warnings.count == RunWarning.limits.warnings)
    let wide = RunWarning(.slotsHeld, (0..<300).map { JobID($0) }, "", since: .zero)
    #expect(wide.jobs.count == RunWarning.limits.jobs)
  }

  @Test func everyKindHasANameAndAdvice() {
    for kind in RunWarning.Kind.allCases {
      #expect(kind.rawValue.allSatisfy { $0.isLowercase || $0 == "-" } && !kind.advice.isEmpty)
      #expect(kind.short.count <= 24)
    }
  }
}
