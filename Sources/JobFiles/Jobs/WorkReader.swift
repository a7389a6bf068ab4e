import JobModel

/// Reads a job's work: the value of `run`, `download`, `upload` or `simulate`.
struct WorkReader {
  /// The method of an upload's request.
  enum Method: String, CaseIterable {
    case put = "PUT"
    case post = "POST"
    case patch = "PATCH"
  }

  let values: ValueReader
  /// The file's `env`, which a job's own `env` overrides.
  let environment: [String: String]
  /// The engine of jobs without an `on`.
  var engine = Engine.local
  /// The resources of cluster jobs that state none.
  var terms = ClusterTerms()

  private var faults: FaultLog { values.faults }

  /// The work and the place of a download's file name; nil after a fault.
  func read(_ entry: YAMLEntry, _ policy: JobPolicy) -> (work: JobWork, target: Place?)? {
    switch entry.key {
    case "run": shell(entry.value, policy).map { (.shell($0), nil) }
    case "download": download(entry.value, policy).map { (.download($0.work), $0.target) }
    case "upload": upload(entry.value, policy).map { (.upload($0), nil) }
    default: simulate(entry.value).map { (.simulate($0), nil) }
    }
  }

  private func shell(_ node: YAMLNode, _ policy: JobPolicy) -> ShellWork? {
    // The dictionary of the file is shared by the jobs without one of their own.
    let environment =
      policy.environment.isEmpty ? environment : policy.environment.merging(environment) { own, _ in own }
    let shell = policy.shell ?? ShellWork.standardShell
    let commands = CommandReader(values: values, shell: shell, names: Set(environment.keys))
    let service = policy.service.map { ServiceReader(values: values, commands: commands).read($0) }
    // A probe of a service may be a script.
    if case .list = node.content, let place = policy.shellPlace, !Self.isScript(service?.probe) {
      faults.add(place, "'shell' runs a script, and this job's run is a list, which has no shell: delete it")
    }
    guard let command = commands.read(node, "run", allowing: .outputs) else { return nil }
    let stop = ShellWork.Stop()
    var work = ShellWork(
      command, directory: policy.directory ?? values.folder(of: node.place), environment: environment,
      stop: ShellWork.Stop(signal: policy.stop.signal ?? stop.signal, grace: policy.stop.grace ?? stop.grace),
      progress: policy.progress, shell: shell, hasTerminal: policy.hasTerminal ?? false,
      stderr: policy.stderr ?? .together, silence: policy.silence, service: service)
    work.terms = policy.terms.over(terms)
    work.engine = work.canLeaveMachine ? policy.engine ?? engine : .local
    return work
  }

  private static func isScript(_ probe: Service.Probe?) -> Bool {
    if case .command(.script) = probe { true } else { false }
  }

  private func download(_ node: YAMLNode, _ policy: JobPolicy) -> (work: DownloadWork, target: Place)? {
    if case .scalar = node.content {
      guard let url = values.address(node, "download", allowing: .outputs) else { return nil }
      return target(nil, url: url, at: node.place).map {
        (DownloadWork(url: url, file: $0, stall: policy.stall ?? DownloadWork.standardStall), node.place)
      }
    }
    guard let entries = JobFileKeys.download.read(node, faults: faults) else { return nil }
    let url = entries["url"].flatMap { values.address($0.value, "download.url", allowing: .outputs) }
    let digest = entries["sha256"].flatMap { checksum($0.value) }
    let resume = entries["resume"].flatMap { values.flag($0.value, "download.resume") }
    let headers = entries["headers"].map { headerMap($0.value, "download.headers") }
    let stall = entries["stall"].flatMap { values.duration($0.value, "download.stall", canBeZero: true) }
    let to = entries["to"]
    let file =
      url != nil || to != nil ? target(to?.value, url: url, at: (entries["url"]?.value ?? node).place) : nil
    guard entries["url"] != nil else {
      missing("url", of: "download", entries)
      return nil
    }
    guard let url, let file else { return nil }
    let work = DownloadWork(
      url: url, file: file, sha256: digest, resume: resume ?? true, headers: headers ?? [:],
      stall: stall ?? policy.stall ?? DownloadWork.standardStall)
    return (work, (to ?? entries["url"])?.value.place ?? node.place)
  }

  /// The absolute path of a download's file.
  private func target(_ node: YAMLNode?, url: String?, at place: Place) -> String? {
    guard let node else {
      guard let url else { return nil }
      guard let name = WebAddress.fileName(of: url) else {
        return faults.fail(place, "the URL ends in no file name: give the file's name with 'to'")
      }
      return values.absolute(name, at: place)
    }
    guard let path = values.path(node, "download.to", takes: "the path of a file") else { return nil }
    if !FilePath.isAbsolute(path), FilePath.leaves(path) {
      return faults.fail(
        node.place, "download.to leaves the job file's folder: write an absolute path if that is meant")
    }
    let last = FilePath.name(of: path)
    if path.hasSuffix("/") || last == "." || last == ".." {
      return faults.fail(node.place, "download.to names a folder: write the path of a file in it")
    }
    return values.absolute(path, at: node.place)
  }

  private func upload(_ node: YAMLNode, _ policy: JobPolicy) -> UploadWork? {
    guard let entries = JobFileKeys.upload.read(node, faults: faults) else { return nil }
    let file = entries["file"].flatMap {
      values.path($0.value, "upload.file", takes: "the path of a file", allowing: .outputs)
    }
    let url = entries["url"].flatMap { values.address($0.value, "upload.url", allowing: .outputs) }
    let method = entries["method"].flatMap { values.choice($0.value, "upload.method", as: Method.self) }
    let headers = entries["headers"].map { headerMap($0.value, "upload.headers") }
    let stall = entries["stall"].flatMap { values.duration($0.value, "upload.stall", canBeZero: true) }
    for key in ["file", "url"] where entries[key] == nil { missing(key, of: "upload", entries) }
    guard let file, let url else { return nil }
    return UploadWork(
      file: values.absolute(file, at: node.place), url: url, method: (method ?? .put).rawValue, headers: headers ?? [:],
      stall: stall ?? policy.stall ?? DownloadWork.standardStall)
  }

  private func simulate(_ node: YAMLNode) -> SimulatedWork? {
    guard let entries = JobFileKeys.simulate.read(node, faults: faults) else { return nil }
    var work = SimulatedWork()
    if let entry = entries["duration"], let value = values.duration(entry.value, "simulate.duration", canBeZero: true) {
      work.duration = value
    }
    if let entry = entries["steps"], let value = values.whole(entry.value, "simulate.steps", in: 1...1_000_000) {
      work.steps = value
    }
    if let entry = entries["fail_rate"], let value = values.fraction(entry.value, "simulate.fail_rate") {
      work.failRate = value
    }
    if let entry = entries["seed"], let value = values.whole(entry.value, "simulate.seed", in: 0...UInt64.max) {
      work.seed = value
    }
    return work
  }

  private func missing(_ key: String, of owner: String, _ entries: KnownKeys.Entries) {
    if !entries.hasUnknown { faults.add(entries.place, "\(owner) has no \(key): add '\(key): …'") }
  }

  private func checksum(_ node: YAMLNode) -> String? {
    guard let text = values.text(node, "download.sha256", takes: "64 hexadecimal digits") else { return nil }
    guard text.utf8.count == 64, text.allSatisfy(isHexDigit) else {
      return faults.fail(
        node.place, "download.sha256 takes 64 hexadecimal digits; this is \(Quoted.text(text)), \(checksumMend(text))")
    }
    return text.lowercased()
  }

  /// What the faulty text seems to be, and the advice.
  private func checksumMend(_ text: String) -> String {
    let digits = text.split(whereSeparator: { ": =".contains($0) }).last { $0.count == 64 && $0.allSatisfy(isHexDigit) }
    if digits != nil { return "which has more than the digits: delete the rest" }
    let others = [32: "an MD5", 40: "a SHA-1", 96: "a SHA-384", 128: "a SHA-512"]
    if text.allSatisfy(isHexDigit), let kind = others[text.utf8.count] {
      return "as long as \(kind): write the file's SHA-256, as sha256sum prints it"
    }
    return "\(text.count) characters long: write the file's SHA-256, as sha256sum prints it"
  }

  private func isHexDigit(_ character: Character) -> Bool { character.isASCII && character.isHexDigit }

  private func headerMap(_ node: YAMLNode, _ name: String) -> [String: String] {
    var headers: [String: String] = [:]
    var seen: [String: Place] = [:]
    for entry in values.map(node, name, takes: "a map of header names to values") ?? [] {
      let isName = !entry.key.isEmpty && entry.key.utf8.allSatisfy(Self.isTokenByte)
      guard isName else {
        faults.add(entry.place, "\(Quoted.text(entry.key)) can't name a header: use letters, digits and '-'")
        continue
      }
      // The same spelling twice has been reported by the YAML reader.
      if let first = seen[entry.key.lowercased()], headers[entry.key] == nil {
        faults.add(
          entry.place, "header '\(entry.key)' is given at \(first.words) already: case does not count, so delete one")
      }
      seen[entry.key.lowercased()] = seen[entry.key.lowercased()] ?? entry.place
      guard let value = values.text(entry.value, "\(name).\(entry.key)", takes: "text", allowing: .outputs)
      else { continue }
      if value.unicodeScalars.contains(where: { $0 != "\t" && $0.properties.generalCategory == .control }) {
        faults.add(entry.value.place, "\(name).\(entry.key) holds a line break or control character: delete it")
        continue
      }
      headers[entry.key] = value
    }
    return headers
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
