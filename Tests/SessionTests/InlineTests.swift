import CTerminal
import Foundation
import JobModel
import Reports
import Screen
import Support
import Testing

@testable import Session

/// The output of the inline interface, and its times.
@Suite struct InlineTests {
  private let pipe = Pipe()

  private func stream(_ term: String = "xterm-256color") -> InlineStream {
    var settings = Settings()
    settings.notice = .bell
    settings.isASCII = true
    return InlineStream(
      Output(pipe.fileHandleForWriting.fileDescriptor), descriptor: -1,
      options: ViewOptions(source: "g.yml", settings: settings, Environment(variables: ["TERM": term])))
  }

  /// What has been written since the last look.
  private func written() -> String {
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  private static let start = "\u{1B}[?2026h\r"
  private static let end = "\u{1B}[?2026l"
  private static let erase = "\u{1B}[J"
  /// At the end, also of a draw whose last bytes ^C has discarded.
  private static let undo = "\r" + end + "\u{1B}[m" + on + erase + "\u{1B}[?25h"
  /// The sequences that every block is between.
  private static let (off, on) = ("\u{1B}[?7l", "\u{1B}[?7h")
  private static let down = "\r\u{1B}D"

  /// A block that is drawn as a whole, below lines; no line feed is in it.
  private static func whole(rows: [String], below lines: String = "") -> String {
    let up = rows.count > 1 ? "\u{1B}[\(rows.count - 1)A" : ""
    let block = rows.map { "\($0)\u{1B}[K" }.joined(separator: down)
    return start + erase + lines + off + block + "\r" + up + on + end
  }

  @Test func theCursorWaitsHiddenAtTheTopOfTheBlock() {
    let stream = stream()
    stream.open()
    #expect(written() == "\u{1B}[?25l")
    stream.append("one\n")
    #expect(written() == "")
    stream.draw(["a", "b", "c"])
    #expect(written() == Self.whole(rows: ["a", "b", "c"], below: "one\n"))
    stream.draw(["a", "b", "c"])
    #expect(written() == "")
    stream.draw(["a", "B", "c"])
    #expect(written() == "\(Self.start)\(Self.off)\(Self.down)B\u{1B}[K\(Self.down)\r\u{1B}[2A\(Self.on)\(Self.end)")
    stream.draw(["B"])
    #expect(written() == Self.whole(rows: ["B"]))
    stream.append("last\n")
    stream.close()
    #expect(written() == Self.undo + "last\n")
    stream.close()
    stream.draw(["late"])
    #expect(written() == "")
  }

  @Test func aTerminalThatIsNoXtermGetsNoneOfItsModes() {
    let stream = stream("linux")
    stream.open()
    stream.draw(["a"])
    #expect(written() == "\u{1B}[?25l\r\(Self.erase)\(Self.off)a\u{1B}[K\r\(Self.on)")
  }

  @Test func afterTheWindowHasChangedAllIsDrawnAnew() {
    let stream = stream()
    stream.open()
    stream.draw(["a", "b"])
    _ = written()
    #expect(!stream.isStale)
    stream.invalidate()
    #expect(stream.isStale)
    stream.draw(["a", "b"])
    #expect(written() == Self.whole(rows: ["a", "b"]))
  }

  @Test func newLinesScrollAboveAnUnchangedBlock() {
    let stream = stream()
    stream.open()
    stream.draw(["a"])
    _ = written()
    stream.append("one\n")
    stream.draw(["a"])
    #expect(written() == Self.whole(rows: ["a"], below: "one\n"))
    stream.draw(["a"])
    #expect(written() == "")
    stream.close()
    _ = written()
    stream.notify("too late")
    #expect(written() == "")
  }

  @Test func theFirstOutputOfTheProgramSinceADrawAsksForOne() {
    let stream = stream()
    let calls = Lock(0)
    stream.open(whenStale: { calls.withLock { $0 += 1 } })
    stream.draw(["a"])
    #expect(!stream.isStale)
    stream.noteOutput()
    #expect(calls.withLock(\.self) == 1)
    #expect(stream.isStale)
    stream.noteOutput()
    #expect(calls.withLock(\.self) == 1)
    stream.draw(["a"])
    #expect(!stream.isStale)
    stream.noteOutput()
    #expect(calls.withLock(\.self) == 2)
  }

  @Test func nothingIsDrawnWhileTheTerminalIsRestored() {
    let stream = stream()
    stream.open()
    _ = written()
    // As a thread does that ends the program.
    terminal_change_begin()
    Thread { stream.draw(["a"]) }.start()
    #expect(stays { written() == "" })
    terminal_change_end()
    #expect(eventually { written().hasSuffix(Self.end) })
  }

  @Test func beforeItsOpeningNothingIsWritten() {
    let stream = stream()
    stream.notify("done")
    stream.append("one\n")
    stream.draw(["a"])
    #expect(written() == "" && !stream.isStale)
  }

  @Test func theSizeIsAskedAgainAfterAChangeOfTheWindow() throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&master, &slave, nil, nil, &size) == 0)
    defer {
      close(slave)
      close(master)
    }
    let options = ViewOptions(source: "g.yml", settings: Settings(), Environment(variables: [:]))
    let stream = InlineStream(Output(slave), descriptor: slave, options: options)
    #expect(stream.size == Size(width: 100, height: 30))
    size.ws_col = 50
    #expect(ioctl(master, UInt(TIOCSWINSZ), &size) == 0)
    #expect(stream.size == Size(width: 100, height: 30))
    stream.invalidate()
    #expect(stream.size == Size(width: 50, height: 30))
  }

  /// As for the terminal of another session.
  @Test func aTerminalWithoutAKnownForegroundIsRestored() async {
    await #expect(processExitsWith: .success) {
      var (master, slave): (Int32, Int32) = (-1, -1)
      guard openpty(&master, &slave, nil, nil, nil) == 0 else { exit(EXIT_FAILURE) }
      let (controller, terminal) = (master, slave)
      func echoes() -> Bool {
        var modes = termios()
        return tcgetattr(terminal, &modes) == 0 && modes.c_lflag & tcflag_t(ECHO) != 0
      }
      let options = ViewOptions(source: "g.yml", settings: Settings(), Environment(variables: ["TERM": "xterm"]))
      let stream = InlineStream(Output(terminal), descriptor: terminal, options: options)
      stream.open()
      guard !echoes() else { exit(EXIT_FAILURE) }
      // As where a signal ends the program.
      terminal_guard_restore()
      _ = fcntl(controller, F_SETFL, O_NONBLOCK)
      var written: [UInt8] = []
      let isRestored = eventually {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(controller, &bytes, bytes.count)
        written += bytes.prefix(max(0, count))
        return echoes() && String(decoding: written, as: UTF8.self).hasSuffix("\u{1B}[?25h")
      }
      exit(isRestored ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  // MARK: In the background

  /// What is shown after another program had the terminal while these lines came.
  @MainActor private func shownLater(_ lines: [String]) throws -> String {
    let folder = try TemporaryFolder()
    let options = ViewOptions(source: "g.yml", settings: Settings(), Environment(variables: ["TERM": "linux"]))
    let stream = InlineStream(try Output.file(folder.file("output").path()), descriptor: -1, options: options)
    stream.suspend()
    for line in lines { stream.append(MessageText.page(line)) }
    stream.open()
    stream.draw(["block"])
    let text = try String(contentsOf: folder.file("output"), encoding: .utf8)
    let head = "\u{1B}[?25l\r\(Self.erase)"
    let tail = "\(Self.off)block\u{1B}[K\r\(Self.on)"
    #expect(text.hasPrefix(head) && text.hasSuffix(tail))
    return String(text.dropFirst(head.count).dropLast(tail.count))
  }

  @Test @MainActor func aMebibyteOfLinesWaitsForTheTerminal() throws {
    let line = String(repeating: "a", count: 63) + "\n"
    let lines = [String](repeating: String(repeating: line, count: 1024), count: 16)
    #expect(try shownLater(lines) == lines.joined())
  }

  @Test @MainActor func ofMoreThanAMebibyteTheLastHalfOfItIsKept() throws {
    let lines = (100_000..<132_769).map { "\($0) " + String(repeating: "a", count: 24) + "\n" }
    let text = try shownLater([lines.joined()])
    let kept = text.split(separator: "\n").dropFirst()
    #expect(kept.last?.hasPrefix("132768 ") == true)
    #expect(kept.count * 32 <= 1 << 19 && kept.count * 32 > (1 << 19) - 64)
    let dropped = lines.count - kept.count
    #expect(text.hasPrefix("opdash: dropped \(dropped) lines in the background; the logs have all\n"))
    #expect(text.hasSuffix(lines.suffix(kept.count).joined()))
  }

  @Test @MainActor func linesThatAreDroppedInTurnAreCountedTogether() throws {
    let first = String(repeating: "a", count: 1 << 20) + "\n"
    let shown = try shownLater([first + "b\n", first + "c\n"])
    #expect(shown == "opdash: dropped 3 lines in the background; the logs have all\nc\n")
    #expect(try shownLater([first + "b\n"]).hasPrefix("opdash: dropped 1 line in the background"))
  }

  // MARK: The report

  private func report(_ stream: InlineStream) -> ReportSet {
    ReportSet([InlineReport(stream, paint: Paint(isColoured: false))])
  }

  private func events(_ facts: [(JobFact, Duration)]) -> [JobEvent] {
    facts.enumerated().map { JobEvent(seq: $0, time: $1.1, fact: $1.0) }
  }

  private func run(_ jobs: Int) -> [(JobFact, Duration)] {
    [(.runStarted(RunStart(id: "1", name: "g", slots: 9, at: Date(timeIntervalSince1970: 0), jobs: jobs)), .zero)]
      + (0..<jobs).map { (.jobAdded(JobID($0), Job(name: "job\($0)", work: .simulate(SimulatedWork()))), .zero) }
  }

  private func state(_ id: Int, _ state: JobState, _ seconds: Double) -> (JobFact, Duration) {
    (.jobState(JobID(id), state, attempt: 1, pid: nil), .milliseconds(Int64(seconds * 1000)))
  }

  @Test func linesComeWithTheBlockAtMostTenTimesASecond() {
    let stream = stream()
    stream.open()
    var set = report(stream)
    let facts = run(3) + [state(0, .executing, 1), state(1, .executing, 1.05)]
    let all = events(facts)
    set.receive(all.prefix(5))
    #expect(set.wakeTime == .zero)
    set.wake(at: .seconds(1))
    let first = written()
    #expect(first.contains(/> job0  \[0\/\d+\] started/) && first.contains("<=>") && first.contains(" RUN "))
    set.receive(all.dropFirst(5))
    #expect(written() == "")
    #expect(set.wakeTime == .milliseconds(1100))
    set.wake(at: .milliseconds(1100))
    #expect(written().contains(/> job1  \[\d+\/\d+\] started/))
    // A mark that moves four times a second.
    #expect(set.wakeTime == .milliseconds(1250))
  }

  @Test func aMarkThatMovesIsDrawnATenthOfASecondLaterAtTheEarliest() {
    let stream = stream()
    stream.open()
    var set = report(stream)
    #expect(set.wakeTime == nil)
    set.receive(events(run(1) + [state(0, .executing, 1)]))
    set.wake(at: .milliseconds(1200))
    #expect(set.wakeTime == .milliseconds(1300))
  }

  @Test func eachEndIsAnnounced() {
    let stream = stream()
    stream.open()
    _ = written()
    var set = report(stream)
    let facts =
      run(1) + [
        state(0, .succeeded(upToDate: false), 1), state(0, .executing, 2), state(0, .succeeded(upToDate: false), 3),
      ]
    let all = events(facts)
    set.receive(all.prefix(3))
    #expect(written() == "\u{7}")
    set.receive(all[3...3])
    #expect(written() == "")
    set.receive(all[4...4])
    #expect(written() == "\u{7}")
  }

  @Test func aStillBlockSetsNoWakeTime() {
    let stream = stream()
    stream.open()
    var set = report(stream)
    set.receive(events(run(2) + [state(0, .executing, 1), state(0, .paused(started: true), 2)]))
    set.wake(at: .seconds(2))
    #expect(set.wakeTime == nil)
    stream.invalidate()
    #expect(set.wakeTime == .milliseconds(2100))
  }

  @Test func theEndRemovesTheBlockAndPrintsTheOutcome() {
    let stream = stream()
    stream.open()
    var set = report(stream)
    let facts =
      run(1) + [
        state(0, .executing, 1), state(0, .succeeded(upToDate: false), 2),
        (.runFinished(RunSummary()), .seconds(2)),
      ]
    let all = events(facts)
    set.receive(all.prefix(3))
    set.wake(at: .seconds(1))
    #expect(written().contains(" RUN "))
    set.receive(all[3...3])
    // The end of the last job is announced at once, and once.
    #expect(written() == "\u{7}")
    set.receive(all.dropFirst(4))
    let last = written()
    #expect(last.hasPrefix(Self.undo))
    #expect(last.hasSuffix("\ng: 1 ok in 2.0s\n"))
    #expect(set.wakeTime == nil)
  }
}
