import Basics
import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import opdash

/// The list of `opdash each` while it arrives.
@Suite(.timeLimit(.minutes(10))) struct ArgumentFeederTests {
  /// What a feeder has added, and the writer of its list.
  private final class Run: @unchecked Sendable {
    // Safe: only the descriptors are no values of a lock, and they never change.
    let reader: Int32
    let writer: Int32
    let feed = FakeFeed()
    private let state = Lock((jobs: [Job](), ends: [String?](), isOpen: Optional(true)))

    init() {
      var ends: [Int32] = [-1, -1]
      _ = pipe(&ends)
      (reader, writer) = (ends[0], ends[1])
    }

    var names: [String] { state.withLock { $0.jobs.map(\.name) } }
    var ends: [String?] { state.withLock(\.ends) }

    func write(_ text: String) {
      let bytes = Array(text.utf8)
      #expect(bytes.withUnsafeBytes { Foundation.write(writer, $0.baseAddress, $0.count) } == bytes.count)
    }

    func feeder(_ request: EachRequest = EachRequest(command: "true"), ahead: Int = 4, reads descriptor: Int32? = nil)
      throws
      -> ArgumentFeeder
    {
      let feeder = ArgumentFeeder(
        descriptor ?? reader, request, jobs: try EachJobs(request), ahead: ahead,
        add: { jobs in self.state.withLock { $0.jobs += jobs } },
        end: { problem in self.state.withLock { $0.ends.append(problem) } })
      feeder.watch(feed)
      feeder.start()
      return feeder
    }

    /// The end of the list.
    func end() {
      if state.withLock({ $0.isOpen.take() }) != nil { close(writer) }
    }

    deinit {
      end()
      close(reader)
    }
  }

  private let run = Run()

  /// States that the job has started.
  private func start(_ index: Int) {
    run.feed.post(.jobState(JobID(index), .executing, attempt: 1, pid: nil))
    // Again, when its process is known.
    run.feed.post(.jobState(JobID(index), .executing, attempt: 1, pid: 7))
  }

  @Test func aJobIsAddedWhenItsArgumentIsComplete() throws {
    let feeder = try run.feeder()
    run.write("a\nb")
    #expect(eventually { run.names == ["a"] })
    run.write("c\n")
    #expect(eventually { run.names == ["a", "bc"] })
    #expect(run.ends.isEmpty)
    run.write("end")
    run.end()
    #expect(eventually { run.ends == [nil] })
    #expect(run.names == ["a", "bc", "end"])
    withExtendedLifetime(feeder) {}
  }

  @Test func aJobOfSeveralArgumentsWaitsForThemOrTheEnd() throws {
    let feeder = try run.feeder(EachRequest(command: "true", perJob: 2))
    run.write("a\nb\nc\n")
    #expect(eventually { run.names == ["a +1"] })
    run.end()
    #expect(eventually { run.ends == [nil] })
    #expect(run.names == ["a +1", "c"])
    withExtendedLifetime(feeder) {}
  }

  @Test func noMoreJobsAreAddedThanMayWait() throws {
    let feeder = try run.feeder(ahead: 4)
    run.feed.begin(100)
    run.write((0..<20).map { "\($0)\n" }.joined())
    #expect(eventually { run.names.count == 4 })
    // In another order than they were added.
    for index in [1, 0] { start(index) }
    #expect(eventually { run.names.count == 6 })
    run.feed.post(.jobState(JobID(5), .cancelled(by: .person), attempt: 0, pid: nil))
    #expect(eventually { run.names.count == 7 })
    for index in 2..<20 { start(index) }
    #expect(eventually { run.names.count == 20 })
    run.end()
    #expect(eventually { run.ends == [nil] })
    #expect(run.names == (0..<20).map { "\($0)" })
    withExtendedLifetime(feeder) {}
  }

  @Test func aStopOfTheRunEndsTheReading() throws {
    let feeder = try run.feeder(ahead: 2)
    run.feed.begin(2)
    run.write("a\nb\nc\nd\n")
    #expect(eventually { run.names.count == 2 })
    run.feed.post(.stopRequested(.terminate, by: .signal))
    #expect(eventually { run.ends == [nil] })
    start(0)
    #expect(run.names == ["a", "b"])
    withExtendedLifetime(feeder) {}
  }

  @Test func anEndlessListIsReadNoFurtherThanItsJobsMayWait() throws {
    let flags = fcntl(run.writer, F_GETFL)
    _ = fcntl(run.writer, F_SETFL, flags | O_NONBLOCK)
    let feeder = try run.feeder(ahead: 10)
    let piece = [UInt8]("y\n".utf8)
    var written = 0
    // Until the pipe is full and stays so: what was read of it is one piece at most.
    let isFull = eventually {
      while true {
        let count = piece.withUnsafeBytes { Foundation.write(run.writer, $0.baseAddress, $0.count) }
        guard count > 0 else { break }
        written += count
      }
      return run.names.count == 10
    }
    #expect(isFull)
    #expect(written <= 4 << 16, "\(written) bytes")
    feeder.stop()
    #expect(eventually { run.ends == [nil] })
  }

  @Test func aListThatCannotBeReadEndsWithTheReason() throws {
    let feeder = try run.feeder(reads: -1)
    #expect(eventually { run.ends == ["can't read standard input: Bad file descriptor"] })
    withExtendedLifetime(feeder) {}
  }
}
