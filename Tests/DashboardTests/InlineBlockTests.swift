import JobModel
import Screen
import Testing

@testable import Dashboard

/// The block below the lines of a stream, at several sizes.
struct InlineBlockTests {
  private func block(_ traits: ScreenTraits = GoldenTests.utf8) -> (InlineBlock, Run) {
    var builder = RichRun.builder()
    var block = InlineBlock(source: "release.yml", traits: traits)
    var run = Run()
    for event in builder.take() {
      run.apply(event)
      block.receive(event, in: run)
    }
    return (block, run)
  }

  private func text(_ width: Int, _ height: Int, _ traits: ScreenTraits = GoldenTests.utf8) -> [String] {
    let (block, run) = block(traits)
    let frame = block.frame(run, size: Size(width: width, height: height), now: .milliseconds(221_300))
    return frame.rows.indices.map { frame.text(row: $0) }
  }

  @Test func theBlockShowsOpenJobsOldestFirstThenTheRun() {
    #expect(
      text(80, 27) == [
        " ■ stubborn        stopping, killed in 0:17                                0:20",
        " ▶ assets          ━━━━━━━━━━━━━━━━━━━━━━━━━━━━╾─  96%         1.5 MB/s    3:41",
        " ▶ fetch           ━━━━━━━━━━━━━━━───────────────  50%         8.5 MB/s    1:01",
        " ▶ unit-tests      ━━━━━━────────────────────────  20%            1.3/s    0:44",
        " ▶ migrate         ─────────────────────━━━──────                          0:09",
        " ▶ upload-symbols  ─────────────────────━━━──────              2.1 MB/s    0:08",
        " ‖ warm-cache      paused                                                  3:19",
        " ↻ notify          retry 2 of 3 in 0:08, after HTTP 503                    3:33",
        "  RUN   release  3:41  8 of 26 done  2 failed  5 running  1 stopping  2 paused",
      ])
  }

  @Test(arguments: [12, 40, 80]) func theSummaryIsTheLastLineOfTheBlock(width: Int) {
    let (block, run) = block()
    let summary = block.summary(run, width: width, now: .milliseconds(221_300))
    #expect(summary.rows.count == 1 && summary.text(row: 0) == text(width, 27).last)
    #expect(
      block.summary(Run(), width: width, now: .zero).rows.isEmpty
        && block.summary(run, width: 11, now: .zero).rows.isEmpty)
  }

  @Test func inASmallWindowTheBlockTakesAThird() {
    #expect(
      text(40, 12, GoldenTests.ascii) == [
        " s stubborn  stopping, killed..    0:20",
        " > assets    [##########>]  96%    3:41",
        "   and 6 more",
        "  RUN   release  3:41  8 of 26 done",
      ])
  }

  @Test(arguments: [(1, 1), (11, 24), (80, 2), (12, 3), (20, 6), (30, 5), (300, 100)])
  func theBlockFitsAnySizeWithoutFillingALine(_ width: Int, _ height: Int) {
    let (block, run) = block()
    let frame = block.frame(run, size: Size(width: width, height: height), now: .seconds(221))
    #expect(frame.size.width < width && frame.rows.count <= max(2, height / 3))
  }

  @Test func theBlockChangesOnlyWhileAJobExecutes() {
    let (block, run) = block()
    #expect(block.nextChange(after: .milliseconds(221_300), in: run) == .milliseconds(221_500))
    var still = RunBuilder([.shell("a"), .shell("b")])
    still.move("a", .executing)
    still.move("a", .paused(started: true))
    #expect(InlineBlock(source: nil, traits: GoldenTests.utf8).nextChange(after: .zero, in: still.run) == nil)
  }

  // MARK: Small runs

  private func received(_ builder: RunBuilder) -> (InlineBlock, Run) {
    var block = InlineBlock(source: "g.yml", traits: GoldenTests.ascii)
    var run = Run()
    for event in builder.events {
      run.apply(event)
      block.receive(event, in: run)
    }
    return (block, run)
  }

  private func rows(_ builder: RunBuilder, _ width: Int = 80, _ height: Int = 24) -> [String] {
    let (block, run) = received(builder)
    let frame = block.frame(run, size: Size(width: width, height: height), now: run.time)
    return frame.rows.indices.map { frame.text(row: $0) }
  }

  @Test func theNextChangeIsAStepOfWhatMoves() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    func next() -> Duration? {
      let (block, run) = received(builder)
      return block.nextChange(after: .milliseconds(1300), in: run)
    }
    #expect(next() == nil)
    builder.move("a", .executing)
    #expect(next() == .milliseconds(1500))
    builder.progress("a", 1, of: 2, .steps)
    #expect(next() == .seconds(2))
    builder.move("a", .backingOff(until: .seconds(9), number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
    #expect(next() == .seconds(2))
    builder.state(.runFinished(RunSummary()))
    #expect(next() == nil)
  }

  @Test func theSummarySaysWhatTheRunDoes() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.at(65)
    builder.move("a", .cancelled(by: .person))
    #expect(rows(builder) == ["  RUN   release  1:05  1 of 2 done  1 waiting"])
    builder.state(.drainChanged(true))
    #expect(rows(builder) == ["  DRAINING   release  1:05  1 of 2 done  1 waiting"])
    builder.state(.stopRequested(.terminate, by: .person))
    #expect(rows(builder) == ["  STOPPING   release  1:05  1 of 2 done  1 waiting"])
    // What does not fit is left out.
    #expect(rows(builder, 40) == ["  STOPPING   release  1:05  1 of 2 done"])
    #expect(rows(builder, 39) == ["  STOPPING   release  1:05  1 waiting"])
  }

  @Test(arguments: [(11, 24, 0), (12, 24, 1), (80, 2, 0), (80, 3, 1)])
  func aScreenThatIsTooSmallHasNoBlock(_ width: Int, _ height: Int, _ lines: Int) {
    #expect(rows(RunBuilder([.shell("a")]), width, height).count == lines)
  }

  /// Of 27 rows a third is nine: eight jobs and the summary.
  @Test(arguments: [(27, 8, [8]), (27, 9, [7, 2]), (60, 9, [7, 2]), (12, 3, [3]), (12, 4, [2, 2]), (6, 2, [1])])
  func asManyJobsAreShownAsThereIsRoomFor(_ height: Int, _ count: Int, _ lines: [Int]) {
    var builder = RunBuilder((0..<count).map { .shell("job-\($0)") })
    for number in 0..<count { builder.move("job-\(number)", .executing) }
    let rows = rows(builder, 80, height)
    #expect(rows.count { $0.hasPrefix(" > job-") } == lines[0])
    #expect(rows.count == lines[0] + lines.count)
    if lines.count > 1 { #expect(rows[lines[0]] == "   and \(lines[1]) more") }
  }
}

struct FrameTextTests {
  @Test func aRowIsWrittenWithItsStylesAndEndsPlain() {
    var frame = Frame(Size(width: 20, height: 1))
    frame.put("a", x: 0, y: 0)
    frame.put("bc", x: 1, y: 0, style: Style(.indexed(203), on: .indexed(12), [.bold, .reverse]))
    frame.put("漢", x: 4, y: 0, style: Style(.indexed(1)))
    #expect(
      frame.line(row: 0, palette: .many)
        == "a\u{1B}[0;1;7;38;5;203;104mbc\u{1B}[0m \u{1B}[0;31m漢\u{1B}[0m")
    #expect(frame.line(row: 0, palette: .none) == "a\u{1B}[0;1;7mbc\u{1B}[0m 漢")
  }
}
