import Foundation
import Operations
import Slurm
import Support
import Testing

@testable import JobCluster

/// The end of the jobs that an earlier run has left in the cluster.
struct EarlierClusterJobTests {
  /// Whether the controller is said to have answered, and then the words of the call that cancels.
  private func end(
    _ jobs: [String]?, canCancel: Bool = true, in folder: TemporaryFolder? = nil
  ) async throws -> [String] {
    let folder = try folder ?? TemporaryFolder()
    let queue = ListedJobs(jobs, canCancel: canCancel)
    let observer = SlurmObserver(run: "r", folder: folder.url.path(), runner: queue, clock: ManualOperationClock())
    let attempts: Set = [SlurmIdentity(run: "r", job: "a", attempt: 1), SlurmIdentity(run: "r", job: "a", attempt: 2)]
    let hasAnswered = await withCheckedContinuation { continuation in
      EarlierClusterJob.end(attempts, of: observer, queue) { continuation.resume(returning: $0) }
    }
    return ["\(hasAnswered)"] + queue.cancelled
  }

  @Test func theAttemptsThatHaveNotEndedAreCancelled() async throws {
    let jobs = [
      ListedJobs.job(7, "RUNNING", attempt: 1), ListedJobs.job(8, "COMPLETED", attempt: 2),
      ListedJobs.job(9, "RUNNING", attempt: 3),
      ListedJobs.job(10, "RUNNING", run: "other", attempt: 1),
    ]
    #expect(try await end(jobs) == ["true", "scancel", "7"])
    #expect(try await end(jobs, canCancel: false) == ["false", "scancel", "7"])
  }

  /// The controller may accept it later.
  @Test func anAttemptThatIsNotListedExecutesNothing() async throws {
    let folder = try TemporaryFolder()
    #expect(try await end([ListedJobs.job(7, "RUNNING", attempt: 1)], in: folder) == ["true", "scancel", "7"])
    #expect(folder.names(in: "") == ["a.2.claim"])
    #expect(try await end([], in: folder) == ["true"])
    #expect(folder.names(in: "") == ["a.1.claim", "a.2.claim"])
  }

  @Test func withoutJobsOrAControllerNothingIsCancelled() async throws {
    #expect(try await end([]) == ["true"])
    #expect(try await end([ListedJobs.job(8, "COMPLETED", attempt: 2)]) == ["true"])
    #expect(try await end(nil) == ["false"])
  }
}
