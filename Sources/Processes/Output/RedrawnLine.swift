import Foundation

/// A line as a terminal shows it when output moves back within it by carriage returns, backspaces or escape sequences.
///
/// New text replaces the text below it cell by cell, so the rest of a longer text stays until it is erased. A cell is a
/// grapheme of any width. Colors are kept; other escape sequences are dropped.
struct RedrawnLine {
  private struct Cell {
    var text: Character
    /// The SGR sequences since the last reset.
    var style: String
  }

  /// The maximum length of a line, in cells and in bytes; longer lines are cut.
  static let limit = 4096
  private static let reset = "\u{1B}[0m"
  /// How many of the newest redraws of one piece of output are kept for the search for progress, in control bytes.
  static let window = 256

  private var cells: [Cell] = []
  private var column = 0
  private var style = ""
  /// The beginning of a scalar or an escape sequence whose rest has not arrived.
  private var rest: [UInt8] = []
  private var isChanged = false
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
          // A sequence without an end is dropped.
          if bytes.count - place < 256 { rest = Array(bytes[place...]) }
          return
        }
        end = last
        target = column(after: bytes[place..<end])
      default: break
      }
      let erases = byte == 0x1B && Self.erases(bytes[place..<end])
      if isChanged, target < column || erases {
        if controls < Self.window { redraws.append(plain) }
        isChanged = false
      }
      column = target
      if byte == 0x1B { obey(bytes[place..<end]) }
      place = end
    }
  }

  /// The text without colors and without blanks at its end.
  var plain: String { String(cells[..<length].map(\.text)) }

  /// The text drawn since the last move back.
  var lastRedraw: String? { isChanged ? plain : nil }

  /// The text with its colors, at most `limit` bytes.
  var line: (text: String, isCut: Bool) {
    var text = ""
    var style = ""
    for cell in cells[..<length] {
      let change = cell.style == style ? "" : (style.isEmpty ? "" : Self.reset) + cell.style
      let end = cell.style.isEmpty ? 0 : Self.reset.utf8.count
      if text.utf8.count + change.utf8.count + cell.text.utf8.count + end > Self.limit {
        return (text + (style.isEmpty ? "" : Self.reset), true)
      }
      text += change
      text.append(cell.text)
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
      guard column < Self.limit else {
        isCut = true
        break
      }
      while cells.count < column { cells.append(Cell(text: " ", style: "")) }
      let cell = Cell(text: grapheme, style: style)
      if column < cells.count { cells[column] = cell } else { cells.append(cell) }
      column += 1
      isChanged = true
    }
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
      cells.removeLast(max(0, cells.count - column))
      isCut = false
    case (UInt8(ascii: "K"), 1):
      for place in 0..<min(column + 1, cells.count) { cells[place] = Cell(text: " ", style: "") }
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
  /// left.
  ///
  /// Costs next to nothing for bytes without any of these.
  var moveBack: Bool {
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
        let final = bytes[place]
        if final == UInt8(ascii: "G") || final == UInt8(ascii: "D") || final == UInt8(ascii: "`") { return true }
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
