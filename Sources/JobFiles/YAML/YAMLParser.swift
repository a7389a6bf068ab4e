import CYAML

/// The events of libyaml.
struct YAMLParser: ~Copyable {
  enum Event {
    case scalar(String, isPlain: Bool, tag: String?, anchor: String?, Place, end: Place)
    case listStart(tag: String?, anchor: String?, Place)
    case mapStart(tag: String?, anchor: String?, Place)
    /// The end of a list or a map.
    case end(Place)
    case alias(String, Place, end: Place)
    case documentStart(Place)
    case documentEnd
    case streamEnd
  }

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

  mutating func next() throws(Problem) -> Event {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw YAMLProblem.describe(parser.pointee) }
    defer { yaml_event_delete(&event) }
    let start = Place(event.start_mark)
    let end = Place(event.end_mark)
    switch event.type {
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
      return .scalar(
        text, isPlain: isPlain, tag: Self.text(scalar.tag), anchor: Self.text(scalar.anchor), start, end: end)
    case YAML_SEQUENCE_START_EVENT:
      let list = event.data.sequence_start
      return .listStart(tag: Self.text(list.tag), anchor: Self.text(list.anchor), start)
    case YAML_MAPPING_START_EVENT:
      let map = event.data.mapping_start
      return .mapStart(tag: Self.text(map.tag), anchor: Self.text(map.anchor), start)
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return .end(end)
    case YAML_ALIAS_EVENT: return .alias(Self.text(event.data.alias.anchor) ?? "", start, end: end)
    case YAML_DOCUMENT_START_EVENT: return .documentStart(start)
    case YAML_DOCUMENT_END_EVENT: return .documentEnd
    case YAML_STREAM_START_EVENT: return try next()
    default: return .streamEnd
    }
  }

  private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    pointer.map { String(cString: $0) }
  }
}

extension Place {
  init(_ mark: yaml_mark_t) { self.init(line: mark.line + 1, column: mark.column + 1) }
}
