import CNcurses
import CTerminal
import Foundation
import Screen

/// The curses library, open on a terminal.
@MainActor
final class CursesScreen {
  /// The terminal's modes before it was opened.
  let shell: termios
  private let handle: OpaquePointer
  private let files: [UnsafeMutablePointer<FILE>]
  private let output: Int32
  private let isASCII: Bool
  private let palette: ScreenTraits.Palette
  private let hasDefaultColors: Bool
  private var pairs: ColorPairs
  private var looks: [Style: Look] = [:]
  private var glyphs: [String: Glyph] = [:]
  private var row: [cchar_t] = []

  private struct Look {
    let attributes: attr_t
    let pair: Int32
    /// A blank in this style; any ASCII character can be put into it.
    let blank: cchar_t
  }

  init(term wanted: String, traits: ScreenTraits, input: Int32, output: Int32) throws {
    for (stream, name) in [(input, "standard input"), (output, "standard output")] where isatty(stream) == 0 {
      throw errno == EIO ? TerminalError.hasHungUp : .notATerminal(name)
    }
    guard !wanted.isEmpty else { throw TerminalError.noTerm }
    Self.setLocale(isASCII: traits.isASCII)
    let term = try Self.description(wanted, output)
    var shell = termios()
    tcgetattr(output, &shell)
    guard let written = fdopen(dup(output), "w") else { throw TerminalError.notATerminal("standard output") }
    guard let read = fdopen(dup(input), "r") else {
      fclose(written)
      throw TerminalError.notATerminal("standard input")
    }
    files = [written, read]
    // Armed before curses changes the modes; `NcursesTerminal` adds the bytes that undo its own changes.
    terminal_guard_arm(output, &shell, "", 0)
    terminal_change_begin()
    defer { terminal_change_end() }
    let handlers = SignalHandlers()
    let handle = newterm(term, written, read)
    handlers.restore()
    guard let handle else {
      terminal_guard_disarm()
      for file in [written, read] { fclose(file) }
      throw TerminalError.unknownTerm(wanted)
    }
    self.handle = handle
    self.shell = shell
    self.output = output
    isASCII = traits.isASCII
    if has_colors(), traits.palette > .none, start_color() == OK {
      palette = min(traits.palette, Self.palette(ofColors: nc_colors()))
      hasDefaultColors = use_default_colors() == OK
    } else {
      palette = .none
      hasDefaultColors = false
    }
    nc_shorten_looks()
    pairs = ColorPairs(capacity: min(1024, Int(nc_color_pairs())))
    cbreak()
    noecho()
    nonl()
    typeahead(-1)
    leaveok(nc_screen(), true)
    scrollok(nc_screen(), false)
    setModes()
  }

  /// The key sequences of the terminal's description.
  func describedKeys() -> [[UInt8]: Key] {
    var keys: [[UInt8]: Key] = [:]
    var names: [String: Key] = [
      "kcuu1": .up, "kcud1": .down, "kcub1": .left, "kcuf1": .right, "kpp": .pageUp, "knp": .pageDown,
      "khome": .home, "kend": .end, "kcbt": .backTab, "kdch1": .delete, "kent": .enter,
    ]
    for number in 1...12 { names["kf\(number)"] = .function(number) }
    for (name, key) in names {
      let bytes = Array(Self.capability(name).utf8)
      if !bytes.isEmpty { keys[bytes] = key }
    }
    return keys
  }

  /// A string of the terminal's description, without padding delays; empty if it has none.
  static func capability(_ name: String) -> String { withoutDelays(nc_capability(name)) }

  /// The sequence that moves the cursor to the first column of a row.
  static func cursorToRow(_ row: Int) -> String { withoutDelays(nc_cursor_address(Int32(row), 0)) }

  func resize(to size: Size) { resize_term(Int32(max(1, size.height)), Int32(max(1, size.width))) }

  /// Empties the window; the next `refresh` writes the whole screen.
  func clear() {
    werase(nc_screen())
    nc_clear_on_refresh()
  }

  /// Draws rows of a frame into the window; `refresh` shows them.
  func draw(_ rows: some Sequence<Int>, of frame: Frame) {
    if pairs.isFull {
      pairs.keep(Set(frame.rows.joined().map { ColorPairs.Pair($0.style.reduced(to: palette)) }))
      looks = [:]
    }
    let limit = Int(getmaxx(nc_screen()))
    let height = Int(getmaxy(nc_screen()))
    var style = Style.plain
    var look = look(of: style)
    for y in rows where y < height {
      let cells = frame.rows[y]
      row.removeAll(keepingCapacity: true)
      for x in cells.indices.prefix(limit) where !cells[x].isContinuation {
        // Adjacent cells mostly have the same style.
        if cells[x].style != style {
          style = cells[x].style
          look = self.look(of: style)
        }
        append(cells[x].text, look, width: x + 1 < cells.count && cells[x + 1].isContinuation ? 2 : 1)
      }
      nc_put_cells(Int32(y), 0, row, Int32(row.count))
    }
  }

  func refresh(cursor: (x: Int, y: Int)?) {
    leaveok(nc_screen(), cursor == nil)
    curs_set(cursor == nil ? 0 : 1)
    if let cursor { nc_move_cursor(Int32(cursor.y), Int32(cursor.x)) }
    wnoutrefresh(nc_screen())
    doupdate()
  }

  /// Returns the screen to the shell; the next `refresh` takes it again.
  func leave() { endwin() }

  /// Whether `leave` was called and no `refresh` after it.
  var hasLeft: Bool { isendwin() }

  /// Writes nothing; where the terminal is this program's, `leave` must have been called.
  func close() {
    delscreen(handle)
    for file in files { fclose(file) }
  }

  private func append(_ text: String, _ look: Look, width: Int) {
    var made = look.blank
    if text.utf8.count == 1, let byte = text.utf8.first, (0x20..<0x7F).contains(byte) {
      made.chars.0 = wchar_t(byte)
      row.append(made)
      return
    }
    for piece in glyph(text, width: width).pieces {
      nc_make_cell(&made, piece, Int32(piece.count), look.attributes, look.pair)
      row.append(made)
    }
  }

  private func glyph(_ text: String, width: Int) -> Glyph {
    if let known = glyphs[text] { return known }
    if glyphs.count >= 4096 { glyphs = [:] }
    let glyph = Glyph(text, width: width, isASCII: isASCII) { Int(nc_width($0)) }
    glyphs[text] = glyph
    return glyph
  }

  private func look(of style: Style) -> Look {
    if let known = looks[style] { return known }
    let reduced = style.reduced(to: palette)
    var attributes: attr_t = 0
    for (attribute, bit) in [
      (Style.Attributes.bold, nc_bold()), (.dim, nc_dim()), (.underline, nc_underline()), (.reverse, nc_reverse()),
      (.italic, nc_italic()),
    ] where reduced.attributes.contains(attribute) { attributes |= bit }
    let pair = pairs.number(ColorPairs.Pair(reduced)) { number, pair in
      init_pair(Int16(number), color(pair.foreground, 7), color(pair.background, 0))
    }
    var blank = cchar_t()
    nc_make_cell(&blank, [0x20], 1, attributes, Int32(pair))
    let look = Look(attributes: attributes, pair: Int32(pair), blank: blank)
    if looks.count >= 4096 { looks = [:] }
    looks[style] = look
    return look
  }

  private func color(_ color: Style.Color, _ otherwise: Int16) -> Int16 {
    switch color {
    case .standard: hasDefaultColors ? -1 : otherwise
    case .indexed(let index): Int16(index)
    }
  }

  /// Makes ^S and ^Q keys; ^C, ^Z and ^\ stay signals.
  private func setModes() {
    var modes = termios()
    guard tcgetattr(output, &modes) == 0 else { return }
    modes.c_iflag &= ~tcflag_t(IXON)
    // Otherwise ^C discards pending output, perhaps half a sequence, and pending input.
    modes.c_lflag |= tcflag_t(NOFLSH)
    tcsetattr(output, TCSANOW, &modes)
    def_prog_mode()
  }

  /// The name of a description for the terminal, found before anything is written or changed.
  ///
  /// A terminal without a description on this machine is taken for an xterm.
  private static func description(_ wanted: String, _ output: Int32) throws -> String {
    for term in [wanted, "xterm-256color", "xterm", "vt100"] {
      var found: Int32 = 0
      // ERR with `found` 0 is a description that curses can't use: a generic name, a printer.
      let result = setupterm(term, output, &found)
      defer { if result == OK { del_curterm(nc_current_term()) } }
      if result == OK, nc_capability("cup") != nil, nc_capability("clear") != nil { return term }
      if result == OK { throw TerminalError.cannotMoveCursor(wanted) }
    }
    throw TerminalError.unknownTerm(wanted)
  }

  private static func palette(ofColors colors: Int32) -> ScreenTraits.Palette {
    switch colors {
    case 256...: .many
    case 16...: .sixteen
    case 8...: .eight
    default: .none
    }
  }

  /// Sets the locale of characters only, so that numbers keep the format of the program.
  private static func setLocale(isASCII: Bool) {
    setlocale(LC_CTYPE, "")
    // If the named locale is not installed, any UTF-8 locale serves.
    guard !isASCII, nc_width(0x2588) != 1 else { return }
    for locale in ["C.UTF-8", "en_US.UTF-8", "UTF-8"] where setlocale(LC_CTYPE, locale) != nil { return }
  }

  private static func withoutDelays(_ sequence: UnsafePointer<CChar>?) -> String {
    sequence.map { String(cString: $0).replacing(/\$<[^>]*>/, with: "") } ?? ""
  }
}

/// Why the screen can't be used.
package enum TerminalError: Error, Sendable, Hashable, CustomStringConvertible {
  case notATerminal(String)
  /// The stream was a terminal, which is gone.
  case hasHungUp
  case noTerm
  case unknownTerm(String)
  case cannotMoveCursor(String)

  package var description: String {
    switch self {
    case .notATerminal(let stream): "\(stream) is not a terminal: run it in one, or use --ui plain"
    case .hasHungUp: "the terminal has hung up"
    case .noTerm: "TERM is not set: set it to the name of your terminal, such as xterm-256color, or use --ui plain"
    case .unknownTerm(let term):
      "terminfo describes neither '\(term)' nor xterm nor vt100: install ncurses-term, or use --ui plain"
    case .cannotMoveCursor(let term):
      "the terminal '\(term)' cannot move its cursor: set TERM to its real name, or use --ui plain"
    }
  }
}
