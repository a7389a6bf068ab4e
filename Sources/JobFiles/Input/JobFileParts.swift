import Basics

/// A job file with all that it includes, put together before it is decoded.
///
/// Every value keeps its place, which tells the file that it is from.
struct JobFileParts {
  /// The map of the job file, completed by `vars`, `env`, `pools`, `jobs` and `finally` of the included files.
  private(set) var root: YAMLNode
  /// The `defaults` of each included file by its number; the job file's own are in `root`.
  private(set) var defaults: [Int: YAMLNode] = [:]
  /// The `shell` of each included file.
  private(set) var shells: [Int: YAMLNode] = [:]
  /// The values of `secrets` of all files.
  private(set) var secrets: [YAMLNode] = []
  /// The variables of `dotenv` of all files.
  private(set) var dotenv: [String: String] = [:]
  /// The entries of `vars` and `env` and the variables of `dotenv` that others replace: a secret among them is one still.
  private(set) var replaced: (entries: [YAMLEntry], variables: [(name: String, value: String)]) = ([], [])
  /// The absolute paths of all files but the job file.
  private(set) var paths: [String] = []

  private static let mapKeys = ["vars", "env", "pools", "jobs", "finally"]

  /// A map of the job file with the entries added by included files.
  private struct Map {
    var first: YAMLEntry
    var entries: [YAMLEntry] = []
    var places: [String: Place] = [:]
  }

  private let faults: FaultLog
  /// Knows the environment only: files are included before vars are read.
  private let values: ValueReader
  private var maps: [String: Map] = [:]
  /// The number of each included file by its path without symbolic links.
  private var numbers: [BytePath: Int] = [:]
  /// The files that are being read, each included by the one before.
  private var open: [Int] = [0]

  init(_ root: YAMLNode, faults: FaultLog, environment: [String: String]) {
    self.root = root
    self.faults = faults
    values = ValueReader(faults: faults, variables: Variables(environment: environment, faults: faults))
    guard case .map(let entries) = root.content else { return }
    let file = faults.files[0]
    numbers[Self.realPath(FilePath.absolute(FilePath.name(of: file.name), in: file.directory))] = 0
    var known: [String: YAMLEntry] = [:]
    for entry in entries where known[entry.key] == nil { known[entry.key] = entry }
    if let node = known["secrets"]?.value { secrets.append(node) }
    guard known["include"] != nil || known["dotenv"] != nil else { return }

    for key in Self.mapKeys {
      guard let entry = known[key] else { continue }
      maps[key] = Map(first: entry)
      if case .map(let entries) = entry.value.content { add(entries, to: key) }
    }
    readOthers(dotenv: known["dotenv"]?.value, include: known["include"]?.value)
    guard faults.files.count > 1 else { return }
    self.root.content = .map(entries.filter { maps[$0.key] == nil } + merged())
  }

  /// The maps with their additions, in the order of the job file; a value that isn't a map stays.
  private func merged() -> [YAMLEntry] {
    Self.mapKeys.compactMap { key in
      guard let map = maps[key] else { return nil }
      var entry = map.first
      if case .map = entry.value.content { entry.value.content = .map(map.entries) }
      if entry.value.isNull, !map.entries.isEmpty { entry.value.content = .map(map.entries) }
      return entry
    }
  }

  /// Adds the entries that the map lacks; a job in two files is a fault.
  private mutating func add(_ entries: [YAMLEntry], to key: String) {
    let isJobs = key == "jobs" || key == "finally"
    for entry in entries {
      guard let place = maps[key]?.places[entry.key] else {
        maps[key]?.places[entry.key] = entry.place
        maps[key]?.entries.append(entry)
        continue
      }
      // The YAML reader has reported a key that is twice in one file.
      if !isJobs { replaced.entries.append(entry) }
      guard isJobs, place.file != entry.place.file else { continue }
      faults.add(
        entry.place,
        "job \(Quoted.text(entry.key)) is given at \(faults.words(place, from: entry.place)) already: "
          + "delete one of them, or give one another name")
    }
  }

  /// The map of the job file, which the parts then no longer hold.
  mutating func takeRoot() -> YAMLNode { exchange(&root, with: .null) }

  // MARK: Other files

  /// Reads the files that the innermost open one names.
  private mutating func readOthers(dotenv node: YAMLNode?, include: YAMLNode?) {
    var own: [String: String] = [:]
    for item in items(node, "dotenv") { readVariables(item, &own) }
    // The variables of the including files have been read.
    for (name, value) in own where dotenv[name] != nil { replaced.variables.append((name, value)) }
    dotenv.merge(own) { old, _ in old }
    for item in items(include, "include") { readJobs(item) }
  }

  private func items(_ node: YAMLNode?, _ name: String) -> [YAMLNode] {
    guard let node else { return [] }
    let takes =
      name == "include" ? "the path of a job file, or a list of paths" : "the path of a file, or a list of paths"
    guard let items = values.list(node, name, takes: takes, isSingleAllowed: true) else { return [] }
    if items.isEmpty { faults.add(node.place, "\(name) is empty: it takes \(takes); delete it if there is none") }
    return items
  }

  /// A file that an item names, and its name in messages; nil after a fault.
  private func file(_ item: YAMLNode, _ name: String) -> (path: String, shown: String)? {
    if case .scalar(let text, _) = item.content, let reference = Self.reference(in: text) {
      return faults.fail(
        item.place,
        "\(name) is read before vars, so it can't have \(Quoted.text("${\(reference)}")): write the path out, "
          + "or use ${env.NAME}")
    }
    guard let path = values.path(item, name, takes: "the path of a file") else { return nil }
    let file = faults.files[item.place.file]
    return (FilePath.absolute(path, in: file.directory), FilePath.shown(path, from: file.name))
  }

  /// The first `${…}` that is not of the environment.
  private static func reference(in text: String) -> String? {
    var found: String?
    Template.scan(text) { piece in
      if case .reference(let name, _) = piece, !name.hasPrefix("env."), found == nil { found = name }
      return true
    }
    return found
  }

  /// The text of a file; nil after a fault at the item that names it.
  private func source(_ item: YAMLNode, _ name: String, _ file: (path: String, shown: String)) -> SourceText? {
    do throws(JobFileFaults) {
      return try SourceText(JobFileInput(path: file.path).bytes, file: file.shown, isYAML: name == "include")
    } catch {
      let fault = error.faults[0]
      var advice = fault.message
      if advice.hasPrefix("there is no such file") {
        let isPattern = file.path.contains("*")
        advice =
          "there is no such file: \(isPattern ? "write each path, as patterns have no meaning here" : "create it, or correct the path")"
      }
      return faults.fail(item.place, "\(name) \(Quoted.text(file.shown))\(fault.inside): \(advice)")
    }
  }

  private func hasRoom(_ item: YAMLNode) -> Bool {
    if faults.files.count < Place.fileLimit { return true }
    faults.add(item.place, "this is more than \(Place.fileLimit) files: put some of them together")
    return false
  }

  /// Adds the variables of a file, which override earlier files.
  private mutating func readVariables(_ item: YAMLNode, _ own: inout [String: String]) {
    guard hasRoom(item), let file = file(item, "dotenv"), let source = source(item, "dotenv", file) else { return }
    let number = faults.files.count
    paths.append(file.path)
    // A line of it may hold a secret that no message may show.
    faults.add(FaultLog.File(name: file.shown, source: source, directory: "/", isShown: false))
    let environment = values.variables.environment.merging(dotenv) { $1 }.merging(own) { $1 }
    var reader = DotenvReader(source, file: number, faults: faults, known: environment)
    let read = reader.read()
    for (name, value) in own where read[name] != nil { replaced.variables.append((name, value)) }
    replaced.variables += reader.replaced
    own.merge(read) { $1 }
  }

  private mutating func readJobs(_ item: YAMLNode) {
    guard hasRoom(item), let file = file(item, "include") else { return }
    let real = Self.realPath(file.path)
    if let number = numbers[real] {
      reportCycle(to: number, at: item)
      return
    }
    guard let source = source(item, "include", file) else { return }
    let number = faults.files.count
    paths.append(file.path)
    // As of the main file: `..` leaves the folder that a link leads to.
    let folder = FilePath.folder(of: JobFileInput.path(of: file.path, in: "/"))
    faults.add(FaultLog.File(name: file.shown, source: source, directory: folder))
    numbers[real] = number
    let node: YAMLNode?
    do throws(YAMLError) {
      node = try YAMLReader.read(number, faults)
    } catch {
      faults.add(error.place.of(file: number), error.message)
      return
    }
    // A file may contain nothing but comments.
    guard let node, !node.isNull,
      let entries = JobFileKeys.included.entries(of: node, faults, advice: { JobFileKeys.jobAdvice($0, in: node) })
    else { return }
    open.append(number)
    add(entries, of: number)
    readOthers(dotenv: entries["dotenv"]?.value, include: entries["include"]?.value)
    open.removeLast()
  }

  private func reportCycle(to number: Int, at item: YAMLNode) {
    // A file that is included twice is read once.
    guard let start = open.firstIndex(of: number) else { return }
    guard start < open.count - 1 else {
      faults.add(item.place, "the file includes itself: delete this")
      return
    }
    let names = (open[start...] + [number]).map { faults.files[$0].name }
    faults.add(item.place, "files include each other: \(Quoted.cycle(names)): delete one of these includes")
  }

  private mutating func add(_ file: KnownEntries, of number: Int) {
    if let node = file["version"]?.value { values.check(version: node) }
    if let node = file["secrets"]?.value { secrets.append(node) }
    defaults[number] = file["defaults"]?.value
    shells[number] = file["shell"]?.value
    for key in Self.mapKeys {
      guard let entry = file[key] else { continue }
      let takes = key == "jobs" || key == "finally" ? "a map of names to jobs" : "a map of names to values"
      guard let entries = values.map(entry.value, key, takes: takes) else { continue }
      if maps[key] == nil { maps[key] = Map(first: YAMLEntry(key: key, place: entry.place, value: entry.value)) }
      add(entries, to: key)
    }
  }

  /// The path without symbolic links, if the file is there.
  private static func realPath(_ path: String) -> BytePath { BytePath(path).resolved ?? BytePath(path) }
}
