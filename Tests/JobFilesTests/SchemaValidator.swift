import Foundation
import Testing

/// A validator for the keywords of JSON Schema that the schema of job files uses; an unknown keyword fails the test.
struct SchemaValidator {
  private let root: [String: Any]
  private let definitions: [String: Any]

  init(_ data: Data) throws {
    root = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    definitions = root["$defs"] as? [String: Any] ?? [:]
  }

  /// The places that break a rule, as paths; empty for a valid value.
  func faults(in value: Any) -> [String] { faults(value, root, "") }

  private func faults(_ value: Any, _ schema: Any, _ path: String) -> [String] {
    if let isAllowed = schema as? Bool { return isAllowed ? [] : ["\(path): not allowed"] }
    guard let schema = schema as? [String: Any] else {
      Issue.record("no schema at \(path)")
      return []
    }
    return schema.flatMap { keyword, rule in check(value, keyword, rule, schema, path) }
  }

  private func check(
    _ value: Any, _ keyword: String, _ rule: Any, _ schema: [String: Any], _ path: String
  ) -> [String] {
    func fault(_ isGood: Bool) -> [String] { isGood ? [] : ["\(path): \(keyword)"] }
    let object = value as? [String: Any]
    switch keyword {
    case "$schema", "$defs", "title", "description": return []
    case "$ref":
      let name = (rule as? String ?? "").replacing("#/$defs/", with: "")
      return faults(value, definitions[name] ?? false, path)
    case "type":
      let types = rule as? [String] ?? [rule as? String ?? ""]
      return fault(types.contains { Self.hasType($0, value) })
    case "enum": return fault((rule as? [Any] ?? []).contains { Self.equal($0, value) })
    case "const": return fault(Self.equal(rule, value))
    case "pattern":
      guard let text = value as? String, let pattern = rule as? String else { return [] }
      return fault(text.range(of: pattern, options: .regularExpression) != nil)
    case "minLength": return fault((value as? String).map { $0.count >= rule as? Int ?? 0 } ?? true)
    case "minimum": return fault(Self.number(value).map { $0 >= Self.limit(rule) } ?? true)
    case "maximum": return fault(Self.number(value).map { $0 <= Self.limit(rule) } ?? true)
    case "items":
      return (value as? [Any] ?? []).enumerated().flatMap { faults($1, rule, "\(path)/\($0)") }
    case "properties", "patternProperties": return []
    case "additionalProperties":
      let properties = schema["properties"] as? [String: Any] ?? [:]
      let patterns = schema["patternProperties"] as? [String: Any] ?? [:]
      return (object ?? [:]).flatMap { key, value -> [String] in
        let pattern = patterns.first { key.range(of: $0.key, options: .regularExpression) != nil }
        return faults(value, properties[key] ?? pattern?.value ?? rule, "\(path)/\(key)")
      }
    case "required":
      return fault(object.map { object in (rule as? [String] ?? []).allSatisfy { object[$0] != nil } } ?? true)
    case "dependentRequired":
      return (rule as? [String: [String]] ?? [:]).flatMap { key, needed -> [String] in
        guard let object, object[key] != nil else { return [] }
        return fault(needed.allSatisfy { object[$0] != nil })
      }
    case "anyOf": return fault((rule as? [Any] ?? []).contains { faults(value, $0, path).isEmpty })
    case "oneOf": return fault((rule as? [Any] ?? []).count { faults(value, $0, path).isEmpty } == 1)
    default:
      Issue.record("the validator doesn't know '\(keyword)'")
      return []
    }
  }

  /// The number of a value, which is of a type of Swift.
  private static func number(_ value: Any) -> Double? {
    if value is Bool { return nil }
    return (value as? Int).map(Double.init) ?? value as? Double
  }

  /// The number of a rule, which JSONSerialization has read.
  private static func limit(_ rule: Any) -> Double { (rule as? NSNumber)?.doubleValue ?? .nan }

  private static func hasType(_ type: String, _ value: Any) -> Bool {
    switch type {
    case "object": value is [String: Any]
    case "array": value is [Any]
    case "string": value is String
    case "boolean": value is Bool
    case "null": value is NSNull
    case "number": number(value) != nil
    case "integer": number(value).map { $0 == $0.rounded() } ?? false
    default: false
    }
  }

  private static func equal(_ rule: Any, _ value: Any) -> Bool {
    if let text = rule as? String { return text == value as? String }
    return number(value).map { $0 == limit(rule) } ?? false
  }
}
