import JobEngine
import JobModel
import Reports
import Screen

/// Jobs as lines of text: the output of `opdash list` and of a dry run.
enum JobTable {
  /// Each job's name, description (its work, if it has none) and needs, in the order of the file.
  static func list(_ graph: JobGraph, _ elision: Elision = Elision(isASCII: false)) -> [String] {
    let width = nameWidth(graph, graph.jobs.indices.map(JobID.init))
    let summary = JobSummary(graph)
    return graph.jobs.map { row($0, width, summary, text: JobSummary.description($0, elision)) }
  }

  /// The jobs that would run, in the order of their starts, and why others wouldn't; `all` includes jobs not asked for.
  ///
  /// `rehearsal` is of the graph, nil for a new one. `upToDate` has the jobs that would not be executed because of that,
  /// with the reasons. `asking` jobs wait for a person's approval. With `reasons`, a line below each job that would run
  /// says why, where something is known.
  static func rehearsal(
    _ graph: JobGraph, of all: JobGraph, slots: Int, _ rehearsal: Rehearsal? = nil, upToDate: [JobID: String] = [:],
    asking: Set<JobID> = [], reasons: [JobID: String]? = nil, _ elision: Elision = Elision(isASCII: false)
  ) -> [String] {
    let rehearsal = rehearsal ?? Rehearsal(graph, slots: slots)
    let order = rehearsal.order.filter { upToDate[$0] == nil }
    let (runs, jobs) = (order.count, Format.count(all.jobs.count, "job"))
    let width = nameWidth(graph, order)
    let summary = JobSummary(graph)
    let current = rehearsal.order.compactMap { id in
      upToDate[id].map {
        (graph[id].name, JobText.clean($0).text + (asking.contains(id) ? "; asks for approval first" : ""))
      }
    }
    let currentWords = current.isEmpty ? "" : ", \(current.count) \(StateClass.upToDate.word)"
    var lines = ["\(JobText.clean(graph.name)): \(runs) of \(jobs) would run\(currentWords), \(Format.slots(slots))"]
    for (index, id) in order.enumerated() {
      let number = String(index + 1).padded(leftTo: String(runs).count)
      let text = JobSummary.work(graph[id].work, elision)
      lines.append("  \(number)  \(row(graph[id], width, summary, asks: asking.contains(id), text: text))")
      guard let reasons else { continue }
      let files = !graph[id].creates.isEmpty || !graph[id].inputs.isEmpty
      let reason = reasons[id] ?? (files ? "no earlier success is known" : "it has neither inputs nor creates")
      lines.append("\(String(repeating: " ", count: String(runs).count + 4))because \(JobText.clean(reason).text)")
    }
    lines += section("up to date:", current)
    let left = Set(rehearsal.skipped.map(\.job))
    let skipped = rehearsal.skipped.map { id, cause in (graph[id].name, reason(graph[id], cause, graph, without: left))
    }
    let asked = Set(graph.jobs.map(\.name))
    let others = all.jobs.filter { !asked.contains($0.name) }.map { ($0.name, reason($0, all, beyond: asked)) }
    return lines + section("would not run:", skipped + others)
  }

  /// A title and a line for each job with its reason; empty without jobs.
  private static func section(_ title: String, _ jobs: [(name: String, reason: String)]) -> [String] {
    guard !jobs.isEmpty else { return [] }
    let rows = jobs.map { (name: JobText.clean($0.name).text, reason: $0.reason) }
    let width = rows.map { TextWidth.of($0.name) }.max() ?? 0
    return [title] + rows.map { "  \($0.name.padded(to: width))  \($0.reason)" }
  }

  private static func row(
    _ job: Job, _ width: Int, _ summary: JobSummary, asks: Bool = false, text: String
  ) -> String {
    "\(JobText.clean(job.name).text.padded(to: width))  \(text)\(summary.notes(job, asks: asks))"
  }

  /// Why a job is not among the asked ones, which the jobs of `finally` follow unless they read a value of another one.
  private static func reason(_ job: Job, _ all: JobGraph, beyond asked: Set<String>) -> String {
    func left(_ id: JobID) -> String? {
      asked.contains(all[id].name) ? nil : JobText.clean(all[id].name).text
    }
    guard job.finally != nil, all.jobs.contains(where: { $0.finally == nil && asked.contains($0.name) }) else {
      return "not asked for, nor needed"
    }
    if let writer = job.outputs.lazy.compactMap({ left($0.job) }).first {
      return "reads a value of \(writer), which would not run"
    }
    return job.needs.lazy.compactMap { left($0.job) }.first.map { "needs \($0), which would not run" }
      ?? "not asked for, nor needed"
  }

  /// Why a job does not run although every job that runs succeeds.
  private static func reason(
    _ job: Job, _ cause: JobState.SkipCause, _ graph: JobGraph, without left: Set<JobID>
  ) -> String {
    func name(_ id: JobID) -> String { JobText.clean(graph[id].name).text }
    let skip = JobState.skipped(because: cause)
    if let need = job.needs.first(where: { left.contains($0.job) && $0.when.isRuledOut(by: skip) }) {
      return "needs \(name(need.job)), which would not run"
    }
    switch cause {
    case .job(let cause): return "only if \(name(cause)) fails"
    case .condition: return "its condition is false" + (job.condition.map { ": \(JobText.clean($0.text))" } ?? "")
    case .outcome: return "only if a job fails"
    case .unneeded: return "no job needs it"
    case .manual: return "a person starts it"
    }
  }

  private static func nameWidth(_ graph: JobGraph, _ ids: some Sequence<JobID>) -> Int {
    min(40, ids.map { TextWidth.of(JobText.clean(graph[$0].name)) }.max() ?? 0)
  }
}
