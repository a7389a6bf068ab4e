/// Reads the words and quotation marks of shell text byte by byte, to say how an argument is quoted at the text's end.
struct ShellText {
  enum Quotes {
    case none
    case single
    case double
  }

  private(set) var quotes = Quotes.none
  /// A construct that has begun and is neither a word nor quotes, such as `$(`: the text after it is not understood.
  private(set) var opening: String?
  /// Whether the text names the arguments of its shell, as in `"$1"` and `$@`.
  private(set) var namesArguments = false
  private var isEscaped = false
  /// The byte before; a line feed at the start.
  private(set) var last = UInt8(ascii: "\n")
  /// How many square brackets are open that may hold a subscript.
  private var brackets = 0
  /// The line feed of a continuation, which the shell removes with the backslash before it.
  private var isContinued = false
  private var constructs = ShellConstructs()

  /// Why no argument can stand here; nil where one can.
  var obstacle: String? { opening ?? (isEscaped ? "\\" : nil) }

  /// Where bash evaluates what stands here once more, an argument of the shell too; nil elsewhere.
  var evaluation: String? { constructs.evaluation ?? (brackets > 0 && opening == nil ? "[" : nil) }

  /// The first argument of the shell, such as `$1`, that bash evaluates once more, and where.
  var evaluatedArgument: ShellConstructs.Argument? { constructs.evaluatedArgument }

  /// An argument is a part of a word.
  mutating func takeArgument() {
    (last, isEscaped) = (UInt8(ascii: "}"), false)
    constructs.takeArgument()
  }

  /// Takes a byte; `next` are the bytes that follow it.
  mutating func take(_ byte: UInt8, next: ArraySlice<UInt8>) {
    guard !isContinued else { return isContinued = false }
    if byte == UInt8(ascii: "\\"), next.first == UInt8(ascii: "\n"), !isEscaped, quotes != .single,
      !constructs.isComment
    {
      return isContinued = true
    }
    let next = Self.joined(next)
    let before = exchange(&last, with: byte)
    constructs.take(byte, next: next)
    guard opening == nil else {
      // Where it is not understood, a parameter of awk looks like one of the shell; one in quotation marks is the shell's.
      if byte == UInt8(ascii: "$"), before == UInt8(ascii: "\""), ShellConstructs.isArgument(next) {
        namesArguments = true
      }
      return
    }
    guard !isEscaped else { return isEscaped = false }
    switch (quotes, byte) {
    case (.single, _): if byte == UInt8(ascii: "'") { quotes = .none }
    case (_, UInt8(ascii: "\\")): isEscaped = true
    case (_, UInt8(ascii: "`")): opening = "`"
    case (_, UInt8(ascii: "$")):
      if ShellConstructs.isArgument(next) { namesArguments = true }
      if let first = next.first, "({[".utf8.contains(first) || quotes == .none && "'\"".utf8.contains(first) {
        let isArithmetic = first == UInt8(ascii: "(") && Self.joined(next.dropFirst()).first == first
        opening = isArithmetic ? "$((" : "$\(Character(Unicode.Scalar(first)))"
      }
    case (.double, _): if byte == UInt8(ascii: "\"") { quotes = .none }
    case (.none, UInt8(ascii: "'")): quotes = .single
    case (.none, UInt8(ascii: "\"")): quotes = .double
    case (.none, UInt8(ascii: "#")) where " \t\n;&|()<>".utf8.contains(before): opening = "#"
    case (.none, UInt8(ascii: "<")) where next.first == byte: opening = "<<"
    case (.none, UInt8(ascii: "(")) where next.first == byte: opening = "(("
    case (.none, UInt8(ascii: "["))
    where next.first == byte && next.dropFirst().first.map(" \t\n".utf8.contains) ?? true:
      opening = "[["
    case (.none, UInt8(ascii: "[")) where brackets > 0 || constructs.isArray || !Self.isTest(before, next):
      brackets += 1
    case (.none, UInt8(ascii: "]")) where brackets > 0: brackets -= 1
    default: break
    }
  }

  /// The text without the continuations at its start.
  private static func joined(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text
    while text.starts(with: "\\\n".utf8) { text = text.dropFirst(2) }
    return text
  }

  /// Whether a `[` between these is the command of that name.
  private static func isTest(_ before: UInt8, _ next: ArraySlice<UInt8>) -> Bool {
    " \t\n;&|()!".utf8.contains(before) && next.first.map(" \t\n".utf8.contains) ?? true
  }

  // MARK: Quoting

  /// The option that names a state folder, with a space before it.
  static func stateOption(_ folder: String) -> String {
    " --state \(quoted(folder))"
  }

  /// The text as a word of a command line, in quotation marks where it needs them.
  static func word(_ text: String) -> String {
    text.wholeMatch(of: #/[A-Za-z0-9_+.\/-]+/#) == nil ? quoted(text) : text
  }

  private static func quoted(_ text: String) -> String {
    String(decoding: quoted(Array(text.utf8)[...]), as: UTF8.self)
  }

  /// The bytes as a part of shell text within these quotes that stands for exactly them.
  ///
  /// Bytes that are no UTF-8 are written as octal numbers for `printf`: the text is a string.
  static func quoted(_ bytes: ArraySlice<UInt8>, in quotes: Quotes = .none) -> [UInt8] {
    var result: [UInt8] = quotes == .none ? [UInt8(ascii: "'")] : []
    var rest = bytes
    while !rest.isEmpty {
      let valid = rest.prefix(validPrefix(rest))
      for byte in valid { append(byte, in: quotes, to: &result) }
      rest = rest[valid.endIndex...]
      let invalid = rest.prefix(invalidPrefix(rest))
      guard !invalid.isEmpty else { continue }
      let codes = invalid.map { "\\" + String(Int($0), radix: 8) }.joined()
      let number = "$(printf '\(codes)')"
      result += Array((quotes == .double ? number : "'\"\(number)\"'").utf8)
      rest = rest[invalid.endIndex...]
    }
    if quotes == .none { result.append(UInt8(ascii: "'")) }
    return result
  }

  private static func append(_ byte: UInt8, in quotes: Quotes, to result: inout [UInt8]) {
    if quotes == .double {
      if "\\\"$`".utf8.contains(byte) { result.append(UInt8(ascii: "\\")) }
      result.append(byte)
    } else if byte == UInt8(ascii: "'") {
      result += Array("'\\''".utf8)
    } else {
      result.append(byte)
    }
  }

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
