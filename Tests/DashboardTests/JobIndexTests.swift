import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct JobIndexTests {
  private static let failure = JobFailure(.exit(1), "exit 1")

  /// A run and its index, event by event.
  private struct Fold {
    var builder: RunBuilder
    var index = JobIndex()
    private var seen = Run()

    init(_ jobs: [Job]) {
      builder = RunBuilder(jobs)
      catchUp()
    }

    mutating func play(_ facts: (inout RunBuilder) -> Void) {
      facts(&builder)
      catchUp()
    }

    private mutating func catchUp() {
      for event in builder.take() {
        seen.apply(event)
        index.apply(event, seen)
      }
    }

    func count(_ state: StateClass) -> Int { index.counts[Int(state.rawValue)] }
  }

  @Test func classesAndCountsFollowTheStates() {
    var fold = Fold([.shell("a"), .shell("b"), .shell("c")])
    #expect(fold.index.classes == [.waiting, .waiting, .waiting] && fold.count(.waiting) == 3)
    fold.play {
      $0.move("a", .executing)
      $0.move("b", .executing)
      $0.cancel("b")
    }
    #expect(fold.index.classes == [.executing, .stopping, .waiting])
    #expect(fold.count(.waiting) == 1 && fold.count(.executing) == 1 && fold.count(.stopping) == 1)
    #expect(fold.index.counts.reduce(0, +) == 3)
    let some = fold.index.counts(of: [JobID(0), JobID(2), JobID(2)])
    #expect(some[Int(StateClass.executing.rawValue)] == 1 && some[Int(StateClass.waiting.rawValue)] == 2)
    #expect(some.reduce(0, +) == 3)
  }

  @Test func openJobsAreThoseInAnAttemptOrBetweenTwo() {
    var fold = Fold(["a", "b", "c", "d", "e"].map { .shell($0) })
    fold.play {
      for name in ["a", "b", "c"] { $0.move(name, .executing) }
      $0.move("b", .paused(started: true))
      $0.move("c", .backingOff(until: .seconds(9), number: 1, limit: 1, after: Self.failure))
      $0.move("d", .paused(started: false))
      $0.move("e", .ready(for: .slot))
    }
    #expect(fold.index.open == [JobID(0), JobID(1), JobID(2)])
    fold.play {
      $0.move("a", .succeeded(upToDate: false))
      $0.move("c", .cancelled(by: .person))
    }
    #expect(fold.index.open == [JobID(1)])
  }

  @Test func jobsThatAskOrThatThePolicyEndedAreKnownUntilTheyGoOn() {
    var fold = Fold(["a", "b", "c"].map { .shell($0) })
    fold.play {
      $0.move("a", .ready(for: .person))
      $0.move("b", .cancelled(by: .policy))
      $0.move("c", .cancelled(by: .person))
    }
    #expect(fold.index.asking == [JobID(0)] && fold.index.endedByPolicy == [JobID(1)])
    fold.play {
      $0.move("a", .executing)
      $0.move("b", .waiting)
      $0.move("c", .ready(for: .slot))
    }
    #expect(fold.index.asking.isEmpty && fold.index.endedByPolicy.isEmpty)
  }

  @Test func theProgressOfOpenJobsIsSummed() {
    var fold = Fold(["a", "b", "c"].map { .shell($0) })
    fold.play {
      for name in ["a", "b", "c"] { $0.move(name, .executing) }
      $0.progress("a", 1, of: 2, .steps)
      $0.progress("b", 1, of: 4, .steps)
      $0.progress("c", 7, of: nil, .steps)
    }
    #expect(fold.index.openShare == 0.75)
    fold.play { $0.progress("b", 3, of: 4, .steps) }
    #expect(fold.index.openShare == 1.25)
    fold.play { $0.move("b", .paused(started: true)) }
    #expect(fold.index.openShare == 1.25)
    fold.play { $0.move("a", .succeeded(upToDate: false)) }
    #expect(fold.index.openShare == 0.75)
    fold.play { $0.move("b", .backingOff(until: .seconds(9), number: 1, limit: 1, after: Self.failure)) }
    #expect(fold.index.openShare == 0.75)
    fold.play { $0.move("b", .executing) }
    #expect(fold.index.openShare == 0)
  }

  @Test func theLongestNameIsInCells() {
    #expect(Fold([.shell("abc"), .shell("漢字漢"), .shell("abcde")]).index.longestName == 6)
  }

  @Test func oneJobWithATerminalIsEnough() {
    let plain = Job.shell("a")
    let own = Job(name: "b", work: .shell(ShellWork(.script("vi"), hasTerminal: true)))
    #expect(!Fold([plain]).index.hasTerminals)
    #expect(Fold([own, plain]).index.hasTerminals)
  }

  // MARK: Times by kind

  private func usual(_ name: String, _ median: Int, _ ninetieth: Int) -> Job {
    var job = Job.shell(name)
    job.usual = UsualTime(
      median: .seconds(median), ninetieth: .seconds(ninetieth), count: 12, failures: 0, attempts: nil)
    return job
  }

  @Test func aKindHasTheTimesOfItsJobs() throws {
    var fold = Fold([usual("a", 10, 12), usual("b", 20, 28), .shell("c")])
    var shell = try #require(fold.index.kinds["shell"])
    #expect(shell.pending == 3 && shell.known == 2 && shell.pendingKnown == 2 && shell.ended == 0)
    #expect(shell.expected == .seconds(30) && shell.mean == .seconds(15))
    #expect(shell.pendingExpected == TimeEstimate(soonest: .seconds(30), latest: .seconds(40)))

    fold.play { $0.move("a", .executing) }
    shell = try #require(fold.index.kinds["shell"])
    #expect(shell.pending == 2 && shell.known == 2 && shell.pendingKnown == 1)
    #expect(shell.pendingExpected == TimeEstimate(soonest: .seconds(20), latest: .seconds(28)))

    fold.play {
      $0.at(8)
      $0.move("a", .succeeded(upToDate: false))
      $0.move("c", .executing)
      $0.at(12)
      $0.move("c", .succeeded(upToDate: false))
    }
    shell = try #require(fold.index.kinds["shell"])
    #expect(shell.pending == 1 && shell.ended == 2 && shell.time == .seconds(12) && shell.mean == .seconds(6))

    // What is tried again waits again, also while it is stopped.
    fold.play {
      $0.move("b", .executing)
      $0.cancel("b")
    }
    #expect(fold.index.kinds["shell"]?.pending == 0)
    fold.play { $0.move("b", .backingOff(until: .seconds(20), number: 1, limit: 1, after: Self.failure)) }
    #expect(fold.index.kinds["shell"]?.pending == 1 && fold.index.kinds["shell"]?.pendingKnown == 1)
  }

  @Test func onlyASuccessThatExecutedIsMeasured() {
    var fold = Fold(["a", "b", "c"].map { .shell($0) })
    fold.play {
      for name in ["a", "b", "c"] { $0.move(name, .executing) }
      $0.at(4)
      $0.move("a", .failed(Self.failure, allowed: false))
      $0.move("b", .cancelled(by: .person))
      $0.move("c", .succeeded(upToDate: true))
    }
    #expect(fold.index.kinds["shell"]?.ended == 0 && fold.index.kinds["shell"]?.mean == nil)
  }

  @Test func anIndexMadeLaterHasTheSameTimes() {
    var fold = Fold([usual("a", 10, 12), .shell("b"), .shell("c")])
    fold.play {
      for name in ["a", "b"] { $0.move(name, .executing) }
      $0.at(3)
      $0.move("a", .succeeded(upToDate: false))
      $0.move("b", .failed(Self.failure, allowed: false))
    }
    let (early, late) = (fold.index.kinds["shell"], JobIndex(fold.builder.run).kinds["shell"])
    #expect(early?.ended == 1 && late?.ended == 1 && early?.time == late?.time)
    #expect(early?.pending == 1 && late?.pending == 1 && early?.known == late?.known)
  }

  // MARK: Bytes

  @Test func jobsWithoutBytesAddNone() {
    var fold = Fold([.shell("a"), .shell("b")])
    fold.play {
      for name in ["a", "b"] { $0.move(name, .executing) }
      $0.progress("a", 5, of: 10, .steps)
    }
    #expect(fold.index.bytes == 0)
    fold.play { $0.progress("b", 700, of: 1000, .bytes) }
    #expect(fold.index.bytes == 700 && fold.index.rate(fold.builder.run, at: .zero) == 0)
    fold.play { $0.progress("b", 900, of: 1000, .bytes) }
    #expect(fold.index.bytes == 900)
  }
}
