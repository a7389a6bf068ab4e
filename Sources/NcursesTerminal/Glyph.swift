import CNcurses
import Screen

/// A grapheme in the pieces that curses can hold: one spacing scalar each, with what combines with it.
///
/// Curses counts with the C library's `wcwidth`. Where that differs from what the frame counted, the grapheme is
/// drawn as the nearest thing that both count alike, so that nothing after it on the row moves.
struct Glyph {
  /// In order; together as wide as the grapheme.
  let pieces: [[UInt32]]

  /// For a grapheme to which the frame gave `width` cells.
  ///
  /// `wcwidth` returns what curses will believe, -1 for what it does not know.
  init(_ grapheme: String, width: Int, isASCII: Bool, wcwidth: (UInt32) -> Int) {
    if isASCII, !grapheme.utf8.allSatisfy({ $0 < 0x80 }) {
      pieces = Self.padded([[0x3F]], 1, to: width)
      return
    }
    var pieces: [[UInt32]] = []
    var used = 0
    for scalar in grapheme.unicodeScalars.map(\.value) {
      // Flags as their two letters: few terminals agree on how wide the pair is.
      let scalar = (0x1F1E6...0x1F1FF).contains(scalar) ? scalar - 0x1F1E6 + 0x41 : scalar
      let cells = wcwidth(scalar)
      switch cells {
      // Selectors and joiners change the width in some terminals and not in others.
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
