import Foundation
import JobModel
import Screen
import Testing

@testable import Reports

/// What `history` prints.
struct HistoryTableTests {
  /// 20 November 2026, 14:03:00 in Greenwich.
  private static let start = Date(timeIntervalSince1970: 1_795_183_380)

  private func run(
    _ number: Int, _ name: String = "release", minutes: Double = 0, took: Double?, _ change: (inout RunSummary) -> Void
  ) -> HistoryTable.Row {
    var summary = RunSummary()
    summary.succeeded = 38
    change(&summary)
    let start = Self.start.addingTimeInterval(minutes * 60)
    return HistoryTable.Row(
      id: "20261120-14030\(number)-424\(number)", name: name, startedAt: start,
      endedAt: took.map { start.addingTimeInterval($0) }, summary: took == nil ? nil : summary, length: nil, jobs: 38,
      isGoingOn: number == 1)
  }

  private func table(_ runs: [HistoryTable.Row], _ jobs: [HistoryTable.JobHistory] = []) -> [String] {
    HistoryTable(
      runs: runs, jobs: jobs, paint: Paint(isColoured: false), now: Self.start.addingTimeInterval(90), zone: .gmt
    ).lines.map(\.text)
  }

  @Test func theRunsAreListedWithTheirOutcomes() {
    let runs = [
      run(1, took: nil) { _ in },
      run(2, took: nil) { _ in },
      run(3, minutes: -60, took: 221.4) { ($0.succeeded, $0.failed, $0.skipped) = (35, 2, 1) },
      run(4, minutes: -1500, took: 12) { ($0.succeeded, $0.left) = (7, 31) },
      run(5, "a-name-that-is-much-too-long-for-a-line", minutes: -500_000, took: 4000) { $0.allowed = 0 },
    ]
    var kept = run(6, took: 3600) { _ in }
    kept.length = .seconds(5.8)
    let lines = table(runs + [kept])
    #expect(lines.first?.hasPrefix("RUN ") == true && lines.count == 7)
    // The dashboard was open for an hour.
    #expect(lines[6].contains(" 5.8s "))
    let outcomes = ["running", "unfinished", "2 failed", "stopped", "ok"]
    #expect(zip(lines.dropFirst(), outcomes).allSatisfy { $0.contains(" \($1) ") })
    #expect(lines[1].contains("Nov 20 14:03") && lines[3].hasSuffix("35/38"))
    #expect(lines.allSatisfy { $0.count <= 80 })
  }

  @Test func aJobIsListedWithItsUsualTimeAndItsReliability() {
    func end(_ run: Int, _ seconds: Double, _ outcome: RecordedEnd.Outcome = .succeeded, attempts: Int = 1)
      -> RecordedEnd
    {
      RecordedEnd(run: "\(run)", outcome: outcome, took: .seconds(seconds), attempts: attempts)
    }
    let jobs: [(String, [RecordedEnd])] = [
      ("unit-tests", (1...10).map { end($0, Double(130 + $0), attempts: $0 % 2 + 1) }),
      ("lint", [end(1, 2), end(2, 3, .failed), end(3, 2.4), end(4, 0, .notExecuted)]),
      ("changed", [end(1, 300), end(2, 3), end(3, 3)]), ("new", []),
    ]
    let lines = table(
      [run(3, took: 2) { _ in }], jobs.map { HistoryTable.JobHistory(name: $0.0, ends: $0.1) })
    #expect(lines.count == 8 && lines[3].hasPrefix("JOB "))
    #expect(lines[4].contains("flaky: failed 5 of its last 15 attempts") && lines[5].contains(" 66%"))
    #expect(lines[6].hasSuffix("the newest time is off by ten times"))
    #expect(lines.allSatisfy { $0.count <= 80 })
  }

  @Test func theColumnsAreAsWideAsTheirCells() {
    let end = { RecordedEnd(run: $0, outcome: $1, took: .seconds($2)) }
    let jobs = [
      HistoryTable.JobHistory(name: "solo", ends: [end("1", .succeeded, 2)]), .init(name: "new", ends: []),
      .init(name: "bad", ends: [end("1", .failed, 2)]),
      .init(name: "off", ends: [("1", 300.0), ("2", 3), ("3", 3)].map { end($0, .succeeded, $1) }),
    ]
    #expect(
      table([run(1, took: 5.8) { _ in }], jobs) == [
        "RUN                   STARTED       NAME      OUTCOME  LENGTH     OK",
        "20261120-140301-4241  Nov 20 14:03  release   ok         5.8s  38/38",
        "",
        "JOB       USUALLY  9 OF 10  RUNS    OK",
        "solo         2.0s     2.0s     1  100%",
        "new             -        -     0     -",
        "bad             -        -     1    0%",
        "off             -        -     3  100%  the newest time is off by ten times",
      ])
  }

  @Test(arguments: [(20, true), (21, false)]) func aNameThatDoesNotFitIsElided(length: Int, fits: Bool) {
    let name = String((0..<length).map { Character(Unicode.Scalar(UInt8(97 + $0))) })
    let line = table([run(1, name, took: 5.8) { _ in }])[1]
    #expect(line.count == 80 && line.hasSuffix("5.8s  38/38"))
    #expect(line.contains(name) == fits)
  }

  @Test func ofANameEightColumnsAreShownInAnyCase() {
    let narrow = HistoryTable(
      runs: [run(1, "nightly-1", took: 5.8) { _ in }], paint: Paint(isColoured: false), now: Self.start, zone: .gmt,
      width: 10)
    #expect(narrow.lines[1].text.count == 68 && narrow.lines[1].text.contains("…"))
    let ascii = HistoryTable(
      runs: [run(1, "nightly-1", took: 5.8) { _ in }], paint: Paint(isColoured: false), now: Self.start, zone: .gmt,
      width: 10, elision: Elision(isASCII: true))
    #expect(ascii.lines[1].text.utf8.allSatisfy { $0 < 128 } && ascii.lines[1].text.contains(".."))
  }

  @Test func aRunHasItsDateAndOneOfAnotherYearTheYear() {
    #expect(table([run(1, minutes: -16_376, took: 1) { _ in }])[1].contains("  Nov  9 05:07  "))
    #expect(table([run(1, minutes: -504_000, took: 1) { _ in }])[1].contains("  Dec  5  2025  "))
  }

  @Test func onlyWhatIsLeftUndoneStopsARun() {
    let changes: [((inout RunSummary) -> Void, String)] = [
      ({ $0.failed = 1 }, "1 failed"), ({ $0.cancelled = 1 }, "stopped"), ({ $0.left = 1 }, "stopped"),
      ({ ($0.cancelled, $0.cancelledByProgram) = (1, 1) }, "ok"), ({ $0.allowed = 1 }, "ok"),
      ({ ($0.failed, $0.left) = (2, 1) }, "2 failed"),
    ]
    for (change, outcome) in changes { #expect(table([run(1, took: 1, change)])[1].contains("  \(outcome)  ")) }
  }

  @Test func theIdentifierInAForeignStoreIsFiltered() {
    var foreign = run(1, "a\u{1B}[2Jb", took: 1) { _ in }
    foreign.id = "20260101-000000-1\u{1B}]52;c;UFdO\u{7}"
    let line = table([foreign])[1]
    #expect(line.hasPrefix("20260101-000000-1  ") && line.contains("  ab  "), "\(line)")
  }

  @Test func nothingRecordedIsSaid() {
    #expect(table([]) == ["No run is recorded."])
  }
}
