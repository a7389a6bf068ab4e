import Dispatch
import Foundation

/// Shows the dashboard on an invented run, to measure the bytes of frames and the CPU time:
/// `steps [--ascii]`, or `load JOBS RATE SECONDS REPORT`.
let words = Array(CommandLine.arguments.dropFirst())
var running: AnyObject?
do {
  switch words.first {
  case "steps":
    let steps = Steps(isASCII: words.contains("--ascii"))
    running = steps
    try steps.run()
  case "load" where words.count == 5:
    let load = Load(
      jobs: Int(words[1]) ?? 0, rate: Int(words[2]) ?? 0, seconds: Double(words[3]) ?? 0, report: words[4])
    running = load
    try load.run()
  default:
    FileHandle.standardError.write(Data("dashboard-probe: steps [--ascii] | load JOBS RATE SECONDS REPORT\n".utf8))
    exit(2)
  }
} catch {
  FileHandle.standardError.write(Data("dashboard-probe: \(error)\n".utf8))
  exit(2)
}
dispatchMain()
