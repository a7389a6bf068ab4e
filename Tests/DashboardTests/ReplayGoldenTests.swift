import Foundation
import JobModel
import Screen
import Support
import Testing

@testable import Dashboard

/// Frames of a run of opdash that was recorded: as it is replayed, and as its past is looked at from its end.
///
/// Recordings/release.ndjson is the file that `--events` wrote of a run with a download, a failure, one that is allowed, a retry,
/// skipped jobs, a pool and measured progress; its paths are changed.
@Suite struct ReplayGoldenTests {
  private static let sizes = [
    Size(width: 40, height: 12), Size(width: 80, height: 24), Size(width: 120, height: 40),
    Size(width: 200, height: 60),
  ]
  private static let instants: [Duration] = [.milliseconds(200), .milliseconds(1300), .milliseconds(2000)]

  private let history: RunHistory

  init() throws {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Recordings/release.ndjson")
    history = RunHistory(try Recording(Array(Data(contentsOf: url))).events)
  }

  /// The dashboard when the replay has come to `time`.
  private func replayed(to time: Duration, _ size: Size) -> Model {
    var model = Model(
      run: Run(), size: size, options: DashboardOptions(source: "release.ndjson", timeZone: .gmt))
    model.apply(history.events.filter { $0.time <= time })
    FramePreparation.prepare(&model, now: time)
    return model
  }

  /// The dashboard at the end, after keys that show the run as it was at the instant that is nearest before `time`.
  private func scrubbed(to time: Duration, _ size: Size) -> (model: Model, time: Duration) {
    var history = history
    let now = history.end
    var model = replayed(to: now, size)
    model.hasPast = true
    var shown = now
    // A hundredth of the run at a time.
    for _ in 0..<100 where shown > time {
      for effect in Update.apply(.input(.key(.character(","))), to: &model, now: now) {
        guard case .find(let wanted) = effect else { continue }
        shown = wanted
        _ = Update.apply(.past(history.run(at: wanted), at: wanted), to: &model, now: now)
      }
      FramePreparation.prepare(&model, now: now)
    }
    return (model, shown)
  }

  private func text(_ model: Model, now: Duration) -> [(panel: Panel, text: String)] {
    Panel.allCases.map { panel in
      var model = model
      _ = Update.apply(.input(.key(panel.key)), to: &model, now: now)
      FramePreparation.prepare(&model, now: now)
      return (panel, View.frame(model, GoldenTests.utf8, now: now).text)
    }
  }

  @Test(arguments: sizes)
  func everyViewOfAReplayIsAsRecorded(_ size: Size) throws {
    var lines: [String] = []
    for time in Self.instants + [history.end] {
      for (panel, text) in text(replayed(to: time, size), now: time) {
        lines.append("== \(panel.rawValue) at \(time / .seconds(1)) s\n\(text)")
      }
    }
    try GoldenTests.compare(lines.joined(separator: "\n"), "replay-\(size.width)x\(size.height).txt")
  }

  @Test(arguments: sizes)
  func everyViewOfThePastIsAsRecorded(_ size: Size) throws {
    var lines: [String] = []
    for time in Self.instants {
      let (model, shown) = scrubbed(to: time, size)
      #expect(model.isPast)
      for (panel, text) in text(model, now: history.end) {
        lines.append("== \(panel.rawValue) at \(shown / .seconds(1)) s\n\(text)")
      }
    }
    try GoldenTests.compare(lines.joined(separator: "\n"), "past-\(size.width)x\(size.height).txt")
  }

  /// A past instant is the run that a replay shows there.
  @Test func aPastInstantIsTheReplayedRun() {
    for time in stride(from: 0, through: 2400, by: 50).map({ Duration.milliseconds($0) }).reversed() {
      var history = history
      var run = Run()
      for event in history.events where event.time <= time { run.apply(event) }
      #expect(history.run(at: time) == run)
    }
  }
}
