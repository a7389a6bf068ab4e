import Basics
import Foundation
import JobModel
import Testing

@testable import JobEngine

/// Graphs of 1,000 jobs with everything that a job file can say, ended at a random moment in each way that a run can be ended.
struct ScheduleSoakTests {
  /// `OPDASH_SCHEDULE_SOAK` sets another number.
  private static let rounds = ProcessInfo.processInfo.environment["OPDASH_SCHEDULE_SOAK"].flatMap(Int.init) ?? 30
  private static let blocks = 10
  private static let jobs = 1000

  @Test(arguments: 0..<blocks) func everyJobEndsInExactlyOneStateWheneverTheRunIsEnded(block: Int) {
    for seed in stride(from: block, to: Self.rounds, by: Self.blocks) {
      var round = ScheduleSoakRound(seed: UInt64(seed), jobs: Self.jobs)
      round.execute()
      guard let fault = round.fault else { continue }
      Issue.record(
        "seed \(seed), ended by \(round.ending): \(fault)\n\(round.steps.suffix(12).joined(separator: "\n"))")
      return
    }
  }

  /// Without it the rounds could hold because nothing happens in them.
  @Test func theRoundsEndJobsInEachWayAndServeServices() {
    var ends = [StateClass: Int]()
    var (served, retried, approved) = (0, 0, 0)
    for seed in 1000..<1020 {
      var round = ScheduleSoakRound(seed: UInt64(seed), jobs: 300)
      round.execute()
      #expect(round.fault == nil)
      ends.merge(round.ends) { $0 + $1 }
      served += round.served
      retried += round.retried
      approved += round.approved
    }
    for end in StateClass.allCases where end.isTerminal { #expect(ends[end, default: 0] > 10, "\(end): \(ends)") }
    #expect(served > 10)
    #expect(retried > 100)
    #expect(approved > 0)
  }
}
