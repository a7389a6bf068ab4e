import Checksums
import JobModel

/// A hash of all that a job declares about its result: the same for a job that would do the same.
///
/// The name, needs, priority, limits, retries and the paths of `creates` and `inputs` don't count, nor does the environment
/// that opdash was started in; an environment that the job declares does.
package enum Fingerprint {
  /// Lower-case hexadecimal, the same in every run and on every machine.
  package static func of(_ job: Job) -> String {
    var fields = Fields()
    fields.add("opdash job 1", job.work.kind)
    switch job.work {
    case .shell(let work):
      switch work.command {
      case .script(let text): fields.add("script", text)
      case .argv(let words): fields.add(["argv"] + words)
      }
      fields.add(work.directory)
      fields.add(work.environment)
      if case .script = work.command, work.shell != ShellWork.standardShell { fields.add(["shell"] + work.shell) }
      if work.hasTerminal { fields.add("tty") }
    case .download(let work):
      fields.add(work.url, work.file, work.existing.rawValue, "\(work.usesServerName)")
      fields.add(work.sha256)
      fields.add(work.headers)
    case .upload(let work):
      fields.add(work.file, work.url, work.method)
      fields.add(work.headers)
    case .simulate(let work):
      let duration = work.duration.components
      fields.add("\(duration.seconds)", "\(duration.attoseconds)")
      fields.add("\(work.steps)", "\(work.failRate)", "\(work.seed)")
    case .operation(let work): fields.add(work.className)
    }
    return SHA256Sum.hex(of: fields.bytes)
  }

  /// A hash of an approval: the job's name, question and work; nil for a job without a question.
  package static func ofApproval(_ job: Job) -> String? {
    guard let question = job.approval else { return nil }
    var fields = Fields()
    fields.add("opdash approval 1", job.name, question, of(job))
    return SHA256Sum.hex(of: fields.bytes)
  }

  /// Texts with their lengths, so that two lists of fields never have the same bytes.
  private struct Fields {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ texts: String...) { add(texts) }

    mutating func add(_ texts: [String]) {
      bytes += "\(texts.count):".utf8
      for text in texts { bytes += "\(text.utf8.count):\(text)".utf8 }
    }

    mutating func add(_ text: String?) { add(text.map { [$0] } ?? []) }

    mutating func add(_ map: [String: String]) {
      add(map.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
    }
  }
}
