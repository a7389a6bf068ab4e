import Foundation

/// Texts with rules of their own: paths, URLs and regular expressions.
extension ValueReader {
  /// A path as written; `~`, which is not expanded, is a fault.
  func path(
    _ node: YAMLNode, _ name: String, takes: String, allowing allowances: Variables.Allowances = []
  ) -> String? {
    if case .scalar("~", isPlain: true) = node.content {
      return faults.fail(node.place, "\(name) takes \(takes); '~' is an empty value in YAML: write ${env.HOME}")
    }
    guard let path = line(node, name, takes: takes, allowing: allowances) else { return nil }
    guard path != "~", !path.hasPrefix("~/") else {
      return faults.fail(
        node.place, "\(name): '~' is not expanded here: write ${env.HOME}\(Quoted.bare(String(path.dropFirst())))")
    }
    return path
  }

  /// The absolute folder of relative paths in the file of a place.
  func folder(of place: Place) -> String { faults.files[place.file].directory }

  /// A path of a place's file, made absolute.
  func absolute(_ path: String, at place: Place) -> String { FilePath.absolute(path, in: folder(of: place)) }

  /// A question to a person; a word that is meant as a flag is none.
  func question(_ node: YAMLNode, _ name: String) -> String? {
    guard let text = line(node, name, takes: "a question to a person", allowing: .outputs) else { return nil }
    guard case .scalar(_, isPlain: true) = node.content, Double(text) != nil || Self.flag(text) != nil else {
      return text
    }
    let mend = Self.flag(text) == false ? "delete it for no question" : "write the question, as in 'Publish it?'"
    return faults.fail(node.place, "\(name) takes a question to a person; this is \(Quoted.text(text)): \(mend)")
  }

  /// A URL of HTTP.
  func address(_ node: YAMLNode, _ name: String, allowing allowances: Variables.Allowances = []) -> String? {
    guard let url = line(node, name, takes: "a URL", allowing: allowances) else { return nil }
    if let message = WebAddress.fault(in: url) { return faults.fail(node.place, "\(name): \(message)") }
    return url
  }

  /// A regular expression; `${…}` is not expanded in it.
  func pattern(_ node: YAMLNode, _ name: String, takes: String) -> String? {
    guard case .scalar(let pattern, _) = node.content, !node.isNull else {
      return faults.fail(node.place, "\(name) takes \(takes); this is \(node.words)")
    }
    guard !pattern.isEmpty else { return faults.fail(node.place, "\(name) is empty: it takes \(takes)") }
    if (try? NSRegularExpression(pattern: pattern)) != nil { return pattern }
    let subject = "\(Quoted.text(pattern)) is not a regular expression"
    guard let fault = PatternFault(in: pattern) else {
      return faults.fail(
        node.place, "\(subject): write \\ before a character that stands for itself, as in '\\['")
    }
    // Where the pattern is written as it is, the fault has a place of its own.
    let written = faults.source(at: node.place).place(of: pattern, count: 0, from: node.place, to: node.end)
    let place = written.map { Place(line: $0.line, column: $0.column + fault.offset, file: node.place.file) }
    return faults.fail(place ?? node.place, "\(subject): \(fault.message)")
  }

  /// Reports a version of the format that is not this one.
  func check(version node: YAMLNode) {
    guard let text = text(node, "version", takes: "1"), text != "1" else { return }
    faults.add(
      node.place,
      "the format has only version 1; this is \(node.words): write 'version: 1', or delete the line")
  }
}
