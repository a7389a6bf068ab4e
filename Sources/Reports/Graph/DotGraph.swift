import JobModel
import Screen

/// The job graph in the language of Graphviz: nodes `j0`, `j1`… labelled by the names of the jobs, an edge from each need.
///
/// Names are labels only, because Graphviz reserves identifiers that begin with %.
struct DotGraph {
  let graph: JobGraph

  var text: String {
    var text = "digraph \(Self.quoted(graph.name)) {\n  rankdir=LR;\n  node [shape=box];\n"
    for (index, job) in graph.jobs.enumerated() {
      let shape = Self.shape(job.work).map { ", shape=\($0)" } ?? ""
      text += "  j\(index) [label=\(Self.quoted(job.name))\(shape), tooltip=\(Self.quoted(tooltip(job)))];\n"
    }
    for (index, job) in graph.jobs.enumerated() {
      for need in job.needs {
        let label = need.when == .ok ? "" : " [label=\"\(need.when.rawValue)\", style=dashed]"
        text += "  j\(need.job.index) -> j\(index)\(label);\n"
      }
    }
    let finals = graph.jobs.indices.filter { graph.jobs[$0].finally != nil }.map { "j\($0);" }
    if !finals.isEmpty { text += "  subgraph cluster_finally { label=finally; \(finals.joined(separator: " ")) }\n" }
    return text + "}\n"
  }

  /// The kind, the work of the job, and the pools that it uses.
  private func tooltip(_ job: Job) -> String {
    let uses = job.uses.sorted { $0.key < $1.key }.map { ", uses \($0.value) of \($0.key)" }.joined()
    return "\(job.work.kind): \(JobSummary.description(job))\(uses)"
  }

  /// Nil for the kind that most jobs have.
  private static func shape(_ work: JobWork) -> String? {
    switch work {
    case .download, .upload: "cds"
    case .simulate: "ellipse"
    default: nil
    }
  }

  /// The text as a string of the language; in a label, a backslash begins an escape, and `&` an entity of HTML.
  static func quoted(_ text: String) -> String {
    let escaped = MessageText.of(text).text.replacing("&", with: "&amp;").replacing("\\", with: "\\\\")
    return "\"\(escaped.replacing("\"", with: "\\\""))\""
  }
}
