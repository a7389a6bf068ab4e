import JobModel

/// The values that a key takes: their form for the schema, and how one is read.
struct ValueKind<Value>: Sendable {
  /// Reports a fault and returns nil for a value that it can't read; the text is the key's name in messages.
  typealias Read = @Sendable (ValueReader, YAMLNode, String) -> Value?

  let form: ValueForm
  let read: Read

  init(_ form: ValueForm, read: @escaping Read) {
    self.form = form
    self.read = read
  }

  func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> ValueKind<Other> {
    ValueKind<Other>(form) { [read] in read($0, $1, $2).map(transform) }
  }
}

/// The values that a key takes, as far as a schema can express them.
indirect enum ValueForm: Sendable {
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
  case map(of: ValueForm)
  case list(of: ValueForm)
  case object(@Sendable () -> MapForm)
  case either([ValueForm])

  static func choice<Choice>(_ type: Choice.Type) -> ValueForm
  where Choice: CaseIterable & RawRepresentable, Choice.RawValue == String {
    .choice(Choice.allCases.map(\.rawValue))
  }

  static func oneOrMore(_ form: ValueForm) -> ValueForm { .either([form, .list(of: form)]) }

  /// A command for the shell, or a program and its arguments.
  static let command = ValueForm.oneOrMore(.text)
}

/// A map with its keys, as a schema describes it.
struct MapForm: Sendable {
  /// The name of the map in messages: `a job`, `retry`.
  let owner: String
  let keys: [(name: String, takes: ValueForm, text: String)]
}

extension ValueKind<Bool> {
  static let flag = ValueKind(.flag) { $0.flag($1, $2) }
}

extension ValueKind<Double> {
  static let fraction = ValueKind(.fraction) { $0.fraction($1, $2) }
}

extension ValueKind<Duration> {
  static let duration = ValueKind(.duration) { $0.duration($1, $2, canBeZero: true) }
  /// A duration longer than 0.
  static let limit = ValueKind(.duration) { $0.duration($1, $2, canBeZero: false) }
}

extension ValueKind where Value: FixedWidthInteger & Sendable {
  static func whole(_ range: ClosedRange<Value>) -> ValueKind {
    ValueKind(.whole(Int(clamping: range.lowerBound)...Int(clamping: range.upperBound))) { $0.whole($1, $2, in: range) }
  }
}

extension ValueKind where Value: CaseIterable & RawRepresentable & SendableMetatype, Value.RawValue == String {
  /// One of the cases; `others` are words of other tools with the case that they mean.
  static func choice(others: [String: String] = [:]) -> ValueKind {
    ValueKind(.choice(Value.self)) { $0.choice($1, $2, as: Value.self, others: others) }
  }
}

extension ValueKind<String> {
  static func text(_ takes: String) -> ValueKind { ValueKind(.text) { $0.text($1, $2, takes: takes) } }

  static func line(_ takes: String) -> ValueKind { ValueKind(.text) { $0.line($1, $2, takes: takes) } }

  /// A URL, which may hold values of other jobs.
  static let address = ValueKind(.url) { $0.address($1, $2, allowing: .outputs) }
}

extension ValueKind<ShellWork.Jobserver> {
  static let jobserver = ValueKind(.either([.flag, .choice(["fifo"])])) { values, node, name in
    if case .scalar("fifo", _) = node.content { return .fifo }
    return values.flag(node, name, takes: "true, false or fifo").map { $0 ? .descriptors : .none }
  }
}
