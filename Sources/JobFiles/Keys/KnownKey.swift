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
