import Basics
import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import opdash

/// The list of `opdash each` while it arrives.
struct ArgumentReaderTests {
  /// What a dependency queue has added, and the writer of its list.
  private final class Run: @unchecked Sendable {
    // Safe: only the descriptors are no values of a lock, and they never change.
    let reader: Int32
    let writer: Int32
    let feed = FakeFeed()
    private let state = Lock((jobs: [Job](), ends: 0, isOpen: Optional(true)))

    init() {
      var ends: [Int32] = [-1, -1]
      _ = pipe(&ends)
      // A child of another test would keep the end of the input from the dependency queue.
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (reader, writer) = (ends[0], ends[1])
    }

    var names: [String] { state.withLock { $0.jobs.map(\.name) } }
    var scripts: [String] {
      state.withLock { state in
        state.jobs.map { job in
          guard case .shell(let work) = job.work, case .script(let text) = work.command else { return "" }
          return text
        }
      }
    }
    var ends: Int { state.withLock(\.ends) }

    func write(_ text: String) {
      let bytes = Array(text.utf8)
      #expect(bytes.withUnsafeBytes { Foundation.write(writer, $0.baseAddress, $0.count) } == bytes.count)
    }

    func dependencyQueue(
      _ request: EachRequest = EachRequest(command: "true"), ahead: Int = 4, endsWithFailure: Bool = false,
      reads descriptor: Int32? = nil
    ) throws -> ArgumentReader {
      let dependencyQueue = ArgumentReader(
        descriptor ?? reader, try EachJobs(request), ahead: ahead, endsWithFailure: endsWithFailure,
        add: { jobs in self.state.withLock { $0.jobs += jobs } }, end: { self.state.withLock { $0.ends += 1 } })
      dependencyQueue.watch(feed)
      dependencyQueue.start()
      return dependencyQueue
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
    let dependencyQueue = try run.dependencyQueue()
    run.write("a\nb")
    #expect(eventually { run.names == ["a"] })
    run.write("c\n")
    #expect(eventually { run.names == ["a", "bc"] })
    #expect(run.ends == 0)
    run.write("end")
    run.end()
    #expect(eventually { run.ends == 1 })
    #expect(run.names == ["a", "bc", "end"])
    withExtendedLifetime(dependencyQueue) {}
  }

  @Test func aJobOfSeveralArgumentsWaitsForThemOrTheEnd() throws {
    let dependencyQueue = try run.dependencyQueue(EachRequest(command: "true", perJob: 2))
    run.write("a\nb\nc\n")
    #expect(eventually { run.names == ["a +1"] })
    run.end()
    #expect(eventually { run.ends == 1 })
    #expect(run.names == ["a +1", "c"])
    withExtendedLifetime(dependencyQueue) {}
  }

  @Test func noMoreJobsAreAddedThanMayWait() throws {
    let dependencyQueue = try run.dependencyQueue(ahead: 4)
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
    #expect(eventually { run.ends == 1 })
    #expect(run.names == (0..<20).map { "\($0)" })
    withExtendedLifetime(dependencyQueue) {}
  }

  @Test func aStopOfTheRunEndsTheReading() throws {
    let dependencyQueue = try run.dependencyQueue(ahead: 2)
    run.feed.begin(2)
    run.write("a\nb\nc\nd\n")
    #expect(eventually { run.names.count == 2 })
    run.feed.post(.stopRequested(.terminate, by: .signal))
    #expect(eventually { run.ends == 1 })
    start(0)
    #expect(run.names == ["a", "b"])
    withExtendedLifetime(dependencyQueue) {}
  }

  @Test func anEndlessListIsReadNoFurtherThanItsJobsMayWait() throws {
    let flags = fcntl(run.writer, F_GETFL)
    _ = fcntl(run.writer, F_SETFL, flags | O_NONBLOCK)
    let dependencyQueue = try run.dependencyQueue(ahead: 10)
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
    dependencyQueue.stop()
    #expect(eventually { run.ends == 1 })
  }

  @Test func aStopEndsAListWhoseWriterIsSilent() throws {
    let dependencyQueue = try run.dependencyQueue()
    run.feed.begin(0)
    run.write("a\n")
    #expect(eventually { run.names == ["a"] })
    // The read is blocked.
    run.feed.post(.stopRequested(.terminate, by: .signal))
    #expect(eventually { run.ends == 1 })
    run.write("b\n")
    run.end()
    #expect(run.names == ["a"] && run.ends == 1)
    withExtendedLifetime(dependencyQueue) {}
  }

  @Test(arguments: [false, true]) func aFailureEndsTheListWhereThePolicySaysSo(_ endsWithFailure: Bool) throws {
    let dependencyQueue = try run.dependencyQueue(endsWithFailure: endsWithFailure)
    run.feed.begin(2)
    run.write("a\n")
    #expect(eventually { run.names == ["a"] })
    run.feed.post(.jobState(JobID(0), .failed(JobFailure(.exit(1), ""), allowed: true), attempt: 1, pid: nil))
    run.write("b\n")
    #expect(eventually { run.names == ["a", "b"] })
    run.feed.post(.jobState(JobID(1), .failed(JobFailure(.exit(1), ""), allowed: false), attempt: 1, pid: nil))
    if endsWithFailure { #expect(eventually { run.ends == 1 }) }
    run.write("c\n")
    run.end()
    #expect(eventually { run.ends == 1 })
    #expect(run.names == (endsWithFailure ? ["a", "b"] : ["a", "b", "c"]))
    withExtendedLifetime(dependencyQueue) {}
  }

  @Test func aListThatCannotBeReadAnyMoreAddsAJobThatFails() throws {
    let dependencyQueue = try run.dependencyQueue(reads: -1)
    #expect(eventually { run.ends == 1 })
    #expect(run.names == ["standard input"])
    #expect(
      run.scripts == ["echo 'opdash: can'\\''t read standard input any more: Bad file descriptor' >&2; exit 2"])
    withExtendedLifetime(dependencyQueue) {}
  }

  @Test func aFaultNamesTheLineAndFailsItsJobOnly() throws {
    let dependencyQueue = try run.dependencyQueue(EachRequest(command: "echo"))
    run.write("a\n\nb\0\nc\n")
    run.end()
    #expect(eventually { run.ends == 1 })
    #expect(run.names.count == 3 && run.scripts[0] == "echo 'a'" && run.scripts[2] == "echo 'c'")
    let fault = "has a NUL byte, which no command can take: --null splits standard input there"
    #expect(run.scripts[1] == "echo 'opdash: line 3 of standard input \(fault)' >&2; exit 2")
    withExtendedLifetime(dependencyQueue) {}
  }

  @Test func aListThatIsNotReadyIsWaitedFor() throws {
    _ = fcntl(run.reader, F_SETFL, fcntl(run.reader, F_GETFL) | O_NONBLOCK)
    let dependencyQueue = try run.dependencyQueue()
    run.write("a\n")
    #expect(eventually { run.names == ["a"] })
    run.end()
    #expect(eventually { run.ends == 1 })
    withExtendedLifetime(dependencyQueue) {}
  }
}
