import Basics

/// Reads the characters of a ninja file.
struct NinjaLexer {
  private let source: SourceText
  private let file: Int
  private var index = 0
  /// A line that is not after `index`, so that places are found without counting from the first line.
  private var line = 1

  init(_ source: SourceText, file: Int) {
    self.source = source
    self.file = file
  }

  /// Where the next character is.
  var place: Place {
    mutating get {
      let place = source.place(ofByte: min(index, source.bytes.count), from: line)
      line = place.line
      return place.of(file: file)
    }
  }

  var isAtEnd: Bool { index >= source.bytes.count }

  private var next: UInt8? { isAtEnd ? nil : source.bytes[index] }

  mutating func fault(_ message: String) -> ImportError { ImportError(place: place, message: message) }

  /// The length of the line break that is next; 0 for none.
  private var lineBreak: Int {
    switch next {
    case UInt8(ascii: "\n"): 1
    case UInt8(ascii: "\r") where source.bytes[(index + 1)...].first == UInt8(ascii: "\n"): 2
    default: 0
    }
  }

  private var isEndOfLine: Bool { isAtEnd || lineBreak > 0 }

  /// At the start of a line: skips empty lines and comments, and takes the blanks before the next word.
  ///
  /// Returns whether there were any, so that the line belongs to the one before.
  mutating func takeIndent() throws(ImportError) -> Bool {
    while true {
      let start = index
      while next == UInt8(ascii: " ") { index += 1 }
      if next == UInt8(ascii: "\t") { throw fault("ninja allows no tabs here: use blanks") }
      if next == UInt8(ascii: "#") {
        while !isEndOfLine { index += 1 }
      }
      guard isEndOfLine, !isAtEnd else { return index > start && !isAtEnd }
      index += lineBreak
    }
  }

  /// Skips blanks, and line breaks after a `$`.
  mutating func skipBlanks() {
    while true {
      if next == UInt8(ascii: " ") {
        index += 1
      } else if next == UInt8(ascii: "$") {
        index += 1
        let length = lineBreak
        guard length > 0 else {
          index -= 1
          return
        }
        index += length
      } else {
        return
      }
    }
  }

  /// A name, and the blanks after it; empty if none is next.
  mutating func takeName() -> String {
    let name = takeName(hasDots: true)
    skipBlanks()
    return name
  }

  private mutating func takeName(hasDots: Bool) -> String {
    let start = index
    while let byte = next, Self.isName(byte) || hasDots && byte == UInt8(ascii: ".") { index += 1 }
    return String(decoding: source.bytes[start..<index], as: UTF8.self)
  }

  private static func isName(_ byte: UInt8) -> Bool { byte.isVariableByte || byte == UInt8(ascii: "-") }

  /// Takes these characters and the blanks after them if they are next.
  mutating func take(_ text: StaticString) -> Bool {
    guard isNext(text) else { return false }
    index += text.utf8CodeUnitCount
    skipBlanks()
    return true
  }

  func isNext(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { source.bytes[min(index, source.bytes.count)...].starts(with: $0) }
  }

  mutating func takeLineBreak(after what: String) throws(ImportError) {
    guard isEndOfLine else { throw fault("the line does not end after \(what): delete this") }
    index += lineBreak
  }

  /// A path, and the blanks after it; empty if none is next.
  mutating func takePath() throws(ImportError) -> NinjaText {
    let text = try takeText { byte in " :|".utf8.contains(byte) }
    skipBlanks()
    return text
  }

  /// The rest of the line, and its end.
  mutating func takeValue() throws(ImportError) -> NinjaText {
    let text = try takeText { _ in false }
    index += lineBreak
    return text
  }

  private mutating func takeText(endsBefore: (UInt8) -> Bool) throws(ImportError) -> NinjaText {
    var text = NinjaText()
    var start = index
    /// Adds the characters since `start`.
    func add(to end: Int) {
      guard start < end else { return }
      text.pieces.append(.text(String(decoding: source.bytes[start..<end], as: UTF8.self)))
    }
    while !isEndOfLine, let byte = next, !endsBefore(byte) {
      guard byte == UInt8(ascii: "$") else {
        if byte == UInt8(ascii: "\r") { throw fault("a carriage return stands inside of the line: delete it") }
        index += 1
        continue
      }
      add(to: index)
      let dollar = index
      index += 1
      let length = lineBreak
      if length > 0 {
        index += length
        while next == UInt8(ascii: " ") { index += 1 }
        start = index
        continue
      }
      switch next {
      case UInt8(ascii: "$"), UInt8(ascii: " "), UInt8(ascii: ":"), UInt8(ascii: "|"):
        start = index
        index += 1
        continue
      case UInt8(ascii: "^"):
        text.pieces.append(.text("\n"))
        index += 1
      case UInt8(ascii: "{"):
        index += 1
        let name = takeName(hasDots: true)
        guard !name.isEmpty, next == UInt8(ascii: "}") else { throw unknown(dollar) }
        index += 1
        text.pieces.append(.variable(name))
      default:
        let name = takeName(hasDots: false)
        guard !name.isEmpty else { throw unknown(dollar) }
        text.pieces.append(.variable(name))
      }
      start = index
    }
    add(to: index)
    return text
  }

  private mutating func unknown(_ dollar: Int) -> ImportError {
    index = dollar
    return fault("this '$' begins nothing that ninja knows: write '$$' for a plain '$'")
  }
}
