/// A line of an invalid YAML file, read as a person would read it.
struct UnparsedLine {
  let number: Int
  /// The number of blanks before its text; those before the text of a list item, for `- text`.
  let indent: Int
  /// The text without blanks around it, and without the `- ` of list items.
  let text: String
  /// The text before the first ':' that a blank or the end follows; nil without one.
  let key: String?
  /// The column of that ':'.
  let colon: Int?
  /// The text after that ':' without blanks around it.
  let value: String

  init(_ number: Int, _ line: String) {
    self.number = number
    let scalars = Array(line.unicodeScalars)
    func isBlank(_ index: Int) -> Bool { index >= scalars.count || scalars[index] == " " || scalars[index] == "\t" }
    func trimmed(_ start: Int, _ end: Int) -> String {
      var (start, end) = (start, end)
      while start < end, isBlank(start) { start += 1 }
      while end > start, isBlank(end - 1) { end -= 1 }
      return String(String.UnicodeScalarView(scalars[start..<max(start, end)]))
    }
    var start = 0
    while start < scalars.count, isBlank(start) || scalars[start] == "-" && isBlank(start + 1) { start += 1 }
    indent = start
    text = trimmed(start, scalars.count)
    var index = start
    if let quote = scalars.dropFirst(start).first, quote == "\"" || quote == "'" {
      index = scalars.dropFirst(start + 1).firstIndex(of: quote) ?? start
    }
    while index < scalars.count, scalars[index] != ":" || !isBlank(index + 1) {
      if scalars[index] == "#", index == 0 || isBlank(index - 1) { index = scalars.count }
      index += 1
    }
    let hasKey = index < scalars.count
    key = hasKey ? trimmed(start, index) : nil
    colon = hasKey ? index + 1 : nil
    value = hasKey ? trimmed(index + 1, scalars.count) : ""
  }

  /// Whether there is nothing on it but blanks or a comment.
  var isEmpty: Bool { text.isEmpty || text.hasPrefix("#") }

  /// Whether a text on several lines begins below it.
  var beginsBlock: Bool { value.first == "|" || value.first == ">" }

  var place: Place { Place(line: number, column: indent + 1) }
}
