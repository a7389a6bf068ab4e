import Foundation
import JobModel
import Processes

/// What becomes of the bytes a command writes: its log file, its lines, and the progress they tell.
struct ShellOutput {
  private let file: LogFile?
  private let pattern: ProgressPattern?
  private var stdout = LineSplitter(.stdout)
  private var stderr = LineSplitter(.stderr)
  /// Whether a process was started, though its program may not have begun.
  var hasProcess = false

  init(logPath: String?, progress: String?) {
    file = logPath.map(LogFile.init)
    pattern = progress.flatMap(ProgressPattern.init)
  }

  mutating func take(_ bytes: [UInt8], from stream: ProcessStream) -> (lines: [LogLine], progress: JobProgress?) {
    var lines = stream == .stdout ? stdout.feed(bytes) : stderr.feed(bytes)
    let progress = pattern?.last(in: lines)
    if let problem = file?.append(bytes) { lines.append(LogLine(.note, problem)) }
    return (lines, progress)
  }

  /// The last lines, where they end without a line feed.
  mutating func finish() -> (lines: [LogLine], progress: JobProgress?, hasProcess: Bool) {
    file?.close()
    let lines = [stdout.finish(), stderr.finish()].compactMap(\.self)
    return (lines, pattern?.last(in: lines), hasProcess)
  }
}
