import Foundation
import JobModel
import RunStore
import Support
import Testing

/// What the store has of a run.
struct RecordedRun {
  /// Every line, in order.
  let lines: [Substring]
  let ended: [EndedJob]

  /// Records an issue where the events have a gap or half a line.
  init(_ run: RunEntry, in store: RunStore) throws {
    var bytes: [UInt8] = []
    try store.eventLines(of: run) { piece in
      bytes += piece
      return true
    }
    #expect(bytes.last == UInt8(ascii: "\n"))
    lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    for (number, line) in lines.enumerated()
    where !line.hasPrefix("{\"v\":1,\"seq\":\(number),") || !line.hasSuffix("}") {
      Issue.record("line \(number) of run \(run.id) is \(line)")
      break
    }
    ended = try store.ended(in: run)
  }

  /// Whether the ends of jobs that the store has as rows are those of the events.
  var isConsistent: Bool { ended.count == lines.count { $0.contains("\"state\":\"succeeded\"") } }
}

extension Duration {
  /// How long one waits for what must come.
  static let patience = Duration.seconds(Patience.seconds)
}

extension RunStore {
  /// Starts a program that records a run; its output is lost where no descriptor is given.
  static func probe(
    _ state: String, run: String, jobs: Int, pause: Int, output: Int32? = nil
  ) throws -> ChildProcess {
    let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(nothing) }
    return try ChildProcess(
      [Built.product("store-probe"), state, run, "\(jobs)", "\(pause)"],
      environment: ProcessInfo.processInfo.environment.merging(FaultHandling.environment) { $1 },
      descriptors: [0, output ?? nothing, 2])
  }
}
