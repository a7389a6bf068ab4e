import JobModel

/// The keys that a map may have, and `later` keys of the format, which this version doesn't support.
struct KnownKeys: Sendable {
  /// The name of the map in messages: `a job`, `retry`.
  let owner: String
  let table: [KnownKey]
  /// The names of `table` in its order.
  let keys: [String]
  /// The map as a file may write it.
  let example: String
  /// The key that a text in place of the map most likely belongs to.
  let textKey: String?
  /// The advice for keys that this version doesn't support.
  let later: [String: String]
  let others: OtherTools
  /// The places of keys that belong elsewhere, as sentences.
  let elsewhere: [String: String]

  private let names: Set<String>

  init(
    owner: String, table: [KnownKey], example: String, textKey: String? = nil, later: [String: String] = [:],
    others: OtherTools = OtherTools(), elsewhere: [String: String] = [:]
  ) {
    self.owner = owner
    self.table = table
    keys = table.map(\.name)
    names = Set(keys)
    self.example = example
    self.textKey = textKey
    self.later = later
    self.others = others
    self.elsewhere = elsewhere
  }

  /// The entries of a map by key.
  struct Entries {
    var place: Place
    var known: [String: YAMLEntry] = [:]
    /// Whether a key is unknown, so that a missing one may be misspelt.
    var hasUnknown = false

    subscript(key: String) -> YAMLEntry? { known[key] }
  }

  /// Reports unknown keys, with the advice of `advice` if it has some; nil for anything but a map.
  func read(_ node: YAMLNode, faults: FaultLog, advice: (YAMLEntry) -> String? = { _ in nil }) -> Entries? {
    guard case .map(let entries) = node.content else {
      if case .scalar(let text, isPlain: true) = node.content, let fault = missingColon(in: text) {
        return faults.fail(node.place, fault)
      }
      if let textKey, case .scalar(let text, _) = node.content, !node.isNull,
        !text.contains(where: "#:{}[],\"'\n".contains)
      {
        return faults.fail(
          node.place, "\(owner) is a map; this is \(node.words): write '{ \(textKey): \(Quoted.bare(text)) }'")
      }
      if case .list(let items) = node.content, case .map = items.first?.content, textKey != nil {
        return faults.fail(node.place, "\(owner) is a map; this is a list: write its lines without '- '")
      }
      return faults.fail(node.place, "\(owner) is a map; this is \(node.words): write '\(example)' or the like")
    }
    var result = Entries(place: node.place)
    for entry in entries {
      if faults.isCut { break }
      if names.contains(entry.key) {
        // The first counts; the YAML reader has reported a second.
        if result.known[entry.key] == nil { result.known[entry.key] = entry }
      } else if let mend = later[entry.key] {
        result.hasUnknown = true
        faults.add(entry.place, "'\(entry.key)' is not supported by this version of opdash yet: \(mend)")
      } else if !entry.key.hasPrefix("x-") {
        let other = others.mend(for: entry)
        let mend = advice(entry) ?? other?.sentence ?? elsewhere[entry.key]
        faults.add(
          entry.place, "unknown key \(Quoted.text(entry.key))\(mend.map { ": \($0)" } ?? hint(for: entry))")
        // The value is read as the value of our key, so that its faults are reported at once.
        if let key = other?.key, result.known[key] == nil, !entries.contains(where: { $0.key == key }) {
          result.known[key] = YAMLEntry(key: key, place: entry.place, value: entry.value)
        } else {
          result.hasUnknown = true
        }
      }
    }
    return result
  }

  private func hint(for entry: YAMLEntry) -> String {
    // A no-break space is not indentation, but looks like it.
    if let first = entry.key.unicodeScalars.first, first.properties.isWhitespace, first != " " {
      return
        ": it begins with the character \(first.escaped(asASCII: true)), which only looks like a blank: write blanks"
    }
    return NearestName.hint(
      for: entry.key, in: keys + later.keys.sorted(),
      otherwise: ": \(owner) can have \(keys.joined(last: "or")), or x-… for what opdash ignores")
  }

  /// The fault of text that begins with a key: `run ls`, `run:ls`, `run = ls`.
  private func missingColon(in text: String) -> String? {
    guard let word = text.firstMatch(of: /^[a-z_0-9]+/)?.output, word.count < text.count,
      names.contains(String(word)) || others.mend(for: YAMLEntry(key: String(word), place: .start, value: .null)) != nil
    else { return nil }
    let (message, mend) = SyntaxAdvice.missingColon(in: text)
    return "\(message): write \(mend)"
  }
}
