import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct TimelinePaneTests {
  private static let failure = JobFailure(.exit(1), "exit 1")

  @Test(arguments: [
    (50, "50ms"), (999, "999ms"), (1000, "1s"), (59_000, "59s"), (60_000, "1m"), (3_540_000, "59m"),
    (3_600_000, "1h"), (86_400_000, "24h"),
  ])
  func aStepIsInItsOwnUnit(_ milliseconds: Int, _ text: String) {
    #expect(Format.step(.milliseconds(milliseconds)) == text)
  }

  /// The cells of some jobs' rows, a second each, and the axis above them; `z` executes until `end`.
  private func bars(
    _ names: [String], end: Double = 40, _ facts: (inout RunBuilder) -> Void = { _ in }
  ) -> (axis: String, rows: [String]) {
    var builder = RunBuilder((names + ["z"]).map { .shell($0) })
    facts(&builder)
    builder.move("z", .executing)
    builder.at(end)
    builder.state(.slotsChanged(1))
    var bench = Bench(builder)
    bench.press(.character("3"))
    let layout = Layout(bench.model)
    let text = (0..<layout.list.height).map { bench.frame().text(row: layout.list.y + $0) }
    let rows = names.map { name in text.first { $0.dropFirst(5).hasPrefix(name + " ") } ?? "" }
    return (bench.frame().text(row: layout.titles.y), rows.map { String($0.dropFirst(14)) })
  }

  private func cells(_ parts: (String, Int)...) -> String {
    parts.map { String(repeating: $0.0, count: $0.1) }.joined()
  }

  @Test func everyPhaseHasItsSign() {
    let (_, rows) = bars(["a"]) { run in
      for (seconds, state) in [
        (2.0, JobState.ready(for: .slot)), (4.0, .ready(for: .pool("net"))), (6.0, .ready(for: .person)),
        (8.0, .ready(for: .cluster(reason: nil))), (10.0, .executing), (12.0, .paused(started: true)),
        (15.0, .executing), (18.0, .backingOff(until: .seconds(20), number: 1, limit: 1, after: Self.failure)),
        (20.0, .executing), (23.0, .succeeded(upToDate: false)),
      ] {
        run.at(seconds)
        run.move("a", state)
      }
    }
    let waits = cells((".", 2), ("-", 2), ("=", 2), ("?", 2), ("c", 2))
    let attempts = cells(("#", 2), ("p", 3), ("#", 2), ("!", 1), ("~", 2), ("#", 3))
    #expect(rows[0] == waits + attempts + cells((" ", 17), ("|", 1)))
  }

  @Test func anAttemptHasACellHoweverShortAndItsEndALetter() {
    let (_, rows) = bars(["a", "b", "c"]) { run in
      run.at(3.2)
      for name in ["a", "b", "c"] { run.move(name, .executing) }
      run.at(3.4)
      run.move("a", .succeeded(upToDate: false))
      run.move("b", .failed(Self.failure, allowed: false))
      run.at(6)
      run.move("c", .cancelled(by: .person))
    }
    #expect(rows == [("...#", 36), ("...!", 36), ("...##c", 34)].map { $0.0 + cells((" ", $0.1), ("|", 1)) })
  }

  @Test func whatIsExpectedFollowsThePresent() {
    let (_, rows) = bars(["a", "b"]) { run in
      run.move("a", .executing)
      run.at(2)
      run.move("a", .succeeded(upToDate: false))
    }
    #expect(rows[0] == "##" + cells((" ", 38), ("|", 1)))
    // `b` takes the slot of `z`, and 2 s as `a` did.
    #expect(rows[1] == cells((".", 40), ("|", 1), (":", 1)))
  }

  /// A label stands at every tenth cell that the present leaves free, up to the end of the run.
  @Test(arguments: [
    (40, "0:30      vNOW"), (44, "0:30          vNOW"),
    (45, "0:30      0:40 vNOW"), (46, "0:30      0:40  vNOW"),
    (39, "0:30     vNOW"), (34, "0:20          vNOW"),
  ])
  func thePresentTakesThePlaceOfLabelsBesideIt(_ end: Int, _ labels: String) {
    let (axis, _) = bars(["a"], end: Double(end))
    #expect(axis.hasPrefix("     JOB      0:00      0:10      ") && axis.hasSuffix(labels))
  }

  @Test func aTimelineWithoutRowsSaysWhy() {
    var bench = Bench(RunBuilder([.shell("a")]))
    bench.press(.character("3"), .character("/"))
    bench.type("zzz")
    #expect(bench.frame().text(row: Layout(bench.model).list.y) == "   no job matches zzz")
  }

  /// The legend at a width.
  private func legend(_ width: Int, _ facts: (inout RunBuilder) -> Void = { _ in }) -> String {
    var builder = RunBuilder([.shell("a"), .shell("z")])
    facts(&builder)
    builder.move("z", .executing)
    builder.at(40)
    builder.state(.slotsChanged(1))
    var bench = Bench(builder, size: Size(width: width, height: 24))
    bench.press(.character("3"))
    return bench.frame().text(row: Layout(bench.model).more.y)
  }

  @Test func aLegendWithoutRoomHasTheMarksOfTheRowsAndNoneInPart() {
    let whole = " * critical  # running  : expected  . waits for needs  - slot  = pool  ~ retry  p paused "
    #expect(legend(120).hasPrefix(whole))
    #expect(legend(80).hasPrefix(" * critical  # running  : expected  . waits for needs   "))
    let narrow = legend(40)
    #expect(narrow.hasPrefix(" * critical  # running   "), "\(narrow)")
    let held = legend(80) { run in
      run.move("a", .ready(for: .pool("net")))
      run.at(9)
      run.move("a", .backingOff(until: .seconds(60), number: 1, limit: 1, after: Self.failure))
    }
    #expect(held.hasPrefix(" * critical  # running  : expected  . waits for needs  = pool   "), "\(held)")
  }
}
