import JobModel

/// Reads the value of a job's `service`.
struct ServiceReader {
  /// The shortest time between two probes, which cost time themselves.
  private static let shortest = Duration.milliseconds(10)

  let values: ValueReader
  let commands: CommandReader

  private var faults: FaultLog { values.faults }

  /// The service; faulty values are left out.
  func read(_ node: YAMLNode) -> Service {
    // `service: true`
    if case .scalar = node.content { return Service() }
    var service = Service()
    guard let entries = JobFileKeys.service.read(node, faults: faults) else { return service }
    if let node = entries["ready"]?.value { readReady(node, into: &service) }
    let restart = entries["restart"].flatMap {
      values.choice($0.value, "service.restart", as: Service.Restart.self, others: Self.restarts)
    }
    service.restart = restart ?? .never
    return service
  }

  /// The words of other tools for when a service is started again.
  static let restarts = [
    "no": "never", "false": "never", "none": "never", "exit_on_failure": "never", "unless-stopped": "always",
    "unless_stopped": "always", "true": "always", "yes": "always", "any": "always", "on_failure": "on-failure",
    "onfailure": "on-failure", "failure": "on-failure", "abnormal": "on-failure", "transient": "on-failure",
  ]

  /// How often work is repeated whose job says nothing of that: a service may be started again five times.
  static func standardRetry(of work: JobWork) -> RetryPolicy {
    guard case .shell(let shell) = work, let service = shell.service, service.restart != .never else { return .never }
    return RetryPolicy(max: 5)
  }

  private func readReady(_ node: YAMLNode, into service: inout Service) {
    if case .scalar(let text, _) = node.content {
      if let mend = Self.mend(forReady: text) {
        faults.add(node.place, "service.ready: \(Quoted.text(text)) is no URL: write \(mend)")
      } else {
        service.probe = values.address(node, "service.ready").map { .url($0) }
      }
      return
    }
    guard let entries = JobFileKeys.ready.read(node, faults: faults) else { return }
    let names = ["url", "port", "run", "output"]
    let probes = names.compactMap { entries[$0] }.sorted { $0.place < $1.place }
    let read = probes.map { probe($0) }
    service.probe = read.first ?? nil
    if probes.isEmpty, !entries.hasUnknown {
      faults.add(
        node.place,
        "service.ready says nothing to wait for: give it one of \(names.joined(last: "or")), or delete it for a service "
          + "that can be used at once")
    }
    for other in probes.dropFirst() {
      faults.add(
        other.place,
        "service.ready has one of \(names.joined(last: "or")), and this one has '\(probes[0].key)' already: delete one")
    }
    if let entry = entries["every"], let time = time(entry.value, "service.ready.every") { service.interval = time }
    if let entry = entries["timeout"], let time = time(entry.value, "service.ready.timeout") { service.limit = time }
  }

  /// The meaning of a port or a truth value where a URL is expected.
  private static func mend(forReady text: String) -> String? {
    if text.lowercased() == "true" { return "'service: true' for one that can be used as soon as it is started" }
    let port = text.split(separator: ":", omittingEmptySubsequences: false)
    guard port.count <= 2, let number = port.last.flatMap({ UInt16($0) }), number > 0 else { return nil }
    return "'ready: { port: \(port.count == 1 ? text : "\"\(Quoted.bare(text))\"") }'"
  }

  private func time(_ node: YAMLNode, _ name: String) -> Duration? {
    guard let time = values.duration(node, name, canBeZero: true) else { return nil }
    guard time >= Self.shortest else {
      return faults.fail(
        node.place,
        "\(name) takes \(DurationText.exact(Self.shortest)) or longer; this is \(DurationText.exact(time)): write more, or delete it"
      )
    }
    return time
  }

  private func probe(_ entry: YAMLEntry) -> Service.Probe? {
    let node = entry.value
    switch entry.key {
    case "url": return values.address(node, "service.ready.url").map { .url($0) }
    case "port": return port(node)
    case "run": return commands.read(node, "service.ready.run").map { .command($0) }
    default:
      return values.pattern(node, "service.ready.output", takes: "a regular expression").map { .output($0) }
    }
  }

  private func port(_ node: YAMLNode) -> Service.Probe? {
    let takes = "a port from 1 to 65535, or HOST:PORT"
    guard let text = values.line(node, "service.ready.port", takes: takes) else { return nil }
    func fault(_ mend: String) -> Service.Probe? {
      faults.fail(node.place, "service.ready.port takes \(takes); this is \(Quoted.text(text)): \(mend)")
    }
    let end = text.lastIndex(of: ":")
    let digits = end.map { text[text.index(after: $0)...] } ?? text[...]
    let host = end.map { text[..<$0] } ?? "127.0.0.1"
    if text.contains("://") { return fault("write 'url' for an HTTP server, or the port alone") }
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      return fault("write the number of the port")
    }
    guard let number = UInt16(digits), number > 0 else { return fault("write a number from 1 to 65535") }
    if host.isEmpty || host.allSatisfy({ $0.isASCII && $0.isNumber }) { return fault("write \(number)") }
    if host.hasPrefix("["), host.hasSuffix("]") {
      let address = host.dropFirst().dropLast()
      guard address.contains(":"), address.allSatisfy({ $0.isHexDigit || ":.%".contains($0) }) else {
        return fault("write an IPv6 address between the brackets, as in '[::1]:\(number)'")
      }
      return .port(host: String(address), number)
    }
    if host.contains(":") {
      return fault("put the IPv6 address in brackets, as in '[\(Quoted.bare(String(host)))]:\(number)'")
    }
    guard host.allSatisfy({ $0.isLetter || $0.isNumber || ".-_".contains($0) }) else {
      return fault("write the name of a host, as in 'localhost:\(number)'")
    }
    return .port(host: String(host), number)
  }
}
