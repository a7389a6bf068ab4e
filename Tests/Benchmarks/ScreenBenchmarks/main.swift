import Foundation
import Support

/// Measures a dashboard from the outside, for Tests/Benchmarks/run: lines of `name TAB value` on standard output.
///
///     screen-benchmarks latency SAMPLES COMMAND...     a dashboard that is busy; keys at irregular intervals
///     screen-benchmarks fuzz INPUTS SEED COMMAND...    random input
func fail(_ what: String) -> Never {
  FileHandle.standardError.write(Data("\(what)\n".utf8))
  exit(1)
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 4, let count = Int(words[1]) else {
  fail("screen-benchmarks: latency SAMPLES … | fuzz INPUTS SEED …")
}
do {
  switch words[0] {
  case "latency":
    try Latency(command: Array(words[2...])).measure(samples: count)
  case "fuzz":
    let command = Array(words[3...])
    let environment = ProcessInfo.processInfo.environment
    let fuzz = try TerminalFuzz(seed: UInt64(words[2]) ?? 1, header: "fuzz") { columns, rows in
      try Pty(command, environment: environment, columns: columns, rows: rows)
    } stop: { run in
      _ = try ChildProcess.run([command[0], "cancel", run], environment: environment)
    }
    let outcome = try fuzz.run(inputs: count, stretch: 2000) { outcome in
      let isHundredth = outcome.inputs % 100_000 < 2000
      if isHundredth { FileHandle.standardError.write(Data("  \(outcome.inputs) inputs\n".utf8)) }
    }
    for fault in outcome.faults { FileHandle.standardError.write(Data("\(fault)\n".utf8)) }
    print("inputs\t\(outcome.inputs)\nrepaints\t\(outcome.repaints)\nstarts\t\(outcome.starts)")
    print("bytes\t\(outcome.bytes)\nfaults\t\(outcome.faults.count)")
  default: fail("'\(words[0])' is no measure: latency, fuzz")
  }
} catch {
  fail("\(error)")
}
