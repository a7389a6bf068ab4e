import Basics
import JobModel
import Screen

/// Text as HTML.
enum HTMLText {
  /// Text of an element or of an attribute in double quotes, with the characters escaped that mean something there.
  static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: special.contains) else { return text }
    var result = ""
    result.reserveCapacity(text.utf8.count + 16)
    for character in text.unicodeScalars {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  private static let special = Array("&<>\"'".utf8)

  /// Text from outside on one line, with everything that is invisible or reorders a line written as an escape.
  static func shown(_ text: String) -> String { escaped(MessageText.of(text).text) }

  /// A line of output in its basic colours and bold; all else that a terminal obeys is removed.
  static func line(_ line: String) -> String {
    JobText(line).runs.map { run in
      var classes: [String] = []
      if case .indexed(let color) = run.style.foreground, color < 16 { classes.append("a\(color % 8)") }
      if run.style.attributes.contains(.bold) { classes.append("ab") }
      let text = escaped(run.text)
      return classes.isEmpty ? text : "<span class=\"\(classes.joined(separator: " "))\">\(text)</span>"
    }.joined()
  }

  /// At most three decimals, without zeros at the end: `12.5`, `0.001`.
  static func number(_ value: Double) -> String {
    let thousandths = Int(clamping: (value * 1000).rounded())
    let (whole, part) = thousandths.magnitude.quotientAndRemainder(dividingBy: 1000)
    var text = (thousandths < 0 ? "-" : "") + String(whole)
    guard part > 0 else { return text }
    var digits = String(part + 1000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    text += "."
    return text + digits
  }

  static func percent(_ part: Duration, of whole: Duration) -> String {
    whole > .zero ? number(max(0, min(1, part / whole)) * 100) : "0"
  }
}

extension StateClass {
  /// The class of elements in the colour of the state.
  var css: String { word.escaping([" ": "-"]) }
}
