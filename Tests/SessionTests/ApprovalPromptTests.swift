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

  /// A prompt for the jobs of a feed, the terminal that it writes to, and a pipe of answers.
  private struct Scene {
    let feed = FakeFeed()
    private let folder: TemporaryFolder
    private let pump: ReportPump
    private let answers: [Int32]

    init(_ jobs: Job...) throws {
      folder = try TemporaryFolder()
      var answers: [Int32] = [-1, -1]
      #expect(pipe(&answers) == 0)
      let terminal = try Output.file(folder.file("terminal").path(percentEncoded: false))
      let prompt = ApprovalPrompt(feed, input: answers[0], errors: terminal)
      self.answers = answers
      pump = ReportPump(feed, reports: [ApprovalReport(prompt)], end: .never)
      pump.start(whenEnding: {}, whenFinished: { _ in })
      feed.begin(jobs)
    }

    var text: String {
      (try? String(contentsOfFile: folder.file("terminal").path(percentEncoded: false), encoding: .utf8)) ?? ""
    }

    func move(_ id: Int, _ state: JobState) { feed.post(.jobState(JobID(id), state, attempt: 0, pid: nil)) }

    func type(_ line: String) { _ = write(answers[1], line, line.utf8.count) }

    /// Ends the input.
    func end() {
      close(answers[1])
      feed.post(.runFinished(RunSummary(of: feed.run)))
    }
  }

  private func job(_ name: String, asking question: String? = nil, needs: [JobNeed] = []) -> Job {
    var job = Job(name: name, work: .simulate(SimulatedWork()), needs: needs)
    job.approval = question
    return job
  }

  @Test(arguments: [JobState.executing, .cancelled(by: .person)])
  func whereAnotherHasAnsweredTheNextQuestionIsAsked(_ state: JobState) throws {
    let scene = try Scene(job("a", asking: "A?"), job("b", asking: "B?"))
    defer { scene.end() }
    for id in 0...1 { scene.move(id, .ready(for: .person)) }
    #expect(eventually { scene.text.contains("a asks: A?") })
    scene.move(0, state)
    #expect(eventually { scene.text.contains("b asks: B?") })
    scene.type("y\n")
    #expect(eventually { scene.feed.commands == [.approve([JobID(1)])] })
  }

  @Test func aJobThatAsksAnewAsksAQuestionOfItsOwn() throws {
    let publish = job("publish", asking: "Publish ${jobs.version.tag}?", needs: [JobNeed(JobID(0))])
    let scene = try Scene(job("version"), publish)
    defer { scene.end() }
    for tag in ["v1", "v2"] {
      scene.move(1, .waiting)
      scene.feed.post(.jobOutputs(JobID(0), ["tag": tag]))
      scene.move(1, .ready(for: .person))
      #expect(eventually { scene.text.contains("publish asks: Publish \(tag)?") })
    }
    #expect(scene.feed.commands.isEmpty)
    scene.type("y\n")
    #expect(eventually { scene.feed.commands == [.approve([JobID(1)])] })
  }

  @Test func aJobOfFinallyStillAsksAfterAStop() throws {
    var clean = job("clean", asking: "Clean?")
    clean.finally = .always
    let scene = try Scene(job("a", asking: "A?"), job("b", asking: "B?"), clean)
    defer { scene.end() }
    for id in 0...2 { scene.move(id, .ready(for: .person)) }
    #expect(eventually { scene.text.contains("a asks: A?") })
    scene.feed.post(.stopRequested(.terminate, by: .signal))
    #expect(eventually { scene.text.contains("clean asks: Clean?") })
    #expect(!scene.text.contains("B?"))
    scene.type("n\n")
    #expect(eventually { scene.feed.commands == [.cancel([JobID(2)], by: .person)] })
  }

  @Test func whatIsTypedForAnotherProgramIsLeftToIt() throws {
    let (feed, folder) = (FakeFeed(), try TemporaryFolder())
    let path = folder.file("terminal").path(percentEncoded: false)
    var (master, slave): (Int32, Int32) = (-1, -1)
    try #require(openpty(&master, &slave, nil, nil, nil) == 0)
    let (controller, terminal) = (master, slave)
    defer {
      close(terminal)
      close(controller)
    }
    func type(_ line: String) { _ = write(controller, line, line.utf8.count) }
    func text() -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
    func waiting() -> Int32 {
      var count: Int32 = 0
      return ioctl(terminal, UInt(FIONREAD), &count) == 0 ? count : -1
    }
    let isTaken = Lock(true)
    let prompt = ApprovalPrompt(
      feed, input: terminal, errors: try Output.file(path), isTaken: { _ in isTaken.withLock(\.self) })
    let pump = ReportPump(feed, reports: [ApprovalReport(prompt)], end: .never)
    pump.start(whenEnding: {}, whenFinished: { _ in })
    feed.begin([job("publish", asking: "Publish?")])
    type("ls\n")
    #expect(eventually { waiting() == 3 })
    feed.post(.jobState(JobID(0), .ready(for: .person), attempt: 0, pid: nil))
    #expect(eventually { text().contains("publish asks: Publish?") })
    #expect(stays { waiting() == 3 })
    // What the other program has not read is no answer either.
    isTaken.withLock { $0 = false }
    #expect(eventually { waiting() == 0 })
    #expect(stays { feed.commands.isEmpty })
    type("y\n")
    #expect(eventually { feed.commands == [.approve([JobID(0)])] })
    feed.post(.runFinished(RunSummary(of: feed.run)))
  }

  @Test func whatWasReadForOneQuestionAnswersNoOther() {
    var answers: [Int32] = [-1, -1]
    #expect(pipe(&answers) == 0)
    var answer = ApprovalPrompt.Answer()
    func type(_ text: String) { _ = write(answers[1], text, text.utf8.count) }
    answer.beginQuestion()
    #expect(answer.takeByte(from: answers[0]) == .more)
    type("y")
    #expect(answer.takeByte(from: answers[0]) == .more)
    answer.beginQuestion()
    type("\nn\n")
    #expect(answer.takeByte(from: answers[0]) == .line("", question: 2))
    #expect(answer.takeByte(from: answers[0]) == .more)
    #expect(answer.takeByte(from: answers[0]) == .line("n", question: 2))
    close(answers[1])
    #expect(answer.takeByte(from: answers[0]) == .line(nil, question: 2))
    close(answers[0])
  }
}
