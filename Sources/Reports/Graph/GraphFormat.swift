import Basics
import JobModel
import Screen

/// How `opdash graph` writes the graph.
package enum GraphFormat: String, CaseIterable {
  /// A tree for a person.
  case text
  /// The language of Graphviz.
  case dot
  case mermaid

  /// The graph with a line feed at its end; `width` cuts the lines of the tree.
  package func text(of graph: JobGraph, isASCII: Bool, width: Int?) -> String {
    switch self {
    case .text: GraphTree(graph, isASCII: isASCII, width: width).text
    case .dot: DotGraph(graph: graph).text
    case .mermaid: MermaidGraph(graph: graph).text
    }
  }
}

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
    for (index, need) in graph.needs {
      let label = need.when == .ok ? "" : " [label=\"\(need.when.rawValue)\", style=dashed]"
      text += "  j\(need.job.index) -> j\(index)\(label);\n"
    }
    let finals = graph.finals.map { "j\($0);" }
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
    "\"\(MessageText.of(text).text.escaping(["&": "&amp;", "\\": "\\\\", "\"": "\\\""]))\""
  }
}

/// The job graph as a Mermaid flowchart: nodes `j0`, `j1`… in the order of the file, labelled by the names of the jobs.
struct MermaidGraph {
  let graph: JobGraph

  var text: String {
    var text = "flowchart LR\n"
    for (index, job) in graph.jobs.enumerated() {
      let (open, close) = Self.shape(job.work)
      text += "  j\(index)\(open)\"\(Self.escaped(job.name))\"\(close)\n"
    }
    for (index, need) in graph.needs {
      let arrow = need.when == .ok ? "-->" : "-.->|\(need.when.rawValue)|"
      text += "  j\(need.job.index) \(arrow) j\(index)\n"
    }
    let finals = graph.finals.map { "    j\($0)\n" }
    if !finals.isEmpty { text += "  subgraph finally\n\(finals.joined())  end\n" }
    return text
  }

  private static func shape(_ work: JobWork) -> (String, String) {
    switch work {
    case .download, .upload: ("([", "])")
    case .simulate: ("(", ")")
    default: ("[", "]")
    }
  }

  /// The text of a label in quotation marks: what Markdown, HTML or Mermaid could read is written as an entity.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in MessageText.of(text).text.unicodeScalars {
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", " ", "-", ".", ",", ":", "/", "+", "(", ")", "[", "]":
        result.unicodeScalars.append(scalar)
      default:
        if scalar.properties.isAlphabetic {
          result.unicodeScalars.append(scalar)
        } else {
          result += "#\(scalar.value);"
        }
      }
    }
    return result
  }
}

extension JobGraph {
  /// The needs of all jobs, each with the index of its job.
  fileprivate var needs: [(job: Int, need: JobNeed)] {
    jobs.indices.flatMap { index in jobs[index].needs.map { (index, $0) } }
  }

  /// The indices of the jobs of `finally`.
  fileprivate var finals: [Int] { jobs.indices.filter { jobs[$0].finally != nil } }
}
