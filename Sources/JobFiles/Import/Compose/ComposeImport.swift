import Basics
import JobModel

/// Makes a job file of a process-compose file.
struct ComposeImport {
  let input: ImportInput
  private let reader: ComposeValues
  private(set) var file = ImportedFile()
  private var processes: [ComposeProcess] = []
  /// The place of each process in `processes`.
  private var indices: [String: Int] = [:]
  private var dotenv: [String] = []
  private var endsEarly = false
  private var standardText = ComposeText()

  private var faults: FaultLog { input.faults }
  private var values: ValueReader { reader.values }

  /// The job file; nil after a fault.
  static func file(of input: ImportInput) throws(ImportError) -> ImportedFile? {
    let root: YAMLNode?
    do throws(YAMLError) { root = try YAMLReader.read(0, input.faults) } catch {
      throw ImportError(place: error.place, message: error.message)
    }
    var importer = ComposeImport(input)
    try importer.read(root ?? .null)
    return input.faults.isEmpty ? importer.file : nil
  }

  private init(_ input: ImportInput) {
    self.input = input
    reader = ComposeValues(input)
  }

  // MARK: The file

  private mutating func read(_ root: YAMLNode) throws(ImportError) {
    let keys = reader.entries(of: root, "the file")
    func value(_ key: String) -> YAMLNode? { keys[key].flatMap { $0.value.isNull ? nil : $0.value } }
    standardText.isExpanded =
      value("disable_env_expansion").flatMap { values.flag($0, "disable_env_expansion") } != true
    standardText.vars = reader.vars(value("vars"))
    if let name = value("name"), let text = reader.line(name, standardText, into: &file.remarks),
      !text.allSatisfy(\.isWhitespace)
    {
      file.keys.append(("name", .written(text)))
    }
    file.keys.append(("shell", .list(shell(value("shell")))))
    file.keys.append(("defaults", .map([("stop", .map([("grace", .seconds(10))]))])))
    if let node = value("environment"), let variables = reader.environment(node, standardText, into: &file.remarks) {
      file.keys.append(("env", .map(variables)))
    }
    if try input.dotenv() != nil { dotenv.append(".env") }
    if let entry = keys["extends"] {
      faults.add(
        entry.place, "process-compose puts the file of 'extends' and this one together: write them as one first")
    }
    let known = ["version", "processes", "name", "shell", "environment", "vars", "disable_env_expansion", "extends"]
    for entry in keys.values.sorted(by: { $0.place < $1.place }) where !known.contains(entry.key) {
      reader.noteWithoutEqual(entry, ComposeImport.withoutEqual, into: &file.remarks)
    }
    readProcesses(value("processes"))
    checkCycles()
    guard faults.isEmpty else { return }
    var hasService = false
    let byName = indices.mapValues { processes[$0] }
    for process in processes {
      var builder = ComposeJob(process, among: byName, reader)
      builder.build()
      file.jobs.append(builder.job)
      file.remarks += builder.fileRemarks.filter { !file.remarks.contains($0) }
      dotenv += builder.dotenv.filter { !dotenv.contains($0) }
      endsEarly = endsEarly || builder.endsRun
      hasService = hasService || process.isService
    }
    if processes.contains(where: { $0.restart == .exitOnFailure }) {
      file.keys.append(("on_failure", .word("stop-now")))
    }
    if hasService, !endsEarly { file.keys.append(("stay", .yes)) }
    if !dotenv.isEmpty { file.keys.append(("dotenv", .list(dotenv.map { .text($0) }))) }
  }

  /// The keys of the file that a job file has no equal for, and what to do.
  private static let withoutEqual = [
    "log_location": "opdash keeps the output of each job, which 'opdash logs' prints",
    "log_configuration": "opdash keeps the output of each job, which 'opdash logs' prints",
    "env_cmds": "write a job that runs the command and gives its value by $OPDASH_OUTPUT",
    "ordered_shutdown": "opdash ends a service after the jobs that need it",
  ]

  /// The words before a script; the default is bash, as in process-compose.
  private mutating func shell(_ node: YAMLNode?) -> [ImportedValue] {
    var words = ["bash", "-c"]
    guard let node else { return words.map { .text($0) } }
    let keys = reader.entries(of: node, "shell")
    for (key, index) in [("shell_command", 0), ("shell_argument", 1)] {
      guard let value = keys[key]?.value, !value.isNull,
        let text = reader.line(value, standardText, into: &file.remarks)
      else { continue }
      if index == 0, text.isEmpty { faults.add(value.place, "shell_command is empty: write a shell, or delete it") }
      words[index] = text
    }
    for entry in keys.values where entry.key != "shell_command" && entry.key != "shell_argument" {
      reader.noteWithoutEqual(entry, [:], into: &file.remarks)
    }
    return words.map { .written($0) }
  }

  // MARK: The processes

  private mutating func readProcesses(_ node: YAMLNode?) {
    guard let node else {
      faults.add(.start, "the file has no 'processes': name a file of process-compose")
      return
    }
    var names = ImportNames()
    for entry in values.map(node, "processes", takes: "a map of names to processes") ?? []
    where indices[entry.key] == nil {
      indices[entry.key] = processes.count
      processes.append(process(entry, names.name(for: entry.key)))
    }
    for index in processes.indices {
      for need in processes[index].needs {
        guard let other = indices[need.process] else {
          let hint = NearestName.hint(
            for: need.process, in: indices.keys.sorted(), otherwise: ": write it below 'processes', or delete this")
          faults.add(need.place, "process \(Quoted.text(need.process)) is unknown\(hint)")
          continue
        }
        processes[other].waitedFor.insert(need.condition)
      }
    }
  }

  private func process(_ entry: YAMLEntry, _ name: String) -> ComposeProcess {
    var process = ComposeProcess(entry: entry, name: name, keys: reader.entries(of: entry.value, "a process"))
    process.text = standardText
    process.text.vars.merge(reader.vars(process.value("vars"))) { $1 }
    if let node = process.value("replicas"), let count = values.whole(node, "replicas", in: 0...1000) {
      process.replicas = max(1, count)
    }
    process.text.hasReplicas = process.replicas > 1
    if let node = process.value("availability") {
      let keys = reader.entries(of: node, "availability")
      if let node = keys["restart"]?.value, !node.isNull,
        let restart = values.choice(node, "availability.restart", as: ComposeProcess.Restart.self)
      {
        process.restart = restart
      }
    }
    for entry in process.value("depends_on").flatMap({ values.map($0, "depends_on", takes: "a map of processes") })
      ?? []
    {
      var need = ComposeProcess.Need(process: entry.key, condition: .started, place: entry.place)
      let condition = reader.entries(of: entry.value, "depends_on.\(Quoted.bare(entry.key))")["condition"]?.value
      if let condition, !condition.isNull {
        need.condition =
          values.choice(condition, "condition", as: ComposeCondition.self) ?? need.condition
      }
      process.needs.append(need)
    }
    return process
  }

  private func checkCycles() {
    let order = DependencyOrder(processes.map { $0.needs.compactMap { indices[$0.process] } })
    for cycle in order.cycles {
      let names = cycle.map { processes[$0].entry.key }
      faults.add(
        processes[cycle[0]].entry.place,
        "processes depend on each other: \(Quoted.cycle(names)): delete one of these needs"
      )
    }
  }

}
