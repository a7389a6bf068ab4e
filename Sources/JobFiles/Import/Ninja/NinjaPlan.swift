import Basics
import JobModel

/// Makes the jobs of the edges of a ninja file.
struct NinjaPlan {
  private let input: ImportInput
  private let parser: NinjaParser
  private var graph: NinjaGraph
  private var names = ImportNames()
  private var jobNames: [Int: String] = [:]
  private var pools = ImportNames()
  private var poolNames: [String: String] = [:]
  private var file = ImportedFile()
  /// The folders of outputs, which ninja makes itself, and the job that makes them.
  private var folders: [String] = []
  private var folderJob = ""

  /// The longest argument of a program on Linux.
  private static let argumentLimit = 128 << 10

  static func file(of input: ImportInput) throws(ImportError) -> ImportedFile {
    var parser = NinjaParser(input)
    try parser.read()
    var plan = NinjaPlan(input: input, parser: parser, graph: try NinjaGraph(parser))
    try plan.addJobs()
    return plan.file
  }

  private init(input: ImportInput, parser: NinjaParser, graph: NinjaGraph) {
    (self.input, self.parser, self.graph) = (input, parser, graph)
  }

  private mutating func addJobs() throws(ImportError) {
    file.remarks = [
      "Ninja executes one or two jobs more at once than there are processors, as 'opdash run -j N' does."
    ]
    let manifest = FilePath.name(of: input.faults.files[0].name)
    var indices: [Int] = []
    for (index, edge) in graph.edges.enumerated() where !edge.isPhony {
      if edge.outputs.contains(manifest) {
        input.note(
          edge.place,
          "Ninja generates this file again when its inputs have changed; opdash does not: import it again",
          into: &file.remarks)
      } else if graph.reached[index] {
        indices.append(index)
      }
    }
    let left = graph.reached.indices.count { !graph.reached[$0] && !graph.edges[$0].isPhony }
    if left > 0 { file.remarks.append("Left out: \(Format.count(left, "edge")) that 'default' does not reach.") }
    for index in indices { jobNames[index] = names.name(for: graph.edges[index].outputs[0]) }
    let outputs = indices.flatMap { [graph] in graph.edges[$0].outputs }
    var known: Set<BytePath> = [BytePath(""), BytePath("/")]
    folders = outputs.map { FilePath.folder(of: $0) }.filter { known.insert(BytePath($0)).inserted }
    if !folders.isEmpty { addFolderJob() }
    for index in indices { file.jobs.append(try job(index)) }
    file.keys = [("on_failure", .word("finish-running")), ("shell", .list([.text("/bin/sh"), .text("-c")]))]
    let used = poolNames.sorted { $0.key < $1.key }
    if !used.isEmpty {
      file.keys.append(("pools", .map(used.map { (key: $0.value, value: .whole(parser.pools[$0.key] ?? 1)) })))
    }
  }

  /// The job that makes the folders of outputs.
  private mutating func addFolderJob() {
    folderJob = names.name(for: "folders")
    var job = ImportedFile.Job(name: folderJob)
    job.keys = [
      ("description", .text("the folders of outputs")),
      ("run", .list(["mkdir", "-p", "--"].map { .text($0) } + folders.map { .text($0) })),
    ]
    if let folders = paths(folders, at: .start, isPattern: false, of: &job) { job.keys.append(("creates", folders)) }
    file.jobs.append(job)
  }

  private mutating func job(_ index: Int) throws(ImportError) -> ImportedFile.Job {
    let (edge, expander) = (graph.edges[index], parser.expander)
    var job = ImportedFile.Job(name: jobNames[index] ?? "")
    let description = try expander.value(of: "description", at: edge)
    if !description.allSatisfy(\.isWhitespace) { job.keys.append(("description", .text(description))) }
    var needs = try graph.needs(of: index).compactMap { jobNames[$0] }
    if edge.outputs.contains(where: { !["", "/"].contains(FilePath.folder(of: $0)) }) {
      needs.insert(folderJob, at: 0)
    }
    if !needs.isEmpty { job.keys.append(("needs", .list(needs.map { .text($0) }))) }
    job.keys.append(("run", .script(try script(edge, &job))))
    let inputs = try graph.inputs(of: index) + (edge.headers ?? [])
    if edge.headers == nil {
      input.note(
        edge.place,
        "Files that only a depfile names, such as headers, are inputs where it is there: import again after a "
          + "build by opdash", into: &file.remarks)
    }
    if let inputs = paths(inputs, at: edge.place, isPattern: true, of: &job) { job.keys.append(("inputs", inputs)) }
    let outputs = paths(edge.outputs, at: edge.place, isPattern: false, of: &job)
    if let outputs { job.keys.append(("creates", outputs)) }
    try addPool(edge, &job)
    if try !expander.value(of: "dyndep", at: edge).isEmpty {
      input.note(edge.place, "'dyndep' has no equal: write the job's needs into 'needs'", into: &job.remarks)
    }
    if inputs.isEmpty, outputs != nil {
      input.note(
        edge.place, "A job without inputs is up to date when its files are there, even where its command has changed",
        into: &file.remarks)
    }
    return job
  }

  /// The command, with the response file that ninja writes before it and removes after it.
  private func script(_ edge: NinjaEdge, _ job: inout ImportedFile.Job) throws(ImportError) -> String {
    var script = try parser.expander.value(of: "command", at: edge)
    if script.allSatisfy(\.isWhitespace) { script = ":" }
    let path = try parser.expander.value(of: "rspfile", at: edge, isPath: true)
    if !path.isEmpty {
      let content = ImportedValue.shellWord(try parser.expander.value(of: "rspfile_content", at: edge))
      let word = ImportedValue.shellWord(path)
      script = "printf %s \(content) > \(word) && {\n\(script)\n} && rm -f -- \(word)"
    }
    if script.utf8.count >= Self.argumentLimit {
      input.note(
        edge.place,
        "The command is longer than \(Self.argumentLimit >> 10) KiB, which Linux starts no program with: put "
          + "it into a script", into: &job.remarks)
    }
    return script
  }

  private mutating func addPool(_ edge: NinjaEdge, _ job: inout ImportedFile.Job) throws(ImportError) {
    let pool = try parser.expander.value(of: "pool", at: edge)
    guard !pool.isEmpty else { return }
    guard let depth = parser.pools[pool] else {
      throw ImportError(
        place: edge.place,
        message: "pool \(Quoted.text(pool)) is unknown"
          + NearestName.hint(for: pool, in: parser.pools.keys.sorted(), otherwise: ": write it with 'pool'"))
    }
    if pool == "console" { job.keys.append(("tty", .yes)) }
    guard depth > 0 else { return }
    let name = poolNames[pool] ?? pools.name(for: pool)
    poolNames[pool] = name
    job.keys.append(("uses", .map([(name, .whole(1))])))
  }

  /// The paths in the form of the job file, each once; nil if none is left.
  private func paths(
    _ paths: [String], at place: Place, isPattern: Bool, of job: inout ImportedFile.Job
  ) -> ImportedValue? {
    var known: Set<BytePath> = []
    var found: [ImportedValue] = []
    for path in paths {
      let isUsable =
        !path.allSatisfy(\.isWhitespace) && !path.unicodeScalars.contains(where: \.isUnprintable)
        && (isPattern || !path.utf8.contains { "*?".utf8.contains($0) })
      guard isUsable else {
        input.note(place, "\(Quoted.text(path)) can't be a path in a job file: rename it", into: &job.remarks)
        continue
      }
      guard known.insert(BytePath(input.absolute(path))).inserted else { continue }
      let written = isPattern ? Self.pattern(path) : path
      found.append(.text(written.hasPrefix("~") ? "./" + written : written))
    }
    return found.isEmpty ? nil : .list(found)
  }

  /// A pattern that only this path matches.
  private static func pattern(_ path: String) -> String {
    guard path.utf8.contains(where: { "*?[".utf8.contains($0) }) else { return path }
    var pattern = String.UnicodeScalarView()
    for scalar in path.unicodeScalars {
      if "*?[\\".unicodeScalars.contains(scalar) { pattern.append("\\") }
      pattern.append(scalar)
    }
    return String(pattern)
  }
}
