import Basics

/// Follows constructs such as `$((` and `[[`, where bash evaluates an argument of the shell once more, to their ends.
///
/// Continues where `ShellText` understands nothing more. Knows only the first here-document of a line.
struct ShellConstructs {
  struct Argument: Equatable {
    let name: String
    let place: String
  }

  private enum Kind {
    /// All of the text, or `$(`.
    case commands
    case backquote
    case comment
    /// The text of a here-document.
    case document
    /// `((`, `$((` or `$[`.
    case arithmetic
    case parameter
    case index
    case array
    case test
    /// The word after `>&`, which bash expands twice.
    case duplication
  }

  private struct Construct {
    var kind: Kind
    /// How it begins.
    var place = ""
    var isEvaluated = false
    /// How many parentheses and square brackets are open in it.
    var depth = 0
    /// The quotation mark that is open in it; `$` stands for `$'`.
    var quote: UInt8?
    /// Whether an apostrophe in it is a quotation mark.
    var hasApostrophes = true
    /// Of `${`: whether no more than the name of the parameter has been read.
    var isName = true
    /// Of commands and a here-document: the word that ends the document.
    var delimiter: Delimiter?
    /// Of a test or a subscript: the first argument, which is evaluated if an operator or an assignment is there too.
    var argument: String?
    var hasOperator = false
  }

  private struct Delimiter {
    var text: [UInt8] = []
    /// Whether a quotation mark in it makes the document plain text.
    var isQuoted = false
    /// Whether tabs may stand before it.
    var hasTabs = false

    /// The text is what follows `<<`.
    init(_ text: ArraySlice<UInt8>) {
      hasTabs = text.first == UInt8(ascii: "-")
      var quote: UInt8?
      for byte in text.dropFirst(hasTabs ? 1 : 0).drop(while: { " \t".utf8.contains($0) }) {
        if quote == nil, ShellConstructs.isDelimiter(byte) { break }
        guard quote.map({ $0 == byte }) ?? "'\"\\".utf8.contains(byte) else {
          self.text.append(byte)
          continue
        }
        isQuoted = true
        quote = quote == nil && byte != UInt8(ascii: "\\") ? byte : nil
      }
    }

    /// Whether the text begins with a line that ends the document.
    func ends(_ text: ArraySlice<UInt8>) -> Bool {
      let line = text.prefix { $0 != UInt8(ascii: "\n") }
      return (hasTabs ? line.drop { $0 == UInt8(ascii: "\t") } : line).elementsEqual(self.text)
    }
  }

  private(set) var evaluatedArgument: Argument?
  /// The constructs that are open, the outermost first.
  private var outer: [Construct] = []
  private var current = Construct(kind: .commands)
  private var isEscaped = false
  /// The byte before; a backslash if it was escaped.
  private var last = UInt8(ascii: "\n")

  var isComment: Bool { current.kind == .comment }

  /// Whether an array is open.
  var isArray: Bool { current.kind == .array || outer.contains { $0.kind == .array } }

  /// Where an argument is evaluated, or may be by what follows.
  var evaluation: String? {
    for construct in [current] + outer.reversed() {
      if construct.isEvaluated || construct.kind == .test || construct.kind == .index { return construct.place }
      if Self.hasCommands(construct) { break }
    }
    return nil
  }

  mutating func takeArgument() { (last, isEscaped) = (UInt8(ascii: "}"), false) }

  mutating func take(_ byte: UInt8, next: ArraySlice<UInt8>) {
    let before = exchange(&last, with: isEscaped ? UInt8(ascii: "\\") : byte)
    guard !isEscaped else { return isEscaped = false }
    if current.kind == .duplication, current.quote == nil, Self.isDelimiter(byte) {
      // Blanks may stand before the word.
      if " \t".utf8.contains(byte), "& \t".utf8.contains(before) { return }
      end()
    }
    let hasQuotes = current.kind != .arithmetic && current.kind != .document
    switch (current.quote, byte) {
    case _ where current.kind == .comment:
      guard byte == UInt8(ascii: "\n") else { break }
      end()
      takeUnquoted(byte, before, next)
    case _ where current.kind == .document && current.delimiter?.isQuoted == true: takeDocument(byte, next)
    case (UInt8(ascii: "'"), _): if byte == UInt8(ascii: "'") { current.quote = nil }
    case (_, UInt8(ascii: "\\")): isEscaped = true
    case (UInt8(ascii: "$"), _): if byte == UInt8(ascii: "'") { current.quote = nil }
    case (_, UInt8(ascii: "`")): takeBackquote()
    case (_, UInt8(ascii: "$")): takeDollar(next)
    case (UInt8(ascii: "\""), _): if byte == UInt8(ascii: "\"") { current.quote = nil }
    case (_, UInt8(ascii: "\"")) where hasQuotes: current.quote = byte
    case (_, UInt8(ascii: "'")) where hasQuotes && current.hasApostrophes:
      current.quote = before == UInt8(ascii: "$") ? before : byte
    default: takeUnquoted(byte, before, next)
    }
  }

  private mutating func takeBackquote() {
    guard current.kind == .backquote || outer.contains(where: { $0.kind == .backquote }) else {
      return begin(Construct(kind: .backquote))
    }
    while current.kind != .backquote { end() }
    end()
  }

  private mutating func takeDollar(_ next: ArraySlice<UInt8>) {
    if Self.isArgument(next), let name = next.first(where: { $0 != UInt8(ascii: "{") }) {
      note("$\(Character(Unicode.Scalar(name)))")
    }
    switch next.first {
    case UInt8(ascii: "("): begin(Construct(kind: .commands))
    case UInt8(ascii: "["): begin(Construct(kind: .arithmetic, place: "$[", isEvaluated: true))
    case UInt8(ascii: "{"):
      let isQuoted = current.quote != nil || current.kind == .parameter && !current.hasApostrophes
      begin(Construct(kind: .parameter, place: "${", hasApostrophes: !isQuoted))
    default: break
    }
  }

  private mutating func takeUnquoted(_ byte: UInt8, _ before: UInt8, _ next: ArraySlice<UInt8>) {
    switch current.kind {
    case .commands, .backquote: takeCommands(byte, before, next)
    case .arithmetic: if count(byte, "([", ")]") { end() }
    case .array:
      if byte == UInt8(ascii: "[") {
        begin(Construct(kind: .index, place: "[", isEvaluated: true, depth: 1, hasApostrophes: false))
      } else if byte == UInt8(ascii: "#"), Self.isDelimiter(before) {
        begin(Construct(kind: .comment))
      } else if count(byte, "(", ")") {
        end()
      }
    case .index:
      guard count(byte, "[", "]") else { break }
      if next.starts(with: "=".utf8) || next.starts(with: "+=".utf8) { evaluate(current.argument) }
      end()
    case .parameter: takeParameter(byte, before, next)
    case .test: takeTest(byte, before, next)
    case .document: takeDocument(byte, next)
    case .comment, .duplication: break
    }
  }

  private mutating func takeDocument(_ byte: UInt8, _ next: ArraySlice<UInt8>) {
    if byte == UInt8(ascii: "\n"), current.delimiter?.ends(next) ?? false { end() }
  }

  private mutating func takeCommands(_ byte: UInt8, _ before: UInt8, _ next: ArraySlice<UInt8>) {
    switch byte {
    case UInt8(ascii: "(") where next.first == byte && before == UInt8(ascii: "$"):
      current = Construct(kind: .arithmetic, place: "$((", isEvaluated: true, depth: 1)
    case UInt8(ascii: "("), UInt8(ascii: ")"):
      if byte == next.first, byte == UInt8(ascii: "(") {
        begin(Construct(kind: .arithmetic, place: "((", isEvaluated: true, depth: 1))
      } else if count(byte, "(", ")"), current.kind == .commands {
        end()
      }
    case UInt8(ascii: "#") where Self.isDelimiter(before): begin(Construct(kind: .comment))
    case UInt8(ascii: "<") where before != byte && next.first == byte && next.dropFirst().first != byte:
      current.delimiter = current.delimiter ?? Delimiter(next.dropFirst())
    case UInt8(ascii: "\n"):
      guard let delimiter = current.delimiter else { break }
      current.delimiter = nil
      begin(Construct(kind: .document, delimiter: delimiter))
      takeDocument(byte, next)
    case UInt8(ascii: "&") where "<>".utf8.contains(before):
      begin(Construct(kind: .duplication, place: ">&", isEvaluated: true))
    case UInt8(ascii: "=") where next.first == UInt8(ascii: "("): begin(Construct(kind: .array))
    case UInt8(ascii: "[") where before.isVariableByte: begin(Construct(kind: .index, place: "[", depth: 1))
    case UInt8(ascii: "[")
    where Self.isDelimiter(before) && next.first == byte && next.dropFirst().first.map(Self.isDelimiter) ?? true:
      begin(Construct(kind: .test, place: "[["))
    default: break
    }
  }

  private mutating func takeParameter(_ byte: UInt8, _ before: UInt8, _ next: ArraySlice<UInt8>) {
    if byte == UInt8(ascii: "}") { return end() }
    guard current.isName else { return }
    switch byte {
    case UInt8(ascii: "[") where before != UInt8(ascii: "$"):
      begin(Construct(kind: .index, place: "[", isEvaluated: true, depth: 1))
    case UInt8(ascii: "{") where before == UInt8(ascii: "$"): break
    case _ where byte.isVariableByte: break
    case _ where "!#@*?-".utf8.contains(byte) && "{!#".utf8.contains(before): break
    default:
      current.isName = false
      current.isEvaluated = byte == UInt8(ascii: ":") && !(next.first.map("-+=?".utf8.contains) ?? false)
    }
  }

  private mutating func takeTest(_ byte: UInt8, _ before: UInt8, _ next: ArraySlice<UInt8>) {
    switch byte {
    case UInt8(ascii: "]") where Self.isDelimiter(before) && next.first == byte: end()
    case UInt8(ascii: ";"): end()
    case UInt8(ascii: "&"), UInt8(ascii: "|"): (current.argument, current.hasOperator) = (nil, false)
    case UInt8(ascii: "-") where Self.isDelimiter(before) && Self.isOperator(next):
      current.hasOperator = true
      evaluate(current.argument)
    default: break
    }
  }

  private mutating func begin(_ construct: Construct) {
    outer.append(current)
    current = construct
  }

  /// The outermost construct doesn't end.
  private mutating func end() {
    if let construct = outer.popLast() { current = construct }
  }

  /// Counts open brackets; returns whether the byte closes the last of them.
  private mutating func count(_ byte: UInt8, _ openings: String, _ closings: String) -> Bool {
    if openings.utf8.contains(byte) { current.depth += 1 }
    guard closings.utf8.contains(byte) else { return false }
    current.depth -= 1
    return current.depth == 0
  }

  /// An argument of commands is not evaluated, whatever construct the commands stand in.
  private mutating func note(_ argument: String) {
    if current.isEvaluated || current.hasOperator { return evaluate(argument) }
    guard !Self.hasCommands(current) else { return }
    current.argument = current.argument ?? argument
    let construct = current
    end()
    note(argument)
    begin(construct)
  }

  private mutating func evaluate(_ argument: String?) {
    guard let argument, evaluatedArgument == nil else { return }
    evaluatedArgument = Argument(name: argument, place: current.place)
  }

  private static func hasCommands(_ construct: Construct) -> Bool {
    [.commands, .backquote, .document].contains(construct.kind)
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool { " \t\n;&|()<>".utf8.contains(byte) }

  /// `1`, `@`, `{1%.*}` and the like.
  static func isArgument(_ text: ArraySlice<UInt8>) -> Bool {
    let name = text.first == UInt8(ascii: "{") ? text.dropFirst() : text
    return name.first.map("123456789@*".utf8.contains) ?? false
  }

  /// Whether the text after a `-` makes it an operator of `[[` that evaluates its operands.
  private static func isOperator(_ text: ArraySlice<UInt8>) -> Bool {
    let word = String(decoding: text.prefix { !isDelimiter($0) }, as: UTF8.self)
    return ["eq", "ne", "lt", "le", "gt", "ge", "v"].contains(word)
  }
}
