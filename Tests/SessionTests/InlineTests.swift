import Foundation
import JobModel
import Reports
import Screen
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

  @Test func theCursorWaitsHiddenAtTheTopOfTheBlock() {
    let stream = stream()
    stream.open()
    #expect(written() == "\u{1B}[?25l")
    stream.append(Array("one\n".utf8))
    #expect(written() == "")
    stream.draw(["a", "b", "c"])
    #expect(written() == Self.start + "\u{1B}[Jone\na\u{1B}[K\r\nb\u{1B}[K\r\nc\u{1B}[K\r\u{1B}[2A" + Self.end)
    stream.draw(["a", "b", "c"])
    #expect(written() == "")
    stream.draw(["a", "B", "c"])
    #expect(written() == Self.start + "a\u{1B}[K\r\nB\u{1B}[K\r\nc\u{1B}[K\r\u{1B}[2A" + Self.end)
    stream.draw(["B"])
    #expect(written() == Self.start + "\u{1B}[JB\u{1B}[K\r" + Self.end)
    stream.append(Array("last\n".utf8))
    stream.close()
    #expect(written() == "\r\u{1B}[J\u{1B}[?25hlast\n")
    stream.close()
    stream.draw(["late"])
    #expect(written() == "")
  }

  @Test func aTerminalThatIsNoXtermGetsNoneOfItsModes() {
    let stream = stream("linux")
    stream.open()
    stream.draw(["a"])
    #expect(written() == "\u{1B}[?25l\r\u{1B}[Ja\u{1B}[K\r")
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
    #expect(written() == Self.start + "\u{1B}[Ja\u{1B}[K\r\nb\u{1B}[K\r\u{1B}[1A" + Self.end)
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
    #expect(last.hasPrefix("\r\u{1B}[J\u{1B}[?25h"))
    #expect(last.hasSuffix("\ng: 1 ok in 2.0s\n"))
    #expect(set.wakeTime == nil)
  }
}
