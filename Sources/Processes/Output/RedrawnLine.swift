import Foundation
import Operations

/// A line as a terminal shows it when output moves back within it by carriage returns, backspaces or escape sequences.
///
/// New text replaces the text below it cell by cell, so the rest of a longer text stays until it is erased. A wide
/// grapheme has two cells, and is gone once one of them is replaced. Colors are kept; other escape sequences are dropped.
struct RedrawnLine {
  private struct Cell {
    /// Nil for the right half of a wide grapheme.
    var text: Character?
    /// The SGR sequences since the last reset.
    var style: String

    static let blank = Cell(text: " ", style: "")
  }

  /// The maximum length of a line, in cells and in bytes; longer lines are cut.
  static let limit = 4096
  private static let reset = "\u{1B}[0m"
  /// The maximum length in bytes of a grapheme that arrives in pieces.
  private static let graphemeLimit = 64
  /// How many of the newest redraws of one piece of output are kept for the search for progress, in control bytes.
  static let window = 256

  private var cells: [Cell] = []
  private var column = 0
  private var style = ""
  /// The beginning of a scalar or an escape sequence whose rest has not arrived.
  private var rest: [UInt8] = []
  /// The number of bytes that an unfinished escape sequence is kept up to.
  private static let restLimit = 256
  private var isChanged = false
  /// Whether the cursor has moved back, or text was erased.
  private var isRedrawn = false
  private(set) var isCut = false

  init(_ bytes: [UInt8], isCut: Bool = false) {
    var redraws: [String] = []
    write(bytes[...], keeping: &redraws)
    self.isCut = self.isCut || isCut
  }

  /// Writes bytes without a line feed, and appends the text before each move back that had new text to `redraws`.
  mutating func write(_ bytes: ArraySlice<UInt8>, keeping redraws: inout [String]) {
    let bytes = rest + bytes
    rest = []
    var controls = bytes.count { $0 < 0x20 }
    var place = 0
    while place < bytes.count {
      let byte = bytes[place]
      guard byte < 0x20 else {
        let end = bytes[place...].firstIndex { $0 < 0x20 } ?? bytes.count
        put(bytes[place..<end], isLast: end == bytes.count)
        place = end
        continue
      }
      controls -= 1
      var end = place + 1
      var target = column
      switch byte {
      case 0x08: target = max(0, column - 1)
      case 0x09: target = min(column / 8 * 8 + 8, Self.limit)
      case 0x0D: target = 0
      case 0x1B:
        guard let last = Self.end(of: bytes[place...]) else {
          rest = Array(bytes[place...])
          // A longer one keeps its kind, so that the bytes to come are dropped too, and an escape, which may begin its end.
          if rest.count >= Self.restLimit { rest = rest.prefix(2) + rest.suffix(1).filter { $0 == 0x1B } }
          return
        }
        end = last
        target = column(after: bytes[place..<end])
      default: break
      }
      let erases = byte == 0x1B && Self.erases(bytes[place..<end])
      let isBack = byte == 0x0D || target < column || erases
      isRedrawn = isRedrawn || isBack
      if isChanged, isBack {
        if controls < Self.window { redraws.append(plain) }
        isChanged = false
      }
      column = target
      if byte == 0x1B { obey(bytes[place..<end]) }
      place = end
    }
  }

  /// The text without colors and without blanks at its end.
  var plain: String { String(cells[..<length].compactMap(\.text)) }

  /// The text drawn since the last move back; nil without one.
  var lastRedraw: String? { isChanged && isRedrawn ? plain : nil }

  /// The text with its colors, at most `limit` bytes.
  var line: (text: String, isCut: Bool) {
    var text = ""
    var style = ""
    for cell in cells[..<length] {
      guard let grapheme = cell.text else { continue }
      let change = cell.style == style ? "" : (style.isEmpty ? "" : Self.reset) + cell.style
      let end = cell.style.isEmpty ? 0 : Self.reset.utf8.count
      if text.utf8.count + change.utf8.count + grapheme.utf8.count + end > Self.limit {
        return (text + (style.isEmpty ? "" : Self.reset), true)
      }
      text += change
      text.append(grapheme)
      style = cell.style
    }
    if !style.isEmpty { text += Self.reset }
    return (text, isCut)
  }

  private var length: Int { cells.lastIndex { $0.text != " " || !$0.style.isEmpty }.map { $0 + 1 } ?? 0 }

  // MARK: Text

  private mutating func put(_ bytes: ArraySlice<UInt8>, isLast: Bool) {
    var bytes = bytes
    if isLast {
      let whole = bytes.wholeScalars
      rest = Array(bytes[whole...])
      bytes = bytes[..<whole]
    }
    for grapheme in String(decoding: bytes, as: UTF8.self) where grapheme != "\u{7F}" {
      let grapheme = grapheme.isASCII ? grapheme : joined(grapheme)
      let width = TextWidth.of(grapheme)
      guard width > 0 else { continue }
      let end = column + width
      guard end <= Self.limit else {
        isCut = true
        break
      }
      while cells.count < end { cells.append(.blank) }
      divide(at: column)
      divide(at: end)
      cells[column] = Cell(text: grapheme, style: style)
      if width == 2 { cells[column + 1] = Cell(text: nil, style: style) }
      column = end
      isChanged = true
    }
  }

  /// The grapheme, or its whole if its start is before the cursor, which then returns to it: a read may divide a grapheme.
  private mutating func joined(_ grapheme: Character) -> Character {
    guard column > 0, column <= cells.count else { return grapheme }
    let place = cells[column - 1].text == nil ? column - 2 : column - 1
    guard let before = cells[place].text else { return grapheme }
    let both = String(before) + String(grapheme)
    guard both.utf8.count <= Self.graphemeLimit, both.count == 1, let one = both.first else { return grapheme }
    column = place
    return one
  }

  /// Blanks the wide grapheme whose right half is at `place`: one of its halves is about to be replaced.
  private mutating func divide(at place: Int) {
    guard place < cells.count, cells[place].text == nil else { return }
    cells[place - 1] = .blank
    cells[place] = .blank
  }

  // MARK: Escape sequences

  /// The end of the escape sequence that `bytes` begin with; nil while it is not complete.
  private static func end(of bytes: ArraySlice<UInt8>) -> Int? {
    guard let kind = bytes.dropFirst().first else { return nil }
    let body = bytes.dropFirst(2)
    switch kind {
    case UInt8(ascii: "["): return body.firstIndex { !(0x20..<0x40).contains($0) }.map { $0 + 1 }
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
      guard let stop = body.firstIndex(where: { $0 == 0x07 || $0 == 0x1B }) else { return nil }
      if bytes[stop] == 0x07 { return stop + 1 }
      return stop + 1 < bytes.endIndex ? (bytes[stop + 1] == UInt8(ascii: "\\") ? stop + 2 : stop) : nil
    case 0x20..<0x30: return body.firstIndex { !(0x20..<0x30).contains($0) }.map { $0 + 1 }
    default: return bytes.startIndex + 2
    }
  }

  /// The first parameter of a control sequence; nil if it has none.
  private static func parameter(of sequence: ArraySlice<UInt8>) -> Int? {
    Int(String(decoding: sequence.dropFirst(2).prefix { (0x30..<0x3A).contains($0) }.prefix(6), as: UTF8.self))
  }

  private func column(after sequence: ArraySlice<UInt8>) -> Int {
    guard sequence.dropFirst().first == UInt8(ascii: "[") else { return column }
    let count = Self.parameter(of: sequence)
    let target =
      switch sequence.last {
      case UInt8(ascii: "C"): column + max(1, count ?? 1)
      case UInt8(ascii: "D"): column - max(1, count ?? 1)
      case UInt8(ascii: "G"), UInt8(ascii: "`"): (count ?? 1) - 1
      default: column
      }
    return min(max(0, target), Self.limit)
  }

  private static func erases(_ sequence: ArraySlice<UInt8>) -> Bool {
    sequence.dropFirst().first == UInt8(ascii: "[") && [UInt8(ascii: "J"), UInt8(ascii: "K")].contains(sequence.last)
  }

  private mutating func obey(_ sequence: ArraySlice<UInt8>) {
    guard sequence.dropFirst().first == UInt8(ascii: "[") else { return }
    switch (sequence.last, Self.parameter(of: sequence) ?? 0) {
    case (UInt8(ascii: "m"), _): apply(graphicRendition: sequence)
    case (UInt8(ascii: "K"), 0), (UInt8(ascii: "J"), 0):
      divide(at: column)
      cells.removeLast(max(0, cells.count - column))
      isCut = false
    case (UInt8(ascii: "K"), 1):
      divide(at: column + 1)
      for place in 0..<min(column + 1, cells.count) { cells[place] = .blank }
    case (UInt8(ascii: "K"), 2):
      cells = []
      isCut = false
    default: break
    }
  }

  private mutating func apply(graphicRendition sequence: ArraySlice<UInt8>) {
    let parameters = sequence.dropFirst(2).dropLast()
    if parameters.isEmpty || parameters.elementsEqual([UInt8(ascii: "0")]) {
      style = ""
    } else {
      // If a program never resets its colors, only the last one is kept.
      let text = String(decoding: sequence, as: UTF8.self)
      style = style.utf8.count + text.utf8.count > 64 ? text : style + text
    }
  }
}

extension ArraySlice<UInt8> {
  /// Whether the bytes contain a carriage return that ends no line, a backspace, or a sequence that moves the cursor
  /// within the line.
  ///
  /// Costs next to nothing for bytes without any of these.
  var moveCursor: Bool {
    if place(of: 0x08) != nil { return true }
    var rest = self
    while let place = rest.place(of: 0x0D) {
      rest = rest[(place + 1)...]
      if rest.first != 0x0A { return true }
    }
    guard let escape = place(of: 0x1B) else { return false }
    return self[escape...].withUnsafeBytes { bytes in
      var place = 0
      while place + 2 < bytes.count {
        guard bytes[place] == 0x1B, bytes[place + 1] == UInt8(ascii: "[") else {
          place += 1
          continue
        }
        place += 2
        while place < bytes.count, (0x20..<0x40).contains(bytes[place]) { place += 1 }
        guard place < bytes.count else { return false }
        if "CDG`".utf8.contains(bytes[place]) { return true }
      }
      return false
    }
  }

  /// The index of the first `byte`.
  func place(of byte: UInt8) -> Int? {
    withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else { return nil }
      return startIndex + (UnsafeRawPointer(found) - start)
    }
  }

  /// The text of a line, without a carriage return at its end.
  var lineText: String { String(decoding: last == 0x0D ? dropLast() : self, as: UTF8.self) }

  /// The index after the last complete scalar: fewer than four bytes of an incomplete one may follow.
  var wholeScalars: Int {
    guard let lead = suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return endIndex }
    let length =
      switch self[lead] {
      case 0xC0..<0xE0: 2
      case 0xE0..<0xF0: 3
      case 0xF0...: 4
      default: 1
      }
    return endIndex - lead < length ? lead : endIndex
  }
}
