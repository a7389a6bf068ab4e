import CYAML

/// The parser of libyaml.
struct YAMLParser: ~Copyable {
  struct Problem: Error {
    var place: Place
    var message: String
    /// Whether an escape in double quotes is invalid.
    var isBadEscape = false
    /// Whether the text is invalid YAML, rather than unsupported YAML.
    var isSyntax = false
  }

  // On the heap: libyaml keeps pointers into it.
  private let parser: UnsafeMutablePointer<yaml_parser_t>

  /// `bytes` must outlive the parser; nil if memory can't be allocated.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    parser = .allocate(capacity: 1)
    guard yaml_parser_initialize(parser) == 1 else {
      parser.deallocate()
      return nil
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  /// Calls `take` with each event of the stream but its end.
  func readAll(_ take: (yaml_event_t) throws(Problem) -> Void) throws(Problem) {
    while true {
      var event = yaml_event_t()
      guard yaml_parser_parse(parser, &event) == 1 else { throw YAMLProblem.describe(parser.pointee) }
      defer { yaml_event_delete(&event) }
      if event.type == YAML_STREAM_END_EVENT { return }
      try take(event)
    }
  }
}

extension Place {
  init(_ mark: yaml_mark_t) { self.init(line: mark.line + 1, column: mark.column + 1) }
}
