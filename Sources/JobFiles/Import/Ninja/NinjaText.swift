import Basics

/// Text of a ninja file before its variables are put in.
struct NinjaText {
  enum Piece {
    case text(String)
    case variable(String)
  }

  var pieces: [Piece] = []
  var isEmpty: Bool { pieces.isEmpty }
}

/// A rule, whose values are read with the variables of each edge.
struct NinjaRule {
  var name: String
  var values: [String: NinjaText] = [:]

  static let phony = "phony"
  /// The names that a rule may give values to.
  static let names: Set = [
    "command", "depfile", "deps", "description", "dyndep", "generator", "msvc_deps_prefix", "pool", "restat", "rspfile",
    "rspfile_content",
  ]
}

/// The variables and rules of a file; one that is read by `subninja` has its own.
final class NinjaScope {
  let parent: NinjaScope?
  var values: [String: String] = [:]
  var rules: [String: NinjaRule] = [:]

  init(in parent: NinjaScope?) { self.parent = parent }

  /// From this scope outwards: at most as many as files may include each other.
  private var chain: some Sequence<NinjaScope> { sequence(first: self) { $0.parent } }

  func value(of name: String) -> String? { chain.lazy.compactMap { $0.values[name] }.first }

  func rule(named name: String) -> NinjaRule? { chain.lazy.compactMap { $0.rules[name] }.first }
}

/// A `build` line: how files are made of others.
struct NinjaEdge {
  var place: Place
  var rule: NinjaRule
  var scope: NinjaScope
  /// The variables below the line.
  var values: [String: String] = [:]
  /// The paths: `$out` has the first `explicitOutputs` of them, and `$in` the first `explicitInputs` of the inputs.
  var outputs: [String] = []
  var explicitOutputs = 0
  var inputs: [String] = []
  var explicitInputs = 0
  var orderOnly: [String] = []
  var validations: [String] = []
  /// The files that its depfile names, such as headers; nil where that is not there.
  var headers: [String]? = []

  var isPhony: Bool { rule.name == NinjaRule.phony }
}

/// Puts variables into texts, and bounds what all of them take together.
final class NinjaExpander {
  /// The longest value of a variable, and the length of all values together, in bytes.
  private static let limits = (one: 1 << 20, all: 256 << 20)
  /// The cost of a variable, even an empty one.
  private static let lookup = 128

  private var total = 0

  func expand(
    _ text: NinjaText, at place: Place, _ value: (String) throws(ImportError) -> String
  ) throws(ImportError) -> String {
    var expanded = ""
    for piece in text.pieces {
      switch piece {
      case .text(let part): expanded += part
      case .variable(let name): expanded += try value(name)
      }
      total += Self.lookup
      guard expanded.utf8.count <= Self.limits.one else {
        throw ImportError(
          place: place,
          message: "with its variables put in, a value is longer than \(Self.limits.one >> 20) MiB: shorten it")
      }
    }
    total += expanded.utf8.count
    guard total <= Self.limits.all else {
      throw ImportError(
        place: place, message: "up to here, putting in variables takes more than opdash allows: use fewer of them")
    }
    return expanded
  }

  /// The value of a variable at an edge: of the edge, else of its rule, else of its file.
  ///
  /// In a `path`, `$in` and `$out` are not words for the shell.
  func value(
    of name: String, at edge: NinjaEdge, isPath: Bool = false, inside open: [String] = []
  ) throws(ImportError) -> String {
    func list(_ paths: some Sequence<String>, _ separator: String = " ") -> String {
      paths.map { isPath ? $0 : ImportedValue.shellWord($0) }.joined(separator: separator)
    }
    switch name {
    case "in": return list(edge.inputs.prefix(edge.explicitInputs))
    case "in_newline": return list(edge.inputs.prefix(edge.explicitInputs), "\n")
    case "out": return list(edge.outputs.prefix(edge.explicitOutputs))
    default: break
    }
    if let own = edge.values[name] { return own }
    guard let text = edge.rule.values[name] else { return edge.scope.value(of: name) ?? "" }
    guard !open.contains(name) else {
      let cycle = Quoted.cycle(Array(open[(open.firstIndex(of: name) ?? 0)...]) + [name])
      throw ImportError(
        place: edge.place, message: "the variables of rule \(Quoted.text(edge.rule.name)) need each other: \(cycle)")
    }
    return try expand(text, at: edge.place) { other throws(ImportError) in
      try self.value(of: other, at: edge, isPath: isPath, inside: open + [name])
    }
  }

  /// A path without `.`, `..` and doubled slashes, as ninja compares it.
  static func canonical(_ path: String) -> String {
    var names: [BytePath] = []
    let isAbsolute = path.isAbsolutePath
    for name in BytePath(path).components where name.text != "." {
      if name.text != ".." || names.isEmpty && !isAbsolute || names.last?.text == ".." {
        names.append(name)
      } else {
        _ = names.popLast()
      }
    }
    let joined = (isAbsolute ? "/" : "") + names.map(\.text).joined(separator: "/")
    return joined.isEmpty ? "." : joined
  }
}
