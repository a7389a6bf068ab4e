import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

/// What well-known tools have printed moves a job's bar, through a real process and the fold of the run.
struct RecordedProgressTests {
  /// A text of a recording and the progress once it has come, if it tells any.
  struct Step: Sendable {
    var text: String
    var done: Int64?
    var total: Int64

    init(_ text: String, _ done: Int64?, of total: Int64 = 100) {
      (self.text, self.done, self.total) = (text, done, total)
    }
  }

  struct Recording: Sendable, CustomTestStringConvertible {
    var name: String
    var steps: [Step]
    var testDescription: String { name }

    init(_ name: String, _ steps: Step...) { (self.name, self.steps) = (name, steps) }
  }

  static let recordings = [
    // One line alone is not believed yet.
    Recording(
      "ninja-pipe", Step("[1/12]", nil), Step("[2/12]", 2, of: 12), Step("[9/12]", 9, of: 12),
      Step("[12/12]", 12, of: 12)),
    Recording(
      "ninja-terminal", Step("[1/12] CC o1", 1, of: 12), Step("[6/12] CC o9", 6, of: 12), Step("[11/12]", 11, of: 12)),
    Recording("cargo-terminal", Step("1/6:", 1, of: 6), Step("3/6:", 3, of: 6), Step("5/6:", 5, of: 6)),
    Recording("cargo-pipe", Step("0/6:", 0, of: 6), Step("2/6:", 2, of: 6), Step("5/6:", 5, of: 6)),
    Recording("curl-pipe", Step(" 30 3906k", 30), Step("100 3906k", 100)),
    Recording("curl-bar", Step("20.0%", 20), Step("60.0%", 60), Step("100.0%", 100)),
    Recording("wget-terminal", Step(" 20%[", 20), Step(" 60%[", 60), Step("100%[", 100)),
    Recording("wget-pipe", Step("  1%", nil), Step("  2%", 2), Step(" 43%", 43), Step(" 94%", 94)),
    // The first file's own bar, then the share of the files.
    Recording(
      "rsync-pipe", Step("   1%", 1), Step("to-chk=3/5", 2, of: 5), Step("49.08kB/s", 3, of: 5),
      Step("to-chk=0/5", 5, of: 5)),
    Recording("rsync-overall", Step(" 25%", 25), Step(" 73%", 73), Step("100%", 5, of: 5)),
    Recording("pip-terminal", Step("0.3/2.5 MB", 12), Step("1.2/2.5 MB", 48), Step("2.2/2.5 MB", 88)),
    Recording(
      "git-pipe", Step("Counting objects:  45%", 45), Step("Counting objects: 100%", 100),
      Step("Receiving objects:  14%", 14), Step("Receiving objects:  95%", 95)),
  ]

  @Test(arguments: recordings) func aRecordingMovesTheBar(_ recording: Recording) throws {
    let folder = try TemporaryFolder()
    let pipe = folder.file("pipe").path
    try #require(mkfifo(pipe, 0o600) == 0)
    let job = Job(name: "tool", work: .shell(ShellWork(.argv(["cat", pipe]))))
    let queue = try JobQueue(
      JobGraph(name: "test", jobs: [job]), options: .init(slots: 1, stateFolder: folder.file("state").path))
    queue.start()
    var writer: Int32 = -1
    let isOpen = eventually {
      writer = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      return writer >= 0
    }
    try #require(isOpen)

    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Recordings/\(recording.name).txt")
    let bytes = Array(try Data(contentsOf: url))
    var rest = bytes[...]
    for step in recording.steps {
      let end = try #require(Self.end(of: step.text, in: rest), "no \(step.text)")
      Self.write(rest[..<end], to: writer)
      rest = rest[end...]
      let progress = step.done.map { JobProgress(done: $0, total: step.total, unit: .steps) }
      let isThere = eventually {
        let record = queue.run.jobs[0]
        return record.progress == progress && (0..<record.log.count).contains { record.log[$0].line.shows(step.text) }
      }
      let found = queue.run.jobs[0].progress
      #expect(isThere, "\(step.text) has made it \(found as Any)")
    }
    Self.write(rest, to: writer)
    close(writer)
    #expect(eventually { queue.run.isComplete })
    // The file has every byte, and no line is left unfinished.
    let run = queue.run
    let path = try #require(run.logPath(JobID(0), attempt: 1))
    #expect(try Array(Data(contentsOf: URL(fileURLWithPath: path))) == bytes)
    #expect(run.jobs[0].log.unfinishedLine == nil)
    #expect(run.jobs[0].state == .succeeded(upToDate: false))
  }

  /// The end of the drawing that has the text: before the next carriage return or after the line feed.
  private static func end(of text: String, in bytes: ArraySlice<UInt8>) -> Int? {
    let text = Array(text.utf8)
    guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: text) }) else { return nil }
    let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.endIndex
    return end < bytes.endIndex && bytes[end] == 0x0A ? end + 1 : end
  }

  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
    let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
    #expect(count == bytes.count)
  }
}

extension LogLine {
  fileprivate func shows(_ words: String) -> Bool {
    text.replacing(/\u{1B}\[[0-9;]*m/, with: "").contains(words)
  }
}
