/// A key of a map of a job file, as the decoder, the messages and the schema know it.
struct KnownKey: Sendable {
  let name: String
  let takes: ValueKind
  /// The key's meaning, worded as the beginning of a sentence.
  let text: String

  init(_ name: String, _ takes: ValueKind, _ text: String) {
    self.name = name
    self.takes = takes
    self.text = text
  }
}

/// The values that a key takes, as far as a schema can express them.
indirect enum ValueKind: Sendable {
  /// A scalar of any kind.
  case text
  /// A text that isn't a number.
  case string
  case flag
  case whole(ClosedRange<Int>)
  /// From 0 to 1.
  case fraction
  case duration
  case choice([String])
  /// A regular expression; variables are not expanded in it.
  case pattern
  case url
  /// `HOST:PORT`, or a port.
  case port
  /// A signal's name in any case, with or without SIG.
  case signal([String])
  case map(of: ValueKind)
  case list(of: ValueKind)
  case object(@Sendable () -> KnownKeys)
  case either([ValueKind])
  case null
  /// A value that this table does not describe.
  case any
}

extension ValueKind {
  static func choice<Choice>(_ type: Choice.Type) -> ValueKind
  where Choice: CaseIterable & RawRepresentable, Choice.RawValue == String {
    .choice(Choice.allCases.map(\.rawValue))
  }

  static func oneOrMore(_ kind: ValueKind) -> ValueKind { .either([kind, .list(of: kind)]) }

  /// A command for the shell, or a program and its arguments.
  static let command = ValueKind.oneOrMore(.text)
}
