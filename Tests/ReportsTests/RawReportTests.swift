import Foundation
import JobModel
import Operations
import Reports
import Support
import Testing

/// The output of jobs as they wrote it.
@Suite struct RawReportTests {
  private let folder: TemporaryFolder
  private let output = Written()
  private let errors = Written()
  private var facts = Facts()

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.file("logs"), withIntermediateDirectories: false)
  }

  /// Jobs named `a`, `b` and so on.
  private mutating func begin(_ count: Int, hasLogs: Bool = true) {
    let jobs = (0..<count).map { Job(name: String(UnicodeScalar(UInt8(97 + $0))), work: .simulate(SimulatedWork())) }
    facts.begin(jobs, folder: hasLogs ? folder.url.path() : nil)
  }

  private func keep(_ bytes: [UInt8], of name: String, _ id: Int, attempt: Int = 1) throws {
    try Data(bytes).write(to: folder.file("logs/\(name).\(id).\(attempt).log"))
  }

  private func run(_ order: RawReport.Order = .ends, budget: Int = 1 << 20) {
    var reports = ReportSet([
      RawReport(
        order: order, paint: Paint(isColoured: false), budget: budget, output: output.writer, errors: errors.writer)
    ])
    reports.receive(facts.events)
  }

  @Test mutating func theBytesAreThoseOfTheLogFile() throws {
    begin(2)
    try keep(Array("50%\r100%\ncaf".utf8) + [0xE9], of: "a", 0)
    try keep(Array("oh\n".utf8), of: "b", 1)
    facts.log(0, "100%")
    facts.log(0, "caf\u{FFFD}")
    facts.log(1, "oh", .stderr)
    facts.job(0, .succeeded(upToDate: false))
    facts.job(1, .succeeded(upToDate: false))
    run()
    #expect(output.text == "50%\r100%\ncaf\u{FFFD}")
    #expect(errors.text == "oh\n")
  }

  @Test mutating func aLineIsWrittenInOnePiece() throws {
    begin(1)
    let line = Array((String(repeating: "é", count: 20_000) + "\n").utf8)
    try keep(Array([[UInt8]](repeating: line, count: 5).joined()) + Array("end".utf8), of: "a", 0)
    facts.log(0, "é")
    facts.job(0, .succeeded(upToDate: false))
    let pieces = Lock<[[UInt8]]>([])
    var reports = ReportSet([
      RawReport(
        order: .ends, paint: Paint(isColoured: false), output: { piece in pieces.withLock { $0.append(piece) } },
        errors: errors.writer)
    ])
    reports.receive(facts.events)
    let written = pieces.withLock(\.self)
    #expect(written.count > 1)
    #expect(written.dropLast().allSatisfy { $0.last == 0x0A })
    #expect(Array(written.joined()) == Array([[UInt8]](repeating: line, count: 5).joined()) + Array("end".utf8))
  }

  @Test mutating func anOutputWithoutALogFileIsPrintedByItsLines() {
    begin(2)
    facts.log(0, "a b")
    facts.log(0, "")
    facts.log(0, "größe")
    facts.log(1, "oh", .stderr)
    facts.job(0, .succeeded(upToDate: false))
    facts.job(1, .succeeded(upToDate: false))
    run()
    #expect(output.text == "a b\n\ngröße\n")
    #expect(errors.text == "oh\n")
  }

  @Test(arguments: ["pipe", "link", "sparse"])
  mutating func aLogFileThatWasReplacedIsNotPrinted(_ kind: String) throws {
    begin(1)
    let path = folder.file("logs/a.0.1.log").path()
    try Data("other\n".utf8).write(to: folder.file("other"))
    switch kind {
    case "pipe": #expect(mkfifo(path, 0o600) == 0)
    case "link": #expect(symlink(folder.file("other").path(), path) == 0)
    default:
      try keep(Array("x".utf8), of: "a", 0)
      #expect(truncate(path, 8 << 30) == 0)
    }
    facts.log(0, "said")
    facts.job(0, .succeeded(upToDate: false))
    run()
    #expect(output.text == "said\n")
  }

  @Test mutating func bothStreamsOfAJobAreToldApart() throws {
    begin(1)
    try keep(Array("out\nerr\nend\n".utf8), of: "a", 0)
    facts.log(0, "out")
    facts.log(0, "err", .stderr)
    facts.log(0, "en", isUnfinished: true)
    facts.log(0, "end")
    facts.job(0, .succeeded(upToDate: false))
    run()
    #expect(output.text == "out\nend\n")
    #expect(errors.text == "err\n")
  }

  @Test(arguments: [(RawReport.Order.ends, "cab"), (.jobs, "abc")])
  mutating func theOutputOfAJobIsWholeAndInOrder(_ order: RawReport.Order, _ expected: String) {
    begin(3, hasLogs: false)
    for id in 0..<3 { facts.job(id, .executing) }
    for _ in 0..<2 { for (id, name) in ["a", "b", "c"].enumerated() { facts.log(id, name) } }
    for id in [2, 0, 1] { facts.job(id, .succeeded(upToDate: false)) }
    run(order)
    #expect(output.text == expected.map { "\($0)\n\($0)\n" }.joined())
  }

  @Test mutating func aJobThatIsSkippedHoldsNothingBack() {
    begin(3, hasLogs: false)
    facts.log(2, "c")
    facts.job(2, .succeeded(upToDate: false))
    facts.job(0, .cancelled(by: .signal))
    facts.job(1, .skipped(because: .job(JobID(0))))
    run(.jobs)
    #expect(output.text == "c\n")
  }

  @Test mutating func whatWaitedForAnotherJobIsPrintedAtTheEndOfTheRun() {
    begin(3, hasLogs: false)
    facts.log(1, "b")
    facts.log(2, "c")
    facts.job(2, .succeeded(upToDate: false))
    facts.state(.runFinished(RunSummary()))
    run(.jobs)
    #expect(output.text == "b\nc\n")
  }

  @Test mutating func ofAJobThatWasTriedAgainTheLastAttemptIsPrinted() throws {
    begin(1)
    try keep(Array("first\n".utf8), of: "a", 0)
    try keep(Array("second\n".utf8), of: "a", 0, attempt: 2)
    facts.log(0, "first")
    facts.job(0, .backingOff(until: .seconds(1), number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
    facts.job(0, .executing, attempt: 2)
    facts.log(0, "second", attempt: 2)
    facts.job(0, .succeeded(upToDate: false), attempt: 2)
    run()
    #expect(output.text == "second\n")
  }

  @Test mutating func failuresFollowTheOutputWithoutRepeatingIt() {
    begin(3, hasLogs: false)
    facts.log(0, "oh", .stderr)
    facts.job(0, .executing)
    facts.job(0, .failed(JobFailure(.exit(2), "exit 2"), allowed: false), after: .seconds(1))
    facts.job(1, .succeeded(upToDate: false))
    facts.log(2, "late", .stderr)
    facts.job(2, .succeeded(upToDate: false))
    facts.state(.runFinished(RunSummary()))
    run()
    #expect(errors.text == "oh\nlate\n! a  failed: exit 2 in 1.0s\nrelease: 2 ok, 1 failed in 1.0s\n")
  }

  @Test mutating func notesOfOpdashAreNotPrinted() throws {
    begin(1)
    try keep(Array("cut\n… the rest of the output is not kept\n".utf8), of: "a", 0)
    facts.log(0, "cut")
    facts.log(0, "the rest", .note)
    facts.log(0, "more")
    facts.job(0, .succeeded(upToDate: false))
    run()
    #expect(output.text == "cut\nmore\n")
  }

  @Test mutating func aLargeOutputIsCopiedFromItsFileWhateverItsStreams() throws {
    begin(1)
    let line = String(repeating: "x", count: 4000)
    let bytes = Array(String(repeating: line + "\n", count: 500).utf8)
    try keep(bytes, of: "a", 0)
    for number in 0..<500 { facts.log(0, line, number == 7 ? .stderr : .stdout) }
    facts.job(0, .succeeded(upToDate: false))
    run()
    #expect(Array(output.text.utf8) == bytes)
    #expect(errors.text == "")
  }

  @Test(arguments: [(7, "a\nb out\n", "b err\n"), (6, "a\nb out\nb err\n", "")])
  mutating func beyondTheBudgetAJobThatWaitsIsReadFromItsFile(_ budget: Int, _ text: String, _ errorText: String) throws
  {
    begin(3)
    try keep(Array("b out\nb err\n".utf8), of: "b", 1)
    for id in 0..<3 { facts.job(id, .executing) }
    facts.log(1, "b out")
    facts.log(1, "b err", .stderr)
    // Without a log file its lines are kept, however many they are.
    facts.log(2, "c", .stderr)
    facts.job(2, .succeeded(upToDate: false))
    facts.job(1, .succeeded(upToDate: false))
    facts.log(0, "a")
    facts.job(0, .succeeded(upToDate: false))
    run(.jobs, budget: budget * 2)
    #expect(output.text == text)
    #expect(errors.text == errorText + "c\n")
  }
}
