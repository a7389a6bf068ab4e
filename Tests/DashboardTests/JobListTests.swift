import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct JobListTests {
  private func frame(_ model: Model) -> Frame {
    View.frame(model, ScreenTraits(isASCII: true, palette: .none), now: model.run.time)
  }

  private func prepared(_ run: Run, _ change: (inout Model) -> Void = { _ in }) -> Model {
    var model = Model(run: run, size: Size(width: 80, height: 24))
    change(&model)
    FramePreparation.prepare(&model, now: run.time)
    return model
  }

  @Test func anEmptyListSaysWhy() {
    func first(_ model: Model) -> String { frame(model).text(row: Layout(model).list.y) }
    #expect(first(prepared(Run())) == "   no run yet")
    #expect(first(prepared(RunBuilder([]).run)) == "   no jobs")
    #expect(
      first(prepared(RunBuilder([.shell("a")]).run) { $0.setFilter(JobFilter("zz")) }) == "   no job matches zz")
  }

  @Test func theSummaryBelowTellsSkippedFromNotStarted() {
    var builder = RunBuilder((0..<30).map { .shell("job-\($0)") })
    for place in 0..<30 where place > 2 {
      builder.move("job-\(place)", .skipped(because: place % 2 == 0 ? .manual : .condition))
    }
    let text = frame(prepared(builder.run)).text
    #expect(text.contains(" not started, ") || text.contains(" skipped, "), "\(text)")
    let more = text.split(separator: "\n").first { $0.contains(" more: ") } ?? ""
    let shown = Layout(prepared(builder.run)).list.height
    #expect(more.contains("\(30 - shown) more: "))
    let numbers = more.matches(of: /(\d+) (skipped|not started)/)
    #expect(numbers.count == 2 && numbers.compactMap { Int($0.1) }.reduce(0, +) == 30 - shown, "\(more)")
  }

  @Test func aWarningStandsOnTheRow() {
    var builder = RunBuilder([.shell("fetch"), .shell("parse"), .shell("link")])
    builder.move("fetch", .executing)
    builder.move("link", .executing)
    builder.progress("link", 3, of: 4, .steps)
    builder.move("parse", .ready(for: .slot))
    builder.state(.warningRaised(RunWarning(.cancelledExecuting, [JobID(0)], "e", since: .zero)))
    builder.state(.warningRaised(RunWarning(.queueSuspended, [JobID(1), JobID(2)], "e", since: .zero)))
    func row(_ name: String, width: Int) -> String {
      var model = Model(run: builder.run, size: Size(width: width, height: 12))
      FramePreparation.prepare(&model, now: .zero)
      let frame = frame(model)
      return (0..<12).map { frame.text(row: $0) }.first { $0.contains(name) && $0.count > 4 } ?? ""
    }
    #expect(row("fetch", width: 100).contains("! still executes"))
    #expect(row("parse", width: 100).contains("  ! queue is suspended"))
    #expect(row("link", width: 100).contains("! queue is suspended"))
    for name in ["fetch", "parse"] { #expect(row(name, width: 40).contains("!"), "\(row(name, width: 40))") }
  }

  @Test func theColumnThatSortsIsMarked() {
    let run = RunBuilder([.shell("a")]).run
    let titles: [(SortColumn, Bool, [String])] = [
      (.attention, false, ["JOB", "STATUS", "TIME", "LEFT"]), (.name, false, ["JOBv", "STATUS", "TIME", "LEFT"]),
      (.name, true, ["JOB^", "STATUS", "TIME", "LEFT"]), (.progress, false, ["JOB", "STATUSv", "TIME", "LEFT"]),
      (.time, false, ["JOB", "STATUS", "TIMEv", "LEFT"]), (.eta, true, ["JOB", "STATUS", "TIME", "LEFT^"]),
    ]
    for (column, isInverted, words) in titles {
      let model = prepared(run) { $0.order.setSort(column, inverted: isInverted) }
      let text = zip(words, [11, 54, 7, 0]).map { $0.padded(to: $1) }.joined()
      #expect(frame(model).text(row: 2) == "   " + text, "\(column)")
    }
  }

  @Test func theLastLineSaysOrderFilterTagsAndPlace() {
    let run = RunBuilder((0..<20).map { .shell("job-\($0)") }).run
    let row = Layout(prepared(run)).more.y
    func last(_ change: (inout Model) -> Void) -> String { frame(prepared(run, change)).text(row: row) }
    #expect(last { _ in } == " v 9 more: 9 waiting".padded(to: 54) + "sorted by attention  1/20")
    #expect(last { $0.order.setSort(.eta, inverted: true) }.hasSuffix("  sorted by time left, inverted  1/20"))
    #expect(last { $0.tags = [JobID(0), JobID(3)] }.hasSuffix("  2 tagged  sorted by attention  1/20"))
    #expect(last { $0.setFilter(JobFilter("job-1")) } == "/job-1  11/20".leftPadding(to: 79))
    let scrolled = last { model in
      model.showsCursor = false
      model.top = 99
    }
    #expect(scrolled == " ^ 9 above".padded(to: 54) + "sorted by attention  1/20")
  }

  @Test func anExecutingJobHasABarWordsAndTimes() {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    builder.progress("a", 0, of: 100, .steps)
    builder.at(10)
    builder.progress("a", 50, of: 100, .steps)
    let line = frame(prepared(builder.run)).text(row: 3)
    // Three tenths of the 53 cells between name and time are the bar's.
    let words = " > a          [######>......]  50%  50 of 100  5.0/s"
    #expect(line == words.padded(to: 68) + "0:10   0:10")
  }
}

extension String {
  fileprivate func leftPadding(to width: Int) -> String { String(repeating: " ", count: width - count) + self }
}
