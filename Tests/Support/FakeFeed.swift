import Dispatch
import Foundation
import JobModel
import Operations

/// A feed whose facts the test states; it records commands and answers them only as the test says.
package final class FakeFeed: JobFeed {
  private struct State {
    var run = Run()
    var commands: [JobCommand] = []
    var mailboxes: [Int: Mailbox<JobEvent>] = [:]
    var nextMailbox = 0
    var answer: (@Sendable (FakeFeed, JobCommand) -> Void)?
  }

  private let state = Lock(State())
  /// Held while the feed's queue is blocked.
  private let queue = Lock(())
  private let clock: ManualOperationClock
  package let isReplay: Bool

  /// The run's clock is `clock`, or the time of the newest fact if that is later.
  package init(clock: ManualOperationClock = ManualOperationClock(), isReplay: Bool = false) {
    self.clock = clock
    self.isReplay = isReplay
  }

  package var run: Run { state.withLock { $0.run } }
  package var elapsed: Duration { max(run.time, clock.now) }
  package var commands: [JobCommand] { state.withLock { $0.commands } }
  /// The number of subscriptions.
  package var readers: Int { state.withLock { $0.mailboxes.count } }

  /// Calls `answer` for each command, on the thread that sends it.
  package func onCommand(_ answer: @escaping @Sendable (FakeFeed, JobCommand) -> Void) {
    state.withLock { $0.answer = answer }
  }

  /// Calls `body` while the feed's queue is blocked: who subscribes, or asks for the run, waits for its return.
  package func whileBlocked(_ body: () -> Void) { queue.withLock { _ in body() } }

  /// States the facts at the same instant: `time`, or that of the last fact.
  package func post(_ facts: JobFact..., at time: Duration? = nil) {
    state.withLock { state in
      for fact in facts {
        let event = JobEvent(seq: state.run.nextSeq, time: time ?? state.run.time, fact: fact)
        state.run.apply(event)
        for mailbox in state.mailboxes.values { mailbox.post(event) }
      }
    }
  }

  package func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void)
    -> JobSubscription
  {
    self.queue.withLock { _ in }
    return state.withLock { state in
      let number = state.nextMailbox
      state.nextMailbox += 1
      state.mailboxes[number] = Mailbox(on: queue, receive)
      return JobSubscription(snapshot: state.run) { [weak self] in
        let mailbox = self?.state.withLock { $0.mailboxes.removeValue(forKey: number) }
        mailbox?.close()
      }
    }
  }

  package func send(_ command: JobCommand) {
    let answer = state.withLock { state in
      state.commands.append(command)
      return state.answer
    }
    answer?(self, command)
  }
}

extension FakeFeed {
  /// Starts a run of simulated jobs named job0, job1 and so on.
  package func begin(_ jobs: Int, run: String = "1") {
    begin((0..<jobs).map { Job(name: "job\($0)", work: .simulate(SimulatedWork())) }, run: run)
  }

  package func begin(_ jobs: [Job], run: String = "1") {
    post(.runStarted(RunStart(id: run, name: "test", slots: 2, at: Date(timeIntervalSince1970: 0), jobs: jobs.count)))
    for (id, job) in jobs.enumerated() { post(.jobAdded(JobID(id), job)) }
  }
}
