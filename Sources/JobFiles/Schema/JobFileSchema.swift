/// The JSON Schema of job files, for editors; made of the tables of keys that the decoder reads.
///
/// Accepts every good file, and refuses faults that a table shows: unknown keys, values of a wrong kind, and a job
/// with no work or with more than one.
package enum JobFileSchema {
  /// The schema as lines of text, of draft 2020-12.
  package static func json() -> String {
    let maps = allMaps
    let head: [(key: String, value: SchemaValue)] = [
      ("$schema", .text("https://json-schema.org/draft/2020-12/schema")), ("title", .text("opdash job file")),
    ]
    let definitions = maps.dropFirst().map { (key: identifier(of: $0), value: SchemaValue.object(entries(of: $0))) }
    return SchemaValue.object(head + entries(of: maps[0]) + [("$defs", .object(shared + definitions))]).json()
  }

  /// The maps of a job file, itself the first, each once.
  static var allMaps: [MapForm] {
    var found: [MapForm] = []
    var open = [JobFileKeys.file.form]
    while !open.isEmpty {
      let map = open.removeFirst()
      guard !found.contains(where: { $0.owner == map.owner }) else { continue }
      found.append(map)
      open += map.keys.flatMap { maps(in: $0.takes) }
    }
    return found
  }

  private static func maps(in form: ValueForm) -> [MapForm] {
    switch form {
    case .object(let form): [form()]
    case .map(let inner), .list(let inner): maps(in: inner)
    case .either(let forms): forms.flatMap(maps)
    default: []
    }
  }

  /// `job` for `a job`.
  static func identifier(of map: MapForm) -> String {
    var words = map.owner.split(separator: " ")[...]
    if words.first == "a" || words.first == "an" { words = words.dropFirst() }
    return words.joined(separator: "-")
  }

  // MARK: Schemas

  private static func entries(of map: MapForm) -> [(key: String, value: SchemaValue)] {
    var entries: [(key: String, value: SchemaValue)] = [
      ("type", .text("object")),
      (
        "properties",
        .object(
          map.keys.map { key in
            var entries = schema(of: key.takes)
            entries.insert(("description", .text(key.text)), at: 0)
            return (key.name, .object(entries))
          })
      ), ("patternProperties", .object([("^x-", .flag(true))])), ("additionalProperties", .flag(false)),
    ]
    if map.owner == JobFileKeys.job.owner || map.owner == JobFileKeys.finalJob.owner {
      let works = JobFileKeys.work.map { SchemaValue.object([("required", .list([.text($0)]))]) }
      entries.append(("oneOf", .list(works)))
      entries.append(("dependentRequired", .object(JobFileKeys.shell.map { ($0, .list([.text("run")])) })))
    }
    return entries
  }

  private static func schema(of form: ValueForm) -> [(key: String, value: SchemaValue)] {
    switch form {
    case .text: return reference("text")
    case .string: return [("type", .text("string"))]
    case .flag: return reference("flag")
    case .duration: return reference("duration")
    case .pattern: return [("type", .text("string")), ("minLength", .number(1))]
    case .url: return reference("url")
    case .port: return reference("port")
    case .whole(let range):
      var entries: [(key: String, value: SchemaValue)] = [
        ("type", .text("integer")), ("minimum", .number(range.lowerBound)),
      ]
      if range.upperBound < .max { entries.append(("maximum", .number(range.upperBound))) }
      return orExpansion(entries)
    case .fraction:
      return orExpansion([("type", .text("number")), ("minimum", .number(0)), ("maximum", .number(1))])
    case .choice(let names):
      // A word of digits is a number to YAML.
      let values = names.flatMap { name in [SchemaValue.text(name)] + (Int(name).map { [.number($0)] } ?? []) }
      return orExpansion([("enum", .list(values))])
    case .signal(let names):
      let inAnyCase = names.map { $0.map { $0.isLetter ? "[\($0)\($0.lowercased())]" : "\($0)" }.joined() }
      return orExpansion([
        ("type", .text("string")), ("pattern", .text("^([Ss][Ii][Gg])?(\(inAnyCase.joined(separator: "|")))$")),
      ])
    case .map(let inner):
      return [("type", .list([.text("object"), .text("null")])), ("additionalProperties", .object(schema(of: inner)))]
    case .list(let inner): return [("type", .text("array")), ("items", .object(schema(of: inner)))]
    case .object(let form): return reference(identifier(of: form()))
    case .either(let forms): return [("anyOf", .list(forms.map { .object(schema(of: $0)) }))]
    }
  }

  private static func reference(_ name: String) -> [(key: String, value: SchemaValue)] {
    [("$ref", .text("#/$defs/\(name)"))]
  }

  private static func orExpansion(
    _ entries: [(key: String, value: SchemaValue)]
  ) -> [(key: String, value: SchemaValue)] {
    [("anyOf", .list([.object(entries), .object(reference("variable"))]))]
  }

  /// The schemas of values that many keys take.
  private static let shared: [(key: String, value: SchemaValue)] = {
    let number = #"\d+(\.\d+)?"#
    let duration = "^(?=.)(\(number)h)?(\(number)m)?(\(number)s)?(\(number)ms)?$|^0$"
    let string = (key: "type", value: SchemaValue.text("string"))
    func texts(_ pattern: String) -> SchemaValue { .object([string, ("pattern", .text(pattern))]) }
    let variable = SchemaValue.object(reference("variable"))
    return [
      (
        "variable",
        .object([
          ("description", .text("text with ${NAME}, ${env.NAME} or the like")), string, ("pattern", .text(#"\$\{"#)),
        ])
      ),
      ("text", .object([("type", .list([.text("string"), .text("number"), .text("boolean")]))])),
      ("flag", .object([("anyOf", .list([.object([("type", .text("boolean"))]), variable]))])),
      (
        "duration",
        .object([
          ("description", .text("a duration as 500ms, 8s, 10m or 1h30m")),
          ("anyOf", .list([texts(duration), .object([("const", .number(0))]), variable])),
        ])
      ),
      ("url", .object([("anyOf", .list([texts("^[Hh][Tt][Tt][Pp][Ss]?://"), variable]))])),
      (
        "port",
        .object([
          (
            "anyOf",
            .list([
              .object([("type", .text("integer")), ("minimum", .number(1)), ("maximum", .number(65535))]),
              texts(#"^(([^:\s]+|\[[0-9A-Fa-f:.%]+\]):)?\d{1,5}$"#), variable,
            ])
          )
        ])
      ),
    ]
  }()
}
