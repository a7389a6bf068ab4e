import Basics
import Foundation
import JobModel
import Reports
import Support
import Testing

@testable import Session

@Suite struct ApprovalPromptTests {
  /// Lines of a report and a question, as they come to one terminal.
  @Test func aQuestionStandsBelowTheLinesBeforeIt() throws {
    let (feed, folder) = (FakeFeed(), try TemporaryFolder())
    let path = folder.file("terminal").path(percentEncoded: false)
    let terminal = try Output.file(path)
    var answers: [Int32] = [-1, -1]
    #expect(pipe(&answers) == 0)
    let isHeld = DispatchSemaphore(value: 0)
    let plain = PlainReport(paint: Paint(isColoured: false)) { lines in
      isHeld.wait()
      terminal.write(line: lines)
    }
    let prompt = ApprovalPrompt(feed, input: answers[0], errors: terminal)
    let pump = ReportPump(feed, reports: [plain, ApprovalReport(prompt)], end: .never)
    pump.start(whenEnding: {}, whenFinished: { _ in })
    var job = Job(name: "publish", work: .simulate(SimulatedWork()))
    job.approval = "Publish?"
    feed.begin([job])
    feed.post(.jobState(JobID(0), .ready(for: .person), attempt: 0, pid: nil))
    func text() -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
    #expect(stays { text().isEmpty })
    for _ in 0..<100 { isHeld.signal() }
    #expect(eventually { text().contains("publish asks: Publish?") })
    #expect(text().split(separator: "\n").last?.hasPrefix("publish asks") == true, "\(text())")
    // The end of the input cancels; the prompt closes nothing.
    close(answers[1])
    #expect(eventually { feed.commands == [.cancel([JobID(0)], by: .person)] })
    close(answers[0])
  }
}
