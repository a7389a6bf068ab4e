import Foundation
import JobModel
import Testing

@testable import RunStore

struct ResumableRunTests {
  private func entry(
    _ id: String, in directory: String, file: String? = nil, exit: Int32? = nil, cancelled: Int = 0,
    resumes: String? = nil
  ) -> RunEntry {
    var summary: RunSummary?
    if let exit {
      summary = RunSummary()
      summary?.exit = exit
      summary?.cancelled = cancelled
    }
    let origin = RunOrigin(command: "get", file: file, directory: directory, slots: 1, onFailure: "keep-going")
    return RunEntry(
      id: id, name: "n", origin: origin, startedAt: Date(timeIntervalSince1970: 0), summary: summary, jobs: 1,
      process: ProcessIdentity(pid: 1, startTime: 1, boot: "b"), resumes: resumes)
  }

  private func choice(_ entries: [RunEntry], file: String?) -> String? {
    ResumableRun.choose(entries, file: file, directory: "/w")?.id
  }

  @Test func withoutAFileTheRunsOfTheFolderCount() {
    #expect(choice([entry("2", in: "/x"), entry("1", in: "/w")], file: nil) == "1")
    #expect(choice([entry("3", in: "/w", exit: 0), entry("2", in: "/x"), entry("1", in: "/w")], file: nil) == "1")
    #expect(choice([entry("2", in: "/x"), entry("1", in: "/w", exit: 0)], file: nil) == "1")
    // Without a run of the folder, the last unfinished one of all counts.
    #expect(choice([entry("2", in: "/x", exit: 0), entry("1", in: "/y", exit: 1)], file: nil) == "1")
    #expect(choice([entry("2", in: "/x", exit: 0), entry("1", in: "/y", exit: 0)], file: nil) == "2")
    // With one, the folder is of no interest.
    #expect(choice([entry("2", in: "/w"), entry("1", in: "/x", file: "/f")], file: "/f") == "1")
  }

  /// Equal Strings may name two files.
  @Test func aFileIsKnownByItsBytes() {
    let entries = [entry("2", in: "/w", file: "/e\u{301}.yml"), entry("1", in: "/w", file: "/\u{e9}.yml")]
    #expect(choice(entries, file: "/\u{e9}.yml") == "1")
    let folders = [entry("2", in: "/e\u{301}"), entry("1", in: "/\u{e9}")]
    #expect(ResumableRun.choose(folders, file: nil, directory: "/\u{e9}")?.id == "1")
  }

  @Test(arguments: [(nil, 0, true), (0, 0, false), (1, 0, true), (3, 1, true)] as [(Int32?, Int, Bool)])
  func aRunThatEndedWellIsFinished(exit: Int32?, cancelled: Int, isUnfinished: Bool) {
    #expect(entry("1", in: "/w", exit: exit, cancelled: cancelled).isUnfinished == isUnfinished)
  }

  @Test func aSignalAfterTheLastJobLeavesNoWork() {
    for exit: Int32 in [130, 143] {
      #expect(entry("1", in: "/w", exit: exit, cancelled: 1).isUnfinished)
      #expect(!entry("1", in: "/w", exit: exit).isUnfinished)
    }
  }

  @Test func theLineOfARunIsAllThatResumedIt() {
    // Two runs resumed the first one; a damaged store may have a run that resumes itself.
    let entries = [
      entry("5", in: "/w", resumes: "5"), entry("4", in: "/w", resumes: "1"), entry("3", in: "/w", resumes: "2"),
      entry("2", in: "/w", resumes: "1"), entry("1", in: "/w"),
    ]
    func line(_ id: String) -> [String] {
      ResumableRun.line(of: entries[5 - (Int(id) ?? 0)], in: entries).map(\.id)
    }
    #expect(line("1") == ["4", "3", "2", "1"])
    #expect(line("2") == ["3", "2"] && line("4") == ["4"] && line("5") == ["5"])
  }
}
