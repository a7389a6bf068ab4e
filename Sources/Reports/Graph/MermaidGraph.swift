import JobModel
import Screen

/// The job graph as a Mermaid flowchart: nodes `j0`, `j1`… in the order of the file, labelled by the names of the jobs.
struct MermaidGraph {
  let graph: JobGraph

  var text: String {
    var text = "flowchart LR\n"
    for (index, job) in graph.jobs.enumerated() {
      let (open, close) = Self.shape(job.work)
      text += "  j\(index)\(open)\"\(Self.escaped(job.name))\"\(close)\n"
    }
    for (index, job) in graph.jobs.enumerated() {
      for need in job.needs {
        let arrow = need.when == .ok ? "-->" : "-.->|\(need.when.rawValue)|"
        text += "  j\(need.job.index) \(arrow) j\(index)\n"
      }
    }
    let finals = graph.jobs.indices.filter { graph.jobs[$0].finally != nil }.map { "    j\($0)\n" }
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
