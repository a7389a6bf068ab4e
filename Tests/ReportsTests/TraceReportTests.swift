import Foundation
import JobModel
import Reports
import Testing

@Suite struct TraceReportTests {
  private func trace(_ facts: Facts) throws -> [[String: Any]] {
    let text = report(facts) { TraceReport(write: $0) }.text
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
  }

  @Test func aRunInWhichEverythingHappens() {
    expectGolden(report(.everything) { TraceReport(write: $0) }.text, "everything.trace.json")
  }

  @Test func slicesOfOneTrackNeverOverlap() throws {
    let slices = try trace(.everything).filter { $0["ph"] as? String == "X" && $0["cat"] as? String != "pause" }
    #expect(slices.count == 5)
    for (_, track) in Dictionary(grouping: slices, by: { $0["tid"] as? Int }) {
      let spans = track.compactMap { slice in (slice["ts"] as? Int).map { ($0, $0 + (slice["dur"] as? Int ?? 0)) } }
        .sorted { $0 < $1 }
      for (first, second) in zip(spans, spans.dropFirst()) { #expect(first.1 <= second.0) }
    }
  }

  @Test func everyArrowHasItsTwoEndsInsideSlices() throws {
    let events = try trace(.everything)
    let arrows = Dictionary(grouping: events.filter { $0["cat"] as? String == "needs" }) { $0["id"] as? Int }
    #expect(arrows.count == 2)
    for ends in arrows.values {
      #expect(ends.map { $0["ph"] as? String } == ["s", "f"])
      for end in ends {
        let at = try #require(end["ts"] as? Int)
        let isInside = events.contains { slice in
          guard slice["ph"] as? String == "X", slice["tid"] as? Int == end["tid"] as? Int,
            let start = slice["ts"] as? Int,
            let length = slice["dur"] as? Int
          else { return false }
          return (start..<(start + length)).contains(at)
        }
        #expect(isInside)
      }
    }
  }

  @Test func anAttemptThatIsLeftIsClosedAtTheEnd() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    facts.state(.runFinished(RunSummary()), after: .seconds(2))
    let slice = try #require(try trace(facts).first { $0["ph"] as? String == "X" })
    #expect(slice["dur"] as? Int == 2_000_000)
  }

  @Test func anAttemptThatEndedForAnotherIsRestarted() throws {
    let slices = try trace(Facts.restarted).filter { $0["ph"] as? String == "X" }
    #expect(slices.map { ($0["args"] as? [String: Any])?["outcome"] as? String } == ["restarted", "succeeded"])
  }

  @Test func anAttemptThatHadEndedBeforeItWasSeenBeganBeforeThat() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .shell(ShellWork(.script("a"), cluster: ClusterRequest())))])
    facts.job(0, .ready(for: .cluster(reason: nil)), attempt: 0)
    facts.state(.jobPlaced(JobID(0), ClusterPlace(id: "7", nodes: "n", took: .seconds(1.5))), after: .seconds(2))
    facts.job(0, .executing)
    facts.finish(failing: 0)
    let slices = try trace(facts)
    let attempt = try #require(slices.first { $0["ph"] as? String == "X" })
    #expect(attempt["ts"] as? Int == 500_000)
    #expect(attempt["dur"] as? Int == 1_500_000)
    let wait = try #require(slices.first { $0["ph"] as? String == "e" && $0["cat"] as? String == "wait.cluster" })
    #expect(wait["ts"] as? Int == 500_000)
  }

  @Test func attemptsThatOverlapAreOnDifferentTracks() throws {
    var facts = Facts()
    facts.begin(
      ["a", "b", "c"].map { Job(name: $0, work: .shell(ShellWork(.script("x"), cluster: ClusterRequest()))) })
    for id in 0..<3 { facts.job(id, .ready(for: .cluster(reason: nil)), attempt: 0) }
    for (id, wait) in [2.0, 0.5, 3].enumerated() {
      facts.state(.jobPlaced(JobID(id), ClusterPlace(id: "7", nodes: "n", took: .seconds(1))), after: .seconds(wait))
      facts.job(id, .executing)
      facts.job(id, .succeeded(upToDate: false))
    }
    facts.state(.runFinished(RunSummary()))
    let slices = try trace(facts).filter { $0["ph"] as? String == "X" }
    #expect(slices.map { $0["tid"] as? Int } == [1, 2, 1])
    #expect(slices.map { $0["ts"] as? Int } == [1_000_000, 1_500_000, 4_500_000])
  }

  @Test func aRunWithoutEventsIsAnArrayToo() throws {
    var facts = Facts()
    facts.begin([])
    facts.state(.runFinished(RunSummary()))
    #expect(try trace(facts).map { $0["ph"] as? String } == ["M", "M"])
  }

  /// Category, job, start and length in milliseconds.
  private func waits(_ facts: Facts) throws -> [String] {
    let events = try trace(facts).filter { $0["pid"] as? Int == 2 && $0["ph"] as? String != "M" }
    return try stride(from: 0, to: events.count, by: 2).map { place in
      let (begin, end) = (events[place], events[place + 1])
      #expect(begin["ph"] as? String == "b" && end["ph"] as? String == "e")
      for key in ["cat", "name"] { #expect(begin[key] as? String == end[key] as? String) }
      #expect(begin["id"] as? Int == end["id"] as? Int)
      let (from, to) = (try #require(begin["ts"] as? Int), try #require(end["ts"] as? Int))
      let name = try #require(begin["name"] as? String)
      let job = try #require((begin["args"] as? [String: String])?["job"])
      #expect(name.hasPrefix(job + ": "))
      return "\(begin["cat"] as? String ?? "") \(name) \(from / 1000)+\((to - from) / 1000)"
    }
  }

  @Test func eachKindOfWaitIsASliceOfItsOwnBesideExecution() throws {
    var facts = Facts()
    facts.begin([
      Job(name: "a", work: .simulate(SimulatedWork())),
      Job(name: "b", work: .simulate(SimulatedWork()), needs: [JobNeed(JobID(0))], uses: ["net": 1]),
    ])
    facts.job(0, .ready(for: .slot), attempt: 0)
    facts.job(0, .executing, after: .seconds(1))
    facts.job(0, .paused(started: true), after: .seconds(1))
    facts.job(0, .executing, after: .seconds(1))
    let failure = JobFailure(.network, "no route")
    facts.job(0, .backingOff(until: .seconds(6), number: 1, limit: 2, after: failure), after: .seconds(1))
    facts.job(0, .executing, attempt: 2, after: .seconds(2))
    facts.job(0, .succeeded(upToDate: false), attempt: 2, after: .seconds(1))
    facts.job(1, .ready(for: .slot), attempt: 0)
    facts.job(1, .ready(for: .pool("net")), attempt: 0, after: .seconds(1))
    facts.job(1, .paused(started: false), attempt: 0, after: .seconds(2))
    facts.job(1, .ready(for: .slot), attempt: 0, after: .seconds(1))
    facts.state(.runFinished(RunSummary(of: facts.run)), after: .seconds(1))
    #expect(
      try waits(facts) == [
        "wait.slot a: waits for a slot 0+1000", "wait.retry a: retry 1 of 2 4000+2000",
        "wait.needs b: waits for needs 0+7000", "wait.slot b: waits for a slot 7000+1000",
        "wait.pool b: waits for pool net 8000+2000", "wait.pause b: paused before its start 10000+1000",
        "wait.slot b: waits for a slot 11000+1000",
      ])
    // Work has its own process and no category of a wait.
    let work = try trace(facts).filter { $0["ph"] as? String == "X" }
    #expect(work.allSatisfy { $0["pid"] as? Int == 1 && ($0["cat"] as? String)?.hasPrefix("wait") == false })
    #expect(work.compactMap { $0["ts"] as? Int } == [2_000_000, 1_000_000, 6_000_000])
  }

  @Test func aJobEitherWaitsOrExecutes() throws {
    let facts = Facts.release
    let events = try trace(facts)
    for id in facts.run.ids {
      let name = facts.run[id].job.name
      var spans: [Range<Int>] = []
      for event in events where event["ph"] as? String == "X" && event["name"] as? String == name {
        let (start, length) = (try #require(event["ts"] as? Int), try #require(event["dur"] as? Int))
        spans.append(start..<(start + length))
      }
      let waits = events.filter { $0["pid"] as? Int == 2 && $0["id"] as? Int == id.index }
      for place in stride(from: 0, to: waits.count, by: 2) {
        spans.append(
          try #require(waits[place]["ts"] as? Int)..<(try #require(waits[place + 1]["ts"] as? Int)))
      }
      spans.sort { $0.lowerBound < $1.lowerBound }
      for (first, second) in zip(spans, spans.dropFirst()) { #expect(first.upperBound == second.lowerBound, "\(name)") }
      #expect(spans.first?.lowerBound ?? 0 == 0)
    }
  }

  @Test func aWaitForAPersonOrTheClusterHasItsOwnCategory() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .ready(for: .person), attempt: 0, after: .seconds(1))
    facts.job(0, .ready(for: .cluster(reason: nil)), attempt: 0, after: .seconds(2))
    facts.job(0, .ready(for: .cluster(reason: "Priority")), attempt: 0, after: .seconds(3))
    facts.job(0, .skipped(because: .condition), attempt: 0, after: .seconds(4))
    facts.state(.runFinished(RunSummary(of: facts.run)), after: .seconds(5))
    #expect(
      try waits(facts) == [
        "wait.needs a: waits for needs 0+1000", "wait.person a: waits for approval 1000+2000",
        "wait.cluster a: waits for the cluster 3000+3000",
        "wait.cluster a: waits for the cluster: Priority 6000+4000",
      ])
  }

  @Test func theArticleHasEachCategoryOfAWait() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    let failure = JobFailure(.exit(1), "exit 1")
    for state in [
      .ready(for: .slot), .ready(for: .pool("p")), .ready(for: .person), .ready(for: .cluster(reason: nil)),
      .backingOff(until: .zero, number: 1, limit: 1, after: failure), .paused(started: false), .executing,
    ] as [JobState] {
      facts.job(0, state, after: .seconds(1))
    }
    facts.state(.runFinished(RunSummary(of: facts.run)))
    let categories = Set(try waits(facts).compactMap { $0.split(separator: " ").first })
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let article = try String(contentsOf: root.appending(path: "Sources/Reports/Reports.docc/Trace.md"), encoding: .utf8)
    let rows = article.matches(of: #/\n\| `(wait\.\w+)` \|/#).map(\.1)
    #expect(categories == Set(rows) && categories.count == 7)
  }

  @Test func aPauseThatGoesOnAtTheEndIsClosedWithItsAttempt() throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing, after: .seconds(1))
    facts.job(0, .paused(started: true), after: .seconds(2))
    facts.job(0, .paused(started: true), pid: 7, after: .seconds(1))
    facts.job(0, .cancelled(by: .person), after: .seconds(3))
    facts.state(.runFinished(RunSummary(of: facts.run)))
    let slices = try trace(facts).filter { $0["ph"] as? String == "X" }
    #expect(slices.map { $0["cat"] as? String } == ["pause", "simulate"])
    #expect(slices.map { $0["ts"] as? Int } == [3_000_000, 1_000_000])
    #expect(slices.map { $0["dur"] as? Int } == [4_000_000, 6_000_000])
    #expect(slices.map { $0["tid"] as? Int } == [1, 1])
  }

  @Test func aServiceIsOneSliceFromItsStart() throws {
    var facts = Facts()
    facts.begin([Job(name: "s", work: .shell(ShellWork(.script("x"), service: Service())))])
    facts.job(0, .executing, after: .seconds(1))
    facts.job(0, .serving, after: .seconds(2))
    facts.job(0, .cancelled(by: .unneeded), after: .seconds(3))
    facts.state(.runFinished(RunSummary(of: facts.run)))
    let events = try trace(facts)
    let slices = events.filter { $0["ph"] as? String == "X" }
    #expect(slices.map { $0["dur"] as? Int } == [5_000_000])
    let running = events.filter { $0["ph"] as? String == "C" }
    #expect(running.map { ($0["args"] as? [String: Int])?["jobs"] } == [1, 0])
    #expect(running.map { $0["ts"] as? Int } == [1_000_000, 6_000_000])
  }

  @Test func aTrackThatIsFreeIsTakenAgain() throws {
    var facts = Facts()
    facts.begin((0..<4).map { Job(name: "j\($0)", work: .simulate(SimulatedWork())) })
    facts.job(0, .executing)
    facts.job(1, .executing)
    facts.job(0, .succeeded(upToDate: false), after: .seconds(1))
    facts.job(2, .executing)
    facts.job(3, .executing)
    for id in 1..<4 { facts.job(id, .succeeded(upToDate: false), after: .seconds(1)) }
    facts.state(.runFinished(RunSummary(of: facts.run)))
    let events = try trace(facts)
    let slices = events.filter { $0["ph"] as? String == "X" }
    #expect(slices.map { $0["name"] as? String } == ["j0", "j1", "j2", "j3"])
    #expect(slices.map { $0["tid"] as? Int } == [1, 2, 1, 3])
    let names = events.filter { $0["name"] as? String == "thread_name" }
    #expect(names.map { ($0["args"] as? [String: String])?["name"] } == ["slot 1", "slot 2", "slot 3"])
  }

  @Test func anArrowIsForTheFirstAttemptOnly() throws {
    var facts = Facts()
    facts.begin([
      Job(name: "a", work: .simulate(SimulatedWork())),
      Job(name: "b", work: .simulate(SimulatedWork()), needs: [JobNeed(JobID(0))]),
    ])
    facts.job(0, .executing, after: .seconds(1))
    facts.job(0, .succeeded(upToDate: false), after: .seconds(1))
    facts.job(1, .executing, after: .seconds(1))
    let failure = JobFailure(.network, "no route")
    facts.job(1, .backingOff(until: .seconds(6), number: 1, limit: 2, after: failure), after: .seconds(1))
    facts.job(1, .executing, attempt: 2, after: .seconds(2))
    facts.job(1, .succeeded(upToDate: false), attempt: 2, after: .seconds(1))
    facts.state(.runFinished(RunSummary(of: facts.run)))
    let arrows = try trace(facts).filter { $0["cat"] as? String == "needs" }
    #expect(arrows.map { $0["ph"] as? String } == ["s", "f"])
    #expect(arrows.map { $0["ts"] as? Int } == [1_999_999, 3_000_000])
    #expect(arrows.map { $0["bp"] as? String } == [nil, "e"])
  }
}
