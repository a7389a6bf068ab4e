import Foundation
import JobModel
import Screen
import Testing

@testable import Dashboard

/// Lines that are drawn again, in the log pane.
struct LogRedrawTests {
  private func rows(_ bench: Bench, _ traits: ScreenTraits = GoldenTests.utf8) -> [String] {
    let area = Layout(bench.model).log
    let frame = bench.frame(traits)
    return (area.y..<area.maxY).map { frame.text(row: $0) }.filter { !$0.isEmpty }
  }

  private static let bar = "\u{1B}[1m\u{1B}[96m    Building\u{1B}[0m [=======>          ]"

  private static let scenes: [(String, @Sendable (inout RunBuilder) -> Void)] = [
    ("a bar", { $0.log("talker", bar + " 2/6: alpha", .stderr, isUnfinished: true) }),
    ("drawn again", { $0.log("talker", bar + " 3/6: beta", .stderr, isUnfinished: true) }),
    (
      "its line ended with another text, and it is drawn below",
      {
        $0.log("talker", "   Compiling gamma v0.1.0", .stderr)
        $0.log("talker", bar + " 4/6: gamma", .stderr, isUnfinished: true)
      }
    ),
    ("the other stream writes", { $0.log("talker", "hello") }),
    ("drawn again below that", { $0.log("talker", bar + " 5/6: demo", .stderr, isUnfinished: true) }),
    ("a prompt", { $0.log("talker", "Password? ", isUnfinished: true) }),
    (
      "answered, and the bar erased",
      {
        $0.log("talker", "Password? yes")
        $0.log("talker", "", .stderr, isUnfinished: true)
      }
    ),
  ]

  /// `OPDASH_RECORD=1` records it and fails.
  @Test(arguments: [false, true]) func theLogPaneIsAsRecorded(isMerged: Bool) throws {
    var bench = Bench.talker(["one line"])
    if isMerged { bench.press(.character("L")) }
    var text = ""
    for (number, scene) in Self.scenes.enumerated() {
      bench.play {
        $0.at(2 + Double(number))
        scene.1(&$0)
      }
      text += "== \(scene.0)\n" + rows(bench).map { $0 + "\n" }.joined()
    }
    let name = isMerged ? "log-redrawn-merged.txt" : "log-redrawn.txt"
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Goldens/\(name)")
    if ProcessInfo.processInfo.environment["OPDASH_RECORD"] != nil {
      try text.write(to: url, atomically: true, encoding: .utf8)
      Issue.record("recorded \(name): look at it, then run without OPDASH_RECORD")
      return
    }
    #expect(try text == String(contentsOf: url, encoding: .utf8), "\(name) differs:\n\(text)")
  }

  @Test func aMergedLogThatIsCollectedLaterIsTheSame() {
    var early = Bench.talker(["one line"])
    early.press(.character("L"))
    var late = Bench.talker(["one line"])
    for scene in Self.scenes {
      early.play(scene.1)
      late.play(scene.1)
    }
    late.press(.character("L"))
    #expect(rows(early) == rows(late))
    #expect(early.model.lines?.total == late.model.lines?.total)
  }

  @Test func theCursorStaysOnALineThatIsDrawnAgain() {
    var bench = Bench.talker(["one", "two"])
    bench.play { $0.log("talker", "10%", isUnfinished: true) }
    bench.press(.tab, .up, .down)
    #expect(!bench.model.log.follows)
    bench.play { $0.log("talker", "20%", isUnfinished: true) }
    #expect(bench.model.currentLine?.entry.line.text == "20%")
    bench.play {
      $0.log("talker", "meanwhile", .stderr)
      $0.log("talker", "30%", isUnfinished: true)
    }
    #expect(bench.model.lines?.line(bench.model.log.cursor) != nil)
    bench.press(.character("f"))
    #expect(rows(bench).last?.hasSuffix("30%") == true)
  }

  @Test func aSearchFollowsALineThatIsDrawnAgain() {
    var bench = Bench.talker(["a needle"])
    bench.press(.tab, .character("/"))
    bench.type("needle")
    bench.press(.enter)
    bench.play { $0.log("talker", "looking for a needle", isUnfinished: true) }
    #expect(bench.model.log.matches.count == 2)
    bench.play { $0.log("talker", "looking", isUnfinished: true) }
    #expect(bench.model.log.matches.count == 1)
    bench.play { $0.log("talker", "another", .stderr) }
    bench.play { $0.log("talker", "found the needle") }
    #expect(bench.model.log.matches.count == 2)
  }

  @Test func theInlineBlockShowsThePromptOfAJobWithoutABar() {
    var builder = RunBuilder([.shell("login"), .shell("copy")])
    var block = InlineBlock(source: "release.yml", traits: GoldenTests.utf8)
    builder.at(1)
    for name in ["login", "copy"] { builder.move(name, .executing) }
    builder.log("login", "  \u{1B}[1mPassword?\u{1B}[0m ", isUnfinished: true)
    builder.log("copy", "  42%", isUnfinished: true)
    builder.progress("copy", 42, of: 100, .steps)
    var run = Run()
    for event in builder.take() {
      run.apply(event)
      block.receive(event, in: run)
    }
    let frame = block.frame(run, size: Size(width: 80, height: 24), now: .seconds(2))
    #expect(frame.rows.indices.contains { frame.text(row: $0).contains("login  Password?") })
    #expect(frame.rows.indices.contains { frame.text(row: $0).contains("42%") && frame.text(row: $0).contains("━") })
  }
}
