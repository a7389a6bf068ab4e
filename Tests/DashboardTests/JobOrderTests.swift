import JobModel
import Testing

@testable import Dashboard

@Suite struct JobOrderTests {
  private static let failure = JobFailure(.exit(1), "exit 1")

  private func order(
    _ builder: RunBuilder, _ sort: SortColumn, inverted: Bool = false, now: Duration? = nil
  ) -> [String] {
    var order = JobOrder()
    order.setSort(sort, inverted: inverted)
    order.update(builder.run, JobIndex(builder.run), FilteredJobs(), now: now ?? builder.run.time)
    return order.rows.map { builder.run[$0].job.name }
  }

  private func builder(_ names: String, slots: Int = 6) -> RunBuilder {
    RunBuilder(names.map { .shell(String($0)) }, slots: slots)
  }

  // MARK: Keys

  @Test func byProgressEndedJobsPrecedeAndJobsWithoutProgressFollow() {
    var run = builder("abcdef")
    for name in ["b", "c", "d", "e", "f"] { run.move(name, .executing) }
    run.progress("b", 50, of: 100, .steps)
    run.progress("d", 0, of: 100, .steps)
    run.progress("f", 75, of: 100, .steps)
    run.move("c", .succeeded(upToDate: false))
    run.move("e", .succeeded(upToDate: true))
    #expect(order(run, .progress) == ["c", "e", "f", "b", "d", "a"])
    #expect(order(run, .progress, inverted: true) == ["a", "d", "b", "f", "c", "e"])
  }

  @Test func byRateOnlyExecutingJobsHaveOne() {
    var run = builder("abcde")
    for name in ["b", "c", "d", "e"] {
      run.move(name, .executing)
      run.progress(name, 0, of: 1000, .steps)
    }
    run.at(1)
    run.progress("b", 0, of: 1000, .steps)
    run.progress("c", 20, of: 1000, .steps)
    run.progress("d", 10, of: 1000, .steps)
    run.progress("e", 30, of: 1000, .steps)
    run.move("e", .paused(started: true))
    #expect(order(run, .rate) == ["c", "d", "b", "a", "e"])
  }

  @Test func byTimeTheLongestPrecedesAndJobsWithoutAnAttemptFollow() {
    var run = builder("abcd")
    run.move("c", .executing)
    run.at(4)
    run.move("b", .executing)
    run.at(9)
    run.move("d", .executing)
    #expect(order(run, .time) == ["c", "b", "d", "a"])
  }

  @Test func byTimeLeftTheSoonestPrecedes() {
    var run = builder("abc")
    for name in ["b", "c"] {
      run.move(name, .executing)
      run.progress(name, 0, of: 100, .steps)
    }
    run.at(1)
    run.progress("b", 10, of: 100, .steps)
    run.progress("c", 20, of: 100, .steps)
    #expect(order(run, .eta) == ["c", "b", "a"])
    #expect(order(run, .eta, inverted: true) == ["a", "b", "c"])
  }

  @Test func byStartTheFirstAttemptCountsThenWhatIsNearestToOne() {
    var run = builder("abcdef")
    run.move("d", .ready(for: .slot))
    run.move("a", .skipped(because: .condition))
    run.at(1)
    run.move("f", .executing)
    run.at(2)
    run.move("c", .executing)
    run.at(3)
    run.move("f", .backingOff(until: .seconds(4), number: 1, limit: 1, after: Self.failure))
    run.at(4)
    run.move("f", .executing)
    run.move("b", .cancelled(by: .person))
    // `e` waits; `a` and `b` have ended without an attempt.
    #expect(order(run, .start) == ["f", "c", "d", "e", "b", "a"])
  }

  @Test func byAttentionEachStateHasItsPlace() {
    var run = builder("abcdefghijklmn", slots: 20)
    func execute(_ names: String, _ seconds: Double) {
      run.at(seconds)
      for name in names { run.move(String(name), .executing) }
    }
    execute("abghim", 1)
    execute("cf", 2)
    execute("n", 3)
    run.move("b", .failed(Self.failure, allowed: false))
    run.move("h", .paused(started: true))
    run.at(4)
    run.move("a", .failed(Self.failure, allowed: false))
    run.move("c", .paused(started: true))
    run.move("g", .succeeded(upToDate: false))
    run.at(5)
    run.move("i", .succeeded(upToDate: true))
    run.move("c", .executing)
    run.move("m", .failed(Self.failure, allowed: true))
    run.move("d", .ready(for: .slot))
    run.move("e", .ready(for: .slot))
    run.state(.priorityChanged(JobID(4), .high))
    run.move("j", .cancelled(by: .person))
    run.at(6)
    run.cancel("f")
    // The failures and the pause by their begin, `c` by its start, the ready by priority, the ended backwards.
    #expect(order(run, .attention).joined() == "bafcnhedkljmig")
  }

  @Test func theNewestEndPrecedesTheOthers() {
    var run = builder("abc")
    for (seconds, name) in [(1.0, "b"), (2.0, "c"), (3.0, "a")] {
      run.at(seconds)
      run.move(name, .executing)
      run.move(name, .succeeded(upToDate: false))
    }
    #expect(order(run, .attention) == ["a", "c", "b"])
  }

  @Test(arguments: [
    (SortColumn.attention, "attention", false), (.name, "name", false), (.progress, "progress", true),
    (.rate, "rate", true), (.time, "time", true), (.eta, "time left", true), (.start, "start", false),
  ])
  func aColumnHasWordsAndMayMoveWithTime(_ column: SortColumn, _ words: String, _ moves: Bool) {
    #expect(column.words == words)
    #expect(column.movesWithTime == moves)
  }

  // MARK: Rows

  /// `a` failed and `b`, `d` and `e` were skipped: `b` and `d` because of it, `e` by its condition; `c` waits.
  private func skipping() -> RunBuilder {
    var run = builder("abcde")
    run.move("a", .executing)
    run.move("a", .failed(Self.failure, allowed: false))
    run.move("b", .skipped(because: .job(JobID(0))))
    run.move("d", .skipped(because: .job(JobID(0))))
    run.move("e", .skipped(because: .condition))
    return run
  }

  @Test func aFoldedJobHasNoRowAndAnUnfoldedOneFollowsItsCause() {
    var run = skipping()
    let index = JobIndex(run.run)
    var order = JobOrder()
    order.update(run.run, index, FilteredJobs(), now: .zero)
    func rows() -> [Int?] { (0..<5).map { order.row(of: JobID($0)) } }
    #expect(order.rows.map(\.index) == [0, 2, 4])
    #expect(rows() == [0, nil, 1, nil, 2])
    order.toggle(JobID(0))
    order.update(run.run, index, FilteredJobs(), now: .zero)
    #expect(order.rows.map(\.index) == [0, 1, 3, 2, 4])
    #expect(rows() == [0, 1, 3, 2, 4])
    #expect(order.row(of: JobID(9)) == nil)
    order.toggle(JobID(0))
    order.update(run.run, index, FilteredJobs(), now: .zero)
    #expect(rows() == [0, nil, 1, nil, 2])
    run.move("b", .waiting)
    order.note(JobID(1))
    order.update(run.run, JobIndex(run.run), FilteredJobs(), now: .zero)
    #expect(order.skipped == [JobID(0): [JobID(3)]])
    #expect(rows() == [0, 1, 2, nil, 3])
  }

  @Test func aFilterAndAnotherOrderFoldNothing() {
    var run = skipping()
    let index = JobIndex(run.run)
    var order = JobOrder()
    var jobs = FilteredJobs()
    jobs.setFilter(JobFilter("!c"))
    jobs.update(run.run, index)
    order.update(run.run, index, jobs, now: .zero)
    #expect(order.rows.map(\.index) == [0, 1, 3, 4] && order.skipped.isEmpty)
    #expect(order.row(of: JobID(2)) == nil && order.row(of: JobID(3)) == 2)
    jobs.setFilter(.everything)
    jobs.update(run.run, index)
    order.update(run.run, index, jobs, now: .zero)
    #expect(order.rows.map(\.index) == [0, 2, 4])
    order.setSort(.attention, inverted: true)
    order.update(run.run, index, jobs, now: .zero)
    #expect(order.rows.count == 5 && !order.groups)
    run.move("c", .executing)
    order.setSort(.name, inverted: false)
    order.update(run.run, JobIndex(run.run), jobs, now: .zero)
    #expect(order.rows.map(\.index) == [0, 1, 2, 3, 4] && !order.groups)
  }

  /// Those before the row and those from it on are counted in different ways.
  @Test(arguments: [nil, "!c", "b"] as [String?])
  func theRowsFromAnyOneOnAreCountedByState(_ filter: String?) {
    let run = skipping()
    let index = JobIndex(run.run)
    var order = JobOrder()
    var jobs = FilteredJobs()
    if let filter { jobs.setFilter(JobFilter(filter)) }
    jobs.update(run.run, index)
    for isUnfolded in [false, true] {
      if isUnfolded { order.toggle(JobID(0)) }
      order.update(run.run, index, jobs, now: .zero)
      for row in 0...(order.rows.count + 1) {
        let rest = order.rows.dropFirst(row)
        #expect(order.counts(index, from: row) == index.counts(of: rest), "\(row) of \(order.rows)")
      }
      #expect(order.counts(index, from: -1) == index.counts(of: order.rows))
    }
  }

  @Test func withoutSkippedJobsTheRowsAreCountedByState() {
    var run = builder("abcdef")
    for name in ["a", "c", "d"] { run.move(name, .executing) }
    run.move("d", .succeeded(upToDate: false))
    let index = JobIndex(run.run)
    var order = JobOrder()
    order.update(run.run, index, FilteredJobs(), now: .zero)
    for row in 0...6 { #expect(order.counts(index, from: row) == index.counts(of: order.rows.dropFirst(row))) }
  }
}
