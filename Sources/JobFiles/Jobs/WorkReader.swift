import JobModel

/// Reads a job's work: the value of `run`, `download`, `upload` or `simulate`.
struct WorkReader {
  let values: ValueReader
  /// The absolute folder of the job file.
  let directory: String
  /// The file's `env`, which a job's own `env` overrides.
  let environment: [String: String]

  private var faults: FaultLog { values.faults }

  /// The work and the place of a download's file name; nil after a fault.
  func read(_ entry: YAMLEntry, _ policy: JobPolicy) -> (work: JobWork, target: Place?)? {
    switch entry.key {
    case "run": shell(entry.value, policy).map { (.shell($0), nil) }
    case "download": download(entry.value).map { (.download($0.work), $0.target) }
    case "upload": upload(entry.value).map { (.upload($0), nil) }
    default: simulate(entry.value).map { (.simulate($0), nil) }
    }
  }

  private func shell(_ node: YAMLNode, _ policy: JobPolicy) -> ShellWork? {
    let environment = policy.environment.merging(environment) { own, _ in own }
    guard let command = command(node, knowing: Set(environment.keys)) else { return nil }
    let stop = ShellWork.Stop()
    return ShellWork(
      command, directory: policy.directory ?? directory, environment: environment,
      stop: ShellWork.Stop(signal: policy.stop.signal ?? stop.signal, grace: policy.stop.grace ?? stop.grace),
      progress: policy.progress)
  }

  private func command(_ node: YAMLNode, knowing names: Set<String>) -> ShellWork.Command? {
    let takes = "a command for sh as text, or a program and its arguments as a list"
    if case .list(let items) = node.content {
      let words = items.map { item -> String? in
        guard !item.isNull else {
          return faults.fail(item.place, "an argument of run is empty: write \"\" for an empty one")
        }
        return values.text(item, "an argument of run", takes: "text", isArgument: true)
      }
      guard let first = words.first else { return faults.fail(node.place, "run is empty: it takes \(takes)") }
      if first?.isEmpty == true {
        return faults.fail(
          items[0].place, "run names no program, because its first word is empty: write the program first")
      }
      if let first, first.contains(" "), !first.hasPrefix("/"), !first.hasPrefix(".") {
        faults.warn(
          items[0].place,
          "a list is one program and its arguments, so \(Quoted.text(first)) is the name of a program: "
            + "write commands as text, below 'run: |'")
      }
      let known = words.compactMap { $0 }
      return known.count == words.count ? .argv(known) : nil
    }
    guard let text = values.text(node, "run", takes: takes, unknown: .isForShell(knowing: names)) else { return nil }
    guard !text.allSatisfy(\.isWhitespace) else { return faults.fail(node.place, "run is empty: it takes \(takes)") }
    warnOfComment(after: node)
    warnOfQuote(at: node)
    return .script(text)
  }

  /// Warns where YAML took the end of an unquoted command for a comment that the shell would not have.
  private func warnOfComment(after node: YAMLNode) {
    guard case .scalar(let text, isPlain: true) = node.content, let place = faults.source.comment(after: node.end)
    else { return }
    let comment = faults.source.rest(from: place)
    // `make # the lot` is a comment to a person and to sh; `echo "issue #12"` and `tool #12` are most likely not.
    let isInQuotes = text.count { $0 == "\"" } % 2 == 1 || text.count { $0 == "'" } % 2 == 1
    guard isInQuotes || comment.dropFirst().first.map({ !$0.isWhitespace && $0 != "#" }) == true else { return }
    faults.warn(
      place,
      "YAML takes \(Quoted.text(comment)) for a comment: put the command in quotes or below 'run: |'"
        + (isInQuotes ? "" : ", or write '# ' if it is one"))
  }

  /// Warns of a typographic quote, which neither YAML nor the shell takes for one.
  private func warnOfQuote(at node: YAMLNode) {
    guard case .scalar(let text, isPlain: true) = node.content, let first = text.first, "“”„‘’«»".contains(first) else {
      return
    }
    faults.warn(node.place, "\(first) is no quote to YAML or the shell: write \" or '")
  }

  private func download(_ node: YAMLNode) -> (work: DownloadWork, target: Place)? {
    if case .scalar = node.content {
      guard let url = address(node, "download") else { return nil }
      return target(nil, url: url, at: node.place).map { (DownloadWork(url: url, file: $0), node.place) }
    }
    guard let entries = JobFileKeys.download.read(node, faults: faults) else { return nil }
    let url = entries["url"].flatMap { address($0.value, "download.url") }
    let digest = entries["sha256"].flatMap { checksum($0.value) }
    let resume = entries["resume"].flatMap { values.flag($0.value, "download.resume") }
    let headers = entries["headers"].map { headerMap($0.value, "download.headers") }
    let to = entries["to"]
    let file =
      url != nil || to != nil ? target(to?.value, url: url, at: (entries["url"]?.value ?? node).place) : nil
    guard entries["url"] != nil else {
      missing("url", of: "download", entries)
      return nil
    }
    guard let url, let file else { return nil }
    let work = DownloadWork(url: url, file: file, sha256: digest, resume: resume ?? true, headers: headers ?? [:])
    return (work, (to ?? entries["url"])?.value.place ?? node.place)
  }

  /// The absolute path of a download's file.
  private func target(_ node: YAMLNode?, url: String?, at place: Place) -> String? {
    guard let node else {
      guard let url else { return nil }
      guard let name = WebAddress.fileName(of: url) else {
        return faults.fail(place, "the URL ends in no file name: give the file's name with 'to'")
      }
      return FilePath.absolute(name, in: directory)
    }
    guard let path = values.path(node, "download.to", takes: "the path of a file") else { return nil }
    if !path.hasPrefix("/"), FilePath.leaves(path) {
      return faults.fail(
        node.place, "download.to leaves the job file's folder: write an absolute path if that is meant")
    }
    let last = FilePath.name(of: path)
    if path.hasSuffix("/") || last == "." || last == ".." {
      return faults.fail(node.place, "download.to names a folder: write the path of a file in it")
    }
    return FilePath.absolute(path, in: directory)
  }

  private func upload(_ node: YAMLNode) -> UploadWork? {
    enum Method: String, CaseIterable {
      case put = "PUT"
      case post = "POST"
      case patch = "PATCH"
    }
    guard let entries = JobFileKeys.upload.read(node, faults: faults) else { return nil }
    let file = entries["file"].flatMap { values.path($0.value, "upload.file", takes: "the path of a file") }
    let url = entries["url"].flatMap { address($0.value, "upload.url") }
    let method = entries["method"].flatMap { values.choice($0.value, "upload.method", as: Method.self) }
    let headers = entries["headers"].map { headerMap($0.value, "upload.headers") }
    for key in ["file", "url"] where entries[key] == nil { missing(key, of: "upload", entries) }
    guard let file, let url else { return nil }
    return UploadWork(
      file: FilePath.absolute(file, in: directory), url: url, method: (method ?? .put).rawValue, headers: headers ?? [:]
    )
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

  private func address(_ node: YAMLNode, _ name: String) -> String? {
    guard let url = values.line(node, name, takes: "a URL") else { return nil }
    if let message = WebAddress.fault(in: url) { return faults.fail(node.place, "\(name): \(message)") }
    return url
  }

  private func checksum(_ node: YAMLNode) -> String? {
    guard let text = values.text(node, "download.sha256", takes: "64 hexadecimal digits") else { return nil }
    guard text.utf8.count == 64, text.allSatisfy(isHexDigit) else {
      return faults.fail(
        node.place, "download.sha256 takes 64 hexadecimal digits; this is \(Quoted.text(text)), \(checksumMend(text))")
    }
    return text.lowercased()
  }

  /// What a text that is no SHA-256 seems to be, and the mend.
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
      guard let value = values.text(entry.value, "\(name).\(entry.key)", takes: "text") else { continue }
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
