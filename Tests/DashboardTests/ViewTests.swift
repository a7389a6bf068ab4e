import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct ViewTests {
  private static let failure = JobFailure(.exit(1), "exit 1")

  private func model(_ facts: (inout RunBuilder) -> Void) -> Model {
    var builder = RunBuilder((0..<4).map { .shell("\($0)") })
    facts(&builder)
    return Model(run: builder.run, size: Size(width: 80, height: 24), options: DashboardOptions(source: "g.yml"))
  }

  @Test func theTitleSaysStateAndCounts() {
    let empty = Model(run: Run(), size: Size(width: 80, height: 24), options: DashboardOptions(source: "g.yml"))
    #expect(View.title(empty) == "g.yml")
    #expect(View.title(model { $0.move("0", .executing) }) == "release: running 0/4")
    #expect(View.title(model { $0.state(.drainChanged(true)) }) == "release: draining 0/4")
    let failed = model { run in
      for name in ["0", "1"] {
        run.move(name, .executing)
        run.move(name, .failed(Self.failure, allowed: false))
      }
      run.move("2", .executing)
      run.move("2", .failed(Self.failure, allowed: true))
    }
    #expect(View.title(failed) == "release: running 3/4, 2 failed")
  }

  @Test func theMarkIsThePartDoneUntilTheEnd() {
    let begun = model { $0.move("0", .executing) }
    #expect(View.mark(begun) == View.Mark(percent: 0, failed: false))
    let part = model { run in
      for name in ["0", "1", "2"] { run.move(name, .executing) }
      run.move("0", .succeeded(upToDate: false))
      run.move("1", .failed(Self.failure, allowed: true))
      run.progress("2", 1, of: 4, .steps)
    }
    #expect(View.mark(part) == View.Mark(percent: 56, failed: false))
    let over = model { run in
      for name in ["0", "1", "2", "3"] { run.move(name, .executing) }
      for name in ["0", "1", "2"] { run.move(name, .succeeded(upToDate: false)) }
      run.move("3", .failed(Self.failure, allowed: false))
    }
    #expect(View.mark(over) == View.Mark(percent: nil, failed: true))
    let empty = Model(run: Run(), size: Size(width: 80, height: 24))
    #expect(View.mark(empty) == View.Mark(percent: nil, failed: false))
  }

  @Test func titleAndMarkAreOfTheRunAsItIsNow() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.move("a", .executing)
    var bench = Bench(builder)
    bench.press(.character("Z"))
    bench.play { run in
      run.move("a", .failed(Self.failure, allowed: false))
      run.move("b", .executing)
    }
    #expect(View.title(bench.model) == "release: running 1/2, 1 failed")
    #expect(View.mark(bench.model) == View.Mark(percent: 0, failed: true))
    bench.play { $0.move("b", .succeeded(upToDate: false)) }
    #expect(bench.model.isFrozen && View.title(bench.model) == "release: failed 2/2, 1 failed")
    #expect(View.mark(bench.model) == View.Mark(percent: nil, failed: true))
  }

  @Test func aScreenThatIsTooSmallSaysWhatIsNeeded() {
    let small = Model(run: Run(), size: Size(width: 29, height: 24))
    #expect(View.frame(small, ScreenTraits(isASCII: true, palette: .none), now: .zero).text(row: 0) == "needs 30 x 5")
  }

  @Test(arguments: Panel.allCases) func aJobIsShownBeforeTheOneThatItNeeds(_ panel: Panel) {
    var builder = RunBuilder([.shell("first", needs: [JobNeed(JobID(1))]), .shell("later")])
    let events = builder.take()
    for size in [Size(width: 80, height: 24), Size(width: 120, height: 40)] {
      for (count, status) in [(2, "  waiting\n"), (3, "  waits for later\n")] {
        var model = Model(run: Run(), size: size)
        _ = Update.apply(.facts(Array(events.prefix(count))), to: &model, now: .zero)
        for key in [panel.key, .enter] {
          FramePreparation.prepare(&model, now: .zero)
          _ = View.frame(model, GoldenTests.ascii, now: .zero)
          _ = Update.apply(.input(.key(key)), to: &model, now: .zero)
        }
        FramePreparation.prepare(&model, now: .zero)
        model.moveCursor(to: JobID(0))
        #expect(View.frame(model, GoldenTests.ascii, now: .zero).text.contains(status))
      }
    }
  }

  @Test func whatASCIICannotDrawIsAQuestionMark() {
    var frame = Frame(Size(width: 6, height: 2))
    frame.put("aé漢b", x: 0, y: 0, style: Style(.indexed(1)))
    frame.put("~~", x: 0, y: 1)
    frame.replaceNonASCII()
    #expect(frame.text == "a?? b\n~~")
    #expect(frame[1, 0] == Cell("?", Style(.indexed(1))))
  }
}
