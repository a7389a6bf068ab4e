import CNcurses
import Screen

/// A grapheme as curses cells: one spacing scalar each, with its combining scalars.
///
/// Curses uses the C library's `wcwidth`. If that differs from the frame's width, the grapheme is replaced by one of equal
/// width in both, so that the rest of the row doesn't move.
struct Glyph {
  /// The scalars of each cell; together as wide as the grapheme.
  let pieces: [[UInt32]]

  /// `width` is the width in the frame; `wcwidth` returns the width in curses, or -1 if unknown.
  init(_ grapheme: String, width: Int, isASCII: Bool, wcwidth: (UInt32) -> Int) {
    if isASCII, !grapheme.utf8.allSatisfy({ $0 < 0x80 }) {
      pieces = Self.padded([[0x3F]], 1, to: width)
      return
    }
    var pieces: [[UInt32]] = []
    var used = 0
    for scalar in grapheme.unicodeScalars.map(\.value) {
      // A flag becomes its two letters, because terminals disagree about its width.
      let scalar = (0x1F1E6...0x1F1FF).contains(scalar) ? scalar - 0x1F1E6 + 0x41 : scalar
      let cells = wcwidth(scalar)
      switch cells {
      // Selectors and joiners change the width in some terminals only.
      case 0:
        if let last = pieces.indices.last, !Self.isFickle(scalar), pieces[last].count < Int(nc_cell_scalars) {
          pieces[last].append(scalar)
        }
      case 1...:
        guard used + cells <= width else { continue }
        pieces.append([scalar])
        used += cells
      default: continue
      }
    }
    self.pieces =
      used == 0
      ? Self.padded([[wcwidth(0xFFFD) == 1 ? 0xFFFD : 0x3F]], 1, to: width) : Self.padded(pieces, used, to: width)
  }

  private static func padded(_ pieces: [[UInt32]], _ used: Int, to width: Int) -> [[UInt32]] {
    pieces + Array(repeating: [0x20], count: max(0, width - used))
  }

  private static func isFickle(_ scalar: UInt32) -> Bool {
    scalar == 0x200D || scalar == 0x20E3 || (0xFE00...0xFE0F).contains(scalar) || (0xE0000...0xE007F).contains(scalar)
  }
}
