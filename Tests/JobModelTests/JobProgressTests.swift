import JobModel
import Testing

@Suite struct JobProgressTests {
  @Test func aFractionIsBetweenNothingAndTheWhole() {
    func fraction(_ done: Int64, _ total: Int64?) -> Double? {
      JobProgress(done: done, total: total, unit: .bytes).fraction
    }
    #expect(fraction(0, 4) == 0 && fraction(1, 4) == 0.25 && fraction(4, 4) == 1)
    #expect(fraction(5, 4) == 1 && fraction(-1, 4) == 0)
    #expect(fraction(1, 1) == 1 && fraction(1, nil) == nil && fraction(1, -1) == nil)
  }

  @Test func progressIsUnknownWithoutAnAmountAndATotal() {
    #expect(JobProgress(done: 0, total: nil, unit: .steps).isUnknown)
    #expect(!JobProgress(done: 1, total: nil, unit: .steps).isUnknown)
    #expect(!JobProgress(done: 0, total: 1, unit: .steps).isUnknown)
  }

  // MARK: Rates

  private func samples(_ reports: [(done: Int64, wait: Duration)]) -> [Float] {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    for report in reports { recorder.report(report.done, after: report.wait) }
    return recorder[0].rates.samples
  }

  @Test func aSampleIsTheMeanOfAWholeSecond() {
    #expect(samples([(0, .zero), (100, .milliseconds(999))]) == [])
    #expect(samples([(0, .zero), (100, .seconds(1))]) == [100])
    #expect(samples([(0, .zero), (250, .milliseconds(2500))]) == [100, 100])
    // What was reported before the second was over counts in it.
    #expect(samples([(0, .zero), (30, .milliseconds(500)), (80, .milliseconds(500))]) == [80])
    #expect(samples([(40, .seconds(5)), (50, .seconds(1)), (50, .seconds(1))]) == [10, 0])
  }

  @Test func anAmountThatFallsBeginsAnew() {
    #expect(samples([(100, .zero), (40, .seconds(1)), (90, .seconds(1))]) == [50])
    #expect(samples([(100, .zero), (100, .seconds(1))]) == [0])
  }

  @Test func theNewestMinuteIsKept() {
    // Each second the amount grows by one more than in the second before.
    var reports: [(done: Int64, wait: Duration)] = [(0, .zero)]
    for second in 1...61 { reports.append((reports[second - 1].done + Int64(second), .seconds(1))) }
    #expect(samples(reports) == (2...61).map { Float($0) })
    #expect(samples([(0, .zero), (120, .seconds(120)), (121, .seconds(1))]) == [Float](repeating: 1, count: 60))
  }
}
