import JobFiles
import JobModel

/// The words that complete a value.
enum ValueCandidates: Equatable {
  case none
  case words([String])
  case files
  case folders
  /// The jobs of the file.
  case jobs
}

/// A kind of value that options take.
struct OptionValue<Value>: Sendable {
  /// The name in the help.
  var name: String
  /// The valid values, in messages.
  var takes: String
  var candidates = ValueCandidates.none
  /// The value of a word; nil for an invalid word.
  var read: @Sendable (String) -> Value?
}

extension OptionValue<String> {
  /// A file to write.
  static var file: Self {
    Self(name: "FILE", takes: "a file (standard output is /dev/stdout)", candidates: .files) {
      $0.isEmpty || $0 == "-" ? nil : $0
    }
  }
  static var folder: Self { text("DIR", "a folder", .folders) }
  static var url: Self {
    Self(name: "URL", takes: "a URL, http://… or https://…") {
      DownloadRequest.isURL($0) && WebAddress.fault(in: $0) == nil ? $0 : nil
    }
  }

  /// Any text that is not empty.
  static func text(_ name: String, _ takes: String, _ candidates: ValueCandidates = .none) -> Self {
    Self(name: name, takes: takes, candidates: candidates) { $0.isEmpty ? nil : $0 }
  }

  static func words(_ name: String, _ words: [String]) -> Self {
    Self(name: name, takes: words.joined(last: "or"), candidates: .words(words)) { words.contains($0) ? $0 : nil }
  }
}

extension OptionValue where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
  /// One of the cases.
  static func choice(_ name: String, _ type: Value.Type) -> Self {
    let words = Value.allCases.map(\.rawValue)
    return Self(name: name, takes: words.joined(last: "or"), candidates: .words(words)) { Value(rawValue: $0) }
  }
}

extension OptionValue<Set<RunWarning.Kind>> {
  /// Names with commas between them.
  static var warnings: Self {
    let names = RunWarning.Kind.allCases.map(\.rawValue)
    let takes = "\(names.joined(last: "or")), with commas between several"
    return Self(name: "NAMES", takes: takes, candidates: .words(names)) { text in
      let words = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingPrefix(" ") }
      let kinds = words.compactMap { RunWarning.Kind(rawValue: String($0)) }
      return kinds.count == words.count ? Set(kinds) : nil
    }
  }
}

extension OptionValue<Int> {
  static var slots: Self { number(1...100_000) }

  static func number(_ range: ClosedRange<Int>) -> Self {
    let limit = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
    return Self(name: "N", takes: "a whole number, \(range.lowerBound) \(limit)") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension OptionValue<Double> {
  static func decimal(_ range: ClosedRange<Double>) -> Self {
    Self(name: "N", takes: "a number from \(range.lowerBound) to \(Int(range.upperBound))") { text in
      Double(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension OptionValue<Duration> {
  static func time(from least: Duration) -> Self {
    let limit = least > .zero ? " longer than 0," : ""
    return Self(name: "TIME", takes: "a time\(limit) as in \(DurationText.examples)") { text in
      DurationText.parse(text).flatMap { $0 >= least ? $0 : nil }
    }
  }
}

extension OptionValue<[UInt8]> {
  /// Text with escapes.
  static var delimiter: Self {
    Self(name: "X", takes: "some characters, in which \\n, \\r, \\t, \\0 and \\\\ are escapes") {
      EachRequest.delimiter($0)
    }
  }
}

extension OptionValue<(name: String, value: String)> {
  static var assignment: Self {
    Self(name: "NAME=VALUE", takes: "NAME=VALUE") { text in
      guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), equals != text.startIndex else { return nil }
      return (String(text[..<equals]), String(text[text.utf8.index(after: equals)...]))
    }
  }
}
