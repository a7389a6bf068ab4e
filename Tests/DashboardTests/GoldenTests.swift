import Foundation
import JobModel
import Screen
import Support
import Testing

@testable import Dashboard

/// Compares frames with the texts in Goldens; `OPDASH_RECORD=1` records them and fails.
struct GoldenTests {
  static let utf8 = ScreenTraits(isASCII: false, palette: .sixteen)
  static let ascii = ScreenTraits(isASCII: true, palette: .none)
  static let now: Duration = .milliseconds(221_300)

  struct Scene: CustomTestStringConvertible, Sendable {
    var name: String
    var width: Int
    var height: Int
    var keys: [Key] = []
    var testDescription: String { name }
  }

  /// Every panel but the list, at every size.
  private static let panels: [Scene] = [
    Size(width: 80, height: 24), Size(width: 120, height: 40), Size(width: 200, height: 60),
    Size(width: 40, height: 12), Size(width: 30, height: 5),
  ].flatMap { size in
    Panel.allCases.dropFirst().map { panel in
      Scene(
        name: "\(size.width)x\(size.height)-\(panel.rawValue)", width: size.width, height: size.height,
        keys: [panel.key])
    }
  }

  static let scenes: [Scene] =
    [
      Scene(name: "80x24", width: 80, height: 24),
      Scene(name: "120x40", width: 120, height: 40),
      Scene(name: "200x60", width: 200, height: 60),
      Scene(name: "40x12", width: 40, height: 12),
      Scene(name: "30x5", width: 30, height: 5),
      Scene(name: "29x5", width: 29, height: 5),
    ] + panels + [
      Scene(name: "80x24-help", width: 80, height: 24, keys: [.character("?")]),
      Scene(name: "120x40-help", width: 120, height: 40, keys: [.function(1)]),
      Scene(name: "80x24-zoom-lint", width: 80, height: 24, keys: [.enter]),
      Scene(name: "80x24-quit", width: 80, height: 24, keys: [.character("q")]),
      Scene(name: "80x24-filter", width: 80, height: 24, keys: [.character("/"), .character("b"), .character("u")]),
      Scene(name: "80x24-log-off", width: 80, height: 24, keys: [.character("l"), .character("l")]),
      Scene(name: "80x24-palette", width: 80, height: 24, keys: [.character(":"), .character("p"), .character("r")]),
      Scene(name: "120x40-fetch", width: 120, height: 40, keys: [.down, .down, .down]),
      Scene(name: "40x12-zoom-fetch", width: 40, height: 12, keys: [.down, .down, .down, .enter]),
      Scene(name: "30x5-palette", width: 30, height: 5, keys: [.character(":")]),
      Scene(name: "80x24-unfolded", width: 80, height: 24, keys: [.character("e")]),
      Scene(
        name: "80x24-confirm", width: 80, height: 24,
        keys: "cjjj x".map { .character($0) }),
      Scene(
        name: "120x40-timeline-zoomed", width: 120, height: 40,
        keys: [.character("3"), .character("i"), .character("i"), .left]),
      Scene(name: "80x24-merged", width: 80, height: 24, keys: [.character("L")]),
      Scene(
        name: "120x40-merged-range", width: 120, height: 40,
        keys: [.character("L"), .tab, .up, .character("v"), .up, .up]),
      Scene(name: "40x12-merged", width: 40, height: 12, keys: [.character("l"), .character("L"), .up]),
      Scene(
        name: "80x24-log-cursor", width: 80, height: 24,
        keys: [.down, .down, .down, .down, .tab, .up, .up, .character("T")]),
      Scene(name: "80x24-frozen", width: 80, height: 24, keys: [.character("Z")]),
    ]

  static func frame(
    _ scene: Scene, _ traits: ScreenTraits, builder: RunBuilder = RichRun.builder(), now: Duration = now
  ) -> Frame {
    // The events are applied one by one, because the event list starts with the first event after its run.
    var builder = builder
    var model = Model(
      run: Run(), size: Size(width: scene.width, height: scene.height),
      options: DashboardOptions(source: "release.yml", timeZone: .gmt))
    model.apply(builder.take())
    FramePreparation.prepare(&model, now: now)
    for key in scene.keys {
      _ = Update.apply(.input(.key(key)), to: &model, now: now)
      FramePreparation.prepare(&model, now: now)
    }
    return View.frame(model, traits, now: now)
  }

  @Test(arguments: scenes)
  func aFrameIsAsRecorded(_ scene: Scene) throws {
    try Self.compare(Self.frame(scene, Self.utf8), "\(scene.name).utf8.txt")
  }

  @Test(arguments: scenes)
  func anASCIIFrameIsAsRecordedAndHoldsNothingElse(_ scene: Scene) throws {
    let frame = Self.frame(scene, Self.ascii)
    let isASCII = frame.text.allSatisfy(\.isASCII)
    #expect(isASCII)
    try Self.compare(frame, "\(scene.name).ascii.txt")
  }

  static func compare(_ frame: Frame, _ name: String) throws { try compare(frame.text, name) }

  static func compare(_ text: String, _ name: String) throws {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Goldens/\(name)")
    let text = text + "\n"
    if ProcessInfo.processInfo.environment["OPDASH_RECORD"] != nil {
      try text.write(to: url, atomically: true, encoding: .utf8)
      Issue.record("recorded \(name): look at it, then run without OPDASH_RECORD")
      return
    }
    let golden = try String(contentsOf: url, encoding: .utf8)
    #expect(text == golden, "\(name) differs:\n\(text)")
  }
}
