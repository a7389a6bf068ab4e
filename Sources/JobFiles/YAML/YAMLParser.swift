import CYAML

/// The parser of libyaml.
struct YAMLParser: ~Copyable {
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

  /// Calls `take` with each event of the stream but its end; `source` is the text of the stream.
  func readAll(of source: SourceText, _ take: (yaml_event_t) throws(YAMLError) -> Void) throws(YAMLError) {
    var longQuote: (start: Place, end: Place)?
    // The lists and maps that are open, nil for one without brackets.
    var open: [Place?] = []
    while true {
      var event = yaml_event_t()
      guard yaml_parser_parse(parser, &event) == 1 else {
        throw YAMLProblem(parser.pointee, longQuote: longQuote, bracket: open.last ?? nil)
          .described(by: SyntaxAdvice(source))
      }
      defer { yaml_event_delete(&event) }
      if event.type == YAML_STREAM_END_EVENT { return }
      switch event.type {
      case YAML_SCALAR_EVENT:
        let style = event.data.scalar.style
        let isQuoted = style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE
        if isQuoted, event.start_mark.line < event.end_mark.line {
          longQuote = (Place(event.start_mark), Place(event.end_mark))
        }
      case YAML_SEQUENCE_START_EVENT:
        let hasBrackets = event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
        open.append(hasBrackets ? Place(event.start_mark) : nil)
      case YAML_MAPPING_START_EVENT:
        let hasBrackets = event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
        open.append(hasBrackets ? Place(event.start_mark) : nil)
      case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: _ = open.popLast()
      default: break
      }
      try take(event)
    }
  }
}

extension Place {
  init(_ mark: yaml_mark_t) { self.init(line: mark.line + 1, column: mark.column + 1) }
}
