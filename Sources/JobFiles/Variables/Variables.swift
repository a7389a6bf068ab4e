import Basics
import JobModel

/// The values of `${matrix.NAME}` in one instance of a job, nil for one with a fault.
struct MatrixValues {
  var values: [String: String?] = [:]
  /// Whether these are all names of the matrix; false for a faulty matrix.
  var hasAllNames = true
}

/// A reference to a value of another job, as `${jobs.NAME.VALUE}` in a text of a job file.
struct OutputUse {
  var job: String
  var value: String
  /// The text with the first use, and its place there, which is rarely needed.
  var node = YAMLNode.null
  var written = ""
  var count = 0

  /// As it stands in the texts of the decoded job.
  var text: String { "${jobs.\(job).\(value)}" }
}

/// Expands `${name}`, `${env.NAME}` and `${matrix.NAME}` in the texts of a job file.
///
/// `${jobs.NAME.VALUE}` stays for the run, which knows the value. `$${` stands for `${`; any other `$` is itself.
final class Variables {
  /// The treatment of a `${…}` that names neither a var nor `env.`.
  enum Unknown {
    case isFault
    /// Left to the shell, which has these variables.
    case isForShell(knowing: Set<String>)
    /// Left to a program other than a shell, without a warning.
    case isForProgram
  }

  /// Features that only some texts have.
  struct Allowances: OptionSet {
    let rawValue: Int

    /// `${jobs.NAME.VALUE}`, which stays as it is and is noted in `outputs`.
    static let outputs = Allowances(rawValue: 1)
    /// `${env.NAME}` of a variable that is not set, which is empty.
    static let unset = Allowances(rawValue: 2)
  }

  /// The limit of one expanded text in bytes; program arguments have a similar one.
  static let lengthLimit = 1 << 20
  /// The limit of all expanded texts together, in bytes.
  static let totalLimit = 256 << 20

  /// A value of at most this many characters occurs in many texts that are not secret.
  private static let shortSecret = 2

  let environment: [String: String]
  private let faults: FaultLog
  /// The names of secrets; the ones without a value are in `missingSecrets`.
  var secretNames: Set<String> = []
  private(set) var missingSecrets: Set<String> = []
  /// Nil for a declared var with a fault.
  private var values: [String: String?] = [:]
  private var total = 0
  /// The values of `${matrix.NAME}`; nil where no job with a matrix is read.
  var matrix: MatrixValues?
  /// The references to values of other jobs in the job that is read, by their texts; nil where no job is read.
  var outputs: [String: OutputUse]?
  /// The steps that may still be spent on warnings about names.
  var searches = 20_000_000

  init(environment: [String: String], faults: FaultLog) {
    self.environment = environment
    self.faults = faults
  }

  // MARK: Declaring

  /// Reads the map of vars; `overrides` replace the values of the file.
  func declare(_ entries: [YAMLEntry], overrides: [String: String]) {
    var index: [String: Int] = [:]
    var nodes: [(name: String, place: Place, value: YAMLNode)] = []
    for entry in entries where index[entry.key] == nil {
      guard Self.isName(entry.key, andHyphens: true) else {
        faults.add(
          entry.place, "\(Quoted.text(entry.key)) can't name a var: use letters, digits, '_' and '-', no digit first")
        continue
      }
      values[entry.key] = .some(nil)
      if let value = overrides[entry.key] {
        values[entry.key] = value
        continue
      }
      guard case .scalar(let text, _) = entry.value.content, !entry.value.isNull else {
        faults.add(entry.value.place, "vars.\(entry.key) takes text or a number; this is \(entry.value.words)")
        continue
      }
      guard !text.unicodeScalars.contains("\0") else {
        faults.add(entry.value.place, "vars.\(entry.key) holds a NUL character, which no command or file name can")
        continue
      }
      index[entry.key] = nodes.count
      nodes.append((entry.key, entry.place, entry.value))
    }
    let needs = nodes.map { node in Self.references(in: node.value).compactMap { index[$0] } }
    let order = DependencyOrder(needs)
    for cycle in order.cycles {
      faults.add(
        nodes[cycle[0]].place, "vars need each other: \(Quoted.cycle(cycle.map { nodes[$0].name })): give one a value"
      )
    }
    for node in order.order.lazy.map({ nodes[$0] }) {
      guard case .scalar(let text, _) = node.value.content else { continue }
      values[node.name] = .some(expand(text, in: node.value, unknown: .isFault))
    }
    for entry in entries {
      if case .some(let value?) = values[entry.key] { noteSecret(value, of: entry.key, at: entry.place) }
    }
  }

  /// Called with each value that the file or the environment gives a variable: a secret's value is masked everywhere.
  func noteSecret(_ value: String, of name: String, at place: Place) {
    guard secretNames.contains(name), !value.isEmpty else { return }
    guard !value.holds("${jobs.") else {
      return faults.warn(
        place, "\(name) is a secret, but the value of another job is shown: give it to the job by the environment")
    }
    faults.secrets.insert(value)
    if value.count <= Self.shortSecret {
      faults.warn(
        place, "the value of \(name) is so short that *** also replaces other text that has it: use a longer value",
        isMasked: false)
    }
  }

  private static func references(in node: YAMLNode) -> [String] {
    guard case .scalar(let text, _) = node.content else { return [] }
    var names: [String] = []
    Template.scan(text) { piece in
      if case .reference(let name, _) = piece { names.append(name) }
      return true
    }
    return names
  }

  static func isName(_ text: String, andHyphens: Bool = false) -> Bool {
    guard let first = text.utf8.first, !first.isASCIIDigit, first != UInt8(ascii: "-") else { return false }
    return text.utf8.allSatisfy { $0.isVariableByte || andHyphens && $0 == UInt8(ascii: "-") }
  }

  // MARK: Expanding

  /// The expanded text; nil after a fault, which is reported here or was reported at the var.
  func expand(
    _ text: String, in node: YAMLNode, unknown: Unknown, allowing allowances: Allowances = []
  ) -> String? {
    if case .isForShell(let known) = unknown { warnOfScript(text, at: node, knowing: known) }
    guard text.hasByte(UInt8(ascii: "$")), text.holds("${") else { return text }
    var output = ""
    var isWhole = true
    func add(_ part: String) {
      guard isWhole else { return }
      output += part
      guard output.utf8.count > Self.lengthLimit else { return }
      faults.add(node.place, "with its variables put in, this is longer than \(Self.lengthLimit >> 20) MiB: shorten it")
      isWhole = false
    }
    Template.scan(text) { piece in
      switch piece {
      case .text(let part): add(part)
      case .unclosed:
        switch unknown {
        case .isForShell, .isForProgram: add("${")
        case .isFault:
          report("'${' has no closing '}': add it, or write '$${' for a plain '${'", "${", 0, in: node)
          isWhole = false
        }
      case .reference(let name, let count):
        if faults.isCut {
          isWhole = false
          break
        }
        switch value(of: name, unknown: unknown, allowances, in: node) {
        case .value(let value): add(value)
        case .output(let use): add(note(use, written: "${\(name)}", count, in: node))
        case .forShell:
          if case .isForShell(let known) = unknown { warnOfReference(name, count, text, in: node, knowing: known) }
          return false
        case .fault(let message):
          if let message { report(message, "${\(name)}", count, in: node) }
          isWhole = false
        }
      }
      return true
    }
    guard isWhole else { return nil }
    total += output.utf8.count
    guard total <= Self.totalLimit else {
      return faults.fail(
        node.place, "up to here, variables made \(Self.totalLimit >> 20) MiB of text: shorten their values")
    }
    return output
  }

  enum Lookup {
    case value(String)
    case output(OutputUse)
    case forShell
    /// Nil if it was reported at the var.
    case fault(String?)
  }

  private func value(of name: String, unknown: Unknown, _ allowances: Allowances, in node: YAMLNode) -> Lookup {
    if let known = values[name] { return known.map { .value($0) } ?? .fault(nil) }
    if name.hasPrefix("env.") { return environmentValue(String(name.dropFirst(4)), allowances) }
    if name.hasPrefix("matrix.") { return matrixValue(String(name.dropFirst(7))) }
    if name.hasPrefix("jobs.") { return output(String(name.dropFirst(5)), allowances, in: node) }
    if let parts = name.wholeMatch(of: /needs\.(.+)\.outputs\.(.+)/) {
      return .fault("\(Quoted.text("${\(name)}")) is a form of GitHub Actions: write ${jobs.\(parts.1).\(parts.2)}")
    }
    switch unknown {
    case .isForProgram: return .forShell
    case .isForShell where name.hasPrefix("vars."):
      return .fault("\(Quoted.text("${\(name)}")) is a name that no shell knows: write ${\(name.dropFirst(5))}")
    case .isForShell(let known):
      let word = Self.shellName(name)
      guard values[word] != nil, !known.contains(word), environment[word] == nil else { return .forShell }
      return .fault(
        "\(Quoted.text("${\(name)}")) asks the shell for '\(word)', which is a var of this file that it doesn't know: "
          + "write ${\(word)}, or give it to the job in env")
    case .isFault:
      if name.hasPrefix("{") {
        return .fault("'${{ … }}' is a form of GitHub Actions: write ${NAME}, or ${env.NAME}")
      }
      let isInEnvironment = environment[name] != nil
      let advice = NearestName.hint(
        for: name, in: values.keys.sorted(),
        otherwise: isInEnvironment
          ? ": did you mean '${env.\(name)}'?" : ": declare it under vars, or write '$${' for a plain '${'")
      return .fault("unknown variable \(Quoted.text("${\(name)}"))\(advice)")
    }
  }

  /// Looks up `NAME` or `NAME:-default`; as in the shell, the default also replaces an empty value.
  private func environmentValue(_ text: String, _ allowances: Allowances) -> Lookup {
    let name = String(text.prefix { $0 != ":" })
    let rest = text.dropFirst(name.count)
    let fallback = rest.hasPrefix(":-") ? String(rest.dropFirst(2)) : nil
    guard Self.isName(name), rest.isEmpty || fallback != nil, fallback?.holds("${") != true else {
      return .fault("\(Quoted.text("${env.\(text)}")) is not understood: write ${env.NAME} or ${env.NAME:-default}")
    }
    if secretNames.contains(name), !allowances.contains(.unset), environment[name]?.isEmpty != false {
      missingSecrets.insert(name)
    }
    if let value = environment[name], !value.isEmpty || fallback == nil { return .value(value) }
    if let fallback { return .value(fallback) }
    if allowances.contains(.unset) { return .value("") }
    let advice = NearestName.hint(
      for: name, in: environment.keys.sorted(), otherwise: ": set it, or write ${env.\(name):-default}")
    return .fault("\(name) is not set in the environment\(advice)")
  }

  private func matrixValue(_ name: String) -> Lookup {
    let shown = Quoted.text("${matrix.\(name)}")
    guard let matrix else {
      return .fault(
        "\(shown) is known only beside a matrix: give the job 'matrix: { \(Quoted.bare(name)): [ … ] }', or write the value"
      )
    }
    if let known = matrix.values[name] { return known.map { .value($0) } ?? .fault(nil) }
    guard matrix.hasAllNames else { return .fault(nil) }
    let names = matrix.values.keys.sorted()
    let advice = NearestName.of(name, in: names).map { ": did you mean '${matrix.\($0)}'?" }
    return .fault(
      "the matrix of this job has no \(Quoted.text(name))\(advice ?? ": it has \(names.joined(last: "and"))")")
  }

  /// The variable in `${#name}`, `${name%.*}` and the like.
  private static func shellName(_ text: String) -> String {
    let start = text.first == "#" || text.first == "!" ? text.dropFirst() : text[...]
    return String(start.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
  }

  /// The declared vars in alphabetical order; valid after all are declared.
  private(set) lazy var names = values.keys.sorted()

  func isVar(_ name: String) -> Bool { values[name] != nil }

  func warn(_ message: String, _ written: String, _ count: Int, in node: YAMLNode) {
    faults.warn(place(of: written, count, in: node), message)
  }

  func report(_ message: String, _ written: String, _ count: Int, in node: YAMLNode) {
    faults.add(place(of: written, count, in: node), message)
  }

  private func place(of written: String, _ count: Int, in node: YAMLNode) -> Place {
    let source = faults.source(at: node.place)
    return source.place(of: written, count: count, from: node.place, to: node.end)?.of(file: node.place.file)
      ?? node.place
  }

  // MARK: Values of other jobs

  /// Reads `NAME.VALUE`; a name may hold dots, a value may not.
  private func output(_ written: String, _ allowances: Allowances, in node: YAMLNode) -> Lookup {
    // A name may have variables, as in `${jobs.build[${matrix.os}].path}`.
    guard let text = expand(written, in: node, unknown: .isFault) else { return .fault(nil) }
    let shown = Quoted.text("${jobs.\(text)}")
    guard let dot = text.lastIndex(of: "."), dot > text.startIndex, Self.isName(String(text[text.index(after: dot)...]))
    else {
      return .fault("\(shown) is not understood: write ${jobs.NAME.VALUE}, and VALUE with letters, digits and '_'")
    }
    guard allowances.contains(.outputs), outputs != nil else {
      return .fault(
        "\(shown) is known only once the other job has run: it can stand in run, env, dir, url, headers, file, approve "
          + "and if of a job")
    }
    return .output(OutputUse(job: String(text[..<dot]), value: String(text[text.index(after: dot)...])))
  }

  /// Notes where a reference stands first in the file, in whichever order it is read, and returns its text.
  private func note(_ use: OutputUse, written: String, _ count: Int, in node: YAMLNode) -> String {
    let text = use.text
    if let known = outputs?[text], known.node.place <= node.place { return text }
    outputs?[text] = OutputUse(job: use.job, value: use.value, node: node, written: written, count: count)
    return text
  }

  func report(_ message: String, of use: OutputUse) {
    report(message, use.written, use.count, in: use.node)
  }
}
