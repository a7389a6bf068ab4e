import JobModel
import Screen
import Support
import Testing

@testable import Dashboard

/// A run that is written and read back is drawn as the original, cell by cell.
@Suite struct CodecFrameTests {
  private static let sizes = [
    Size(width: 40, height: 12), Size(width: 80, height: 24), Size(width: 120, height: 40),
    Size(width: 200, height: 60),
  ]

  private static func readBack(_ events: [JobEvent]) throws -> Run {
    var (writer, bytes) = (EventWriter(), [UInt8]())
    for event in events { writer.append(event, to: &bytes) }
    var run = Run()
    for event in try Recording(bytes).events { run.apply(event) }
    return run
  }

  private static func frames(_ run: Run, _ size: Size) -> [Frame] {
    let now = run.time + .milliseconds(700)
    let traits = ScreenTraits(isASCII: false, palette: .sixteen)
    return Panel.allCases.flatMap { panel -> [Frame] in
      var model = Model(run: run, size: size, options: DashboardOptions(timeZone: .gmt))
      FramePreparation.prepare(&model, now: now)
      var frames: [Frame] = []
      for key in [panel.key, .down, .character("L"), .enter] {
        _ = Update.apply(.input(.key(key)), to: &model, now: now)
        FramePreparation.prepare(&model, now: now)
        frames.append(View.frame(model, traits, now: now))
      }
      return frames
    }
  }

  private static func compare(_ events: [JobEvent], _ original: Run) throws {
    let copy = try readBack(events)
    #expect(copy == original)
    for size in sizes {
      for (one, other) in zip(frames(original, size), frames(copy, size)) {
        #expect(one.text == other.text)
        #expect(one == other)
      }
    }
  }

  @Test func everyViewOfARunReadBackHasTheSameCells() throws {
    let builder = RichRun.builder()
    try Self.compare(builder.events, builder.run)
  }

  @Test(arguments: 0..<4)
  func everyViewOfARandomRunReadBackHasTheSameCells(_ seed: UInt64) throws {
    let run = RandomRun(seed: seed, jobs: 25, facts: 400)
    try Self.compare(run.events, run.run)
  }

  /// Numbers of a recording that were changed by hand are read where they are possible, and break no view.
  @Test func everyViewOfAChangedRecordingIsDrawn() {
    var random = SplitMix(seed: 7)
    var (writer, bytes) = (EventWriter(), [UInt8]())
    for event in RichRun.builder().events { writer.append(event, to: &bytes) }
    let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
    var drawn = 0
    for _ in 0..<60 {
      var mutated = MutatedLines(lines)
      for _ in 0..<2 { mutated.changeDigit(Int(random.next() % UInt64(lines.count)), &random) }
      guard let recording = try? Recording(Array(mutated.lines.joined(separator: [UInt8(ascii: "\n")]))) else {
        continue
      }
      var run = Run()
      for event in recording.events { run.apply(event) }
      drawn += Self.frames(run, Size(width: 120, height: 40)).count
    }
    #expect(drawn > 100)
  }
}
