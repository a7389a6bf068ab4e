import Foundation
import JobEngine
import JobFiles
import JobModel
import RunStore
import Support
import Testing

@testable import Session
@testable import opdash

private func graph(_ text: String, _ variables: [String: String] = [:]) throws -> JobGraph {
  try JobFile.decode(Array(text.utf8), file: "a.yml", directory: "/w", environment: variables)
}

private func environment(_ variables: [String: String] = [:]) -> Environment {
  Environment(variables: variables, currentDirectory: "/w")
}

private func text(_ text: String, writer: String? = nil) -> AddedText {
  AddedText(Array(text.utf8), file: "more.yml", directory: "/more", writer: writer)
}

@Suite struct AddedJobReaderTests {
  private func reader(_ graph: JobGraph, _ variables: [String: String] = [:]) -> AddedJobReader {
    let reader = AddedJobReader(environment(variables), engine: nil)
    reader.begin(graph, nil)
    return reader
  }

  @Test func theJobsOfTheRunAreKnownAfterTheFirstReading() throws {
    let run = try graph("jobs: { a: ls }")
    let reader = reader(run)
    let new = NewlyKnown(jobs: run.jobs, pools: [:])
    let first = try reader.read(text("jobs: { b: { needs: [a], run: ls } }"), .init(), after: new)
    #expect(first.jobs.map(\.needs) == [[JobNeed(JobID(0))]])
    first.willAdd(JobID(4))
    #expect(reader.job(JobID(4)) == first.jobs[0] && reader.job(JobID(3)) == nil)
    let clash = AdditionRefusal(
      "more.yml:1:9: 'a' is a job of the run already: give this one another name",
      lines: [
        "more.yml:1:9: 'a' is a job of the run already: give this one another name", "    1 | jobs: { a: ls }",
        "      |         ^",
      ])
    #expect(throws: clash) {
      try reader.read(text("jobs: { a: ls }"), .init(), after: NewlyKnown(jobs: [], pools: [:]))
    }
  }

  @Test func warningsAreNotes() throws {
    let read = try reader(graph("jobs: { a: ls }")).read(
      text("slots: 2\njobs: { b: ls }"), .init(), after: NewlyKnown(jobs: [], pools: [:]))
    #expect(read.notes.first?.hasPrefix("more.yml:1:1: warning: 'slots' has no effect") == true)
  }

  @Test func aSecretOfTheRunIsNotKept() throws {
    let run = try graph("secrets: [TOKEN]\njobs: { a: ls }", ["TOKEN": "s3cret"])
    let reader = reader(run, ["TOKEN": "s3cret", "OTHER": "oth3r"])
    let none = NewlyKnown(jobs: [], pools: [:])
    let refusal = AdditionRefusal(
      "more.yml has the value of a secret of the run in it: write ${env.NAME} with NAME in opdash's own environment, "
        + "or in a file of its 'dotenv'")
    #expect(throws: refusal) { try reader.read(text("jobs: { b: echo s3cret }"), .init(), after: none) }
    let read = try reader.read(text("secrets: [OTHER]\njobs: { b: 'echo ${env.OTHER}' }"), .init(), after: none)
    #expect(read.secrets == ["s3cret", "oth3r"])
    #expect(throws: refusal) { try reader.read(text("jobs: { c: echo oth3r }"), .init(), after: none) }
    // What the refusal advises.
    let folder = try TemporaryFolder()
    try Data("TOKEN=s3cret\n".utf8).write(to: folder.file(".env"))
    var advised = text("dotenv: .env\njobs: { b: { run: ls, env: { T: '${env.TOKEN}' } } }")
    advised.directory = folder.url.path()
    #expect(try reader.read(advised, .init(), after: none).jobs.count == 1)
    // One that the text itself makes a secret.
    let own = "secrets: [NEW]\njobs: { d: { run: ls, env: { NEW: n3w-value } } }"
    #expect(throws: refusal) { try reader.read(text(own), .init(), after: none) }
  }
}

@Suite struct ResumedAdditionsTests {
  private let own: JobGraph

  init() throws { own = try graph("jobs: { plan: ls, nap: sleep 1 }") }

  /// The additions to a run in which these jobs are done.
  private func additions(_ texts: [KeptText], done: Set<String>) -> ResumedAdditions {
    ResumedAdditions(texts, to: own, in: environment(), nil) { graph in
      let earlier = graph.jobs.map { job in
        EarlierJob(
          job.name, done.contains(job.name) ? .done(EarlierSuccess(run: "r", at: .distantPast, took: .zero)) : .waiting,
          fingerprint: job.name)
      }
      return ResumePlan(earlier, graph, fingerprints: graph.jobs.map(\.name), inputsHash: { _ in nil })
    }
  }

  private let made = KeptText(text("jobs: { made: ls }", writer: "plan"), names: ["made"])
  private let late = KeptText(text("jobs: { late: { needs: [made], run: ls } }"), names: ["late"])

  @Test func whatWasAddedFollowsTheJobsOfTheFile() {
    let additions = additions([made, late], done: ["plan", "made"])
    #expect(additions.graph.jobs.map(\.name) == ["plan", "nap", "made", "late"])
    #expect(additions.graph.jobs[3].needs == [JobNeed(JobID(2))])
    #expect(additions.plan.restored.keys.map(\.index).sorted() == [0, 2] && additions.kept == [made, late])
    #expect(additions.faults.isEmpty)
  }

  @Test func aJobThatIsExecutedAgainAddsItsJobsItself() {
    let additions = additions([made], done: ["made"])
    #expect(additions.graph.jobs.map(\.name) == ["plan", "nap"] && additions.kept.isEmpty && additions.faults.isEmpty)
  }

  @Test func whatCanNotBeReadAgainIsToldInASentence() {
    let additions = additions([made, late], done: [])
    #expect(additions.graph.jobs.map(\.name) == ["plan", "nap"])
    #expect(
      additions.faults == [
        "1 added job can't be resumed (late): more.yml:1:25: unknown job 'made' in needs: add the job, or delete the need"
      ])
  }
}
