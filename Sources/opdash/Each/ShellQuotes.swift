/// Follows the quotes of shell text byte by byte, to say how an argument must be quoted at a place of it.
///
/// It knows quotation marks, backslashes, command substitutions in both forms, comments and the patterns of `case`.
struct ShellQuotes {
  /// Where an argument is put.
  struct Place: Equatable {
    enum Quotes {
      case none
      case single
      case double
    }

    var quotes = Quotes.none
    /// The command substitutions with backquotes around it; each takes away one level of backslashes.
    var backquotes = 0
  }

  private enum Context: Equatable {
    case single
    case double
    /// Of a substitution or a subshell; `cases` counts the `case` whose patterns end with a bracket of their own.
    case bracket(cases: Int)
    case backquote
  }

  private var contexts: [Context] = []
  private var isEscaped = false
  private var isInComment = false
  /// The word outside of quotes that is being read, and the one before it, empty at the start of a command.
  private var word: [UInt8] = []
  private var lastWord: [UInt8] = []
  private var last: UInt8 = UInt8(ascii: "\n")
  /// Two characters `<` have come, and a line has ended after them.
  private var hasRedirection = false
  private(set) var isInHereDocument = false

  /// Nil in a comment.
  var place: Place? {
    guard !isInComment else { return nil }
    let quotes: Place.Quotes =
      switch contexts.last {
      case .single: .single
      case .double: .double
      case nil, .bracket, .backquote: .none
      }
    return Place(quotes: quotes, backquotes: contexts.count { $0 == .backquote })
  }

  /// A placeholder is a part of a word.
  mutating func takePlaceholder() {
    isEscaped = false
    last = UInt8(ascii: "}")
    word.append(last)
  }

  mutating func take(_ byte: UInt8, next: UInt8?) {
    let before = last
    last = byte
    if isInComment {
      if byte == UInt8(ascii: "\n") { isInComment = false }
      return
    }
    if isEscaped {
      isEscaped = false
      word.append(byte)
      return
    }
    switch contexts.last {
    case .single:
      if byte == UInt8(ascii: "'") { contexts.removeLast() }
    case .double:
      switch byte {
      case UInt8(ascii: "\\"): isEscaped = true
      case UInt8(ascii: "\""): contexts.removeLast()
      case UInt8(ascii: "`"): takeBackquote()
      case UInt8(ascii: "("): if before == UInt8(ascii: "$") { open(.bracket(cases: 0)) }
      default: break
      }
    case nil, .bracket, .backquote: takeBare(byte, before: before, next: next)
    }
  }

  private mutating func takeBare(_ byte: UInt8, before: UInt8, next: UInt8?) {
    switch byte {
    case UInt8(ascii: "\\"): isEscaped = true
    case UInt8(ascii: "'"): contexts.append(.single)
    case UInt8(ascii: "\""): contexts.append(.double)
    case UInt8(ascii: "`"): takeBackquote()
    case UInt8(ascii: "#") where Self.blanks.contains(before) || Self.operators.contains(before): isInComment = true
    case UInt8(ascii: "<"):
      // Not `<<<`, which bash has.
      if before == byte, next != byte { hasRedirection = true }
    case UInt8(ascii: " "), UInt8(ascii: "\t"): endWord()
    case UInt8(ascii: "\n"), UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: "("),
      UInt8(ascii: ")"):
      endWord()
      lastWord = []
      if byte == UInt8(ascii: "\n"), hasRedirection { isInHereDocument = true }
      if byte == UInt8(ascii: "(") { open(.bracket(cases: 0)) }
      if byte == UInt8(ascii: ")"), contexts.last == .bracket(cases: 0) { contexts.removeLast() }
    default: word.append(byte)
    }
  }

  private mutating func open(_ context: Context) {
    contexts.append(context)
    (word, lastWord) = ([], [])
  }

  private mutating func takeBackquote() {
    if let place = contexts.lastIndex(of: .backquote) { contexts.removeSubrange(place...) } else { open(.backquote) }
  }

  private mutating func endWord() {
    guard !word.isEmpty else { return }
    if case .bracket(let cases) = contexts.last, Self.openers.contains(String(decoding: lastWord, as: UTF8.self)) {
      let change = word == Array("case".utf8) ? 1 : word == Array("esac".utf8) && cases > 0 ? -1 : 0
      contexts[contexts.count - 1] = .bracket(cases: cases + change)
    }
    lastWord = word
    word = []
  }

  /// The words after which a command begins, and the start of one.
  private static let openers: Set<String> = ["", "do", "then", "else", "if", "while", "until", "{", "!"]
  private static let blanks = Array(" \t\n".utf8)
  private static let operators = Array(";&|()".utf8)
}

extension ShellQuotes.Place {
  /// The bytes as a part of shell text at this place that stands for exactly them.
  ///
  /// Bytes that are no UTF-8 are written as octal numbers for `printf`: the text is a string.
  func quoted(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    if quotes == .none, Self.isSafe(bytes) { return Array(bytes) }
    var result: [UInt8] = quotes == .none ? [UInt8(ascii: "'")] : []
    var rest = bytes
    while !rest.isEmpty {
      let valid = rest.prefix(Self.validPrefix(rest))
      for byte in valid { append(byte, to: &result) }
      rest = rest[valid.endIndex...]
      let invalid = rest.prefix(Self.invalidPrefix(rest))
      guard !invalid.isEmpty else { continue }
      let codes = invalid.map { "\\" + String(Int($0), radix: 8) }.joined()
      let number = "$(printf '\(codes)')"
      result += Array((quotes == .double ? number : "'\"\(number)\"'").utf8)
      rest = rest[invalid.endIndex...]
    }
    if quotes == .none { result.append(UInt8(ascii: "'")) }
    for _ in 0..<backquotes { result = Self.escaped(result, "\\`$") }
    return result
  }

  private func append(_ byte: UInt8, to result: inout [UInt8]) {
    if quotes == .double {
      result += Self.escaped([byte], "\\\"$`")
    } else if byte == UInt8(ascii: "'") {
      result += Array("'\\''".utf8)
    } else {
      result.append(byte)
    }
  }

  private static func escaped(_ bytes: [UInt8], _ special: String) -> [UInt8] {
    bytes.flatMap { special.utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
  }

  /// Whether the bytes mean themselves without quotes, as a word that is no keyword.
  private static func isSafe(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard !bytes.isEmpty else { return false }
    let isPlain = bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "_-./:+@,%".utf8.contains(byte)
      }
    }
    return isPlain && (bytes.count > 8 || !keywords.contains(String(decoding: bytes, as: UTF8.self)))
  }

  private static let keywords: Set<String> = [
    "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then", "time",
    "until", "while",
  ]

  /// How many bytes at the start are UTF-8.
  private static func validPrefix(_ bytes: ArraySlice<UInt8>) -> Int {
    if String(validating: bytes, as: UTF8.self) != nil { return bytes.count }
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var count = 0
    while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
    return count
  }

  /// How many bytes at the start are none.
  private static func invalidPrefix(_ bytes: ArraySlice<UInt8>) -> Int {
    var count = 0
    while count < bytes.count, validPrefix(bytes.dropFirst(count).prefix(4)) == 0 { count += 1 }
    return count
  }
}
