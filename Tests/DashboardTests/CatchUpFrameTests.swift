import JobModel
import Screen
import Support
import Testing

@testable import Dashboard

/// A dashboard that has missed events shows what another one shows, once it has caught up.
@Suite struct CatchUpFrameTests {
  private static let sizes = [Size(width: 80, height: 24), Size(width: 200, height: 60)]

  private static func frames(_ early: Run, _ events: [JobEvent], _ size: Size) -> [Frame] {
    let end = events.last.map { $0.standing?.run.time ?? $0.time } ?? early.time
    let now = end + .milliseconds(700)
    // The panel of events has those that stand for others, and is left out.
    return [Panel.list, .tree, .timeline, .critical].flatMap { panel -> [Frame] in
      var model = Model(run: early, size: size, options: DashboardOptions(timeZone: .gmt))
      FramePreparation.prepare(&model, now: early.time)
      _ = View.frame(model, ScreenTraits(isASCII: false, palette: .sixteen), now: early.time)
      _ = Update.apply(.facts(events), to: &model, now: end)
      return [panel.key, .down, .character("L"), .enter].map { key in
        _ = Update.apply(.input(.key(key)), to: &model, now: now)
        FramePreparation.prepare(&model, now: now)
        return View.frame(model, ScreenTraits(isASCII: false, palette: .sixteen), now: now)
      }
    }
  }

  @Test(arguments: [0, 1, 20, 40, 80])
  func theScreenIsThatOfOneWhoHasSeenAll(_ seen: Int) throws {
    let builder = RichRun.builder()
    var early = Run()
    for event in builder.events.prefix(seen) { early.apply(event) }
    let missed = Array(builder.events.dropFirst(seen))
    let events = try #require(early.events(to: builder.run))
    for size in Self.sizes {
      for (one, other) in zip(Self.frames(early, missed, size), Self.frames(early, events, size)) {
        #expect(one.text == other.text)
        #expect(one == other)
      }
    }
  }
}
