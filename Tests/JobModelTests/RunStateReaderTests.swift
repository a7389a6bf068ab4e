import Basics
import Support
import Testing

@testable import JobModel

@Suite struct RunStateReaderTests {
  /// The lines of a run's state, and the run that is made of them.
  private func lines(_ run: Run, logLines: Int = .max) -> [[UInt8]] {
    var writer = RunStateWriter(run, logLines: logLines)
    var bytes: [UInt8] = []
    while !writer.isDone { writer.appendNext(to: &bytes) }
    return bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
  }

  private func readBack(_ lines: [[UInt8]]) throws -> (run: Run, events: EventReader)? {
    var reader = RunStateReader()
    var result: (run: Run, events: EventReader)?
    for line in lines {
      let fields = try line.withUnsafeBufferPointer { bytes in
        Result { () throws(JSONFault) in try JSONScanner.fields(of: bytes) }
      }.get()
      let type: RunStateReader.Line = try fields.word("type")
      result = try reader.read(type, fields)
    }
    return result
  }

  @Test(arguments: 0..<24)
  func aRunIsReadBackEqualAtEveryStage(_ seed: UInt64) throws {
    let events = RandomRun(seed: seed, jobs: 12, facts: 300).events
    for count in [0, 13, 60, 150, events.count] {
      let run = Array(events.prefix(count)).folded
      let copy = try #require(try readBack(lines(run)))
      #expect(copy.run == run)
      // The fold of what follows is the same too, read by a reader that knows the jobs.
      var (reader, writer, bytes) = (copy.events, EventWriter(after: run), [UInt8]())
      for event in events.dropFirst(count) { writer.append(event, to: &bytes) }
      var further = copy.run
      for line in bytes.split(separator: UInt8(ascii: "\n")) {
        for event in try line.withUnsafeBufferPointer({ try reader.read($0) }) { further.apply(event) }
      }
      #expect(further == events.folded)
    }
  }

  @Test func aSnapshotHasNoMoreLinesThanWereAskedFor() throws {
    var recorder = Recorder([job("a")])
    for number in 0..<50 { recorder.state(.jobLog(JobID(0), attempt: 1, LogLine(.stdout, "line \(number)"))) }
    let copy = try #require(try readBack(lines(recorder.run, logLines: 3))).run[JobID(0)].log
    #expect(copy.count == 3 && copy.total == 50 && copy.dropped == 47)
    #expect(copy.last?.line.text == "line 49")
  }

  @Test(arguments: 0..<40)
  func noLineMakesTheReaderTrap(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    var mutated = MutatedLines(lines(RandomRun(seed: seed % 4, jobs: 6, facts: 80).run))
    for _ in 0..<30 {
      mutated.mutate(&random)
      _ = try? readBack(mutated.lines)
    }
  }
}
