import JobModel
import Screen

/// Reads styles: `[COLOUR] [on COLOUR] [bold] [dim] [underline] [reverse] [italic]`.
struct StyleReader {
  let elements: [String]
  let values: ValueReader

  private var faults: FaultLog { values.faults }

  private static let takes = "a colour with words such as bold, as in 'bright-red bold'"

  func read(_ node: YAMLNode) -> [String: Style] {
    let example = "a map of elements to colours, as in 'colors: { failed: bright-red bold }'"
    var looks: [String: Style] = [:]
    for entry in values.map(node, "colors", takes: example) ?? [] where looks[entry.key] == nil {
      guard elements.contains(entry.key) else {
        guard !entry.key.hasPrefix("x-") else { continue }
        let advice = NearestName.hint(
          for: entry.key, in: elements, otherwise: ": colors can have \(elements.joined(last: "or"))")
        faults.add(entry.place, "unknown element \(Quoted.text(entry.key))\(advice)")
        continue
      }
      looks[entry.key] = style(entry)
    }
    return looks
  }

  private func style(_ entry: YAMLEntry) -> Style? {
    let name = "colors.\(entry.key)"
    guard case .scalar(let text, _) = entry.value.content, !entry.value.isNull else {
      // An unquoted #rrggbb is a YAML comment.
      let quotes = entry.value.isNull ? ": put '#rrggbb' in quotes" : ""
      return faults.fail(entry.value.place, "\(name) takes \(Self.takes); this is \(entry.value.words)\(quotes)")
    }
    var style = Style.plain
    var has: (foreground: Bool, background: Bool) = (false, false)
    var words = text.split(separator: " ").map(String.init)[...]
    if words.isEmpty { faults.add(entry.value.place, "\(name) is empty: it takes \(Self.takes)") }
    while let word = words.popFirst() {
      if let attribute = Style.Attributes.named.first(where: { $0.name == word.lowercased() })?.attribute {
        style.attributes.insert(attribute)
      } else if word.lowercased() == "on" {
        guard let next = words.popFirst() else {
          return faults.fail(
            entry.value.place, "\(name): a colour is missing after 'on': write one, as in 'white on blue'")
        }
        guard let color = color(next, name, entry.value.place) else { return nil }
        if has.background { faults.add(entry.value.place, "\(name) has two background colours: delete one") }
        style.background = color
        has.background = true
      } else {
        guard let color = color(word, name, entry.value.place) else { return nil }
        if has.foreground {
          faults.add(entry.value.place, "\(name) has two colours: delete one, or put 'on' between them")
        }
        style.foreground = color
        has.foreground = true
      }
    }
    return style
  }

  private func color(_ word: String, _ name: String, _ place: Place) -> Style.Color? {
    if let color = Style.Color(named: word) { return color }
    let advice = NearestName.hint(
      for: word, in: Style.Color.names + Style.Attributes.named.map(\.name),
      otherwise: ": write a name, 0 to 255 or '#rrggbb', and bold, dim, underline, reverse or italic")
    return faults.fail(place, "\(name): \(Quoted.text(word)) is not a colour\(advice)")
  }
}
