import Basics
import Foundation

/// Converts the probes of process-compose.
struct ComposeProbe {
  let reader: ComposeValues
  let text: ComposeText
  private(set) var remarks: [String] = []

  init(reader: ComposeValues, text: ComposeText) { (self.reader, self.text) = (reader, text) }

  private typealias Entries = [(key: String, value: ImportedValue)]

  /// The limits of a probe, in seconds and counts; the defaults are the same as in process-compose.
  private struct Limits {
    var delay = 0
    var period = 10
    var timeout = 1
    var successes = 1
    var failures = 3
  }

  /// The value of `service.ready`, with the time until process-compose gives up.
  mutating func ready(_ node: YAMLNode) -> [(key: String, value: ImportedValue)]? {
    guard let (probe, limits, keys) = read(node, "readiness_probe") else { return nil }
    note(keys["timeout_seconds"], "'timeout_seconds' of a 'readiness_probe' has no equal in a job file")
    let limit = limits.delay + limits.period * limits.failures
    return probe + [("every", .seconds(limits.period)), ("timeout", .seconds(limit))]
  }

  /// The value of `service.alive`.
  mutating func alive(_ node: YAMLNode) -> [(key: String, value: ImportedValue)]? {
    guard let (probe, limits, keys) = read(node, "liveness_probe") else { return nil }
    note(
      keys["initial_delay_seconds"], "'initial_delay_seconds' of a 'liveness_probe' ends when the process can be used")
    return probe + [
      ("every", .seconds(limits.period)), ("timeout", .seconds(limits.timeout)), ("failures", .whole(limits.failures)),
    ]
  }

  private mutating func note(_ entry: YAMLEntry?, _ message: String) {
    guard let entry, !entry.value.isNull else { return }
    reader.input.note(entry.place, message, into: &remarks)
  }

  private mutating func read(_ node: YAMLNode, _ name: String) -> (Entries, Limits, [String: YAMLEntry])? {
    let keys = reader.entries(of: node, name)
    var limits = Limits()
    func read(_ key: String, _ path: WritableKeyPath<Limits, Int>, from least: Int, to most: Int) {
      guard let node = keys[key]?.value, !node.isNull,
        let number = reader.values.whole(node, "\(name).\(key)", in: 0...most)
      else { return }
      // process-compose takes its own value for one that is too small.
      if number >= least { limits[keyPath: path] = number }
    }
    read("initial_delay_seconds", \.delay, from: 0, to: 86400)
    read("period_seconds", \.period, from: 1, to: 86400)
    read("timeout_seconds", \.timeout, from: 1, to: 86400)
    read("success_threshold", \.successes, from: 1, to: 1000)
    read("failure_threshold", \.failures, from: 1, to: 1000)
    if limits.successes > 1 {
      note(keys["success_threshold"], "'success_threshold' has no equal in a job file: one answer is enough")
    }
    let known = [
      "exec", "http_get", "initial_delay_seconds", "period_seconds", "timeout_seconds", "success_threshold",
      "failure_threshold",
    ]
    for entry in keys.values.sorted(by: { $0.place < $1.place }) where !known.contains(entry.key) {
      reader.noteWithoutEqual(entry, [:], into: &remarks)
    }
    if let node = keys["exec"]?.value, !node.isNull { return command(node).map { ([("run", $0)], limits, keys) } }
    if let node = keys["http_get"]?.value, !node.isNull { return url(node).map { ([("url", $0)], limits, keys) } }
    return reader.values.faults.fail(node.place, "\(name) asks nothing: write 'exec' or 'http_get' into it")
  }

  private mutating func command(_ node: YAMLNode) -> ImportedValue? {
    let keys = reader.entries(of: node, "exec")
    guard let node = keys["command"]?.value, let command = reader.text(node, text, isScript: true, into: &remarks),
      !command.allSatisfy(\.isWhitespace)
    else { return reader.values.faults.fail(node.place, "exec has no command: write 'command: …' into it") }
    for entry in keys.values.sorted(by: { $0.place < $1.place })
    where entry.key != "command" && entry.key != "working_dir" {
      reader.noteWithoutEqual(entry, [:], into: &remarks)
    }
    guard let folder = keys["working_dir"]?.value, !folder.isNull,
      let path = reader.text(folder, text, isScript: true, into: &remarks), !path.isEmpty
    else { return .written(command) }
    return .written("cd \(ImportedValue.shellWord(path)) && {\n\(command)\n}")
  }

  private mutating func url(_ node: YAMLNode) -> ImportedValue? {
    let keys = reader.entries(of: node, "http_get")
    var parts: [String: String] = [:]
    for key in ["scheme", "host", "port", "path"] {
      guard let node = keys[key]?.value, !node.isNull else { continue }
      guard let text = reader.text(node, text, into: &remarks) else { return nil }
      parts[key] = text
    }
    for entry in keys.values.sorted(by: { $0.place < $1.place }) where parts[entry.key] == nil {
      reader.noteWithoutEqual(entry, [:], into: &remarks)
    }
    let path = parts["path"] ?? "/"
    let url =
      "\(parts["scheme", default: "http"])://\(parts["host", default: "127.0.0.1"])"
      + (parts["port"].map { ":\($0)" } ?? "") + (path.isAbsolutePath ? path : "/" + path)
    if !url.holds("${"), let fault = WebAddress.fault(in: url) {
      return reader.values.faults.fail(node.place, "http_get: \(fault)")
    }
    return .written(url)
  }
}
