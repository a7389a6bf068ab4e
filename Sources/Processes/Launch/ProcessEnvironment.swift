/// The environment variables of a program.
///
/// A dictionary literal adds to the inherited variables: `["LANG": "C"]`. `OPDASH_RUN` is always set: it identifies
/// descendants that have left the program's group.
public struct ProcessEnvironment: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// Whether the variables of this process are passed on.
  let isInherited: Bool
  let variables: [String: String]
  let removed: Set<String>

  private init(isInherited: Bool, _ variables: [String: String], removed: Set<String> = []) {
    self.isInherited = isInherited
    self.variables = variables
    self.removed = removed
  }

  /// The environment that this process had when it started its first program.
  public static let inherited = ProcessEnvironment(isInherited: true, [:])

  /// The inherited environment with these variables added or replaced, and others removed.
  public static func inherited(
    adding variables: [String: String], removing removed: Set<String> = []
  ) -> ProcessEnvironment {
    ProcessEnvironment(isInherited: true, variables, removed: removed.subtracting(variables.keys))
  }

  /// The same environment without these variables of this process.
  package func removing(_ names: Set<String>) -> ProcessEnvironment {
    ProcessEnvironment(
      isInherited: isInherited, variables, removed: removed.union(names.subtracting(variables.keys)))
  }

  /// Only these variables; without a `PATH` among them, programs are looked up in `/usr/local/bin:/usr/bin:/bin`.
  public static func only(_ variables: [String: String]) -> ProcessEnvironment {
    ProcessEnvironment(isInherited: false, variables)
  }

  /// The inherited environment with these variables added or replaced; if a name occurs twice, the last value counts.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(isInherited: true, Dictionary(elements) { _, last in last })
  }

  /// The variables for a program with its own terminal; this process's variables describe another one.
  var forTerminal: ProcessEnvironment {
    var added = variables
    if added["TERM"] == nil, !removed.contains("TERM") { added["TERM"] = "xterm-256color" }
    return ProcessEnvironment(isInherited: isInherited, added, removed: removed.union(["COLUMNS", "LINES"]))
  }

  /// The variables for a program in another directory than this process; `PWD` is corrected, as in a shell.
  func forDirectory(_ directory: String) -> ProcessEnvironment {
    guard passes(on: "PWD") else { return self }
    let added = variables.merging(["PWD": directory]) { _, directory in directory }
    return ProcessEnvironment(isInherited: isInherited, added, removed: removed)
  }

  func passes(on name: String) -> Bool { isInherited && variables[name] == nil && !removed.contains(name) }

  /// Whether the program gets the environment of this process as it is.
  var isUnchanged: Bool { isInherited && variables.isEmpty && removed.isEmpty }
}
