import Foundation
import Operations
import Slurm
import Support
import Testing

@testable import JobCluster

/// The end of the jobs that an earlier run has left in the cluster.
struct EarlierClusterJobTests {
  /// A Slurm with the jobs of the lines of squeue; nil if no controller answers.
  private final class Queue: SlurmRunner {
    let jobs: [String]?
    let canCancel: Bool
    let cancelled = Lock<[String]>([])

    init(_ jobs: [String]?, canCancel: Bool) {
      self.jobs = jobs
      self.canCancel = canCancel
    }

    func run(_ command: SlurmCommand, _ done: @escaping @Sendable (SlurmAnswer) -> Void) {
      let silence = SlurmAnswer(.exited(1), error: "Unable to contact slurm controller (connect failure)\n")
      if command.arguments[0] == "squeue" {
        done(jobs.map { SlurmAnswer(.exited(0), output: $0.joined()) } ?? silence)
      } else {
        cancelled.withLock { $0 += command.arguments }
        done(canCancel ? SlurmAnswer(.exited(0)) : silence)
      }
    }
  }

  private static func job(_ id: Int, _ state: String, run: String = "r", attempt: Int) -> String {
    "\(id)\u{1F}\(state)\u{1F}None\u{1F}\u{1F}T\u{1F}opdash/\(run)/a/\(attempt)\u{1F}\u{1F}a\n"
  }

  /// Whether the controller is said to have answered, and then the words of the call that cancels.
  private func end(_ jobs: [String]?, canCancel: Bool = true) async throws -> [String] {
    let folder = try TemporaryFolder()
    let queue = Queue(jobs, canCancel: canCancel)
    let observer = SlurmObserver(run: "r", folder: folder.url.path(), runner: queue, clock: ManualOperationClock())
    let attempts: Set = [SlurmIdentity(run: "r", job: "a", attempt: 1), SlurmIdentity(run: "r", job: "a", attempt: 2)]
    let hasAnswered = await withCheckedContinuation { continuation in
      EarlierClusterJob.end(attempts, of: observer, queue) { continuation.resume(returning: $0) }
    }
    return ["\(hasAnswered)"] + queue.cancelled.withLock { $0 }
  }

  @Test func theAttemptsThatHaveNotEndedAreCancelled() async throws {
    let jobs = [
      Self.job(7, "RUNNING", attempt: 1), Self.job(8, "COMPLETED", attempt: 2), Self.job(9, "RUNNING", attempt: 3),
      Self.job(10, "RUNNING", run: "other", attempt: 1),
    ]
    #expect(try await end(jobs) == ["true", "scancel", "7"])
    #expect(try await end(jobs, canCancel: false) == ["false", "scancel", "7"])
  }

  @Test func withoutJobsOrAControllerNothingIsCancelled() async throws {
    #expect(try await end([]) == ["true"])
    #expect(try await end([Self.job(8, "COMPLETED", attempt: 2)]) == ["true"])
    #expect(try await end(nil) == ["false"])
  }
}
