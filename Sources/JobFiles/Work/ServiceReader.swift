import JobModel

/// Reads the value of a job's `service`.
struct ServiceReader {
  let values: ValueReader
  let commands: CommandReader

  private var faults: FaultLog { values.faults }

  /// The service; faulty values are left out.
  func read(_ node: YAMLNode) -> Service {
    // The probe of a faulty service, or `ready`: without one, each use of the service's values would be a fault too.
    var service = Service(probe: .notification)
    if case .scalar = node.content { return node.isNull ? service : Service() }
    guard let entries = JobFileKeys.service.read(node, into: &service, values) else { return service }
    if let node = entries["ready"]?.value {
      if let probe = readiness(node, into: &service) { service.probe = probe }
    } else if !entries.hasUnknown {
      service.probe = nil
    }
    if let node = entries["alive"]?.value { service.alive = alive(node) }
    return service
  }

  private func alive(_ node: YAMLNode) -> Service.Liveness? {
    if case .scalar = node.content {
      return values.address(node, "service.alive").map { Service.Liveness(.url($0)) }
    }
    var alive = Service.Liveness(.notification)
    guard let entries = JobFileKeys.alive.read(node, into: &alive, values) else { return nil }
    guard let probe = probe(entries, of: node, "service.alive", ["url", "port", "run"]) else { return nil }
    alive.probe = probe
    return alive
  }

  /// The probe of `ready`; nil after a fault.
  private func readiness(_ node: YAMLNode, into service: inout Service) -> Service.Probe? {
    if case .scalar(let text, _) = node.content {
      if text == "notify" { return .notification }
      if let advice = Self.advice(forReady: text) {
        return faults.fail(node.place, "service.ready: \(Quoted.text(text)) is no URL: write \(advice)")
      }
      return values.address(node, "service.ready").map { .url($0) }
    }
    guard let entries = JobFileKeys.ready.read(node, into: &service, values) else { return nil }
    return probe(entries, of: node, "service.ready", ["url", "port", "run", "output"])
  }

  /// The probe that one of the keys gives; nil after a fault.
  private func probe(
    _ entries: KnownEntries, of node: YAMLNode, _ name: String, _ names: [String]
  ) -> Service.Probe? {
    let probes = names.compactMap { entries[$0] }.sorted { $0.place < $1.place }
    let read = probes.map { probe($0, name) }
    if probes.isEmpty, !entries.hasUnknown {
      let (purpose, otherwise) =
        name == "service.ready" ? ("wait for", "a service that can be used at once") : ("probe", "none")
      faults.add(
        node.place,
        "\(name) says nothing to \(purpose): give it one of \(names.joined(last: "or")), or delete it for \(otherwise)")
    }
    for other in probes.dropFirst() {
      faults.add(
        other.place,
        "\(name) has one of \(names.joined(last: "or")), and this one has '\(probes[0].key)' already: delete one")
    }
    return read.first ?? nil
  }

  /// The meaning of a port or a truth value where a URL is expected.
  private static func advice(forReady text: String) -> String? {
    if text.lowercased() == "true" { return "'service: true' for one that can be used as soon as it is started" }
    let port = text.split(separator: ":", omittingEmptySubsequences: false)
    guard port.count <= 2, let number = port.last.flatMap({ UInt16($0) }), number > 0 else { return nil }
    return "'ready: { port: \(port.count == 1 ? text : "\"\(Quoted.bare(text))\"") }'"
  }

  private func probe(_ entry: YAMLEntry, _ owner: String) -> Service.Probe? {
    let (node, name) = (entry.value, "\(owner).\(entry.key)")
    switch entry.key {
    case "url": return values.address(node, name).map { .url($0) }
    case "port": return port(node, name)
    case "run": return commands.read(node, name).map { .command($0) }
    default: return values.pattern(node, name, takes: "a regular expression").map { .output($0) }
    }
  }

  private func port(_ node: YAMLNode, _ name: String) -> Service.Probe? {
    let takes = "a port from 1 to 65535, or HOST:PORT"
    guard let text = values.line(node, name, takes: takes) else { return nil }
    func fault(_ advice: String) -> Service.Probe? {
      faults.fail(node.place, "\(name) takes \(takes); this is \(Quoted.text(text)): \(advice)")
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

extension ValueKind<Duration> {
  /// A time between probes, which cost time themselves, or until the last.
  static let probeTime = ValueKind(.duration) { values, node, name in
    let shortest = Duration.milliseconds(10)
    guard let time = values.duration(node, name, canBeZero: true) else { return nil }
    guard time >= shortest else {
      return values.faults.fail(
        node.place,
        "\(name) takes \(DurationText.exact(shortest)) or longer; this is \(DurationText.exact(time)): write more, or delete it"
      )
    }
    return time
  }
}

extension ValueKind<YAMLNode> {
  /// A value of `service` that makes the job one; null for a faulty value, so that needs of the job are not faults too.
  static let service = ValueKind(.either([.flag, .object { JobFileKeys.service.form }])) { values, node, name in
    guard case .scalar(let text, _) = node.content else { return node }
    let faulty = YAMLNode(content: YAMLNode.null.content, place: node.place, end: node.end)
    if text.contains("://") {
      values.faults.add(
        node.place, "service takes true, or a map; this is \(node.words): write 'service: { ready: … }' for its URL")
      return faulty
    }
    guard !node.isNull else {
      values.faults.add(
        node.place, "service takes true, or a map as \(JobFileKeys.service.example); this is empty")
      return faulty
    }
    guard let isService = values.flag(node, "service") else { return ValueReader.flag(text) == false ? nil : faulty }
    return isService ? node : nil
  }
}
