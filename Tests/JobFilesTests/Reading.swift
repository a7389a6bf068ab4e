import JobFiles
import JobModel
import Testing

let environment = ["HOME": "/home/ann", "CI": "true", "EMPTY": "", "TOKEN": "t0p"]

/// The graph of a job file in the folder /jobs; its faults fail the test.
func graph(
  _ text: String, vars: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
) throws -> JobGraph {
  do throws(JobFileFaults) {
    return try JobFile.decode(
      Array(text.utf8), file: "ci.yml", directory: "/jobs", environment: environment, vars: vars)
  } catch {
    Issue.record("\(error)", sourceLocation: sourceLocation)
    throw error
  }
}

/// The only job of a file with this body, given as the value of `jobs: { a: … }` on lines of their own.
func job(_ body: String, head: String = "", sourceLocation: SourceLocation = #_sourceLocation) throws -> Job {
  let lines = body.split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }
  let graph = try graph(
    head + "\njobs:\n  a:\n" + lines.joined(separator: "\n") + "\n", sourceLocation: sourceLocation)
  return try #require(graph.jobs.first, sourceLocation: sourceLocation)
}

/// The faults of a job file as `LINE:COLUMN: message`; empty for a good one.
func faults(_ text: String) -> [String] { faults(Array(text.utf8)) }

func faults(_ bytes: [UInt8]) -> [String] {
  do throws(JobFileFaults) {
    _ = try JobFile.decode(bytes, file: "ci.yml", directory: "/jobs", environment: environment)
    return []
  } catch {
    return error.faults.map { "\($0.line):\($0.column): \($0.message)" }
  }
}

/// The faults of a job `a` with this body in flow style, `{ … }`, whose columns begin at 8.
func faults(job body: String, head: String = "") -> [String] { faults(head + "jobs:\n  a: { \(body) }\n") }
