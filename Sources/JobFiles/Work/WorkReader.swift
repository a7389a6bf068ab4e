import Basics
import JobModel

/// Reads a job's work: the value of `run`, `download`, `upload` or `simulate`.
struct WorkReader {
  let values: ValueReader

  private var faults: FaultLog { values.faults }

  /// The work and the place of a download's file name; nil after a fault.
  func read(_ entry: YAMLEntry, _ policy: Shared<JobPolicy>) -> (work: JobWork, target: Place?)? {
    switch entry.key {
    case "run": shell(entry.value, policy).map { (.shell($0), nil) }
    case "download": download(entry.value, policy).map { (.download($0.work), $0.target) }
    case "upload": upload(entry.value, policy).map { (.upload($0), nil) }
    default: simulate(entry.value).map { (.simulate($0), nil) }
    }
  }

  private func shell(_ node: YAMLNode, _ policy: Shared<JobPolicy>) -> ShellWork? {
    let commands = CommandReader(values: values, shell: policy.value.shell, environment: policy.value.environment)
    let service = policy.value.service.map { ServiceReader(values: values, commands: commands).read($0) }
    // A probe of a service may be a script.
    if case .list = node.content, let place = policy.value.shellPlace, !Self.isScript(service?.probe),
      !Self.isScript(service?.alive?.probe)
    {
      faults.add(place, "'shell' runs a script, and this job's run is a list, which has no shell: delete it")
    }
    guard let command = commands.read(node, "run", allowing: .outputs) else { return nil }
    var work = ShellWork(
      command, directory: policy.value.directory ?? values.folder(of: node.place),
      environment: policy.value.environment,
      stop: policy.value.stop, progress: policy.value.progress, shell: policy.value.shell,
      hasTerminal: policy.value.hasTerminal ?? false,
      stderr: policy.value.stderr ?? .together, silence: policy.value.silence, service: service)
    work.jobserver = policy.value.jobserver ?? .none
    work.clusterRequest = policy.value.clusterRequest
    work.engine = work.canLeaveMachine ? policy.value.engine ?? .local : .local
    return work
  }

  private static func isScript(_ probe: Service.Probe?) -> Bool {
    if case .command(.script) = probe { true } else { false }
  }

  private func download(_ node: YAMLNode, _ policy: Shared<JobPolicy>) -> (work: DownloadWork, target: Place)? {
    var work = DownloadWork(url: "", file: "", stall: policy.value.stall)
    var (name, place) = (nil as YAMLNode?, node.place)
    if case .scalar = node.content {
      guard let url = values.address(node, "download", allowing: .outputs) else { return nil }
      work.url = url
    } else {
      guard let entries = JobFileKeys.download.read(node, into: &work, values) else { return nil }
      (name, place) = (entries["to"]?.value, (entries["url"]?.value ?? node).place)
      if entries["url"] == nil { missing("url", of: "download", entries) }
    }
    // The URL is empty after a fault.
    guard !work.url.isEmpty || name != nil, let file = target(name, url: work.url, at: place), !work.url.isEmpty else {
      return nil
    }
    work.file = file
    return (work, name?.place ?? place)
  }

  /// The absolute path of a download's file.
  private func target(_ node: YAMLNode?, url: String, at place: Place) -> String? {
    guard let node else {
      guard let name = WebAddress.fileName(of: url) else {
        return faults.fail(place, "the URL ends in no file name: give the file's name with 'to'")
      }
      return values.absolute(name, at: place)
    }
    guard let path = values.path(node, "download.to", takes: "the path of a file") else { return nil }
    if !path.isAbsolutePath, FilePath.leaves(path) {
      return faults.fail(
        node.place, "download.to leaves the job file's folder: write an absolute path if that is meant")
    }
    let last = FilePath.name(of: path)
    if path.hasSuffix("/") || last == "." || last == ".." {
      return faults.fail(node.place, "download.to names a folder: write the path of a file in it")
    }
    return values.absolute(path, at: node.place)
  }

  private func upload(_ node: YAMLNode, _ policy: Shared<JobPolicy>) -> UploadWork? {
    var work = UploadWork(file: "", url: "", stall: policy.value.stall)
    guard let entries = JobFileKeys.upload.read(node, into: &work, values) else { return nil }
    for key in ["file", "url"] where entries[key] == nil { missing(key, of: "upload", entries) }
    return work.file.isEmpty || work.url.isEmpty ? nil : work
  }

  private func simulate(_ node: YAMLNode) -> SimulatedWork? {
    var work = SimulatedWork()
    return JobFileKeys.simulate.read(node, into: &work, values).map { _ in work }
  }

  private func missing(_ key: String, of owner: String, _ entries: KnownEntries) {
    if !entries.hasUnknown { faults.add(entries.place, "\(owner) has no \(key): add '\(key): …'") }
  }
}

extension ValueKind<String> {
  /// The absolute path of a file.
  static let uploadedFile = ValueKind(.text) { values, node, name in
    values.path(node, name, takes: "the path of a file", allowing: .outputs).map { values.absolute($0, at: node.place) }
  }

  static let checksum = ValueKind(.text) { values, node, name in
    guard let text = values.text(node, name, takes: "64 hexadecimal digits") else { return nil }
    guard text.utf8.count == 64, text.allSatisfy(isHexDigit) else {
      return values.faults.fail(
        node.place, "\(name) takes 64 hexadecimal digits; this is \(Quoted.text(text)), \(checksumAdvice(text))")
    }
    return text.lowercased()
  }

  /// What the faulty text seems to be, and the advice.
  private static func checksumAdvice(_ text: String) -> String {
    let digits = text.split(whereSeparator: { ": =".contains($0) }).last { $0.count == 64 && $0.allSatisfy(isHexDigit) }
    if digits != nil { return "which has more than the digits: delete the rest" }
    let others = [32: "an MD5", 40: "a SHA-1", 96: "a SHA-384", 128: "a SHA-512"]
    if text.allSatisfy(isHexDigit), let kind = others[text.utf8.count] {
      return "as long as \(kind): write the file's SHA-256, as sha256sum prints it"
    }
    return "\(text.count) characters long: write the file's SHA-256, as sha256sum prints it"
  }

  private static func isHexDigit(_ character: Character) -> Bool { character.isASCII && character.isHexDigit }
}

extension ValueKind<[String: String]> {
  static let headers = ValueKind(.map(of: .text)) { values, node, name in
    var headers: [String: String] = [:]
    var seen: [String: Place] = [:]
    for entry in values.map(node, name, takes: "a map of header names to values") ?? [] {
      let isName = !entry.key.isEmpty && entry.key.utf8.allSatisfy(isTokenByte)
      guard isName else {
        values.faults.add(entry.place, "\(Quoted.text(entry.key)) can't name a header: use letters, digits and '-'")
        continue
      }
      // The same spelling twice has been reported by the YAML reader.
      if let first = seen[entry.key.lowercased()], headers[entry.key] == nil {
        values.faults.add(
          entry.place, "header '\(entry.key)' is given at \(first.words) already: case does not count, so delete one")
      }
      seen[entry.key.lowercased()] = seen[entry.key.lowercased()] ?? entry.place
      guard let value = values.text(entry.value, "\(name).\(entry.key)", takes: "text", allowing: .outputs)
      else { continue }
      if value.unicodeScalars.contains(where: { $0 != "\t" && $0.properties.generalCategory == .control }) {
        values.faults.add(entry.value.place, "\(name).\(entry.key) holds a line break or control character: delete it")
        continue
      }
      headers[entry.key] = value
    }
    return headers
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
