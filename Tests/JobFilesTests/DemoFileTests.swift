import Foundation
import JobFiles
import JobModel
import Testing

/// The job files of `Demo/jobs` as files; that they run is an end-to-end test.
struct DemoFileTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Demo/jobs")

  static let names = ["c-build", "grid", "noisy", "pipeline", "release"]

  private func text(_ name: String) throws -> String {
    try String(contentsOf: Self.folder.appending(path: "\(name)/opdash.yml"), encoding: .utf8)
  }

  private func decode(_ text: String) throws -> JobGraph {
    try JobFile.decode(
      Array(text.utf8), file: "opdash.yml", directory: "/d", environment: ["RELEASE_TOKEN": "t0p"])
  }

  /// The lines of a file that say something.
  private func length(_ lines: some Sequence<some StringProtocol>) -> Int {
    lines.count { line in
      let text = line.drop { $0 == " " }
      return !text.isEmpty && !text.hasPrefix("#")
    }
  }

  /// The graph with the names of `WrittenOut`, and without what a file that says the same in another way has.
  private func plain(_ graph: JobGraph) -> [Job] {
    let written = WrittenOut(graph, folder: "/d")
    return graph.jobs.map { job in
      var plain = job
      plain.name = WrittenOut.name(job.name)
      plain.matrix = nil
      plain.approval = job.approval.map { written.resolved($0, of: job) }
      plain.condition = job.condition.map { condition in
        JobCondition(
          "",
          condition.alternatives.map { clusterRequest in
            clusterRequest.map { term in
              JobCondition.Term(
                written.resolved(term.left, of: job), equals: term.right.map { written.resolved($0, of: job) },
                isNegated: term.isNegated)
            }
          })
      }
      if case .shell(var work) = job.work {
        switch work.command {
        case .script(let text): work.command = .script(written.resolved(text, of: job))
        case .argv(let words): work.command = .argv(words.map { written.resolved($0, of: job) })
        }
        plain.work = .shell(work)
      }
      plain.outputs = job.outputs.map { output in
        OutputReference(
          "${jobs.\(WrittenOut.name(graph[output.job].name)).\(output.name)}", job: output.job, name: output.name)
      }.sorted { $0.text < $1.text }
      return plain
    }
  }

  @Test func everyFolderHasAFile() throws {
    #expect(try FileManager.default.contentsOfDirectory(atPath: Self.folder.path()).sorted() == Self.names)
  }

  @Test(arguments: names) func aFileIsAtMostHalfAsLongAsItsJobsWrittenOut(name: String) throws {
    let text = try text(name)
    let graph = try decode(text)
    let lines = WrittenOut(graph, folder: "/d").lines
    // The long file says the same.
    let long = try decode(lines.joined(separator: "\n"))
    #expect(plain(long) == plain(graph))
    #expect(long.pools == graph.pools && long.slots == graph.slots)
    let (short, whole) = (length(text.split(separator: "\n")), length(lines))
    #expect(short * 2 <= whole, "\(short) lines, written out \(whole)")
  }
}
