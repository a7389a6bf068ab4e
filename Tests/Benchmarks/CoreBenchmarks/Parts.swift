import Foundation
import JobEngine
import JobFiles
import JobModel
import Screen

/// The pure parts by name: each prepares its input, and returns what is executed on it.
@MainActor let parts: [String: () -> () -> Void] = [
  // 500 jobs with two needs each.
  "decode": {
    let bytes = jobFile(500)
    return {
      do throws(JobFileFaults) {
        _ = try JobFile.decode(bytes, file: "jobs.yml", directory: "/")
      } catch {
        fatalError("\(error)")
      }
    }
  },
  // All moves of the scheduler for these, on eight slots.
  "schedule": {
    let graph = JobGraph(name: "jobs", jobs: jobs(500), slots: 8)
    return { precondition(Rehearsal(graph, slots: 8).order.count == 500) }
  },
  "fold": {
    let events = lives(500)
    return {
      var run = Run()
      for event in events { run.apply(event) }
      precondition(run.isComplete)
    }
  },
  "write": {
    let events = lives(500)
    return { precondition(!written(events).isEmpty) }
  },
  "read": {
    let events = lives(500)
    let lines = written(events).split(separator: UInt8(ascii: "\n"))
    return {
      var reader = EventReader()
      let read = lines.reduce(0) { sum, line in
        sum + line.withUnsafeBufferPointer { ((try? reader.read($0)) ?? []).count }
      }
      precondition(read == events.count)
    }
  },
  // The update of the model and the frame of each second of a run.
  "view": {
    let shown = ShownRun(jobs: 500)
    return { shown.advance(by: 40) }
  },
  "diff": {
    let shown = ShownRun(jobs: 500)
    shown.advance(by: 40)
    let frames = shown.frames
    return { for (earlier, later) in zip(frames, frames.dropFirst()) { _ = later.rowsChanged(since: earlier) } }
  },
]

/// Each job needs those before it with half and a third of its number.
private func needs(_ number: Int) -> [Int] { number < 4 ? [] : [number / 2, number / 3] }

private func jobs(_ count: Int) -> [Job] {
  (0..<count).map { number in
    Job(
      name: "job-\(number)", work: .simulate(SimulatedWork(duration: .seconds(1))),
      needs: needs(number).map { JobNeed(JobID($0)) })
  }
}

private func jobFile(_ count: Int) -> [UInt8] {
  let entries = (0..<count).map { number in
    let needs = needs(number).map { "job-\($0)" }.joined(separator: ", ")
    return "  job-\(number): { run: [echo, \"number \(number)\"], needs: [\(needs)], timeout: 5s }\n"
  }
  return Array(("jobs:\n" + entries.joined()).utf8)
}

/// A run in which each job becomes ready, executes, reports its progress twice and ends.
private func lives(_ count: Int) -> [JobEvent] {
  let jobs = jobs(count)
  let start = RunStart(id: "1", name: "jobs", slots: 8, at: Date(timeIntervalSince1970: 0), jobs: count)
  var facts: [JobFact] = [.runStarted(start)] + jobs.enumerated().map { .jobAdded(JobID($0), $1) }
  for id in jobs.indices.map({ JobID($0) }) {
    facts.append(.jobState(id, .ready(for: .slot), attempt: 0, pid: nil))
    facts.append(.jobState(id, .executing, attempt: 1, pid: nil))
    for done in 1...2 { facts.append(.jobProgress(id, JobProgress(done: Int64(done), total: 3, unit: .steps))) }
    facts.append(.jobState(id, .succeeded(upToDate: false), attempt: 1, pid: nil))
  }
  return facts.enumerated().map { JobEvent(seq: $0, time: .milliseconds($0), fact: $1) }
}

private func written(_ events: [JobEvent]) -> [UInt8] {
  var writer = EventWriter()
  var bytes: [UInt8] = []
  for event in events { writer.append(event, to: &bytes) }
  return bytes
}
