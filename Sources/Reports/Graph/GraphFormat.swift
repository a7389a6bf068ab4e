import JobModel

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
