import Screen

/// A terminal emulator as a value.
///
/// It supports the sequences that curses writes for `xterm-256color`; any other is a fault, and so is what a full-screen
/// program never does, such as writing past the end.
package struct VirtualTerminal {
  package struct Look: Hashable {
    package var foreground: UInt16?
    package var background: UInt16?
    package var attributes: Set<Int>

    package init(foreground: UInt16? = nil, background: UInt16? = nil, attributes: Set<Int> = []) {
      (self.foreground, self.background, self.attributes) = (foreground, background, attributes)
    }

    /// The visible part of a blank's look.
    var ofBlank: Look {
      let isReverse = attributes.contains(7)
      return Look(
        foreground: isReverse ? foreground : nil, background: background, attributes: attributes.intersection([4, 7]))
    }
  }

  package struct Place: Hashable {
    /// A grapheme; empty in the second place of a wide one.
    package var text = " "
    package var look = Look()
  }

  package private(set) var columns: Int
  package private(set) var rows: Int
  package private(set) var screen: [[Place]]
  package private(set) var cursor = (x: 0, y: 0)
  /// The private modes that are on, by their numbers: 1049 the alternate screen, 1000 the mouse.
  package private(set) var modes: Set<Int> = [7, 25]
  package private(set) var title = ""
  /// How many titles are kept to be restored.
  package private(set) var keptTitles = 0
  package private(set) var hasKeypad = false
  package private(set) var faults: [String] = []
  /// The number of times the screen was cleared, which starts a full repaint.
  package private(set) var clearings = 0

  /// The number of copies to the clipboard.
  package private(set) var copies = 0

  /// The number of times the mouse was taken or given back.
  package private(set) var mouseChanges = 0

  /// The rows that scroll.
  private var region: Range<Int>
  private var look = Look()
  /// The last column was written, and the next grapheme goes to the next row.
  private var isPastEnd = false
  private var last = ""
  private var saved = (x: 0, y: 0)
  private var parser = Parser.ground
  private var decoder = ScalarDecoder()

  private enum Parser {
    case ground
    case escape
    /// After ESC and one of `( ) # %`, whose next byte ends it.
    case charset
    case control(String)
    case string(String, isEnding: Bool)
  }

  package init(columns: Int = 80, rows: Int = 24) {
    (self.columns, self.rows) = (columns, rows)
    region = 0..<rows
    screen = Array(repeating: Array(repeating: Place(), count: columns), count: rows)
  }

  package mutating func resize(columns: Int, rows: Int) {
    for y in screen.indices {
      screen[y] = Array(screen[y].prefix(columns)) + Array(repeating: Place(), count: max(0, columns - self.columns))
    }
    let row = Array(repeating: Place(), count: columns)
    screen = Array(screen.prefix(rows)) + Array(repeating: row, count: max(0, rows - self.rows))
    (self.columns, self.rows) = (columns, rows)
    region = 0..<rows
    move(cursor.x, cursor.y)
  }

  package mutating func forgive() { faults = [] }

  /// A row as text, trailing blanks left out.
  package func line(_ row: Int) -> String {
    guard screen.indices.contains(row) else { return "" }
    var text = screen[row].map(\.text).joined()
    while text.last == " " { text.removeLast() }
    return text
  }

  package var text: String { screen.indices.map(line).joined(separator: "\n") }

  package mutating func feed(_ bytes: some Sequence<UInt8>) { for byte in bytes { take(byte) } }

  private mutating func take(_ byte: UInt8) {
    switch parser {
    case .ground: ground(byte)
    case .escape: escape(byte)
    case .charset: parser = .ground
    case .control(let text):
      if (0x40...0x7E).contains(byte) {
        parser = .ground
        obey(text, Character(Unicode.Scalar(byte)))
      } else if (0x20..<0x40).contains(byte), text.utf8.count < 64 {
        parser = .control(text + String(Unicode.Scalar(byte)))
      } else {
        fault("byte \(byte) in CSI \(text)")
        parser = .ground
      }
    case .string(let text, let isEnding):
      if byte == 7 || (isEnding && byte == UInt8(ascii: "\\")) {
        parser = .ground
        obey(string: text)
      } else if byte == 0x1B {
        parser = .string(text, isEnding: true)
      } else {
        if isEnding || byte < 0x20 { fault("byte \(byte) in OSC \(text.prefix(20))") }
        parser = .string(text + String(Unicode.Scalar(byte)), isEnding: false)
      }
    }
  }

  private mutating func ground(_ byte: UInt8) {
    switch byte {
    case 0x1B: parser = .escape
    case 0x08: move(cursor.x - 1, cursor.y)
    case 0x09: move((cursor.x / 8 + 1) * 8, cursor.y)
    case 0x0A: lineFeed()
    case 0x0D: move(0, cursor.y)
    case 0..<0x20, 0x7F: fault("control \(byte)")
    case 0x20..<0x7F: put(Unicode.Scalar(byte))
    default:
      var found: Unicode.Scalar?
      decoder.feed(byte) { found = $0 }
      guard let found else { return }
      if (0x80..<0xA0).contains(found.value) { fault("control \(found.value)") } else { put(found) }
    }
  }

  private mutating func escape(_ byte: UInt8) {
    parser = .ground
    switch Character(Unicode.Scalar(byte)) {
    case "[": parser = .control("")
    case "]": parser = .string("", isEnding: false)
    case "(", ")": parser = .charset
    case "7": saved = cursor
    case "8": move(saved.x, saved.y)
    case "=": hasKeypad = true
    case ">": hasKeypad = false
    case "M": if cursor.y == region.lowerBound { scroll(by: -1) } else { move(cursor.x, cursor.y - 1) }
    default: fault("ESC \(byte)")
    }
  }

  private mutating func lineFeed() {
    if cursor.y == region.upperBound - 1 {
      scroll(by: 1)
      move(cursor.x, cursor.y)
    } else {
      move(cursor.x, cursor.y + 1)
    }
  }

  /// Moves the rows of the region, or those of it from `top` on, up, or down for a negative number.
  private mutating func scroll(by count: Int, from top: Int? = nil) {
    let moved = (top ?? region.lowerBound)..<region.upperBound
    let blank = Array(repeating: Place(look: Look(background: look.background)), count: columns)
    for _ in 0..<min(abs(count), moved.count) {
      screen.remove(at: count > 0 ? moved.lowerBound : moved.upperBound - 1)
      screen.insert(blank, at: count > 0 ? moved.upperBound - 1 : moved.lowerBound)
    }
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    let width = TextWidth.of(scalar)
    guard width > 0 else {
      let x = isPastEnd ? cursor.x : cursor.x - 1
      let base = x > 0 && screen[cursor.y][x].text.isEmpty ? x - 1 : x
      if base >= 0 { screen[cursor.y][base].text.unicodeScalars.append(scalar) }
      return
    }
    put(String(scalar), width: width)
  }

  private mutating func put(_ text: String, width: Int) {
    if isPastEnd || cursor.x + width > columns {
      if modes.contains(7) {
        // The shell's screen scrolls so; a screen of its own has no reason to.
        if modes.contains(1049), cursor.y == rows - 1 { fault("written past the end") }
        move(0, cursor.y)
        lineFeed()
      } else {
        move(columns - width, cursor.y)
      }
    }
    guard cursor.x >= 0, cursor.x + width <= columns else { return }
    last = text
    set(Place(text: text, look: text == " " ? look.ofBlank : look), at: cursor.x)
    if width == 2 { set(Place(text: "", look: look), at: cursor.x + 1, isSecond: true) }
    if cursor.x + width == columns {
      cursor.x = columns - 1
      isPastEnd = true
    } else {
      cursor.x += width
    }
  }

  /// Blanks the other half of a wide grapheme at this place.
  private mutating func set(_ place: Place, at x: Int, isSecond: Bool = false) {
    let y = cursor.y
    if !isSecond, screen[y][x].text.isEmpty, x > 0 { screen[y][x - 1].text = " " }
    if x + 1 < columns, screen[y][x + 1].text.isEmpty { screen[y][x + 1].text = " " }
    screen[y][x] = place
  }

  private mutating func move(_ x: Int, _ y: Int) {
    isPastEnd = false
    cursor = (min(max(0, x), columns - 1), min(max(0, y), rows - 1))
  }

  private mutating func erase(_ range: Range<Int>, row: Int) {
    let blank = Place(look: Look(background: look.background))
    for x in range.clamped(to: 0..<columns) {
      let y = cursor.y
      cursor.y = row
      set(blank, at: x)
      cursor.y = y
    }
  }

  private mutating func obey(_ text: String, _ final: Character) {
    if text.first == "?", final == "h" || final == "l" {
      for number in text.dropFirst().split(separator: ";").compactMap({ Int($0) }) {
        if final == "h" { modes.insert(number) } else { modes.remove(number) }
        if number == 1002 { mouseChanges += 1 }
      }
      return
    }
    let numbers = text.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    let first = numbers.first ?? 0
    let count = max(1, first)
    switch final {
    case "H", "f":
      let (y, x) = (count, numbers.count > 1 ? max(1, numbers[1]) : 1)
      if y > rows || x > columns { fault("moved to row \(y), column \(x)") }
      move(x - 1, y - 1)
    case "A": move(cursor.x, cursor.y - count)
    case "B": move(cursor.x, cursor.y + count)
    case "C": move(cursor.x + count, cursor.y)
    case "D": move(cursor.x - count, cursor.y)
    case "G", "`": move(count - 1, cursor.y)
    case "d": move(cursor.x, count - 1)
    case "Z": move((cursor.x - 1) / 8 * 8, cursor.y)
    case "J":
      if first == 2 || (first == 0 && cursor == (0, 0)) { clearings += 1 }
      if first == 0 { erase(cursor.x..<columns, row: cursor.y) }
      for y in (first == 0 ? cursor.y + 1 : 0)..<rows where first == 0 || first == 2 { erase(0..<columns, row: y) }
      if first == 1 { fault("CSI 1 J") }
    case "K": erase(first == 0 ? cursor.x..<columns : 0..<(first == 1 ? cursor.x + 1 : columns), row: cursor.y)
    case "X": erase(cursor.x..<(cursor.x + count), row: cursor.y)
    case "P":
      screen[cursor.y].removeSubrange(cursor.x..<min(columns, cursor.x + count))
      let blank = Place(look: Look(background: look.background))
      screen[cursor.y] += Array(repeating: blank, count: columns - screen[cursor.y].count)
    case "@":
      let blank = Place(look: Look(background: look.background))
      screen[cursor.y].insert(contentsOf: repeatElement(blank, count: count), at: cursor.x)
      screen[cursor.y].removeLast(count)
    case "b": for _ in 0..<count { put(last, width: last.unicodeScalars.first.map(TextWidth.of) ?? 1) }
    case "m": render(numbers.isEmpty ? [0] : numbers)
    case "t" where first == 22: keptTitles += 1
    case "t" where first == 23: keptTitles -= 1
    case "r":
      let (top, bottom) = (max(1, first), numbers.count > 1 ? min(rows, max(1, numbers[1])) : rows)
      region = top < bottom ? top - 1..<bottom : 0..<rows
      move(0, 0)
    case "S": scroll(by: count)
    case "T": scroll(by: -count)
    // Lines inserted and deleted: how curses scrolls what ends at the last row.
    case "L" where region.contains(cursor.y): scroll(by: -count, from: cursor.y)
    case "M" where region.contains(cursor.y): scroll(by: count, from: cursor.y)
    // No inserting: what curses begins with; and the question after which no more answers come.
    case "l", "c": break
    default: fault("CSI \(text)\(final)")
    }
  }

  private mutating func render(_ numbers: [Int]) {
    var rest = numbers[...]
    while let number = rest.popFirst() {
      switch number {
      case 0: look = Look()
      case 1, 2, 3, 4, 7: look.attributes.insert(number)
      case 22: look.attributes.subtract([1, 2])
      case 23, 24, 27: look.attributes.remove(number - 20)
      case 30...37: look.foreground = UInt16(number - 30)
      case 90...97: look.foreground = UInt16(number - 82)
      case 39: look.foreground = nil
      case 40...47: look.background = UInt16(number - 40)
      case 100...107: look.background = UInt16(number - 92)
      case 49: look.background = nil
      case 38, 48:
        guard rest.popFirst() == 5, let color = rest.popFirst() else { return fault("CSI \(numbers) m") }
        if number == 38 { look.foreground = UInt16(color) } else { look.background = UInt16(color) }
      default: fault("CSI \(number) m")
      }
    }
  }

  private mutating func obey(string: String) {
    // Decoded as bytes, so that a title in UTF-8 is text again.
    let text = String(decoding: string.unicodeScalars.map { UInt8($0.value) }, as: UTF8.self)
    if text.hasPrefix("2;") {
      title = String(text.dropFirst(2))
    } else if text.hasPrefix("52;") {
      copies += 1
    } else if !["9;", "104", "11;?"].contains(where: text.hasPrefix) {
      fault("OSC \(text.prefix(40))")
    }
  }

  /// Only on a screen of its own: on the shell's, the terminal echoes what is typed.
  private mutating func fault(_ what: String) {
    if faults.count < 20, modes.contains(1049) { faults.append(what) }
  }
}
