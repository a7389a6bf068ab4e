/// A frame's rows as a terminal without curses takes them.
extension Frame {
  /// A row with its looks as CSI … m, reduced to what `palette` has; trailing blanks left out, and plain at its end.
  package func line(row: Int, palette: ScreenTraits.Palette) -> String {
    var cells = rows[row][...]
    while let last = cells.last, last == .blank { cells.removeLast() }
    var line = ""
    var style = Style.plain
    for cell in cells where !cell.isContinuation {
      let wanted = cell.style.reduced(to: palette)
      if wanted != style {
        line += wanted.graphicRendition
        style = wanted
      }
      line += cell.text
    }
    return style == .plain ? line : line + Style.plain.graphicRendition
  }
}

extension Style {
  /// What sets this look, whatever was set before.
  package var graphicRendition: String {
    var codes = ["0"]
    for (attribute, code) in [(Attributes.bold, "1"), (.dim, "2"), (.italic, "3"), (.underline, "4"), (.reverse, "7")]
    where attributes.contains(attribute) {
      codes.append(code)
    }
    if case .indexed(let index) = foreground { codes.append(Self.code(index, base: 30)) }
    if case .indexed(let index) = background { codes.append(Self.code(index, base: 40)) }
    return "\u{1B}[\(codes.joined(separator: ";"))m"
  }

  private static func code(_ index: UInt8, base: Int) -> String {
    switch index {
    case 0..<8: "\(base + Int(index))"
    case 8..<16: "\(base + 60 + Int(index) - 8)"
    default: "\(base + 8);5;\(index)"
    }
  }
}
