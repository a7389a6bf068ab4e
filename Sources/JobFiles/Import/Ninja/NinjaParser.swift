import Basics
import JobModel

/// Reads a ninja file and its included files.
struct NinjaParser {
  let input: ImportInput
  let expander = NinjaExpander()
  private(set) var edges: [NinjaEdge] = []
  private(set) var defaults: [(path: String, place: Place)] = []
  /// The depth of each pool; 0 for one without a limit.
  private(set) var pools: [String: Int] = ["console": 1]
  /// The files that are being read, each named by the one before.
  private var open: [BytePath] = []

  /// How deep files may include each other.
  private static let depthLimit = 32

  init(_ input: ImportInput) { self.input = input }

  mutating func read() throws(ImportError) {
    let scope = NinjaScope(in: nil)
    scope.rules[NinjaRule.phony] = NinjaRule(name: NinjaRule.phony)
    open = [BytePath(FilePath.absolute(FilePath.name(of: input.faults.files[0].name), in: input.directory))]
    try read(input.faults.files[0].source, file: 0, scope)
  }

  private mutating func read(_ source: SourceText, file: Int, _ scope: NinjaScope) throws(ImportError) {
    var lexer = NinjaLexer(source, file: file)
    while true {
      let isIndented = try lexer.takeIndent()
      if lexer.isAtEnd { return }
      let place = lexer.place
      guard !isIndented else {
        throw ImportError(
          place: place, message: "this line is indented, but belongs to no line above: write it at the start")
      }
      let name = lexer.takeName()
      switch name {
      case "rule": try readRule(&lexer, place, scope)
      case "build": try readEdge(&lexer, place, scope)
      case "pool": try readPool(&lexer, place, scope)
      case "default": try readDefaults(&lexer, place, scope)
      case "include": try readFile(&lexer, place, scope, into: scope)
      case "subninja": try readFile(&lexer, place, scope, into: NinjaScope(in: scope))
      case "":
        throw ImportError(
          place: place, message: "ninja knows no line that begins so: delete it, or write '#' before a comment")
      default: scope.values[name] = try takeValue(of: name, &lexer, scope)
      }
    }
  }

  /// `= VALUE` after a name, with the variables of the scope.
  private func takeValue(
    of name: String, _ lexer: inout NinjaLexer, _ scope: NinjaScope
  ) throws(ImportError) -> String {
    let place = lexer.place
    return try expand(try takeText(of: name, &lexer), at: place, scope)
  }

  private func takeText(of name: String, _ lexer: inout NinjaLexer) throws(ImportError) -> NinjaText {
    guard lexer.take("=") else { throw lexer.fault("'=' is missing after \(Quoted.text(name)): write 'NAME = VALUE'") }
    return try lexer.takeValue()
  }

  private func expand(_ text: NinjaText, at place: Place, _ scope: NinjaScope) throws(ImportError) -> String {
    try expander.expand(text, at: place) { name throws(ImportError) in scope.value(of: name) ?? "" }
  }

  /// Calls `take` with each indented `NAME = …` line that follows, before its `=`.
  private func readIndented(
    _ lexer: inout NinjaLexer, _ take: (String, Place, inout NinjaLexer) throws(ImportError) -> Void
  ) throws(ImportError) {
    while true {
      // The lexer is where the next statement begins if its line is not indented.
      guard try lexer.takeIndent() else { return }
      let place = lexer.place
      let name = lexer.takeName()
      guard !name.isEmpty else {
        throw ImportError(place: place, message: "this indented line is not 'NAME = VALUE': write it so, or delete it")
      }
      try take(name, place, &lexer)
    }
  }

  // MARK: Statements

  private mutating func readRule(_ lexer: inout NinjaLexer, _ place: Place, _ scope: NinjaScope) throws(ImportError) {
    let name = lexer.takeName()
    guard !name.isEmpty else { throw lexer.fault("a rule has no name: write 'rule NAME'") }
    try lexer.takeLineBreak(after: "the name of the rule")
    guard scope.rules[name] == nil else {
      throw ImportError(place: place, message: "rule \(Quoted.text(name)) is given twice: delete one of them")
    }
    var rule = NinjaRule(name: name)
    try readIndented(&lexer) { key, place, lexer throws(ImportError) in
      guard NinjaRule.names.contains(key) else {
        let hint = NearestName.hint(for: key, in: NinjaRule.names.sorted(), otherwise: ": delete it")
        throw ImportError(place: place, message: "a rule has no \(Quoted.text(key))\(hint)")
      }
      rule.values[key] = try takeText(of: key, &lexer)
    }
    guard rule.values["command"] != nil else {
      throw ImportError(place: place, message: "rule \(Quoted.text(name)) has no command: write 'command = …' below it")
    }
    scope.rules[name] = rule
  }

  private mutating func readPool(_ lexer: inout NinjaLexer, _ place: Place, _ scope: NinjaScope) throws(ImportError) {
    let name = lexer.takeName()
    guard !name.isEmpty else { throw lexer.fault("a pool has no name: write 'pool NAME'") }
    try lexer.takeLineBreak(after: "the name of the pool")
    guard pools[name] == nil else {
      throw ImportError(place: place, message: "pool \(Quoted.text(name)) is given twice: delete one of them")
    }
    var depth: Int?
    try readIndented(&lexer) { key, place, lexer throws(ImportError) in
      guard key == "depth" else {
        throw ImportError(place: place, message: "a pool has no \(Quoted.text(key)): write 'depth = NUMBER'")
      }
      let value = try takeValue(of: key, &lexer, scope)
      guard let number = Int(value), (0...1_000_000).contains(number) else {
        throw ImportError(
          place: place, message: "depth takes a whole number up to 1000000; this is \(Quoted.text(value)): write one")
      }
      depth = number
    }
    guard let depth else {
      throw ImportError(
        place: place, message: "pool \(Quoted.text(name)) has no depth: write 'depth = NUMBER' below it")
    }
    pools[name] = depth
  }

  private mutating func readDefaults(
    _ lexer: inout NinjaLexer, _ place: Place, _ scope: NinjaScope
  ) throws(ImportError) {
    let paths = try takePaths(&lexer)
    guard !paths.isEmpty else { throw lexer.fault("default names no file: write 'default FILE'") }
    try lexer.takeLineBreak(after: "the files of default")
    for path in paths { defaults.append((try self.path(path, at: place, scope.value(of:)), place)) }
  }

  private mutating func readEdge(_ lexer: inout NinjaLexer, _ place: Place, _ scope: NinjaScope) throws(ImportError) {
    let explicitOutputs = try takePaths(&lexer)
    let implicitOutputs = lexer.take("|") ? try takePaths(&lexer) : []
    guard !explicitOutputs.isEmpty || !implicitOutputs.isEmpty else {
      throw lexer.fault("build names no file that it makes: write 'build FILE: RULE …'")
    }
    guard lexer.take(":") else {
      throw lexer.fault("':' is missing after the files that are made: write 'build FILE: RULE …'")
    }
    let rulePlace = lexer.place
    let name = lexer.takeName()
    guard let rule = scope.rule(named: name) else {
      let hint = NearestName.hint(for: name, in: scope.rules.keys.sorted(), otherwise: ": write it above this line")
      throw ImportError(place: rulePlace, message: "rule \(Quoted.text(name)) is unknown here\(hint)")
    }
    let explicitInputs = try takePaths(&lexer)
    var (implicit, orderOnly, validations): ([NinjaText], [NinjaText], [NinjaText]) = ([], [], [])
    if !lexer.isNext("||"), !lexer.isNext("|@"), lexer.take("|") { implicit = try takePaths(&lexer) }
    if lexer.take("||") { orderOnly = try takePaths(&lexer) }
    if lexer.take("|@") { validations = try takePaths(&lexer) }
    try lexer.takeLineBreak(after: "the files of build")

    var edge = NinjaEdge(place: place, rule: rule, scope: scope)
    try readIndented(&lexer) { key, _, lexer throws(ImportError) in
      edge.values[key] = try takeValue(of: key, &lexer, scope)
    }
    let value = { [values = edge.values] (name: String) in values[name] ?? scope.value(of: name) }
    edge.outputs = try paths(explicitOutputs + implicitOutputs, at: place, value)
    edge.explicitOutputs = explicitOutputs.count
    edge.inputs = try paths(explicitInputs + implicit, at: place, value)
    edge.explicitInputs = explicitInputs.count
    edge.orderOnly = try paths(orderOnly, at: place, value)
    edge.validations = try paths(validations, at: place, value)
    edges.append(edge)
  }

  private mutating func readFile(
    _ lexer: inout NinjaLexer, _ place: Place, _ scope: NinjaScope, into inner: NinjaScope
  ) throws(ImportError) {
    let path = try path(try lexer.takePath(), at: place, scope.value(of:))
    try lexer.takeLineBreak(after: "the path")
    let absolute = BytePath(input.absolute(path))
    guard !open.contains(absolute) else {
      throw ImportError(place: place, message: "\(Quoted.text(path)) includes itself: delete one of these lines")
    }
    guard open.count < Self.depthLimit else {
      throw ImportError(
        place: place, message: "more than \(Self.depthLimit) files include each other: put some of them together")
    }
    guard let (number, source) = try input.other(path, at: place) else {
      throw ImportError(
        place: place, message: "\(Quoted.text(path)) does not exist: generate it first, or delete the line")
    }
    open.append(absolute)
    try read(source, file: number, inner)
    open.removeLast()
  }

  // MARK: Paths

  private func takePaths(_ lexer: inout NinjaLexer) throws(ImportError) -> [NinjaText] {
    var paths: [NinjaText] = []
    while true {
      let path = try lexer.takePath()
      if path.isEmpty { return paths }
      paths.append(path)
    }
  }

  private func paths(
    _ texts: [NinjaText], at place: Place, _ value: (String) -> String?
  ) throws(ImportError) -> [String] {
    var paths: [String] = []
    for text in texts { paths.append(try path(text, at: place, value)) }
    return paths
  }

  private func path(_ text: NinjaText, at place: Place, _ value: (String) -> String?) throws(ImportError) -> String {
    let path = try expander.expand(text, at: place) { name throws(ImportError) in value(name) ?? "" }
    guard !path.isEmpty else {
      throw ImportError(place: place, message: "a path on this line is empty: write one, or give its variable a value")
    }
    return NinjaExpander.canonical(path)
  }
}
