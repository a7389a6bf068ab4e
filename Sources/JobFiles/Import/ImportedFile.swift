import Basics

/// A value of a job file that is printed.
indirect enum ImportedValue: Sendable {
  /// Text as the other tool has it: a `${` in it is one for the job file too.
  case text(String)
  /// The same in `run`, where the shell has its own variables.
  case script(String)
  /// Text in the form of the job file, with its variables.
  case written(String)
  /// A word that needs no quotes: a number, a flag, a duration.
  case word(String)
  case list([ImportedValue])
  case map([(key: String, value: ImportedValue)])

  static func whole(_ number: Int) -> Self { .word(String(number)) }
  static func seconds(_ number: Int) -> Self { .word("\(number)s") }
  static let yes = Self.word("true")
}

/// A job file that is made of a file of another tool.
struct ImportedFile {
  struct Job {
    var name: String
    var keys: [(key: String, value: ImportedValue)] = []
    /// The features that the job file can't express.
    var remarks: [String] = []
  }

  /// The differences of the whole run.
  var remarks: [String] = []
  var keys: [(key: String, value: ImportedValue)] = []
  var jobs: [Job] = []

  private static let columns = 120

  /// The text of the job file.
  func text(of format: String, named file: String) -> String {
    var lines = Self.comment(
      "Made by 'opdash import \(format) \(Quoted.bare(file))'. Its paths are relative to the folder of that file: "
        + "keep it there.", indent: 0)
    for remark in remarks { lines += Self.comment(remark, indent: 0) }
    lines.append("version: 1")
    for (key, value) in keys { lines += Self.lines(key, value, indent: 0) }
    lines.append("jobs:")
    for job in jobs {
      lines.append("  \(YAMLScalar.key(job.name)):")
      for remark in job.remarks { lines += Self.comment(remark, indent: 4) }
      for (key, value) in job.keys { lines += Self.lines(key, value, indent: 4) }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A comment of as many lines as it needs.
  private static func comment(_ text: String, indent: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + word.count + 1 > columns {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? "# \(word)" : " \(word)"
    }
    return (lines + [line]).map { blanks(indent) + $0 }
  }

  private static func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }

  /// A key with its value: on one line where it fits, else a block.
  private static func lines(_ key: String, _ value: ImportedValue, indent: Int) -> [String] {
    let start = blanks(indent) + YAMLScalar.key(key) + ":"
    if let text = value.writtenText {
      guard let block = YAMLScalar.block(text) else { return ["\(start) \(YAMLScalar.of(text, inFlow: false))"] }
      return ["\(start) \(block.mark)"] + block.lines.map { $0.isEmpty ? "" : blanks(indent + 2) + $0 }
    }
    let line = "\(start) \(flow(value))"
    if line.utf8.count <= columns { return [line] }
    switch value {
    case .list(let items): return [start] + items.map { "\(blanks(indent + 2))- \(flow($0))" }
    case .map(let entries): return [start] + entries.flatMap { lines($0.key, $0.value, indent: indent + 2) }
    default: return [line]
    }
  }

  private static func flow(_ value: ImportedValue) -> String {
    switch value {
    case .word(let word): word
    case .list(let items): "[" + items.map(flow).joined(separator: ", ") + "]"
    case .map(let entries):
      "{ " + entries.map { "\(YAMLScalar.key($0.key)): \(flow($0.value))" }.joined(separator: ", ") + " }"
    default: YAMLScalar.of(value.writtenText ?? "", inFlow: true)
    }
  }
}

extension ImportedValue {
  /// The text as the job file has it; nil for other values.
  fileprivate var writtenText: String? {
    switch self {
    case .text(let text): Self.escaped(text)
    case .script(let text): Self.escapedScript(text)
    case .written(let text): text
    default: nil
    }
  }

  /// The text that the job file reads as `text`.
  static func escaped(_ text: String) -> String {
    // Scalars, because a brace and a combining mark after it are one Character.
    String(text.unicodeScalars.replacing("${".unicodeScalars, with: "$${".unicodeScalars))
  }

  /// The script that the job file reads as `text`: it has no vars, so the shell's own variables may stand as they are.
  static func escapedScript(_ text: String) -> String {
    let ours = ["$${", "${env.", "${matrix.", "${jobs.", "${needs.", "${vars."]
    return ours.contains { text.unicodeScalars.contains($0.unicodeScalars) } ? escaped(text) : text
  }

  /// A path as a word for the shell, quoted as ninja does it.
  static func shellWord(_ path: String) -> String {
    let isSafe = path.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_+-./".utf8.contains($0) }
    return isSafe && !path.isEmpty ? path : path.shellQuoted
  }
}
