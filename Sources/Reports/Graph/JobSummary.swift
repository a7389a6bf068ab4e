import Basics
import JobModel
import Screen

/// The parts of a job's line in a list: its description or its work, and the notes after it.
package struct JobSummary {
  /// The columns of a description or a command, so that the needs can be seen.
  private static let width = 60
  /// The needs that a line names.
  private static let named = 3

  private let graph: JobGraph
  /// How many instances each matrix has.
  private var instances: [String: Int] = [:]

  package init(_ graph: JobGraph) {
    self.graph = graph
    for job in graph.jobs {
      if let matrix = job.matrix { instances[matrix, default: 0] += 1 }
    }
  }

  /// Where the job runs, its needs and, for a job of `finally`, when, in brackets after two blanks; empty without any.
  ///
  /// `namesNeeds` is whether the line's place does not show the needs, `asks` whether a person must approve the job.
  package func notes(_ job: Job, namesNeeds: Bool = true, asks: Bool = false) -> String {
    var parts: [String] = []
    if asks { parts.append("asks for approval") }
    if job.cluster != nil { parts.append("on \(ClusterRequest.word)") }
    if let end = job.finally { parts.append(end == .always ? "finally" : "finally, when \(end.rawValue)") }
    if namesNeeds, !job.needs.isEmpty {
      parts.append("needs \(names(of: job.needs).joined(most: Self.named))")
    }
    return parts.isEmpty ? "" : "  (\(parts.joined(separator: ", ")))"
  }

  /// The needed jobs with their conditions; a matrix all of whose instances are needed alike by its own name.
  private func names(of needs: [JobNeed]) -> [String] {
    struct Group: Hashable {
      var matrix: String
      var when: JobNeed.Condition
    }
    var counts: [Group: Int] = [:]
    for need in needs {
      if let matrix = graph[need.job].matrix { counts[Group(matrix: matrix, when: need.when), default: 0] += 1 }
    }
    var whole = counts.filter { instances[$0.key.matrix] == $0.value && $0.value > 1 }
    return needs.compactMap { need in
      let job = graph[need.job]
      var name = job.name
      if let group = job.matrix.map({ Group(matrix: $0, when: need.when) }), let count = whole[group] {
        // The first instance stands for all.
        whole[group] = 0
        guard count > 0 else { return nil }
        name = group.matrix
      }
      return JobText.clean(name).text + (need.when == .ok ? "" : " \(need.when.rawValue)")
    }
  }

  /// The job's work on one line: the beginning of its command, or its transfer.
  package static func work(_ work: JobWork, _ elision: Elision = Elision(isASCII: false)) -> String {
    switch work {
    case .shell(let work): line(work.summary, elision)
    case .download(let work): JobText.clean("download \(work.url.maskedURL) to \(work.file)").text
    case .upload(let work): JobText.clean("upload \(work.file) to \(work.url.maskedURL)").text
    case .simulate(let work): "simulate \(DurationText.exact(work.duration))"
    case .operation(let work): JobText.clean(work.className).text
    }
  }

  /// A job's description; its work, if it has none.
  package static func description(_ job: Job, _ elision: Elision = Elision(isASCII: false)) -> String {
    job.description.map { line($0, elision) } ?? work(job.work, elision)
  }

  /// The beginning of a text's first line, and whether there is more.
  private static func line(_ text: String, _ elision: Elision) -> String {
    let lines = text.split(whereSeparator: \.isNewline)
    let first = elision.end(JobText.clean(String(lines.first ?? "")).text, to: width)
    return first + (lines.count > 1 && !first.hasSuffix(elision.mark) ? " \(elision.mark)" : "")
  }
}
