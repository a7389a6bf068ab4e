import Foundation
import JobModel
import Operations
import Support
import Testing

@testable import OperationDashboard

/// What the program writes to its standard streams, as lines of the run.
struct ProgramLogTests {
  private func log(_ watch: Watch) -> ProgramLog {
    watch.feed.start()
    _ = watch.eventually { $0.start != nil }
    return ProgramLog(watch.feed)
  }

  private func texts(_ run: Run) -> [String] { (0..<run.programLog.count).map { run.programLog[$0].line.text } }

  @Test func bytesInAnyPiecesBecomeLines() {
    let watch = Watch()
    let log = log(watch)
    for piece in ["on", "e\ntwo\nthr", "ee"] { log.receive(Array(piece.utf8)) }
    #expect(watch.eventually { texts($0) == ["one", "two", "three"] })
    #expect(watch.run.programLog.unfinishedLine?.text == "three")
    log.receive(Array(", in parts\n".utf8))
    #expect(watch.eventually { texts($0) == ["one", "two", "three, in parts"] })
  }

  @Test func aFloodLeavesTheNewestLinesAndSaysHowManyAreMissing() {
    let watch = Watch()
    let log = log(watch)
    // About 5 MB before the first delivery.
    watch.feed.stream.queue.suspend()
    for block in 0..<500 {
      log.receive(Array((0..<1000).map { "line \(block * 1000 + $0)\n" }.joined().utf8))
    }
    watch.feed.stream.queue.resume()
    #expect(watch.eventually { texts($0).last == "line 499999" })
    let run = watch.run
    let notes = notes(watch)
    #expect(run.programLog.total == LogRing.capacity + 1 && notes.count == 1)
    let missing = notes.compactMap { number(in: $0) }.reduce(0, +)
    #expect(missing + run.programLog.total - notes.count == 500_000)
  }

  private func number(in note: String) -> Int? { Int(note.filter(\.isNumber)) }

  private func notes(_ watch: Watch) -> [String] {
    watch.events.compactMap { event -> String? in
      guard case .programLog(let line) = event.fact, line.stream == .note else { return nil }
      return line.text
    }
  }

  private func lines(_ count: Int, of length: Int) -> [UInt8] {
    Array(String(repeating: String(repeating: "a", count: length - 1) + "\n", count: count).utf8)
  }

  @Test func aMebibyteAndTwoThousandLinesWaitForTheScreen() {
    let watch = Watch()
    let log = log(watch)
    log.receive(lines(1024, of: 1024))
    #expect(watch.eventually { $0.programLog.total == 1024 })
    log.receive(lines(2000, of: 2))
    #expect(watch.eventually { $0.programLog.total == 3024 })
    #expect(notes(watch).isEmpty)
  }

  @Test func ofMoreThanAMebibyteTheLastHalfOfItIsShown() throws {
    let watch = Watch()
    log(watch).receive(lines(1025, of: 1024))
    #expect(watch.eventually { $0.programLog.total > 0 })
    let notes = notes(watch)
    let note = try #require(notes.first)
    let missing = try #require(number(in: note))
    #expect(notes == ["left out \(missing) lines here; the terminal gets all at the end"])
    let shown = watch.run.programLog.total - 1
    #expect(missing + shown == 1025)
    #expect((510...512).contains(shown))
  }

  @Test func oneMissingLineIsToldToo() {
    let watch = Watch()
    let log = log(watch)
    log.receive(lines(2001, of: 2))
    #expect(watch.eventually { $0.programLog.total == 2001 })
    #expect(notes(watch) == ["left out 1 line here; the terminal gets all at the end"])
    // It is told once.
    log.receive(Array("last\n".utf8))
    #expect(watch.eventually { texts($0).last == "last" })
    #expect(watch.run.programLog.total == 2002)
  }

  @Test func aLineHasTheTimeAtWhichItIsShown() {
    let clock = ManualOperationClock()
    let watch = Watch(of: DelegatedOperationQueue(), clock: clock)
    let log = log(watch)
    clock.advance(by: .seconds(5))
    log.receive(Array("late\n".utf8))
    #expect(watch.eventually { texts($0) == ["late"] })
    #expect(watch.events.last?.time == .seconds(5))
  }
}

/// The status that `stop()` leaves.
struct StopStatusTests {
  private func dashboard() -> Dashboard {
    var options = Dashboard.Options()
    options.interface = .quiet
    options.handlesSignals = false
    return Dashboard(observing: OperationQueue(), options: options)
  }

  @Test func withWorkLeftItIs3() async throws {
    let dashboard = dashboard()
    let manual = Manual("manual")
    dashboard.add(manual)
    let task = Task { try await dashboard.run() }
    #expect(await soon { manual.isExecuting && dashboard.isShown })
    dashboard.stop()
    let summary = try await task.value
    #expect(summary == Dashboard.Summary(succeeded: 0, failed: 0, cancelled: 0, skipped: 0, left: 1, exitStatus: 3))
    manual.finish()
  }

  @Test func beforeTheRunItIs3Too() async throws {
    let dashboard = dashboard()
    let manual = Manual("manual")
    dashboard.add(manual)
    dashboard.stop()
    #expect(try await dashboard.run().exitStatus == 3)
    manual.finish()
  }

  @Test func withAFailureItIs1() async throws {
    let dashboard = dashboard()
    let (failing, manual) = (Giving("failing", .failure(CocoaError(.fileNoSuchFile))), Manual("manual"))
    dashboard.add([failing, manual])
    let task = Task { try await dashboard.run() }
    #expect(await soon { failing.isFinished && manual.isExecuting && dashboard.isShown })
    dashboard.stop()
    #expect(try await task.value.exitStatus == 1)
    manual.finish()
  }

  @Test func whatTheProgramCancelledLeavesNoWork() async throws {
    let dashboard = dashboard()
    let manual = Manual("manual")
    dashboard.add(manual)
    let task = Task { try await dashboard.run() }
    #expect(await soon { manual.isExecuting && dashboard.isShown })
    manual.cancel()
    dashboard.stop()
    let summary = try await task.value
    #expect(summary.cancelled == 1 && summary.exitStatus == 0)
  }
}
