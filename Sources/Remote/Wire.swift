import Basics
import Foundation
import JobModel

/// The lines that a program with a run and those attached to it exchange over a socket: JSON objects with a `type`.
///
/// The program begins with a `Greeting`. Who wants more than that says a `Hello`, and gets a snapshot of the run as
/// `RunStateWriter` writes it, then the events as `EventWriter` does. A reader that falls behind gets another snapshot.
/// Each `command` of the reader has a number, which an `answer` repeats.
package enum Wire {
  package static let version = 1
  /// The longest line, without its line feed, that a program takes from one that is attached.
  static let commandLimit = 4 << 20
  /// The longest line that an attached program takes.
  static let factLimit = 64 << 20

  static func line(_ type: String, _ fields: (inout [UInt8]) -> Void) -> [UInt8] {
    var bytes = Array("{".utf8)
    bytes.append(field: "type", type)
    fields(&bytes)
    bytes.append("}\n")
    return bytes
  }

  /// Throws for a first line of a program that speaks another version.
  static func checkVersion(_ fields: JSONFields) throws(JSONFault) {
    let version = try fields.count("version")
    guard version == Self.version else {
      throw JSONFault("this opdash speaks version \(Self.version) of the protocol, not \(version)")
    }
  }

  static func refusal(_ reason: String) -> [UInt8] { line("refused") { $0.append(field: "reason", reason) } }

  /// The answer to a command: `reason` is why it was not carried out.
  static func answer(_ number: Int, refusedBecause reason: String? = nil) -> [UInt8] {
    line("answer") { bytes in
      bytes.append(field: "n", number)
      bytes.append(field: "reason", reason)
    }
  }

  /// Precedes a snapshot: when the run began, on the machine's clock, and the newest command that has been carried out.
  static func clock(began: Duration, answered: Int) -> [UInt8] {
    line("clock") { bytes in
      bytes.append(field: "began", began)
      bytes.append(field: "answered", answered)
    }
  }

  /// The time since the machine was started, which all its programs share.
  static var machineTime: Duration { .now(on: CLOCK_BOOTTIME) }
}

/// The first line of a program that has a run.
package struct Greeting: Sendable, Equatable {
  package var pid: Int32
  /// The run's identifier; empty before it has begun.
  package var run: String
  package var name: String
  package var startedAt: Date?
  package var jobs = 0
  package var done = 0
  package var failed = 0
  package var executing = 0
  /// The jobs that wait for a person.
  package var asking = 0
  package var isOver = false
  /// Whether it is the operation queue of a program, which has no end and no record.
  package var isQueue = false
  /// The folder whose store records the run; nil if none does.
  package var stateFolder: String?
  /// The job file, or the program's current folder.
  package var place: String

  package init(pid: Int32, run: String, name: String, place: String, stateFolder: String? = nil) {
    (self.pid, self.run, self.name) = (pid, run, name)
    (self.place, self.stateFolder) = (place, stateFolder)
  }

  /// The name that `opdash attach` accepts.
  package var identifier: String { isQueue ? "\(pid)" : run }

  /// The same with the name of a run that had not begun.
  package func ofRun(_ run: Run) -> Greeting {
    var greeting = self
    if let start = run.start { (greeting.run, greeting.startedAt) = (start.id, start.at) }
    return greeting
  }

  /// Copies the state of the run.
  package mutating func read(_ run: Run) {
    if let start = run.start, !isQueue { (self.run, name, startedAt) = (start.id, start.name, start.at) }
    (jobs, done, failed) = (run.counts.all, run.counts.done, run.counts.failed)
    executing = run.counts.executing
    asking = run.jobs.count { $0.state == .ready(for: .person) }
    isOver = run.summary != nil
  }

  var line: [UInt8] {
    Wire.line("greeting") { bytes in
      bytes.append(field: "version", Wire.version)
      bytes.append(field: "pid", pid)
      bytes.append(field: "run", run)
      bytes.append(field: "name", name)
      bytes.append(field: "at", startedAt?.timeIntervalSince1970)
      appendState(to: &bytes)
      bytes.append(field: "state", stateFolder)
      bytes.append(field: "place", place)
    }
  }

  private func appendState(to bytes: inout [UInt8]) {
    bytes.append(field: "jobs", jobs)
    bytes.append(field: "done", done)
    bytes.append(field: "failed", failed)
    bytes.append(field: "executing", executing)
    bytes.append(field: "asking", asking)
    bytes.append(field: "over", isOver)
    bytes.append(field: "queue", isQueue)
  }

  /// Programs as one JSON document, as `opdash history` prints runs.
  package static func document(_ greetings: [Greeting]) -> [UInt8] {
    var bytes = Array(#"{"runs":["#.utf8)
    for (number, greeting) in greetings.enumerated() {
      bytes.append(number == 0 ? "{" : ",{")
      bytes.append(field: "pid", greeting.pid)
      bytes.append(field: "run", greeting.isQueue ? nil : greeting.run)
      bytes.append(field: "name", greeting.name)
      bytes.append(field: "at", greeting.startedAt?.eventText)
      greeting.appendState(to: &bytes)
      bytes.append(field: "place", greeting.place)
      bytes.append("}")
    }
    bytes.append("]}\n")
    return bytes
  }

  /// Of another version, only the process is known.
  init(_ fields: JSONFields, pid: Int32) throws {
    guard try fields.text("type") == "greeting" else { throw JSONFault("it does not begin with a greeting") }
    let version = try fields.count("version")
    guard version == Wire.version else { throw RemoteError.version(version, pid: pid) }
    self.init(
      pid: pid, run: try fields.text("run"), name: try fields.text("name"), place: try fields.text("place"),
      stateFolder: try fields.text(ifAny: "state"))
    startedAt = try fields.number(ifAny: "at").map { Date(clamping: $0) }
    (jobs, done) = (try fields.count("jobs"), try fields.count("done"))
    (failed, executing) = (try fields.count("failed"), try fields.count("executing"))
    asking = try fields.count("asking")
    isOver = try fields.flag("over")
    isQueue = try fields.flag("queue")
  }
}

/// The first line of a program that attaches itself.
struct Hello: Equatable {
  var access: RemoteAccess
  /// How many lines of each job's output a snapshot has.
  var logLines: Int

  var line: [UInt8] {
    Wire.line("hello") { bytes in
      bytes.append(field: "version", Wire.version)
      bytes.append(field: "access", access.rawValue)
      bytes.append(field: "log_lines", logLines)
    }
  }
}

extension Hello {
  init(_ fields: JSONFields) throws(JSONFault) {
    guard try fields.text("type") == "hello" else { throw JSONFault("the first line must be of the type hello") }
    try Wire.checkVersion(fields)
    self.init(access: try fields.word("access"), logLines: try fields.count("log_lines"))
  }
}

/// The access of an attached program.
package enum RemoteAccess: String, Sendable {
  case full
  case readOnly = "read-only"

  static let refusal = "attached with --read-only: the run can't be changed from here"
}
