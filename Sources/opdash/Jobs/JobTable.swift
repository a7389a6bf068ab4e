import JobEngine
import JobModel
import Screen

/// Jobs as lines of text: the output of `opdash list` and of a dry run.
enum JobTable {
  /// The columns of a description or a command, so that the needs can be seen.
  private static let width = 60

  /// Each job's name, description (its work, if it has none) and needs, in the order of the file.
  static func list(_ graph: JobGraph) -> [String] {
    let width = nameWidth(graph, graph.jobs.indices.map(JobID.init))
    let needs = NeedWords(graph)
    return graph.jobs.map { row($0, width, needs, text: description($0)) }
  }

  /// The jobs that would run, in the order of their starts, and why others wouldn't; `all` includes jobs not asked for.
  ///
  /// `upToDate` has the jobs that would not be executed because of that, with the reasons; `restored` ones are not listed.
  static func rehearsal(
    _ graph: JobGraph, of all: JobGraph, slots: Int, upToDate: [JobID: String] = [:],
    restored: [JobID: EarlierSuccess] = [:]
  ) -> [String] {
    let rehearsal = Rehearsal(graph, slots: slots, restored: restored)
    let order = rehearsal.order.filter { upToDate[$0] == nil }
    let (runs, jobs) = (order.count, Format.count(all.jobs.count, "job"))
    let width = nameWidth(graph, order)
    let needs = NeedWords(graph)
    let current = rehearsal.order.compactMap { id in upToDate[id].map { (graph[id].name, JobText.clean($0).text) } }
    let currentWords = current.isEmpty ? "" : ", \(current.count) \(StateClass.upToDate.word)"
    var lines = ["\(JobText.clean(graph.name)): \(runs) of \(jobs) would run\(currentWords), \(Format.slots(slots))"]
    for (index, id) in order.enumerated() {
      let number = String(index + 1)
      let pad = String(repeating: " ", count: String(runs).count - number.count)
      lines.append("  \(pad)\(number)  \(row(graph[id], width, needs, text: work(graph[id].work)))")
    }
    lines += section("up to date:", current)
    let left = Set(rehearsal.skipped.map(\.job))
    let skipped = rehearsal.skipped.map { id, cause in (graph[id].name, reason(graph[id], cause, graph, without: left))
    }
    let asked = Set(graph.jobs.map(\.name))
    let others = all.jobs.filter { !asked.contains($0.name) }.map { ($0.name, "not asked for, nor needed") }
    return lines + section("would not run:", skipped + others)
  }

  /// A title and a line for each job with its reason; empty without jobs.
  private static func section(_ title: String, _ jobs: [(name: String, reason: String)]) -> [String] {
    guard !jobs.isEmpty else { return [] }
    let rows = jobs.map { (name: JobText.clean($0.name).text, reason: $0.reason) }
    let width = rows.map { TextWidth.of($0.name) }.max() ?? 0
    return [title] + rows.map { "  \(padded($0.name, width))  \($0.reason)" }
  }

  /// The job's work on one line: the beginning of its command, or its transfer.
  static func work(_ work: JobWork) -> String {
    switch work {
    case .shell(let work): line(work.summary)
    case .download(let work): JobText.clean("download \(work.url.maskedURL) to \(work.file)").text
    case .upload(let work): JobText.clean("upload \(work.file) to \(work.url.maskedURL)").text
    case .simulate(let work): "simulate \(DurationText.exact(work.duration))"
    case .operation(let work): JobText.clean(work.className).text
    }
  }

  /// A job's description; its work, if it has none.
  static func description(_ job: Job) -> String { job.description.map { line($0) } ?? work(job.work) }

  /// The beginning of a text's first line, and whether there is more.
  private static func line(_ text: String) -> String {
    let lines = text.split(whereSeparator: \.isNewline)
    let first = Elision(isASCII: false).end(JobText.clean(String(lines.first ?? "")).text, to: width)
    return first + (lines.count > 1 && !first.hasSuffix("…") ? " …" : "")
  }

  private static func row(_ job: Job, _ width: Int, _ needs: NeedWords, text: String) -> String {
    "\(padded(JobText.clean(job.name).text, width))  \(text)\(needs.text(job))"
  }

  /// Why a job does not run although every job that runs succeeds.
  private static func reason(
    _ job: Job, _ cause: JobState.SkipCause, _ graph: JobGraph, without left: Set<JobID>
  ) -> String {
    func name(_ id: JobID) -> String { JobText.clean(graph[id].name).text }
    if let need = job.needs.first(where: { left.contains($0.job) && $0.when != .finished }) {
      return "needs \(name(need.job)), which would not run"
    }
    switch cause {
    case .job(let cause): return "only if \(name(cause)) fails"
    case .condition: return "its condition is false" + (job.condition.map { ": \(JobText.clean($0.text))" } ?? "")
    case .outcome: return "only if a job fails"
    case .unneeded: return "no job needs it"
    }
  }

  private static func nameWidth(_ graph: JobGraph, _ ids: some Sequence<JobID>) -> Int {
    min(40, ids.map { TextWidth.of(JobText.clean(graph[$0].name)) }.max() ?? 0)
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - TextWidth.of(text)))
  }
}
