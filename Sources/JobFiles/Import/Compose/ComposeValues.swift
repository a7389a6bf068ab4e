import Basics
import JobModel

/// Reads values of a process-compose file in the form of a job file; each method reports a fault and returns nil after it.
struct ComposeValues {
  let input: ImportInput
  let values: ValueReader

  private var faults: FaultLog { input.faults }

  init(_ input: ImportInput) {
    self.input = input
    values = ValueReader(faults: input.faults, variables: Variables(environment: [:], faults: input.faults))
  }

  /// The entries of a map by their keys; empty after a fault.
  func entries(of node: YAMLNode, _ name: String) -> [String: YAMLEntry] {
    let entries = values.map(node, name, takes: "a map") ?? []
    return Dictionary(entries.map { ($0.key, $0) }) { first, _ in first }
  }

  /// The text of a scalar in the form of the job file; nil after a fault.
  func text(
    _ node: YAMLNode, _ form: ComposeText, isScript: Bool = false, into remarks: inout [String]
  ) -> String? {
    guard case .scalar(let text, _) = node.content else {
      return faults.fail(node.place, "a text is expected here; this is \(node.words): write it in quotes")
    }
    guard !text.unicodeScalars.contains("\0") else {
      return faults.fail(node.place, "the text holds a NUL character, which no command or file name can: delete it")
    }
    var notes: [String] = []
    let (written, fault) = form.written(text, isScript: isScript) { notes.append($0) }
    for message in notes { input.note(node.place, message, into: &remarks) }
    if let fault { return faults.fail(node.place, fault) }
    return written
  }

  /// As `text`, for a name or a path, which is on one line.
  func line(_ node: YAMLNode, _ form: ComposeText, into remarks: inout [String]) -> String? {
    guard let text = text(node, form, into: &remarks) else { return nil }
    guard !text.unicodeScalars.contains(where: \.isUnprintable) else {
      return faults.fail(node.place, "the text holds a control character, which no name or path can: delete it")
    }
    return text
  }

  /// The values for templates, as the file has them.
  func vars(_ node: YAMLNode?) -> [String: String] {
    var vars: [String: String] = [:]
    for entry in node.flatMap({ values.map($0, "vars", takes: "a map of names to values") }) ?? [] {
      if case .scalar(let text, _) = entry.value.content {
        vars[entry.key] = text
      } else {
        faults.add(entry.value.place, "a value of 'vars' is \(entry.value.words): write a text for the import")
      }
    }
    return vars
  }

  /// The variables of an `environment`: a list of `NAME=VALUE`, or a map.
  func environment(
    _ node: YAMLNode, _ form: ComposeText, into remarks: inout [String]
  ) -> [(key: String, value: ImportedValue)]? {
    var found: [(key: String, value: ImportedValue)] = []
    func add(_ name: String, _ value: String, _ place: Place) {
      let scalars = name.unicodeScalars
      let isName =
        !name.isEmpty && scalars.count <= JobName.limit && name != "<<"
        && !scalars.contains { $0 == "=" || $0.properties.isWhitespace || $0.isUnprintable }
      guard isName else {
        faults.add(place, "\(Quoted.text(name)) can't name an environment variable: use letters, digits and '_'")
        return
      }
      // Of equal names the last counts, as for a program.
      found.removeAll { $0.key == name }
      found.append((name, .written(value)))
    }
    if case .map(let entries) = node.content {
      for entry in entries {
        let value = entry.value.isNull ? "" : text(entry.value, form, into: &remarks)
        if let value { add(entry.key, value, entry.place) }
      }
    } else {
      for item in values.list(node, "environment", takes: "a list of NAME=VALUE") ?? [] {
        guard let pair = text(item, form, into: &remarks) else { continue }
        let name = String(String.UnicodeScalarView(pair.unicodeScalars.prefix { $0 != "=" }))
        let value = pair.unicodeScalars.dropFirst(name.unicodeScalars.count)
        guard value.first == "=" else {
          faults.add(item.place, "this is not a variable with its value: write 'NAME=VALUE'")
          continue
        }
        add(name, String(String.UnicodeScalarView(value.dropFirst())), item.place)
      }
    }
    return found.isEmpty ? nil : found
  }

  /// Notes a key that is left out, unless it is off or begins with `x-`.
  func noteWithoutEqual(_ entry: YAMLEntry, _ advice: [String: String], into remarks: inout [String]) {
    if entry.key.hasPrefix("x-") || entry.value.isNull { return }
    if case .scalar("false", isPlain: true) = entry.value.content { return }
    let message = advice[entry.key].map { ": \($0)" } ?? ", and is left out"
    input.note(entry.place, "\(Quoted.text(entry.key)) has no equal in a job file\(message)", into: &remarks)
  }
}
