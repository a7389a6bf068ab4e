import JobModel
import Support
import Testing

@testable import JobFiles

/// A file of another tool, and the files beside it.
struct ImportCase: CustomTestStringConvertible, Sendable {
  var format: ImportFormat
  var name: String
  var text: String
  var others: [String: String] = [:]

  var testDescription: String { name }

  /// The text of the job file and the warnings as `LINE:COLUMN: message`; throws the faults.
  func imported() throws(JobFileFaults) -> (text: String, warnings: [String]) {
    let files = others
    var warnings: [String] = []
    let text = try format.jobFile(
      Array(text.utf8), file: name, directory: "/jobs",
      read: { path in files[String(path.dropFirst("/jobs/".count))].map { Array($0.utf8) } },
      warn: { warnings.append("\($0.line):\($0.column): \($0.message)") })
    return (text, warnings)
  }

  /// The jobs of the printed file, which has no fault; files of variables are not read again.
  func graph(sourceLocation: SourceLocation = #_sourceLocation) throws -> JobGraph {
    let text = try imported().text
    return try Self.read(text, sourceLocation: sourceLocation)
  }

  /// The graph of a printed job file.
  static func read(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> JobGraph {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("dotenv:") }
    do throws(JobFileFaults) {
      return try JobFile.decode(
        Array(lines.joined(separator: "\n").utf8), file: "opdash.yml", directory: "/jobs", environment: ["HOME": "/h"])
    } catch {
      Issue.record("\(error) in:\n\(text)", sourceLocation: sourceLocation)
      throw error
    }
  }

  /// The faults as `LINE:COLUMN: message`; empty for a good file.
  var faults: [String] {
    do throws(JobFileFaults) {
      _ = try imported()
      return []
    } catch {
      return error.faults.filter { !$0.isWarning }.map {
        "\($0.file == name ? "" : "\($0.file):")\($0.line):\($0.column): \($0.message)"
      }
    }
  }
}

extension JobGraph {
  func job(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Job {
    try #require(jobs.first { $0.name == name }, "\(jobs.map(\.name))", sourceLocation: sourceLocation)
  }

  /// The needs of a job as `NAME CONDITION`.
  func needs(of name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [String] {
    try job(name, sourceLocation: sourceLocation).needs.map { "\(self[$0.job].name) \($0.when.rawValue)" }
  }
}

extension Job {
  var shell: ShellWork? { if case .shell(let work) = work { work } else { nil } }

  /// The script of a `run` that is text.
  var script: String? { if case .script(let text)? = shell?.command { text } else { nil } }
}
