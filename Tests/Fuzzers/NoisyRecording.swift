import Foundation
import JobModel
import Reports
import Screen

@testable import Dashboard

// A recording with any numbers and texts in the fields of well-formed events, and what is made of one.

extension Noise {
  private static let jobs = ["a", "b", "c", "d"]

  /// Lines of NDJSON, which the reader refuses where a value is out of its range.
  mutating func recording(upTo limit: Int = 200) -> [UInt8] {
    var lines = [
      #""t":0,"type":"run_started","run":\#(quoted()),"name":\#(quoted()),"slots":\#(small()),"#
        + #""at":"2026-01-01T00:00:00.250Z","jobs":4,"pools":{"p":\#(small())}"#
    ]
    lines += Self.jobs.map { #""t":0,"type":"job_added","job":"\#($0)",\#(work()),\#(policy())"# }
    var time = "0"
    while !isEmpty, lines.count < limit {
      if chance(in: 4) { time = later(than: time) }
      lines.append(#""t":\#(time),\#(fact())"#)
    }
    let whole = lines.enumerated().map { "{\"v\":1,\"seq\":\($0),\($1)}\n" }
    return Array(whole.joined().utf8)
  }

  private mutating func quoted() -> String {
    String(decoding: (try? JSONEncoder().encode(text())) ?? Data(), as: UTF8.self)
  }

  /// A number that every field takes.
  private mutating func small() -> String { pick(["1", "0", "2", "7", "1000000000", "65536"]) }

  /// A time that every field takes.
  private mutating func time() -> String {
    pick(["0", "1", "0.000000000000000001", "0.1", "59.999999", "3600", "360000000", "1000000000000"])
  }

  private mutating func later(than time: String) -> String {
    let times = ["0.000000000000000001", "0.05", "0.1", "1", "10.5", "3600", "86400", "359999999", "360000000"]
    return times.first { (Double($0) ?? 0) > (Double(time) ?? 0) && chance(in: 2) } ?? time
  }

  private mutating func any(_ usual: String) -> String { chance(in: 16) ? number() : usual }

  private mutating func work() -> String {
    switch byte() % 5 {
    case 0: #""kind":"simulate","duration":\#(any(time())),"steps":\#(any(small()))"#
    case 1: #""kind":"download","url":\#(quoted()),"file":\#(quoted())"#
    case 2: #""kind":"operation","class":\#(quoted()),"seen":"whole""#
    case 3: #""kind":"shell","command":\#(quoted()),"slurm":{"cpus":\#(any(small())),"time":\#(any(time()))}"#
    default:
      #""kind":"shell","command":["x"],"stop":{"signal":\#(any("2")),"grace":\#(any(time()))},"progress":"(\\d+)%""#
    }
  }

  private mutating func policy() -> String {
    let need = #"{"job":"\#(pick(Self.jobs))","when":"\#(pick(["ok", "finished", "failed", "not-ok"]))"}"#
    let needs = chance(in: 2) ? need : ""
    let usual =
      #"{"p50":\#(any(time())),"p90":\#(any(time())),"runs":\#(any("3")),"failures":\#(any("1")),"attempts":\#(any("4"))}"#
    return #""needs":[\#(needs)],"uses":{"p":\#(any(small()))},"timeout":\#(any(time())),"retries":\#(any(small())),"#
      + #""usual":\#(chance(in: 2) ? usual : "null"),"finally":\#(chance(in: 8) ? #""always""# : "null")"#
  }

  private mutating func fact() -> String {
    let job = #""job":"\#(pick(Self.jobs))""#
    switch byte() % 13 {
    case 0, 1, 2, 3: return #""type":"job_state",\#(job),"attempt":\#(any(small())),\#(state())"#
    case 4, 5:
      return #""type":"job_progress",\#(job),"done":\#(any(number())),"total":\#(any(number())),"#
        + #""unit":"\#(pick(["bytes", "steps"]))""#
    case 6: return #""type":"job_log",\#(job),"attempt":\#(any("1")),"stream":"stdout","text":\#(quoted())"#
    case 7: return #""type":"job_placed",\#(job),"cluster_id":\#(quoted()),"took":\#(any(time()))"#
    case 8: return #""type":"job_restored",\#(job),"run":"r","at":"2026-01-01T00:00:00.250Z","took":\#(any(time()))"#
    case 9: return #""type":"slots_changed","slots":\#(any(small()))"#
    case 11: return #""type":"job_launched",\#(job),"pid":\#(any(small()))"#
    case 10: return #""type":"pool_changed","pool":"p","size":\#(any(small()))"#
    default: return #""type":"cancel_requested",\#(job),"by":"person","kill":false"#
    }
  }

  private mutating func state() -> String {
    let failure = #""reason":\#(quoted()),"cause":"exit","exit":\#(any("1")),"retry_after":\#(any(time()))"#
    return switch byte() % 10 {
    case 0: #""state":"waiting""#
    case 1: #""state":"ready","for":"slot""#
    case 2: #""state":"ready","for":"pool","pool":"p""#
    case 3: #""state":"paused","started":\#(pick(["true", "false"]))"#
    case 4:
      #""state":"backing_off","until":\#(any(time())),"retry":\#(any(small())),"retries":\#(any(small())),\#(failure)"#
    case 5: #""state":"succeeded""#
    case 6: #""state":"failed",\#(failure)"#
    case 7: #""state":"cancelled","by":"person""#
    case 8: #""state":"skipped","because":"\#(pick(Self.jobs))""#
    default: #""state":"executing","pid":\#(any("7"))"#
    }
  }
}

enum Playing {
  /// The events before the first fault.
  static func events(of bytes: [UInt8]) -> [JobEvent] {
    var reader = EventReader()
    var events: [JobEvent] = []
    for line in bytes.split(separator: 0x0A) {
      let read = line.withUnsafeBufferPointer { line in Result { () throws(EventFault) in try reader.read(line) } }
      guard let read = try? read.get() else { break }
      events += read
    }
    return events
  }

  /// Draws the first frame of a panel, as it is at the end, a minute later, or in the past.
  static func draw(_ events: [JobEvent], choice: Int) {
    var run = Run()
    for event in events { run.apply(event) }
    if choice / 10 % 4 == 3 {
      var history = RunHistory(events)
      run = history.run(at: run.time / 2)
    }
    draw(run, choice: choice)
  }

  /// Draws the first frame of a panel.
  static func draw(_ run: Run, choice: Int) {
    let now = run.time + .seconds(choice / 10 % 2 == 0 ? 0 : 60)
    let size = choice / 5 % 2 == 0 ? Size(width: 80, height: 24) : Size(width: 160, height: 50)
    var model = Model(run: run, size: size)
    model.isReplay = true
    _ = Update.apply(.input(.key(.character(Array("12345")[choice % 5]))), to: &model, now: now)
    FramePreparation.prepare(&model, now: now)
    _ = View.frame(model, ScreenTraits(isASCII: true, palette: .none), now: now)
  }

  static func report(_ events: [JobEvent], choice: Int) {
    let write: ReportWriter = { precondition(!$0.isEmpty, "a report writes nothing") }
    let writeText: TextWriter = { precondition(!$0.isEmpty, "a report writes nothing") }
    let paint = Paint(isColoured: true)
    let report: any Report =
      switch choice % 5 {
      case 0: PlainReport(paint: paint, write: writeText)
      case 1: PlainReport(paint: paint, grouping: .github, write: writeText)
      case 2: JSONReport(write: write)
      case 3: TraceReport(write: write)
      default: QuietReport(paint: paint, write: writeText)
      }
    var reports = ReportSet([report])
    reports.receive(events)
    if let time = reports.wakeTime { reports.wake(at: time) }
    let run = Run(recorded: events)
    guard run.start != nil else { return }
    switch choice % 4 {
    case 0: _ = JUnitReport.document(run)
    case 1: _ = HTMLReport(run, zone: .gmt).text
    case 2: _ = RunReportText(run, paint: paint, zone: .gmt).lines
    default: _ = RunDiff(from: run, to: run).lines(paint: paint)
    }
  }
}
