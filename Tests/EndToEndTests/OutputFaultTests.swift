import Foundation
import Support
import Testing

/// Outputs that can't be written, and standard streams that are closed.
struct OutputFaultTests {
  private let place: Workplace

  init() throws {
    place = try Workplace()
    try place.write("jobs: { one: { run: echo spoken }, two: { needs: [one], run: touch done } }", to: "two.yml")
  }

  @Test(arguments: ["plain", "quiet", "json"])
  func aTraceThatCannotBeWrittenIsSaidAndTheStatusTells(_ interface: String) throws {
    let full = try fullDisk()
    let run = try place.run("run", "two.yml", "--ui", interface, "--trace", full)
    #expect(run.ending() == .exited(1))
    #expect(run.errorText.hasSuffix("opdash: can't write \(full): No space left on device\n"), "\(run.errorText)")
    // The jobs are not to blame.
    #expect(place.has("done"))
  }

  private static let documents = [
    "history", "history --json", "report", "report --json", "list two.yml", "list --json two.yml", "graph two.yml",
    "run -n two.yml", "diff last last", "diff --json last last", "logs", "logs one", "events", "schema",
    "check two.yml",
    "completion bash", "--help", "help run", "--version", "keys", "ps --json", "demo", "import procfile Procfile",
    "history --prune",
  ]

  @Test(arguments: documents)
  func aDocumentThatCannotBeWrittenIsSaid(_ words: String) throws {
    try place.write("web: sleep 1\n", to: "Procfile")
    _ = try place.run("run", "two.yml", "--ui", "quiet")
    for (output, reason) in [(try fullDisk(), "No space left on device"), ("&-", "Bad file descriptor")] {
      let command = try place.script("exec $OPDASH \(words) >\(output)")
      #expect(command.ending() == .exited(1))
      #expect(command.errorText == "opdash: can't write standard output: \(reason)\n", "\(command.errorText)")
    }
  }

  @Test func faultsThatCannotBeWrittenAreSaidSo() throws {
    try place.write("jobs: { one: { rnu: ls } }", to: "bad.yml")
    let check = try place.script("exec $OPDASH check bad.yml >\(fullDisk())")
    #expect(check.ending() == .exited(2))
    #expect(check.errorText == "opdash: can't write standard output: No space left on device\n")
  }

  @Test func aReportThatCannotBeWrittenNamesItsFile() throws {
    _ = try place.run("run", "two.yml", "--ui", "quiet")
    for option in ["--html", "--junit"] {
      let report = try place.run("report", option, try fullDisk())
      #expect(report.ending() == .exited(1))
      #expect(report.errorText == "opdash: can't write /dev/full: No space left on device\n", "\(report.errorText)")
    }
  }

  @Test func theFilesBesideAnInterfaceAreWhole() throws {
    let words = ["--ui", "json", "--events", "events", "--junit", "junit.xml", "--trace", "trace.json"]
    let run = try place.script("exec $OPDASH run two.yml \(words.joined(separator: " "))")
    #expect(run.ending() == .exited(0))
    #expect(!run.outputBytes.isEmpty && place.contents("events") == run.outputBytes)
    let cases = String(decoding: place.contents("junit.xml") ?? Data(), as: UTF8.self).split(separator: "<testcase ")
    #expect(cases.count == 3 && cases[1].hasPrefix("name=\"one\"") && cases[2].hasPrefix("name=\"two\""))
    #expect((try? JSONSerialization.jsonObject(with: place.contents("trace.json") ?? Data())) is [Any])
  }

  @Test(arguments: [
    "run two.yml --events two.yml", "run two.yml --trace other", "run two.yml --ui json >>two.yml",
    "run - --junit two.yml <two.yml", "check two.yml >>two.yml", "each --events two.yml echo <two.yml",
  ])
  func aFileThatIsReadIsNotWritten(_ words: String) throws {
    let before = place.contents("two.yml")
    let run = try place.script("ln two.yml other; exec $OPDASH \(words)")
    #expect(run.ending() == .exited(2))
    #expect(place.contents("two.yml") == before)
    #expect(!place.has("done"))
  }

  /// A file on a disk without room: the limit of file sizes can't be used, because it is said in other words.
  private func fullDisk() throws -> String { "/dev/full" }

  @Test(.enabled(if: !FaultHandling.isThreadSanitized, "the thread sanitizer's own files may not grow either"))
  func aTraceThatCannotGrowIsSaid() throws {
    let jobs = (1...200).map { "job\($0): { run: 'true' }" }.joined(separator: ", ")
    try place.write("jobs: { \(jobs) }", to: "many.yml")
    let run = try place.script("ulimit -f 8; exec $OPDASH run many.yml --ui quiet --trace trace.json")
    #expect(run.ending() == .exited(1))
    #expect(run.errorText.hasSuffix("trace.json: File too large\n"), "\(run.errorText)")
  }

  @Test(arguments: ["1>&-", "2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-", "0<&-"])
  func withClosedStreamsTheFilesHoldTheirOwn(_ closing: String) throws {
    let run = try place.script("exec $OPDASH run two.yml --trace trace.json \(closing)")
    #expect(run.ending() != nil)
    let trace = try #require(place.contents("trace.json"))
    let text = String(decoding: trace, as: UTF8.self)
    #expect((try? JSONSerialization.jsonObject(with: trace)) is [Any], "\(text)")
    #expect(!text.contains("opdash") && !text.contains("started"), "\(text)")
    if !closing.contains("1>&-") { #expect(place.has("done") && run.ending() == .exited(0)) }
  }
}
