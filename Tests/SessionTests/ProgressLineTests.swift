import Foundation
import JobModel
import Reports
import Screen
import Support
import Testing

@testable import Session

/// The line of progress on standard error, on a pipe in the terminal's place.
@Suite struct ProgressLineTests {
  private let pipe = Pipe()
  private let other = Pipe()

  private var output: Output { Output(other.fileHandleForWriting.fileDescriptor) }

  private func line(_ outputs: Output...) -> ProgressLine {
    ProgressLine(
      descriptor: pipe.fileHandleForWriting.fileDescriptor, traits: ScreenTraits(isASCII: true, palette: .none),
      outputs: outputs)
  }

  /// What has been written since the last look.
  private func written(_ pipe: Pipe? = nil) -> String {
    let descriptor = (pipe ?? self.pipe).fileHandleForReading.fileDescriptor
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  @Test func itIsDrawnInPlaceWhereItHasChanged() {
    let line = line()
    line.show("1 of 3")
    #expect(written() == "\r1 of 3\u{1B}[K\r")
    line.show("1 of 3")
    #expect(written() == "")
    line.show("2 of 3")
    #expect(written() == "\r2 of 3\u{1B}[K\r" && !line.isStale)
    line.close()
    line.show("3 of 3")
    #expect(written() == "\r\u{1B}[K")
  }

  @Test func itGivesWayToWhatIsWritten() {
    let (output, errors) = (output, output)
    let line = line(output, errors)
    output.write(line: "before it is shown")
    #expect(written() == "" && !line.isStale)
    for other in [output, errors] {
      line.show("1 of 3")
      _ = written()
      other.write(line: "result")
      #expect(written() == "\r\u{1B}[K" && line.isStale)
      other.write(line: "another")
      #expect(written() == "")
    }
    line.show("1 of 3")
    #expect(written() == "\r1 of 3\u{1B}[K\r" && !line.isStale)
  }

  /// After ^S, as long as the terminal takes nothing.
  @Test func aTerminalThatTakesNothingHoldsNobodyUp() {
    let writing = pipe.fileHandleForWriting.fileDescriptor
    _ = fcntl(writing, F_SETFL, O_NONBLOCK)
    let piece = [UInt8](repeating: 0x78, count: 4096)
    while write(writing, piece, piece.count) > 0 {}
    _ = fcntl(writing, F_SETFL, 0)
    let output = output
    let line = line(output)
    line.show("1 of 3")
    output.write(line: "result")
    #expect(written(other) == "result\n" && !line.isStale)
  }

  // MARK: The report

  private func report(_ line: ProgressLine) -> ProgressReport {
    ProgressReport(line, options: ViewOptions(source: "g.yml", settings: Settings(), Environment(variables: [:])))
  }

  private func receive(_ facts: [JobFact], _ report: inout ProgressReport, _ run: inout Run) {
    for fact in facts {
      let event = JobEvent(seq: run.nextSeq, time: run.time, fact: fact)
      run.apply(event)
      report.receive(event, before: nil, in: run)
    }
    report.flush()
  }

  @Test func aRunIsSummedUpAfterHalfASecondAndWithEachChange() {
    let line = line()
    var report = report(line)
    var run = Run()
    #expect(report.wakeTime(in: run) == nil)
    let start = RunStart(id: "r", name: "each", slots: 2, at: .distantPast, jobs: 1)
    let job = Job(name: "a", work: .simulate(SimulatedWork()))
    receive([.runStarted(start), .jobAdded(JobID(0), job)], &report, &run)
    #expect(report.wakeTime(in: run) == .milliseconds(500))
    report.wake(at: .milliseconds(500), in: run)
    #expect(written().contains(" of 1 done"))
    // Nothing moves.
    #expect(report.wakeTime(in: run) == nil)
    receive([.jobState(JobID(0), .executing, attempt: 1, pid: nil)], &report, &run)
    #expect(report.wakeTime(in: run) == .milliseconds(600))
    report.wake(at: .milliseconds(600), in: run)
    #expect(written().contains(" running"))
    // What was written over it is drawn again.
    line.hide()
    #expect(report.wakeTime(in: run) == .milliseconds(700))
    report.wake(at: .milliseconds(700), in: run)
    _ = written()
    receive(
      [.jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil), .runFinished(RunSummary())], &report,
      &run)
    #expect(written() == "\r\u{1B}[K" && report.wakeTime(in: run) == nil)
  }
}
