import Foundation
import Operations
import Testing

@testable import Slurm

@Suite struct FollowedJobTests {
  private static func followed(
    isPaused: Bool = false, _ report: @escaping @Sendable (SlurmStatus) -> Void = { _ in }
  ) -> FollowedJob {
    FollowedJob(
      SlurmJob(SlurmIdentity(run: "r", job: "a", attempt: 1), name: "a", arguments: ["true"], directory: "/"),
      isPaused: isPaused, report: report)
  }

  @Test func eachStatusIsToldOnceInARow() {
    let told = Lock<[SlurmStatus]>([])
    let followed = Self.followed { status in told.withLock { $0.append(status) } }
    let id = SlurmJobID(1)
    for status in [.waiting, .submitted(id), .submitted(id), .waiting, .submitted(id)] as [SlurmStatus] {
      followed.tell(status)
    }
    #expect(told.withLock(\.self) == [.submitted(id), .waiting, .submitted(id)])
    #expect(followed.status == .submitted(id))
  }

  /// What a person wants of it stays, and so does the number of its submissions.
  @Test func aSubmissionIsForgottenAsIfThereHadBeenNone() {
    let followed = Self.followed(isPaused: true)
    followed.id = SlurmJobID(3)
    followed.submissions = 2
    followed.misses = 4
    followed.submitTime = "T"
    followed.refusal = "no"
    followed.look = (.seconds(1), true)
    followed.claimant = SlurmJobID(4)
    followed.last = SlurmRecord(id: SlurmJobID(3), state: .running)
    followed.orphanSince = .seconds(9)
    followed.hold = .suspended
    followed.halt.begin(isStop: true)
    followed.refused = [.cancel]
    followed.isCancelSent = true
    followed.isStopSent = true
    followed.isStopped = true
    followed.isKillSent = true
    followed.isCancelWanted = true
    followed.isKillWanted = true
    followed.forgetSubmission()
    #expect(followed.id == nil)
    #expect(followed.misses == 0)
    #expect(followed.submitTime == nil)
    #expect(followed.refusal == nil)
    #expect(followed.look == nil)
    #expect(followed.claimant == nil)
    #expect(followed.last == nil)
    #expect(followed.orphanSince == nil)
    #expect(followed.hold == .none)
    #expect(followed.halt == SlurmFiles.Halt())
    #expect(followed.refused.isEmpty)
    #expect(!followed.isCancelSent)
    #expect(!followed.isStopSent)
    #expect(!followed.isStopped)
    #expect(!followed.isKillSent)
    #expect(followed.submissions == 2)
    #expect(followed.isCancelWanted)
    #expect(followed.isKillWanted)
    #expect(followed.isPauseWanted)
  }

  @Test func aJobBeginsWithNothingDoneAndNothingMissing() {
    let followed = Self.followed()
    #expect(followed.phase == .waiting)
    #expect(followed.status == .waiting)
    #expect(followed.submissions == 0)
    #expect(followed.misses == 0)
    #expect(![followed.isPauseWanted, followed.isCancelWanted, followed.isKillWanted].contains(true))
    #expect(Self.followed(isPaused: true).isPauseWanted)
  }
}
