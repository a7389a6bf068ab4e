import CYAML
import JobModel

/// Reads one YAML document, resolves aliases and merge keys, and reports duplicate keys.
struct YAMLReader {
  /// The deepest nesting, which no job file needs and every stack can hold.
  static let depthLimit = 64
  /// Values that aliases may add, besides twenty times the number of values in the text.
  static let aliasAllowance = 1_000_000

  /// The size of a value, with aliases resolved.
  private struct Size {
    /// The number of keys and values in it, itself included.
    var weight = 1
    /// The levels of lists and maps in it.
    var depth = 0
  }

  /// A list or map that is not complete.
  private struct Frame {
    var place: Place
    var anchor: String?
    var isMap: Bool
    /// Where its own begin in `items` or `entries`.
    var start: Int
    var size = Size(depth: 1)
    /// The key of the next value; its text is nil if it is unusable.
    var key: (text: String?, place: Place)?
    var keys = FirstPositions()
    /// The maps of `<<`; nil without this key.
    var merged: [YAMLNode]?
  }

  private let faults: FaultLog
  /// The number of the file in places.
  private let file: Int
  private var frames: [Frame] = []
  /// The items of all lists and the entries of all maps that are not complete, the innermost last.
  private var items: [YAMLNode] = []
  private var entries: [YAMLEntry] = []
  private var anchors: [String: (node: YAMLNode, size: Size)] = [:]
  private var openAnchors: Set<String> = []
  private var root: YAMLNode?
  private var written = 0
  private var aliased = 0

  /// Reads a file of a log, also one of JSON with escapes that libyaml doesn't know; nil for one without a document.
  ///
  /// Throws if the rest can't be read; other faults are added to `faults`.
  static func read(_ number: Int, _ faults: FaultLog) throws(YAMLError) -> YAMLNode? {
    let source = faults.files[number].source
    do throws(YAMLError) {
      return try read(source, faults: faults, file: number)
    } catch {
      guard error.isBadEscape, let joined = JSONEscapes.joined(source.bytes) else { throw error }
      faults.replaceSource(of: number, by: SourceText(checked: joined))
      return try read(faults.files[number].source, faults: faults, file: number)
    }
  }

  /// Nil for a stream without a document; `file` is its number in `faults`.
  static func read(_ source: SourceText, faults: FaultLog, file: Int = 0) throws(YAMLError) -> YAMLNode? {
    // A typed error can't be thrown through the closure.
    let result = source.bytes.withUnsafeBufferPointer { bytes -> Result<YAMLNode?, YAMLError> in
      guard let parser = YAMLParser(bytes) else {
        return .failure(.init(place: .start, message: "there is not enough memory to read the file"))
      }
      var reader = YAMLReader(faults: faults, file: file)
      do throws(YAMLError) {
        try parser.readAll(of: source) { event throws(YAMLError) in try reader.take(event) }
        return .success(reader.root)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private init(faults: FaultLog, file: Int) {
    self.faults = faults
    self.file = file
  }

  private mutating func take(_ event: yaml_event_t) throws(YAMLError) {
    var place: Place { Place(event.start_mark, file: file) }
    var end: Place { Place(event.end_mark, file: file) }
    switch event.type {
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      let tag = Self.text(scalar.tag)
      check(tag, on: place, allowed: ["str", "int", "float", "bool", "null"])
      let isText = tag.map { $0 == "!" || $0 == Self.prefix + "str" } ?? false
      let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE && !isText
      add(
        YAMLNode(content: .scalar(text, isPlain: isPlain), place: place, end: end), Size(),
        anchor: Self.text(scalar.anchor))
    case YAML_SEQUENCE_START_EVENT:
      check(Self.text(event.data.sequence_start.tag), on: place, allowed: ["seq"])
      try open(
        Frame(place: place, anchor: Self.text(event.data.sequence_start.anchor), isMap: false, start: items.count))
    case YAML_MAPPING_START_EVENT:
      check(Self.text(event.data.mapping_start.tag), on: place, allowed: ["map"])
      try open(
        Frame(place: place, anchor: Self.text(event.data.mapping_start.anchor), isMap: true, start: entries.count))
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: close(at: end)
    case YAML_ALIAS_EVENT: try resolve(Self.text(event.data.alias.anchor) ?? "", place, end: end)
    case YAML_DOCUMENT_START_EVENT where root != nil:
      throw .init(
        place: place, message: "a second document begins here: \(faults.kind) holds one, so move it to its own file")
    default: break
    }
  }

  private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    pointer.map { String(cString: $0) }
  }

  private static let prefix = "tag:yaml.org,2002:"

  private func check(
    _ tag: String?, on place: @autoclosure () -> Place, allowed: @autoclosure () -> [String]
  ) {
    guard let tag, tag != "!", !allowed().contains(where: { tag == Self.prefix + $0 }) else { return }
    faults.add(
      place(), "tag \(Quoted.text(tag)) means nothing here: delete it, or put text that begins with ! in quotes")
  }

  private mutating func open(_ frame: Frame) throws(YAMLError) {
    guard frames.count < Self.depthLimit else {
      throw tooDeep(frame.place)
    }
    if let anchor = frame.anchor { openAnchors.insert(anchor) }
    frames.append(frame)
  }

  private func tooDeep(_ place: Place) -> YAMLError {
    .init(place: place, message: "more than \(Self.depthLimit) levels deep: \(faults.kind) needs fewer than 10")
  }

  private mutating func close(at end: Place) {
    guard var frame = frames.popLast() else { return }
    if let anchor = frame.anchor { openAnchors.remove(anchor) }
    let content: YAMLNode.Content
    if frame.isMap {
      merge(into: &frame)
      content = .map(entries.cut(from: frame.start))
    } else {
      content = .list(items.cut(from: frame.start))
    }
    add(YAMLNode(content: content, place: frame.place, end: end), frame.size, anchor: frame.anchor)
  }

  private mutating func resolve(_ name: String, _ place: Place, end: Place) throws(YAMLError) {
    guard !openAnchors.contains(name) else {
      throw .init(
        place: place, message: "alias *\(Quoted.bare(name)) stands inside the value that it names: write the value out")
    }
    guard case (var node, let size)? = anchors[name] else {
      let hint = NearestName.hint(for: name, in: anchors.keys.sorted())
      throw .init(
        place: place,
        message:
          "alias *\(Quoted.bare(name)) names nothing that came before\(hint.isEmpty ? ": mark a value with &\(Quoted.bare(name))" : hint)"
      )
    }
    // An alias in a value that another alias stands for makes both deeper.
    guard frames.count + size.depth <= Self.depthLimit else { throw tooDeep(place) }
    aliased = aliased &+ size.weight
    guard aliased <= Self.aliasAllowance + 20 * written else {
      throw .init(
        place: place, message: "the aliases up to here stand for more than \(aliased - size.weight) values: write fewer"
      )
    }
    // Faults in the value are reported where it is written; only for a list or map the place is that of the alias.
    if case .scalar = node.content { (node.place, node.end) = (place, end) }
    add(node, size, anchor: nil)
  }

  /// Adds a complete value as a key, a value, an item, or the whole document.
  private mutating func add(_ node: YAMLNode, _ size: Size, anchor: String?) {
    written += 1
    if let anchor { anchors[anchor] = (node, size) }
    guard let top = frames.indices.last else {
      root = node
      return
    }
    frames[top].size.weight += size.weight
    frames[top].size.depth = max(frames[top].size.depth, size.depth + 1)
    guard frames[top].isMap else {
      items.append(node)
      return
    }
    guard let key = frames[top].key else {
      if case .scalar(let text, _) = node.content {
        frames[top].key = (text, node.place)
      } else {
        faults.add(
          node.place, "a key is \(node.words): write a plain word, or quote the text if the brackets belong to it")
        frames[top].key = (nil, node.place)
      }
      return
    }
    frames[top].key = nil
    guard let text = key.text else { return }
    if let first = frames[top].keys.position(of: text, in: entries, from: frames[top].start, by: \.key) {
      let place = entries[first].place.words
      faults.add(key.place, "duplicate key \(Quoted.text(text)), given at \(place) already: delete one of them")
    }
    entries.append(YAMLEntry(key: text, place: key.place, value: node))
    if text == "<<" { frames[top].merged = (frames[top].merged ?? []) + sources(of: node) }
  }

  private func sources(of node: YAMLNode) -> [YAMLNode] {
    switch node.content {
    case .map: return [node]
    case .list(let items):
      return items.filter { item in
        if case .map = item.content { return true }
        faults.add(item.place, "'<<' takes a map or a list of maps; this is \(item.words)")
        return false
      }
    case .scalar:
      faults.add(node.place, "'<<' takes a map or a list of maps; this is \(node.words)")
      return []
    }
  }

  /// A key of the map itself precedes a merged one, an earlier merged map a later one.
  private mutating func merge(into frame: inout Frame) {
    guard let merged = frame.merged else { return }
    for source in merged {
      guard case .map(let others) = source.content else { continue }
      for other in others
      where frame.keys.position(of: other.key, in: entries, from: frame.start, by: \.key) == nil {
        entries.append(other)
      }
    }
    entries[frame.start...].removeAll { $0.key == "<<" }
  }
}

extension Array {
  /// Moves the elements from a position on into an array of their own, which has no room for more.
  fileprivate mutating func cut(from start: Int) -> [Element] {
    let own = Array(self[start...])
    // One by one: `removeLast(_:)` takes longer for so few.
    while count > start { removeLast() }
    return own
  }
}

/// The parser of libyaml.
private struct YAMLParser: ~Copyable {
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
  init(_ mark: yaml_mark_t, file: Int = 0) { self.init(line: mark.line + 1, column: mark.column + 1, file: file) }
}
