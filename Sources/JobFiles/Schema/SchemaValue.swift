import Foundation

/// A value of JSON whose objects keep the order of their keys.
enum SchemaValue: Sendable {
  case object([(key: String, value: SchemaValue)])
  case list([SchemaValue])
  case text(String)
  case number(Int)
  case flag(Bool)

  /// The value on lines of its own, each level two blanks deeper.
  func json(indent: String = "") -> String {
    let inner = indent + "  "
    switch self {
    case .object(let entries):
      guard !entries.isEmpty else { return "{}" }
      let lines = entries.map { "\(inner)\(Self.quoted($0.key)): \($0.value.json(indent: inner))" }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
    case .list(let items):
      let isShort = items.allSatisfy { if case .object = $0 { false } else if case .list = $0 { false } else { true } }
      let parts = items.map { $0.json(indent: inner) }
      return isShort
        ? "[" + parts.joined(separator: ", ") + "]"
        : "[\n" + parts.map { inner + $0 }.joined(separator: ",\n") + "\n\(indent)]"
    case .text(let text): return Self.quoted(text)
    case .number(let number): return String(number)
    case .flag(let flag): return String(flag)
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
