import Basics

// The advice for service keys of Compose, process-compose and Kubernetes.

extension ForeignKeys {
  /// For a probe of a job: `write 'service: { ready: { url: … } }'`, or for one inside of `service` or of the key.
  static func probe(_ key: String, isInside: Bool = false) -> Finder {
    { node in
      let probe = "\(key): { \(ready(of: node) ?? "url: http://…") }"
      return .init(isInside ? "write '\(probe)'" : "write 'service: { \(probe) }'")
    }
  }

  static let restart: Finder = { node in
    guard let word = restartWord(node) else {
      return .init("write 'retry' if it should be tried again after a failure")
    }
    guard word != "never" else { return .init("no job is started again without 'retry': delete it") }
    return .init(
      "write 'service: { restart: \(word) }' for what runs while others need it, or 'retry' for a job that ends")
  }

  /// Our word for when a service is started again, from a text or a map with `restart` or `condition`.
  static func restartWord(_ node: YAMLNode) -> String? {
    if let inner = value(["restart", "condition"], of: node) { return restartWord(inner) }
    // `on-failure:3`
    guard let text = scalar(node)?.prefix(while: { $0 != ":" }) else { return nil }
    let word = ForeignValues.restart[text.lowercased()] ?? text.lowercased()
    return ["never", "on-failure", "always"].contains(word) ? word : nil
  }

  /// A value of another tool in our flow style.
  static func text(_ node: YAMLNode) -> String {
    switch node.content {
    case .scalar(let text, _): node.isNull ? "…" : Quoted.bare(text)
    case .list(let items): "[" + items.map(text).joined(separator: ", ") + "]"
    case .map: "…"
    }
  }

  /// A probe's condition in our words; nil if it has none.
  private static func ready(of node: YAMLNode) -> String? {
    if let get = value(["httpget"], of: node) { return "url: \(url(get))" }
    if let socket = value(["tcpsocket"], of: node) { return "port: \(value(["port"], of: socket).map(text) ?? "…")" }
    if let exec = value(["exec"], of: node) { return "run: \(command(value(["command"], of: exec) ?? exec))" }
    if let test = value(["test", "command"], of: node) { return "run: \(command(test))" }
    if let port = value(["port"], of: node) {
      return value(["path", "scheme"], of: node) == nil ? "port: \(text(port))" : "url: \(url(node))"
    }
    return nil
  }

  private static func url(_ node: YAMLNode) -> String {
    func part(_ key: String) -> String? { value([key], of: node).flatMap(scalar) }
    let path = part("path") ?? "/"
    return "\(part("scheme")?.lowercased() ?? "http")://\(part("host") ?? "127.0.0.1")"
      + (part("port").map { ":\($0)" } ?? "") + (path.isAbsolutePath ? path : "/" + path)
  }

  /// A command without the words that Compose puts before it.
  private static func command(_ node: YAMLNode) -> String {
    guard case .list(let items) = node.content, let first = items.first, ["CMD", "CMD-SHELL"].contains(text(first))
    else {
      return text(node)
    }
    if text(first) == "CMD-SHELL", items.count == 2 { return text(items[1]) }
    return "[" + items.dropFirst().map(text).joined(separator: ", ") + "]"
  }

  /// The value of the first of these keys, which are in lower case without '-' and '_'.
  private static func value(_ keys: [String], of node: YAMLNode) -> YAMLNode? {
    guard case .map(let entries) = node.content else { return nil }
    return entries.first { entry in
      keys.contains(entry.key.lowercased().filter { $0 != "-" && $0 != "_" })
    }?.value
  }
}
