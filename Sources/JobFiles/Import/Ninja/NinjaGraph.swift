import Basics
import JobModel

/// The edges of a ninja file and their needs.
struct NinjaGraph {
  private(set) var edges: [NinjaEdge]
  /// The edge that makes a file.
  private(set) var makers: [BytePath: Int] = [:]
  /// The edges that `default` reaches; all of them without one.
  private(set) var reached: [Bool]
  /// The meaning of each phony edge.
  private var aliases: [Int: Alias] = [:]
  /// How many needs and inputs have been found.
  private var total = 0

  /// The edges and files that a phony edge stands for.
  private struct Alias {
    var needs: [Int] = []
    var files: [String] = []
  }

  /// The needs and inputs of all edges.
  private static let limit = 4_000_000

  init(_ parser: NinjaParser) throws(ImportError) {
    edges = parser.edges
    reached = [Bool](repeating: parser.defaults.isEmpty, count: parser.edges.count)
    for (index, edge) in edges.enumerated() {
      for output in edge.outputs {
        guard let other = makers.updateValue(index, forKey: BytePath(output)) else { continue }
        throw ImportError(
          place: edge.place,
          message: "\(Quoted.text(output)) is made at \(edges[other].place.words) already: delete one of them")
      }
    }
    try readDepfiles(parser)
    let order = DependencyOrder(edges.indices.map { neighbours(of: $0) })
    if let cycle = order.cycles.first {
      let names = cycle.map { edges[$0].outputs.first ?? "" }
      throw ImportError(
        place: edges[cycle[0]].place,
        message: "files need each other: \(Quoted.cycle(names)): delete one of these needs")
    }
    try reach(from: parser.defaults)
    for index in order.order where edges[index].isPhony {
      aliases[index] = Alias(needs: try needs(of: index), files: try inputs(of: index))
    }
  }

  /// Reads the files that compilers found the last time; ninja removes their lists where it has read them.
  private mutating func readDepfiles(_ parser: NinjaParser) throws(ImportError) {
    for (index, edge) in edges.enumerated() where !edge.isPhony {
      let path = try parser.expander.value(of: "depfile", at: edge, isPath: true)
      guard !path.isEmpty else { continue }
      let bytes = (try? parser.input.read(parser.input.absolute(path))) ?? nil
      let headers = bytes.map { Depfile.inputs(of: $0).map(NinjaExpander.canonical) }
      try count(headers?.count ?? 0, at: edge.place)
      edges[index].headers = headers
    }
  }

  /// The edges that make the inputs of an edge, and the headers that it read the last time.
  private func neighbours(of index: Int) -> [Int] {
    let edge = edges[index]
    let found = (edge.inputs + edge.orderOnly).compactMap { makers[BytePath($0)] }
    let headers = (edge.headers ?? []).compactMap { makers[BytePath($0)] }.filter { $0 != index }
    // As ninja does: CMake once wrote phony edges that need themselves.
    return (edge.isPhony ? found.filter { $0 != index } : found) + headers
  }

  private mutating func reach(from defaults: [(path: String, place: Place)]) throws(ImportError) {
    guard !defaults.isEmpty else { return }
    let read = Set(edges.lazy.flatMap { $0.inputs + $0.orderOnly + $0.validations }.map { BytePath($0) })
    var waiting: [Int] = []
    for (path, place) in defaults {
      if let maker = makers[BytePath(path)] {
        waiting.append(maker)
      } else if !read.contains(BytePath(path)) {
        throw ImportError(
          place: place, message: "no line makes \(Quoted.text(path)): write one with 'build', or correct the path")
      }
    }
    while let index = waiting.popLast() {
      guard !reached[index] else { continue }
      reached[index] = true
      waiting += neighbours(of: index) + edges[index].validations.compactMap { makers[BytePath($0)] }
    }
  }

  /// The edges with a command that an edge waits for, each once.
  mutating func needs(of index: Int) throws(ImportError) -> [Int] {
    var needs: [Int] = []
    var known: Set<Int> = []
    for other in neighbours(of: index) {
      let found = edges[other].isPhony ? aliases[other]?.needs ?? [] : [other]
      needs += found.filter { known.insert($0).inserted }
    }
    try count(needs.count, at: edges[index].place)
    return needs
  }

  /// The files whose changes execute an edge again: a phony input stands for its own inputs.
  mutating func inputs(of index: Int) throws(ImportError) -> [String] {
    let edge = edges[index]
    var files: [String] = []
    var known: Set<BytePath> = []
    for path in edge.inputs {
      let maker = makers[BytePath(path)].flatMap { edges[$0].isPhony && $0 != index ? aliases[$0] : nil }
      files += (maker?.files ?? [path]).filter { known.insert(BytePath($0)).inserted }
    }
    // Edges with a missing input are always out of date.
    if edge.isPhony, files.isEmpty, edge.orderOnly.isEmpty { files = edge.outputs }
    try count(files.count, at: edge.place)
    return files
  }

  /// Adds to the number of needs and inputs, which is limited.
  mutating func count(_ number: Int, at place: Place) throws(ImportError) {
    total += number
    guard total <= Self.limit else {
      throw ImportError(
        place: place,
        message: "up to here, jobs have more than \(Self.limit) needs and inputs: import a part of the file")
    }
  }
}
