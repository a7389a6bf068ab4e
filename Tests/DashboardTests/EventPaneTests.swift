import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct EventPaneTests {
  private func bench(_ facts: (inout RunBuilder) -> Void = { _ in }) -> Bench {
    var bench = Bench(RunBuilder([.shell("a"), .shell("longer-name")]))
    bench.press(.character("5"))
    bench.play(facts)
    return bench
  }

  private func row(_ number: Int, _ bench: Bench) -> String {
    bench.frame().text(row: Layout(bench.model).list.y + number)
  }

  @Test func anEventHasItsInstantItsMarkItsJobAndItsWords() {
    let bench = bench { run in
      run.at(3.25)
      run.move("a", .executing)
      run.at(725)
      run.state(.slotsChanged(3))
      run.move("longer-name", .ready(for: .slot))
      let warning = RunWarning(.longLine, [JobID(0)], "has the only slot", advice: "widen it", since: .zero)
      run.state(.warningRaised(warning))
    }
    // Names have the cells of the longest.
    #expect(bench.frame().text(row: 2) == "   TIME    JOB          EVENT")
    #expect(row(0, bench) == " 00:03.2 > a            running")
    #expect(row(1, bench) == " 12:05.0 *              3 slots")
    #expect(row(2, bench) == " 12:05.0 o longer-name  waits for a slot")
    #expect(row(3, bench) == " 12:05.0 ! a            warning: has the only slot; widen it")
  }

  @Test func anEmptyListSaysWhy() {
    #expect(row(0, bench()) == "   no event yet")
    var filtered = bench { $0.state(.slotsChanged(3)) }
    filtered.model.setFilter(JobFilter("zz"))
    FramePreparation.prepare(&filtered.model, now: filtered.now)
    #expect(row(0, filtered) == "   no event matches")
  }

  @Test func theLastLineSaysWhatIsAboveAndWhetherItFollows() {
    var bench = bench { run in for number in 0..<40 { run.state(.slotsChanged(number + 1)) } }
    let layout = Layout(bench.model)
    func last() -> String { bench.frame().text(row: layout.more.y) }
    let above = 40 - layout.list.height
    #expect(last() == " ^ \(above) above".padded(to: 63) + "following  40/40")
    bench.press(.home)
    // The run began before the dashboard did.
    #expect(last().hasPrefix(" 3 older ones are not kept ") && last().hasSuffix("  1/40"))
    #expect(!last().contains("following"))
  }

  @Test func onlyAChosenRowIsHighlighted() {
    var bench = bench { run in for number in 0..<4 { run.state(.slotsChanged(number + 1)) } }
    let list = Layout(bench.model).list
    func highlighted() -> [Int] {
      (0..<4).filter { bench.frame()[70, list.y + $0].style.attributes.contains(.reverse) }
    }
    #expect(highlighted().isEmpty)
    bench.press(.up)
    #expect(highlighted() == [2])
    bench.press(.down)
    #expect(highlighted().isEmpty)
  }
}
