/// A state machine over the scalars of a job's line that keeps the ones a terminal may show.
struct JobTextParser {
  enum Form {
    /// Styled text in cells: tabs are expanded, a backspace removes the grapheme before it.
    case cells
    /// As `cells`, but tabs stay.
    case written
    /// Text without styles: tabs stay, backspaces are dropped, SGR sequences stay where `keepsColor`.
    case stream(keepsColor: Bool)
  }

  private enum State {
    case ground
    case escape
    /// After ESC and one of its intermediates: one more scalar ends it.
    case escapeIntermediate
    case control(parameters: String, isPlain: Bool)
    /// OSC, DCS, SOS, PM or APC, up to the string terminator.
    case string(isOSC: Bool, escaped: Bool)
  }

  private var state = State.ground
  private var style = Style.plain
  private var runs: [JobText.Run] = []
  private var column = 0
  private var marks = 0
  /// Whether a carriage return has come, so that the next text overwrites the line.
  private var returned = false
  /// Whether the last SGR sequence of a stream set something.
  private var isColored = false
  private let form: Form

  init(_ form: Form = .cells) { self.form = form }

  mutating func take(_ scalar: Unicode.Scalar) {
    switch state {
    case .ground: ground(scalar)
    case .escape: escape(scalar)
    case .escapeIntermediate:
      if !(0x20...0x2F).contains(scalar.value) { state = .ground }
    case .control(let parameters, let isPlain): control(scalar, parameters, isPlain)
    case .string(let isOSC, let escaped): string(scalar, isOSC: isOSC, escaped: escaped)
    }
  }

  mutating func finish() -> [JobText.Run] {
    if isColored { runs[0].text += "\u{1B}[0m" }
    return runs
  }

  private mutating func ground(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    case 0x1B: state = .escape
    case 0x0D: returned = true
    case 0x08: backspace()
    case 0x09: tab()
    case 0x80..<0xA0: escape(Unicode.Scalar(scalar.value - 0x40) ?? " ")
    default:
      if TextWidth.isPrintable(scalar) { show(scalar) }
    }
  }

  private mutating func escape(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "[": state = .control(parameters: "", isPlain: true)
    case "]": state = .string(isOSC: true, escaped: false)
    case "P", "X", "^", "_": state = .string(isOSC: false, escaped: false)
    case "\u{1B}": state = .escape
    case " "..."/": state = .escapeIntermediate
    default: state = .ground
    }
  }

  private mutating func control(_ scalar: Unicode.Scalar, _ parameters: String, _ isPlain: Bool) {
    switch scalar {
    case "0"..."9", ";", ":":
      var more = parameters
      if more.utf8.count < 128 { more.unicodeScalars.append(scalar) }
      state = .control(parameters: more, isPlain: isPlain)
    case " "..."/", "<"..."?": state = .control(parameters: parameters, isPlain: false)
    case "@"..."~":
      state = .ground
      if scalar == "m", isPlain { apply(graphicRendition: parameters) }
    case "\u{1B}": state = .escape
    case "\u{18}", "\u{1A}": state = .ground
    case "\u{0}"..."\u{1F}": break
    default: state = .ground
    }
  }

  private mutating func string(_ scalar: Unicode.Scalar, isOSC: Bool, escaped: Bool) {
    switch scalar {
    case "\u{18}", "\u{1A}", "\u{9C}": state = .ground
    case "\u{7}" where isOSC: state = .ground
    case "\u{1B}": state = .string(isOSC: isOSC, escaped: true)
    default:
      if !escaped { return }
      state = .ground
      if scalar != "\\" { escape(scalar) }
    }
  }

  private mutating func apply(graphicRendition parameters: String) {
    guard case .stream(let keepsColor) = form else { return style.apply(graphicRendition: parameters) }
    guard keepsColor, let parameters = GraphicRendition.visible(parameters) else { return }
    overwrite()
    // A stream is one run, because its style never changes.
    if runs.isEmpty { runs = [JobText.Run("")] }
    runs[0].text += "\u{1B}[\(parameters)m"
    isColored = !parameters.isEmpty && parameters != "0"
  }

  private mutating func show(_ scalar: Unicode.Scalar) {
    overwrite()
    let width = TextWidth.of(scalar)
    // Limits the combining marks of one cell.
    marks = width == 0 ? marks + 1 : 0
    if marks > 8 { return }
    column += width
    if let last = runs.indices.last, runs[last].style == style {
      runs[last].text.unicodeScalars.append(scalar)
    } else {
      runs.append(JobText.Run(String(scalar), style))
    }
  }

  /// Starts the line again if a carriage return has come.
  private mutating func overwrite() {
    guard returned else { return }
    returned = false
    runs = []
    column = 0
    marks = 0
    isColored = false
  }

  private mutating func tab() {
    guard case .cells = form else { return show("\t") }
    for _ in 0..<(8 - column % 8) { show(" ") }
  }

  /// Text that an overstriking program writes twice is shown once.
  private mutating func backspace() {
    if case .stream = form { return }
    guard !returned, let last = runs.indices.last, let grapheme = runs[last].text.popLast() else { return }
    column = max(0, column - TextWidth.of(grapheme))
    if runs[last].text.isEmpty { runs.removeLast() }
  }
}
