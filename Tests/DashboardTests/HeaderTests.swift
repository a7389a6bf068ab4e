import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct HeaderTests {
  private static let failure = JobFailure(.exit(1), "exit 1")
  private static let backingOff = JobState.backingOff(until: .seconds(9), number: 1, limit: 1, after: failure)

  /// Jobs `0`, `1` and so on, in these states.
  private func model(_ states: [JobState], _ facts: JobFact...) -> Model {
    var builder = RunBuilder(states.indices.map { .shell("\($0)") })
    for (index, state) in states.enumerated() where state != .waiting {
      if state.isFailure { builder.move("\(index)", .executing) }
      builder.move("\(index)", state)
    }
    for fact in facts { builder.state(fact) }
    var model = Model(run: builder.run, size: Size(width: 80, height: 24))
    FramePreparation.prepare(&model, now: builder.run.time)
    return model
  }

  @Test(
    arguments: [
      ([.waiting], "RUN"), ([.executing, .paused(started: true)], "RUN"),
      ([.paused(started: true), .waiting], "PAUSED"),
      ([.paused(started: false), .ready(for: .slot)], "RUN"), ([.paused(started: false), backingOff], "RUN"),
      ([.failed(failure, allowed: false), .waiting], "RUN"),
      ([.failed(failure, allowed: false), .succeeded(upToDate: false)], "FAILED"),
      ([.failed(failure, allowed: true), .succeeded(upToDate: false)], "DONE"),
      ([.failed(failure, allowed: true), .failed(failure, allowed: false)], "FAILED"),
      ([.succeeded(upToDate: true), .skipped(because: .condition)], "DONE"),
      ([.succeeded(upToDate: true), .cancelled(by: .person)], "STOPPED"),
    ] as [([JobState], String)])
  func theStateOfTheRunIsOneWord(_ states: [JobState], _ word: String) {
    #expect(Header.word(model(states)) == word)
  }

  @Test(
    arguments: [
      ([.executing], " RUN ", true), ([.succeeded(upToDate: false)], " WATCHING ", false),
      ([.failed(failure, allowed: false)], " FAILED ", true),
    ] as [([JobState], String, Bool)])
  func aWatchedRunSaysWhatHasFailedAndThatItWatches(_ states: [JobState], _ word: String, _ isSaid: Bool) {
    let model = model(states, .watchChanged(true, fault: nil))
    let line = View.frame(model, ScreenTraits(isASCII: true, palette: .none), now: .zero).text(row: 0)
    #expect(line.contains(word) && line.contains("watching inputs") == isSaid, "\(line)")
    #expect(line.contains("1 failed") == (word == " FAILED "))
  }

  @Test(arguments: [(1, "1 warning"), (12, "12 warnings")]) func warningsAreCounted(_ count: Int, _ text: String) {
    let facts = (0..<count).map { JobFact.warningRaised(RunWarning(.slotsHeld, [JobID($0)], "", since: .zero)) }
    for (width, expected) in [(80, text), (30, "\(count)")] {
      var builder = RunBuilder([.shell("a")])
      builder.move("a", .executing)
      for fact in facts { builder.state(fact) }
      var model = Model(run: builder.run, size: Size(width: width, height: 12))
      FramePreparation.prepare(&model, now: .zero)
      let frame = View.frame(model, ScreenTraits(isASCII: true, palette: .none), now: .zero)
      #expect(frame.text(row: 0).contains(expected), "\(frame.text(row: 0))")
    }
  }

  @Test func aStopAndADrainAreSaid() {
    let stop = JobFact.stopRequested(.terminate, by: .person)
    #expect(Header.word(model([.executing], stop)) == "STOPPING")
    #expect(Header.word(model([.succeeded(upToDate: false)], stop)) == "STOPPED")
    #expect(Header.word(model([.executing], .drainChanged(true))) == "DRAINING")
    #expect(Header.word(model([.executing], .drainChanged(true), stop)) == "STOPPING")
    #expect(Header.word(model([.waiting], .runFinished(RunSummary()))) == "STOPPED")
    var asked = model([.executing])
    asked.quits = 1
    #expect(Header.word(asked) == "STOPPING")
  }

  @Test func theFirstLineHasStateAndClockThenTheCounts() {
    let now: Duration = .seconds(65)
    let traits = ScreenTraits(isASCII: true, palette: .none)
    let line = View.frame(model([.executing, .waiting]), traits, now: now).text(row: 0)
    let counts = String(repeating: " ", count: 14) + "0 of 2 done  1 running  1 waiting  slots 1/6"
    #expect(line == " release   RUN   1:05" + counts)
    // What is worth least is left out where there is no room.
    var unrecorded = model([.executing, .waiting])
    unrecorded.isUnrecorded = true
    let other = View.frame(unrecorded, traits, now: now).text(row: 0)
    let fewer = String(repeating: " ", count: 11) + "0 of 2 done  1 running  slots 1/6"
    #expect(other == " release   RUN   1:05  not recorded" + fewer)
  }

  @Test func aJobThatNobodyStartedIsNeitherDoneNorSkipped() {
    let states: [JobState] = [.succeeded(upToDate: false), .skipped(because: .condition), .skipped(because: .manual)]
    let line = View.frame(model(states), ScreenTraits(isASCII: true, palette: .none), now: .zero).text(row: 0)
    #expect(line.contains("2 of 3 done  1 skipped  1 not started"))
  }

  @Test func theSecondLineIsTheShareThatIsDoneThenThePerCent() {
    let traits = ScreenTraits(isASCII: true, palette: .none)
    let states: [JobState] = [.succeeded(upToDate: false), .failed(Self.failure, allowed: false), .waiting, .waiting]
    let line = View.frame(model(states), traits, now: .zero).text(row: 1)
    let parts = [("#", 17), ("!", 18), (">", 1), (".", 35)].map { String(repeating: $0.0, count: $0.1) }
    #expect(line == " [" + parts.joined() + "]  25%")
  }

  @Test(arguments: [("RUN", 0), ("FAILED", 1), ("DONE", 2), ("STOPPED", 3)])
  func theBadgeHasTheStyleOfItsWord(_ word: String, _ place: Int) {
    let traits = ScreenTraits(isASCII: true, palette: .sixteen)
    let theme = Theme(traits)
    let states: [[JobState]] = [
      [.executing], [.failed(Self.failure, allowed: false)], [.succeeded(upToDate: false)], [.cancelled(by: .person)],
    ]
    let frame = View.frame(model(states[place]), traits, now: .zero)
    #expect(frame.text(row: 0).contains(" \(word) "))
    #expect(frame[12, 0].style == [theme.calm, theme.danger, theme.good, theme.warning][place])
  }
}
