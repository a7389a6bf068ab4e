import Basics

/// Puts texts of a process-compose file into the form of a job file.
///
/// process-compose replaces `$NAME` and `${NAME}` by variables of its own environment when it reads the file, `$$` by `$`,
/// and `{{.NAME}}` by values of `vars`.
struct ComposeText {
  private enum Piece {
    case text(String)
    case reference(String)
  }

  /// The values for `{{.NAME}}`, as the file has them.
  var vars: [String: String] = [:]
  /// Whether the process has several instances.
  var hasReplicas = false
  /// Whether variables of the environment are replaced.
  var isExpanded = true

  /// The text, or the fault of the first thing in it that a job file has no form for; `note` is called with what
  /// process-compose itself drops.
  func written(
    _ text: String, isScript: Bool = false, note: (String) -> Void
  ) -> (text: String?, fault: String?) {
    var pieces: [Piece] = []
    if let fault = add(text, isTemplate: true, to: &pieces, note) { return (nil, fault) }
    var written = ""
    for piece in pieces {
      switch piece {
      case .text(let part):
        written += isScript ? ImportedValue.escapedScript(part) : ImportedValue.escaped(part)
      case .reference(let reference):
        guard written.unicodeScalars.last != "$" else {
          return (nil, "a job file can't have '$' directly before a variable: write something between them")
        }
        written += reference
      }
    }
    return (written, nil)
  }

  private func add(
    _ text: String, isTemplate: Bool, to pieces: inout [Piece], _ note: (String) -> Void
  ) -> String? {
    let scalars = Array(text.unicodeScalars)
    var literal = String.UnicodeScalarView()
    var index = 0
    func flush(_ pieces: inout [Piece]) {
      if case .text(let before)? = pieces.last {
        pieces[pieces.count - 1] = .text(before + String(literal))
      } else if !literal.isEmpty {
        pieces.append(.text(String(literal)))
      }
      literal = String.UnicodeScalarView()
    }
    while index < scalars.count {
      if isTemplate, scalars[index...].starts(with: "{{".unicodeScalars) {
        switch template(scalars[(index + 2)...]) {
        case nil:
          literal.append(contentsOf: "{{".unicodeScalars)
          index += 2
        case .value(let value, let end):
          flush(&pieces)
          if let fault = add(value, isTemplate: false, to: &pieces, note) { return fault }
          index = end
        case .replica(let end):
          flush(&pieces)
          pieces.append(.reference("${matrix.replica}"))
          index = end
        case .fault(let message): return message
        }
        continue
      }
      guard isExpanded, scalars[index] == "$" else {
        literal.append(scalars[index])
        index += 1
        continue
      }
      if scalars[(index + 1)...].first == "$" {
        literal.append("$")
        index += 2
        continue
      }
      guard let (name, end) = Self.variable(scalars[(index + 1)...]) else {
        literal.append("$")
        index += 1
        continue
      }
      let shown = Quoted.text(String(String.UnicodeScalarView(scalars[index..<end])))
      index = end
      if Variables.isName(name) {
        flush(&pieces)
        pieces.append(.reference("${env.\(name):-}"))
      } else {
        note("process-compose puts nothing in the place of \(shown): write '$$' for a '$' that the shell gets")
      }
    }
    flush(&pieces)
    return nil
  }

  private enum Template {
    case value(String, end: Int)
    case replica(end: Int)
    case fault(String)
  }

  /// The meaning of the template after a `{{`; nil for text that only looks like one.
  private func template(_ rest: ArraySlice<Unicode.Scalar>) -> Template? {
    let inner = rest.prefix { $0 != "}" && $0 != "\n" }
    let name = inner.filter { $0 != " " }.map(String.init).joined()
    let isClosed = rest[inner.endIndex...].starts(with: "}}".unicodeScalars)
    let end = inner.endIndex + 2
    if isClosed, name == ".PC_REPLICA_NUM" { return hasReplicas ? .replica(end: end) : .value("0", end: end) }
    if isClosed, name.hasPrefix("."), let value = vars[String(name.dropFirst())] { return .value(value, end: end) }
    guard !vars.isEmpty else { return nil }
    return .fault("\(Quoted.text("{{\(name)}}")) is not a value of 'vars': write it out")
  }

  /// The name of the variable after a `$`, as Go finds it, and its end; nil if none is there.
  private static func variable(_ rest: ArraySlice<Unicode.Scalar>) -> (name: String, end: Int)? {
    guard let first = rest.first else { return nil }
    func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(scalars)) }
    if first == "{" {
      guard let close = rest.firstIndex(of: "}") else { return nil }
      return (text(rest[(rest.startIndex + 1)..<close]), close + 1)
    }
    if "*#@!?-0123456789".unicodeScalars.contains(first) { return (String(first), rest.startIndex + 1) }
    let name = rest.prefix { Variables.isName(String($0)) || ("0"..."9").contains($0) }
    return name.isEmpty ? nil : (text(name), name.endIndex)
  }
}
