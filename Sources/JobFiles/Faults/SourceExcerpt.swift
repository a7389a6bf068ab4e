import Basics
import Screen

/// A line of a file with a mark below one of its places, as a terminal may show it.
struct SourceExcerpt: Sendable, Hashable {
  /// The number of the line, from 1.
  let number: Int
  /// The text before the place, cut at its beginning if it is very long.
  let before: String
  /// The text from the place to the end of the line, cut at its end if it is very long.
  let after: String

  /// `before` and `after` are the line as it is; the credentials of its URLs are masked.
  init(number: Int, before: String, after: String) {
    self.number = number
    let scalars = before.unicodeScalars
    let start = scalars.lastIndex(where: Self.endsWord).map(scalars.index(after:)) ?? before.startIndex
    let end = after.unicodeScalars.firstIndex(where: Self.endsWord) ?? after.endIndex
    let word = before[start...] + after[..<end]
    // A place inside a URL with a credential moves to its beginning.
    let isSplit = start < before.endIndex && String(word).maskedURL != word
    self.before = Self.masked(isSplit ? String(before[..<start]) : before)
    self.after = Self.masked(isSplit ? String(word + after[end...]) : after)
  }

  private init(number: Int, masked before: String, _ after: String) {
    self.number = number
    self.before = before
    self.after = after
  }

  /// The excerpt without secret values; the place inside of one moves to its beginning.
  func masked(_ mask: MessageMask) -> SourceExcerpt {
    let line = before + after
    let whole = mask.masked(line)
    guard whole != line else { return self }
    let (left, right) = (mask.masked(before), mask.masked(after))
    guard left + right != whole else { return SourceExcerpt(number: number, masked: left, right) }
    let common = zip(whole, left).prefix { $0 == $1 }.count
    return SourceExcerpt(number: number, masked: String(whole.prefix(common)), String(whole.dropFirst(common)))
  }

  private static func endsWord(_ scalar: Unicode.Scalar) -> Bool { " \t'\"`<>|".unicodeScalars.contains(scalar) }

  private static func masked(_ text: String) -> String {
    guard text.holds("//") || text.holds("?") else { return text }
    var masked = ""
    var rest = text.unicodeScalars[...]
    while !rest.isEmpty {
      let word = rest.prefix { !endsWord($0) }
      masked += String(word).maskedURL
      rest = rest[word.endIndex...]
      if let end = rest.popFirst() { masked.unicodeScalars.append(end) }
    }
    return masked
  }

  /// The line and the mark, each in at most `width` cells; a long line is cut around the place.
  func lines(width: Int, _ elision: Elision = Elision(isASCII: false)) -> [String] {
    let gutter = String(number).padded(leftTo: 5)
    let room = max(20, width - gutter.count - 3)
    let head = Self.shown(before, from: 0)
    let rest = Self.shown(after, from: TextWidth.of(head))
    let isFlow = before.count { "[{".contains($0) } > before.count { "]}".contains($0) }
    let word = String(after.unicodeScalars.prefix(Self.wordLength(of: after, isFlow: isFlow)))
    let marked = TextWidth.of(Self.shown(word, from: TextWidth.of(head)))

    // The text after the place gets at least a third of the room; the mark needs a cell.
    let forHead = room - max(1, min(TextWidth.of(rest), max(room / 3, room - TextWidth.of(head))))
    let left =
      TextWidth.of(head) <= forHead
      ? head : elision.mark + Elision.suffix(head, forHead - TextWidth.of(elision.mark))
    let start = TextWidth.of(left)
    let right = elision.end(rest, to: room - start)
    let mark = "^" + String(repeating: "~", count: max(0, min(marked, room - start) - 1))
    return [
      "\(gutter) | \(left)\(right)",
      String(repeating: " ", count: gutter.count) + " | " + String(repeating: " ", count: start) + mark,
    ]
  }

  /// Text of the file for a terminal: tabs become blanks, all that a terminal obeys or hides becomes an escape.
  private static func shown(_ text: String, from column: Int) -> String {
    var shown = ""
    var end = column
    for (index, part) in text.split(separator: "\t", omittingEmptySubsequences: false).enumerated() {
      if index > 0 {
        let blanks = 8 - end % 8
        shown += String(repeating: " ", count: blanks)
        end += blanks
      }
      let part = MessageText.of(String(part)).text
      shown += part
      end += TextWidth.of(part)
    }
    return shown
  }

  /// The length in scalars of the word, text or reference at the beginning of `text`.
  private static func wordLength(of text: String, isFlow: Bool) -> Int {
    let scalars = Array(text.unicodeScalars)
    guard let first = scalars.first else { return 0 }
    func isBlank(_ index: Int) -> Bool { index >= scalars.count || scalars[index] == " " || scalars[index] == "\t" }
    switch first {
    case "\"", "'":
      let escape: Unicode.Scalar = first == "'" ? "'" : "\\"
      var index = 1
      while index < scalars.count {
        if scalars[index] == escape, index + 1 < scalars.count, escape == "\\" || scalars[index + 1] == "'" {
          index += 2
        } else if scalars[index] == first {
          return index + 1
        } else {
          index += 1
        }
      }
      return 1
    case "\t": return scalars.prefix { $0 == "\t" }.count
    case "$" where scalars.dropFirst().first == "{":
      return scalars.firstIndex(of: "}").map { $0 + 1 } ?? 2
    case "$": return 1 + scalars.dropFirst().prefix { $0.properties.isAlphabetic || $0 == "_" }.count
    case "[", "]", "{", "}", ",", ":", "|", ">", " ": return 1
    default: break
    }
    var index = 1
    while index < scalars.count {
      let isEnd =
        switch scalars[index] {
        case ":": isBlank(index + 1)
        case "#": isBlank(index - 1)
        case ",": isFlow && isBlank(index + 1)
        case "]", "}": isFlow
        default: false
        }
      if isEnd { break }
      index += 1
    }
    while index > 1, isBlank(index - 1) { index -= 1 }
    return index
  }
}
