import Basics
import Foundation
import JobModel
import Processes

/// What a run gives to the programs of all its attempts.
struct LaunchTerms {
  let run: String
  /// The values that no output may show.
  let secrets: SecretMask?
  /// The size of the terminals of programs that have one.
  var terminalSize = TerminalSize(columns: 80, rows: 24)
  /// Where programs write values for other jobs.
  private let folder: String
  /// Whether the folder is not the run's own, and is to be made and removed.
  private let isTemporary: Bool
  private var isMade = false

  init(run: String, folder: String?, secrets: Set<String>) {
    self.run = run
    self.secrets = SecretMask(secrets)
    self.folder = folder ?? NSTemporaryDirectory() + "/opdash-\(run)"
    isTemporary = folder == nil
  }

  /// The program of one attempt, and where it writes values for other jobs.
  struct Launch {
    var program: ProcessLaunch
    var outputPath: String
  }

  /// Makes the folder of the values.
  mutating func launch(_ work: ShellWork, of admission: Scheduler.Admission, named name: String) -> Launch {
    if isTemporary, !isMade {
      isMade = true
      mkdir(folder, 0o700)
    }
    let outputPath = "\(folder)/output.\(admission.job.index).\(admission.attempt)"
    let own = [
      "OPDASH_RUN": run, "OPDASH_JOB": name, "OPDASH_ATTEMPT": String(admission.attempt), "OPDASH_OUTPUT": outputPath,
    ]
    let environment = ProcessEnvironment.inherited(adding: work.environment.merging(own) { _, own in own })
    var program =
      switch work.command {
      case .script(let text):
        ProcessLaunch(
          script: text, shell: work.shell, directory: work.directory, environment: environment,
          stopSignal: work.stop.signal, grace: work.stop.grace)
      case .argv(let words):
        ProcessLaunch(
          words, directory: work.directory, environment: environment, stopSignal: work.stop.signal,
          grace: work.stop.grace)
      }
    program.secrets = secrets
    if work.hasTerminal { program.terminal = terminalSize }
    return Launch(program: program, outputPath: outputPath)
  }

  func removeFolder() {
    if isMade { rmdir(folder) }
  }
}

/// The values that a program has written for other jobs.
struct OutputValues: Equatable {
  /// The bytes that are read; values go into command lines and events.
  static let limit = 1 << 20

  var values: [String: String] = [:]
  /// What was not understood, as a sentence.
  var fault: String?

  /// Reads `NAME=VALUE` lines; of two of one name the last counts.
  init(_ text: String) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = line.hasSuffix("\r") ? line.dropLast() : line
      if line.isEmpty { continue }
      let name = line.prefix { $0 != "=" }
      if Self.isName(name), name.endIndex < line.endIndex {
        values[String(name)] = String(line[line.index(after: name.endIndex)...])
      } else if fault == nil {
        fault = "line \(index + 1) of $OPDASH_OUTPUT is not NAME=VALUE and is ignored: \(line.prefix(60))"
      }
    }
  }

  /// Reads and removes the file of an attempt that has ended; nil if there is none.
  init?(takingFile path: String) {
    // Most programs write none, and a handle that can't be made costs much more.
    guard access(path, F_OK) == 0, let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { unlink(path) }
    let bytes = (try? file.read(upToCount: Self.limit + 1)) ?? Data()
    try? file.close()
    self.init(String(decoding: bytes.prefix(Self.limit), as: UTF8.self))
    if bytes.count > Self.limit { fault = "$OPDASH_OUTPUT has more than 1 MiB: what follows is ignored" }
  }

  /// Removes values that events may not hold.
  mutating func removeSecrets(_ mask: SecretMask) {
    let secret = values.filter { mask.masked($0.value) != $0.value }.keys.sorted()
    guard let first = secret.first else { return }
    for name in secret { values[name] = nil }
    fault = "\(first) of $OPDASH_OUTPUT holds a secret, and is not given to other jobs"
  }

  private static func isName(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }
}

extension Scheduler {
  /// The job with the values of other jobs in its texts; throws what is to be the failure of its attempt.
  func resolved(_ job: Job) throws(JobFailure) -> Job {
    if job.outputs.isEmpty { return job }
    var values: [(key: String, value: String)] = []
    for reference in job.outputs {
      guard let value = run.jobs[reference.job.index].outputs[reference.name] else {
        let record = run.jobs[reference.job.index]
        let known = record.outputs.keys.sorted().joined(separator: ", ")
        throw JobFailure(
          .launch,
          "\(record.job.name) has written no \(reference.name) to $OPDASH_OUTPUT"
            + (known.isEmpty ? "" : ", but \(known)"))
      }
      values.append((reference.text, value))
    }
    var job = job
    job.work = job.work.mapTexts { text in
      text.replacing(values)
    } path: { path in
      // It was made absolute before the values were known, so a value that is absolute itself follows a folder.
      let parts = values.lazy.filter { $0.value.hasPrefix("/") }.compactMap { path.ranges(of: "/" + $0.key).last }
      guard let last = parts.max(by: { $0.lowerBound < $1.lowerBound }) else { return path.replacing(values) }
      return String(path[path.index(after: last.lowerBound)...]).replacing(values)
    }
    return job
  }
}
