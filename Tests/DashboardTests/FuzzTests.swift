import JobModel
import Screen
import Support
import Testing

@testable import Dashboard

struct FuzzTests {
  private static let keys: [Key] = {
    let letters = "xXpPrRcUlLLwfnNyYFEvvTZmI?/<>[]-+=jkgG qabc:!state123450eio:".map { Key.character($0) }
    let others: [Key] = [
      .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .enter, .escape, .escape, .tab, .backTab, .backspace,
      .delete, .control("u"), .control("d"), .control("l"), .control("w"),
    ]
    return letters + others + (1...12).map { .function($0) }
  }()

  private static let jobs: [Job] = (0..<60).map { number in
    let needs = number > 5 ? [JobNeed(JobID(number / 2), when: JobNeed.Condition.allCases[number % 3])] : []
    let names = [
      "job-\(number)", "名前\(number)", "e\u{301}tude \(number)", "a-very-long-name-of-a-job-\(number)", "👩‍👩‍👧\(number)",
    ]
    return Job.shell(names[number % names.count], needs: needs, retry: RetryPolicy(max: 2))
  }

  private static let lines = [
    "plain", "\u{1B}[31mred\u{1B}[0m", "tab\tand\u{8}back", "\u{1B}]0;evil\u{07}", "宽字符 wide", "👍🏽 emoji", "",
    String(repeating: "long ", count: 100), "a\rb\rc", "\u{202E}reversed", "\u{9B}2J",
  ]

  private func fact(_ run: inout RunBuilder, _ random: inout SplitMix) {
    run.time += .milliseconds(Int64(random.next() % 400))
    let id = JobID(Int(random.next() % UInt64(run.run.jobs.count)))
    let attempt = run.run[id].attempt?.number ?? 0
    func move(_ state: JobState) {
      let begins = state == .executing && !run.run[id].state.isActive
      run.state(.jobState(id, state, attempt: begins ? attempt + 1 : attempt, pid: nil))
    }
    let failure = JobFailure(.exit(1), "exit 1")
    switch random.next() % 16 {
    case 0, 1, 2: move(.executing)
    case 3: move(.succeeded(upToDate: random.next() % 2 == 0))
    case 4: move(.failed(failure, allowed: random.next() % 2 == 0))
    case 5: move(.cancelled(by: .person))
    case 6: move(.skipped(because: .job(JobID(0))))
    case 7: move(.paused(started: run.run[id].state.isActive))
    case 8: move(.backingOff(until: run.time + .seconds(3), number: 1, limit: 2, after: failure))
    case 9: move(.ready(for: random.next() % 2 == 0 ? .slot : .pool("net")))
    case 10: move(.waiting)
    case 11, 12:
      let total: Int64? = random.next() % 3 == 0 ? nil : Int64(random.next() % 1000)
      run.state(.jobProgress(id, JobProgress(done: Int64(random.next() % 1200), total: total, unit: .bytes)))
    case 13: run.state(.slotsChanged(Int(random.next() % 9)))
    case 14: run.state(.drainChanged(random.next() % 2 == 0))
    default:
      let line = Self.lines[Int(random.next() % UInt64(Self.lines.count))]
      run.state(.jobLog(id, attempt: attempt, LogLine(random.next() % 2 == 0 ? .stdout : .stderr, line)))
    }
  }

  private func message(_ run: inout RunBuilder, _ random: inout SplitMix) -> Message {
    switch random.next() % 20 {
    case 0..<9: return .input(.key(Self.keys[Int(random.next() % UInt64(Self.keys.count))]))
    case 9, 10:
      let actions = MouseEvent.Action.allCases
      let (x, y) = (Int(random.next() % 220), Int(random.next() % 70))
      return .input(.mouse(MouseEvent(actions[Int(random.next() % UInt64(actions.count))], x: x, y: y)))
    case 11 where random.next() % 20 == 0:
      return .input(.resized(Size(width: Int(random.next() % 210), height: Int(random.next() % 64))))
    case 12: return random.next() % 8 == 0 ? .input(.paste("pa\u{1B}[2Jste\n")) : .tick
    default:
      for _ in 0..<(random.next() % 4) { fact(&run, &random) }
      return .facts(run.take())
    }
  }

  @Test func noMessageBreaksTheScreen() {
    var random = SplitMix(seed: 20_261_120)
    var bench = Bench(RunBuilder(Self.jobs, slots: 4, pools: ["net": 3]))
    var drawn = 0
    var stopped = 0
    for round in 0..<25_000 {
      let message = message(&bench.builder, &random)
      bench.now = max(bench.now, bench.builder.time)
      bench.effects = []
      // Not after every message: messages between two frames meet a model that is not prepared.
      bench.effects += Update.apply(message, to: &bench.model, now: bench.now)
      if bench.effects.contains(where: { if case .send(.stop) = $0 { true } else { false } }) { stopped += 1 }
      guard round % 50 == 0 else { continue }
      FramePreparation.prepare(&bench.model, now: bench.now)
      check(bench, ScreenTraits(isASCII: round % 100 == 0, palette: .sixteen))
      drawn += 1
    }
    #expect(drawn == 500)
    #expect(stopped > 0)
  }

  /// Jobs are added meanwhile: an instant of the past lacks most of them.
  @Test func noInstantBreaksTheScreen() {
    var random = SplitMix(seed: 20_261_130)
    var bench = Bench(RunBuilder(Array(Self.jobs.prefix(2)), slots: 4, pools: ["net": 3]))
    bench.model.hasPast = true
    var instants = [bench.builder.run]
    var shown = 0
    for round in 0..<4000 {
      if round % 70 == 0, bench.builder.run.jobs.count < Self.jobs.count {
        let id = bench.builder.run.jobs.count
        bench.builder.state(.jobAdded(JobID(id), Self.jobs[id]))
        instants.append(bench.builder.run)
      }
      var message = Message.tick
      if round % 200 == 100 { bench.model.setFrozen(false) }
      if round % 7 == 0, round % 200 < 100 {
        let past = instants[Int(random.next() % UInt64(instants.count))]
        bench.model.wantedPast = past.time
        message = .past(past, at: past.time)
      } else {
        message = self.message(&bench.builder, &random)
      }
      bench.now = max(bench.now, bench.builder.time)
      _ = Update.apply(message, to: &bench.model, now: bench.now)
      if bench.model.isPast { shown += 1 }
      // As the loop does.
      if case .facts = message {} else { FramePreparation.arrange(&bench.model, now: bench.now) }
      guard round % 20 == 0 else { continue }
      FramePreparation.prepare(&bench.model, now: bench.now)
      check(bench, ScreenTraits(isASCII: round % 40 == 0, palette: .sixteen))
    }
    #expect((1000..<3000).contains(shown) && instants.count > 50)
  }

  private func check(_ bench: Bench, _ traits: ScreenTraits) {
    let frame = bench.frame(traits)
    let size = bench.model.size
    guard frame.size == size, frame.rows.count == size.height, frame.rows.allSatisfy({ $0.count == size.width }) else {
      Issue.record("a frame of \(frame.size) for \(size)")
      return
    }
    let isClean = frame.rows.allSatisfy { row in
      row.allSatisfy { cell in
        cell.text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
          || (!traits.isASCII && cell.text.unicodeScalars.allSatisfy(TextWidth.isPrintable))
      }
    }
    if !isClean { Issue.record("what a terminal obeys in\n\(frame.text)") }
  }
}
