import JobModel

/// A key of a map: its name, its values, its meaning, and how its value is read into the `Record` of the map.
struct KnownKey<Record>: Sendable {
  /// The text is the key's name in messages.
  typealias Read = @Sendable (YAMLEntry, String, ValueReader, inout Record) -> Void

  typealias Path<Value> = any WritableKeyPath<Record, Value> & Sendable

  let name: String
  let takes: ValueForm
  /// The key's meaning, worded as the beginning of a sentence.
  let text: String
  let read: Read

  /// A key with a reading of its own; none if its value is read together with others.
  init(_ name: String, _ takes: ValueForm, _ text: String, read: @escaping Read = { _, _, _, _ in }) {
    self.name = name
    self.takes = takes
    self.text = text
    self.read = read
  }

  /// A key whose value replaces the default; a faulty one leaves it.
  init<Value>(
    _ name: String, _ kind: ValueKind<Value>, into path: Path<Value>, _ text: String
  ) {
    self.init(name, kind.form, text) { entry, name, values, record in
      if let value = kind.read(values, entry.value, name) { record[keyPath: path] = value }
    }
  }

  /// A key without a default; the value is nil after a fault.
  init<Value>(
    _ name: String, _ kind: ValueKind<Value>, into path: Path<Value?>, _ text: String
  ) {
    self.init(name, kind.form, text) { entry, name, values, record in
      record[keyPath: path] = kind.read(values, entry.value, name)
    }
  }

  /// The key in a map whose record has this one's at `path`.
  func within<Whole>(_ path: KnownKey<Whole>.Path<Record>) -> KnownKey<Whole> {
    KnownKey<Whole>(name, takes, text) { [read] in read($0, $1, $2, &$3[keyPath: path]) }
  }
}

/// The entries of a map by key.
struct KnownEntries {
  let place: Place
  /// The entries of the map, then the replacements of unknown ones.
  fileprivate private(set) var entries: [YAMLEntry]
  /// The positions in the table and in `entries` of one for each key, in the order of the table; so few that a search
  /// takes less time than a hash.
  fileprivate private(set) var known: [(key: Int, entry: Int)] = []
  /// Whether a key is unknown, so that a missing one may be misspelt.
  fileprivate(set) var hasUnknown = false

  fileprivate init(place: Place, entries: [YAMLEntry]) {
    (self.place, self.entries) = (place, entries)
    known.reserveCapacity(min(entries.count, 8))
  }

  subscript(key: String) -> YAMLEntry? { index(of: key).map { entries[$0] } }

  private func index(of key: String) -> Int? {
    for (_, entry) in known where entries[entry].key == key { return entry }
    return nil
  }

  /// The entries of these keys, in the order of the file.
  func among(_ keys: [String]) -> [YAMLEntry] {
    var found: [YAMLEntry] = []
    for (_, entry) in known where keys.contains(entries[entry].key) { found.append(entries[entry]) }
    if found.count > 1 { found.sort { $0.place < $1.place } }
    return found
  }

  /// Takes the value of a key and leaves null in its place.
  mutating func take(_ key: String) -> YAMLEntry? {
    guard let index = index(of: key) else { return nil }
    defer { entries[index].value = .null }
    return entries[index]
  }

  var places: [String: Place] {
    Dictionary(uniqueKeysWithValues: known.map { (entries[$0.entry].key, entries[$0.entry].place) })
  }

  /// The first of a key counts.
  fileprivate mutating func add(_ entry: Int, at key: Int) {
    let index = known.firstIndex { $0.key >= key } ?? known.count
    if index == known.count || known[index].key > key { known.insert((key, entry), at: index) }
  }

  /// Adds the replacement of an unknown entry.
  fileprivate mutating func add(_ entry: YAMLEntry, at key: Int) {
    entries.append(entry)
    add(entries.count - 1, at: key)
  }
}

/// The keys that a map may have.
final class KnownKeys<Record>: Sendable {
  /// The name of the map in messages: `a job`, `retry`.
  let owner: String
  let table: [KnownKey<Record>]
  /// The map as a file may write it.
  let example: String
  /// The key that a text instead of the map most likely belongs to.
  let textKey: String?
  let others: ForeignKeys
  /// The places of keys that belong elsewhere, as sentences.
  let elsewhere: @Sendable () -> [String: String]

  /// The names of the keys in the order of the table.
  let keys: [String]

  /// Where each key stands in the table.
  private let positions: [String: Int]
  /// The names of `table` in messages.
  private let paths: [String]

  /// `path` stands before the name of a key in messages, by default the owner with a dot; `elsewhere` may name other maps,
  /// which name this one.
  init(
    _ owner: String, path: String? = nil, example: String, textKey: String? = nil, others: ForeignKeys = ForeignKeys(),
    elsewhere: @escaping @autoclosure @Sendable () -> [String: String] = [:], _ table: [KnownKey<Record>]
  ) {
    self.owner = owner
    self.table = table
    paths = table.map { (path ?? owner + ".") + $0.name }
    keys = table.map(\.name)
    positions = Dictionary(zip(keys, keys.indices)) { first, _ in first }
    self.example = example
    self.textKey = textKey
    self.others = others
    self.elsewhere = elsewhere
  }

  var form: MapForm { MapForm(owner: owner, keys: table.map { ($0.name, $0.takes, $0.text) }) }

  /// Reads the values of a map in the order of the table; nil for anything but a map.
  @discardableResult
  func read(_ node: YAMLNode, into record: inout Record, _ values: ValueReader) -> KnownEntries? {
    guard let entries = entries(of: node, values.faults) else { return nil }
    read(entries, into: &record, values)
    return entries
  }

  func read(_ entries: KnownEntries, into record: inout Record, _ values: ValueReader) {
    for (key, entry) in entries.known { table[key].read(entries.entries[entry], paths[key], values, &record) }
  }

  /// Reports unknown keys, with the advice of `advice` if it has some; nil for anything but a map.
  func entries(
    of node: YAMLNode, _ faults: FaultLog, advice: (YAMLEntry) -> String? = { _ in nil }
  ) -> KnownEntries? {
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
    var result = KnownEntries(place: node.place, entries: entries)
    for (index, entry) in entries.enumerated() {
      if faults.isCut { break }
      if let position = positions[entry.key] {
        // The YAML reader has reported a second one of the same key.
        result.add(index, at: position)
      } else if !entry.key.hasPrefix("x-") {
        let other = others.advice(for: entry)
        let sentence = advice(entry) ?? other?.sentence ?? elsewhere()[entry.key]
        faults.add(
          entry.place, "unknown key \(Quoted.text(entry.key))\(sentence.map { ": \($0)" } ?? hint(for: entry))")
        // The value is read as the value of our key, so that its faults are reported at once.
        if let key = other?.key, result[key] == nil, !entries.contains(where: { $0.key == key }) {
          let read = YAMLEntry(key: key, place: entry.place, value: entry.value)
          if let position = positions[key] { result.add(read, at: position) }
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
      for: entry.key, in: keys,
      otherwise: ": \(owner) can have \(keys.joined(last: "or")), or x-… for what opdash ignores")
  }

  /// The fault of text that begins with a key: `run ls`, `run:ls`, `run = ls`.
  private func missingColon(in text: String) -> String? {
    guard let word = text.firstMatch(of: /^[a-z_0-9]+/)?.output, word.count < text.count,
      positions[String(word)] != nil
        || others.advice(for: YAMLEntry(key: String(word), place: .start, value: .null)) != nil
    else { return nil }
    let (message, advice) = SyntaxAdvice.missingColon(in: text)
    return "\(message): write \(advice)"
  }
}
