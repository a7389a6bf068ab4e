import Foundation
import JobModel
import Support
import Testing

@Suite struct CodecTests {
  private static let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Goldens/events.ndjson")

  @Test func aGoldenFileWithEveryFieldIsReadAndWrittenBackToTheSameBytes() throws {
    let written = [JobEvent].everyField.ndjson
    if ProcessInfo.processInfo.environment["OPDASH_RECORD"] == "1" {
      try Data(written).write(to: Self.golden)
      Issue.record("recorded events.ndjson; run again without OPDASH_RECORD")
      return
    }
    let bytes = try Data(contentsOf: Self.golden)
    #expect(String(decoding: written, as: UTF8.self) == String(decoding: bytes, as: UTF8.self))
    let recording = try Recording(bytes)
    #expect(recording.events == .everyField)
    #expect(!recording.isTruncated)
    #expect(recording.events.ndjson == Array(bytes))
    #expect(recording.events.folded == [JobEvent].everyField.folded)
  }

  @Test(arguments: 0..<40)
  func aRandomRunIsReadBackAsItWasWritten(_ seed: UInt64) throws {
    let original = RandomRun(seed: seed)
    let recording = try Recording(original.events.ndjson)
    #expect(recording.events == original.events)
    #expect(recording.events.folded == original.run)
    #expect(!recording.isTruncated)
  }

  @Test func everyDurationIsReadBackExactly() throws {
    let times: [Duration] = [
      .zero, .nanoseconds(1), .microseconds(1), Duration(secondsComponent: 0, attosecondsComponent: 1),
      .milliseconds(999), .seconds(1), .seconds(100_000 * 3600) - .nanoseconds(1), .seconds(100_000 * 3600),
    ].sorted()
    var facts: [(at: Duration, fact: JobFact)] = [
      (.zero, .runStarted(RunStart(id: "", name: "", slots: 1, at: .distantPast, jobs: 0)))
    ]
    for time in times { facts.append((time, .slotsChanged(1))) }
    let events = [JobEvent](facts: facts)
    #expect(try Recording(events.ndjson).events == events)
  }

  @Test(arguments: [
    0, 0.001, 0.999, 1_767_225_600.123, -0.001, -62_135_596_800, 253_402_300_799.999, 1e-9, 86_399.9996,
  ])
  func aDateIsReadBackToTheMillisecond(_ seconds: Double) throws {
    let date = Date(timeIntervalSince1970: seconds)
    let start = RunStart(id: "", name: "", slots: 1, at: date, jobs: 0)
    let events = [JobEvent(seq: 0, time: .zero, fact: .runStarted(start))]
    #expect(try Recording(events.ndjson).events == events)
    #expect(abs(start.at.timeIntervalSince(date)) <= 0.000_501)
  }

  @Test func noHeaderEnvironmentOrCredentialOfAJobIsWritten() throws {
    let jobs = [
      Job(name: "a", work: .shell(ShellWork(.script("true"), environment: ["TOKEN": "secret1"]))),
      Job(
        name: "b",
        work: .download(DownloadWork(url: "http://me:secret2@h/?token=secret3", file: "f", headers: ["A": "secret4"]))),
      Job(name: "c", work: .upload(UploadWork(file: "f", url: "http://secret5@h/", headers: ["A": "secret6"]))),
    ]
    let start = RunStart(id: "", name: "", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 3)
    let facts = [.runStarted(start)] + jobs.enumerated().map { JobFact.jobAdded(JobID($0), $1) }
    let bytes = [JobEvent](facts: facts.map { (.zero, $0) }).ndjson
    #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
    #expect(try Recording(bytes).events.folded.jobs.map(\.job) == jobs.map(\.stated))
    #expect(jobs.map(\.stated.stated) == jobs.map(\.stated))
  }

  @Test func fieldsOfALaterVersionAreIgnored() throws {
    let lines = [JobEvent].everyField.lines.map { #"{"new":[{"a":null},-1.5e3,true],"# + $0.dropFirst() }
    #expect(try Recording(Data(lines.joined(separator: " \r\n").utf8)).events == .everyField)
  }

  @Test func jobsAreGivenOutOnceAllOfThemAreThere() throws {
    var reader = EventReader()
    let counts = try [JobEvent].everyField.lines.map { try reader.read($0).count }
    #expect(Array(counts.prefix(11)) == Array(repeating: 0, count: 10) + [11])
    // A late job that needs a later one waits for it.
    let late = try #require(counts.indices.first { $0 > 10 && counts[$0] != 1 })
    #expect(counts[late...(late + 1)] == [0, 2])
    #expect(counts.reduce(0, +) == [JobEvent].everyField.count)
  }

  @Test func aRecordingCutAnywhereIsReadUpToThere() throws {
    let (events, bytes) = ([JobEvent].everyField, [JobEvent].everyField.ndjson)
    for length in stride(from: 1, to: bytes.count, by: 29) {
      let recording = try Recording(Array(bytes[..<length]))
      #expect(events.starts(with: recording.events))
      let (last, next) = (bytes[length - 1], bytes[length])
      if last != UInt8(ascii: "\n"), next != UInt8(ascii: "\n") { #expect(recording.isTruncated) }
      for job in recording.events.folded.jobs {
        #expect(job.job.needs.allSatisfy { $0.job.index < recording.events.folded.jobs.count })
      }
    }
  }
}
