import Basics
import Foundation
import Screen

/// Escape sequences without a curses function.
package enum ControlSequences {
  package static let pasteOn = "\u{1B}[?2004h"
  package static let pasteOff = "\u{1B}[?2004l"
  /// Buttons, wheel and drags, in the encoding without a limit of columns.
  package static let mouseOn = "\u{1B}[?1002h\u{1B}[?1006h"
  package static let mouseOff = "\u{1B}[?1006l\u{1B}[?1002l"
  package static let titlePush = "\u{1B}[22;0t"
  package static let titlePop = "\u{1B}[23;0t"
  package static let progressOff = "\u{1B}]9;4;0;0\u{1B}\\"
  package static let eraseBelow = "\u{1B}[J"
  /// Erases the rest of the row.
  package static let eraseRest = "\u{1B}[K"
  /// Cuts a row that is too long at the last column.
  package static let wrapOff = "\u{1B}[?7l"
  package static let wrapOn = "\u{1B}[?7h"
  package static let plainStyle = "\u{1B}[m"
  package static let cursorOff = "\u{1B}[?25l"
  package static let cursorOn = "\u{1B}[?25h"
  /// Synchronized output: a terminal that knows it shows nothing before the end.
  package static let updateBegin = "\u{1B}[?2026h"
  package static let updateEnd = "\u{1B}[?2026l"

  package static func up(_ rows: Int) -> String { rows > 0 ? "\u{1B}[\(rows)A" : "" }
  /// The next row, scrolling at the bottom as a line feed does; the kernel passes it on without dividing the output.
  package static let nextRow = "\r\u{1B}D"

  /// Asks for the background, then for the attributes, which every terminal answers, after earlier queries.
  package static let backgroundQuery = "\u{1B}]11;?\u{1B}\\\u{1B}[c"

  /// The announcement of the run's end; the bell in terminals without notifications.
  package static func notice(_ notice: EndNotice, _ text: TerminalText, _ features: TerminalFeatures) -> String {
    switch notice {
    case .none: return ""
    case .bell: return "\u{7}"
    case .message:
      guard features.speaksXterm else { return "\u{7}" }
      // In ConEmu a number and a semicolon are another command.
      let plain = Elision.prefix(JobText(text.text).plain, 240).escaping([";": ","])
      let sequence = "\u{1B}]9;\(plain)\u{7}"
      // tmux wants each escape doubled inside the wrapper.
      if features.isTmux { return "\u{1B}Ptmux;\u{1B}\(sequence)\u{1B}\\" }
      // tmux drops the wrapper of screen.
      let bell = features.mayBeTmux ? "\u{7}" : ""
      return features.isScreen ? "\(bell)\u{1B}P\(sequence)\u{1B}\\" : sequence
    }
  }

  package static func title(_ text: TerminalText) -> String {
    "\u{1B}]2;\(Elision.prefix(JobText(text.text).plain, 240))\u{1B}\\"
  }

  package static func progress(_ percent: Int, failed: Bool) -> String {
    "\u{1B}]9;4;\(failed ? 2 : 1);\(min(100, max(0, percent)))\u{1B}\\"
  }

  package static func copy(_ text: TerminalText, _ features: TerminalFeatures) -> String {
    let sequence = "\u{1B}]52;c;\(Data(text.text.utf8).base64EncodedString())"
    let plain = sequence + "\u{1B}\\"
    guard features.isScreen else { return plain }
    // A wrapper for screen holds at most 768 bytes, so the sequence is split.
    let bytes = Array("\(sequence)\u{7}".utf8)
    let pieces = stride(from: 0, to: bytes.count, by: 700).map { start in
      "\u{1B}P" + String(decoding: bytes[start..<min(start + 700, bytes.count)], as: UTF8.self) + "\u{1B}\\"
    }
    return (features.mayBeTmux ? plain : "") + pieces.joined()
  }
}
