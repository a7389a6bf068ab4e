/// Divides the text of an `if` into texts and operators before variables are inserted, which so never change its meaning.
struct ConditionScanner {
  enum Part: Equatable {
    /// A text with its variables as written; `isBare` without quotes.
    case operand(String, isBare: Bool)
    /// `==` or `!=`
    case comparison(String)
    /// `&&` or `||`
    case junction(String)
    case negation
    /// The message and its subject.
    case fault(String, String)

    /// An operator as written; nil for anything else.
    var sign: String? {
      switch self {
      case .comparison(let sign), .junction(let sign): sign
      case .negation: "!"
      case .operand, .fault: nil
      }
    }
  }

  private let bytes: [UInt8]
  private var index = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Nil at the end; a fault is the last part that counts.
  mutating func next() -> Part? {
    while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
    guard index < bytes.count else { return nil }
    if begins("===") || begins("!==") {
      return .fault("'\(begins("=") ? "===" : "!==")' has one '=' too many: delete it", "==")
    }
    for sign in ["==", "!="] where begins(sign) {
      index += 2
      return .comparison(sign)
    }
    for sign in ["&&", "||"] where begins(sign) {
      index += 2
      return .junction(sign)
    }
    if begins("!") {
      index += 1
      return begins("!") ? .fault("'!!' changes nothing: delete both", "!!") : .negation
    }
    if begins("'") || begins("\"") { return quoted() }
    return bare()
  }

  private func begins(_ text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

  private static func isBlank(_ byte: UInt8) -> Bool { " \t\n\r".utf8.contains(byte) }

  private mutating func quoted() -> Part {
    let quote = String(UnicodeScalar(bytes[index]))
    let start = index + 1
    guard let end = bytes[start...].firstIndex(of: bytes[index]) else {
      return .fault("this \(quote) is never closed: write another \(quote) where the text ends", quote)
    }
    index = end + 1
    let text = String(decoding: bytes[start..<end], as: UTF8.self)
    guard index == bytes.count || Self.isBlank(bytes[index]) || "=!&|".utf8.contains(bytes[index]) else {
      return .fault("text continues after \(quote)\(Quoted.bare(text))\(quote): put the whole text in quotes", text)
    }
    return .operand(text, isBare: false)
  }

  private mutating func bare() -> Part {
    let start = index
    while index < bytes.count, !Self.isBlank(bytes[index]), !begins("=="), !begins("!="), !begins("&&"), !begins("||") {
      if begins("$${") {
        index += 3
      } else if begins("${") {
        index = Template.close(of: index + 2, in: bytes).map { $0 + 1 } ?? bytes.count
      } else if let fault = fault(of: bytes[index], after: String(decoding: bytes[start..<index], as: UTF8.self)) {
        return fault
      } else {
        index += 1
      }
    }
    return .operand(String(decoding: bytes[start..<index], as: UTF8.self), isBare: true)
  }

  /// The fault of a character that a text has only in quotes.
  private func fault(of byte: UInt8, after text: String) -> Part? {
    let sign = String(UnicodeScalar(byte))
    let quotes = "or put the text in quotes"
    switch byte {
    case UInt8(ascii: "="): return .fault("'=' compares nothing: write '==', \(quotes)", sign)
    case UInt8(ascii: "&"), UInt8(ascii: "|"):
      return .fault("'\(sign)' is not an operator: write '\(sign)\(sign)', \(quotes)", sign)
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "~"):
      return .fault(
        "'\(sign)' is not an operator: texts are compared with == and != only; \(quotes.dropFirst(3))", sign)
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      return .fault("\(sign) stands inside a text: put the whole text in quotes", sign)
    case UInt8(ascii: "("), UInt8(ascii: ")"): return .fault(Self.bracketFault(after: text), text.isEmpty ? sign : text)
    default: return nil
    }
  }

  private static func bracketFault(after text: String) -> String {
    let advice = [
      "success": "delete it: a job starts when its needs are met",
      "failure": "write the need as '{ NAME: failed }', or the job below 'finally:' with 'when: failed'",
      "always": "write the need as '{ NAME: finished }', or the job below 'finally:'",
      "cancelled": "write the need as '{ NAME: not-ok }'",
    ]
    if let advice = advice[text] { return "'\(text)()' is a function of GitHub Actions: \(advice)" }
    if !text.isEmpty { return "'\(Quoted.bare(text))(…)' is a function, and if has none: compare texts with == and !=" }
    return "if has no brackets: && binds closer than ||, so write 'a && b || a && c' for 'a && (b || c)'"
  }
}
