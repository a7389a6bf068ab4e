import Basics
import Foundation
import JobModel

/// Makes the job of a process of a process-compose file.
struct ComposeJob {
  private let reader: ComposeValues
  /// All processes by their names.
  private let processes: [String: ComposeProcess]
  private let process: ComposeProcess
  private(set) var job: ImportedFile.Job
  /// The differences of the whole run.
  private(set) var fileRemarks: [String] = []
  /// The files of variables that the process names.
  private(set) var dotenv: [String] = []
  private(set) var endsRun = false

  private var values: ValueReader { reader.values }
  private var faults: FaultLog { reader.values.faults }

  private static let known: Set = [
    "command", "entrypoint", "working_dir", "environment", "env_file", "depends_on", "readiness_probe",
    "liveness_probe",
    "ready_log_line", "availability", "shutdown", "is_tty", "disabled", "replicas", "description", "vars",
  ]

  init(_ process: ComposeProcess, among processes: [String: ComposeProcess], _ reader: ComposeValues) {
    (self.process, self.processes, self.reader) = (process, processes, reader)
    job = ImportedFile.Job(name: process.name)
  }

  mutating func build() {
    if process.name != process.entry.key { note(process.entry.place, "A job can't have the name of this process") }
    if let node = process.value("description"), let text = text(node), !text.allSatisfy(\.isWhitespace) {
      add("description", .written(text))
    }
    if process.replicas > 1 { add("matrix", .map([("replica", .list((0..<process.replicas).map { .whole($0) }))])) }
    let needs = process.needs.compactMap { need in self.need(need) }
    if !needs.isEmpty { add("needs", .map(needs)) }
    addCommand()
    if let node = process.value("working_dir"), let text = line(node), !text.isEmpty {
      add("dir", .written(text.hasPrefix("~") ? "./" + text : text))
    }
    addEnvironment()
    if process.value("is_tty").flatMap({ values.flag($0, "is_tty") }) == true { add("tty", .yes) }
    addStart()
    addAvailability()
    if process.isService { addService() } else { noteProbes() }
    addStop()
    for entry in process.keys.values.sorted(by: { $0.place < $1.place }) where !Self.known.contains(entry.key) {
      reader.noteWithoutEqual(entry, ComposeProcess.withoutEqual, into: &job.remarks)
    }
  }

  private mutating func add(_ key: String, _ value: ImportedValue) { job.keys.append((key, value)) }

  private mutating func note(_ place: Place, _ message: String) {
    reader.input.note(place, message, into: &job.remarks)
  }

  private mutating func text(_ node: YAMLNode, isScript: Bool = false) -> String? {
    reader.text(node, process.text, isScript: isScript, into: &job.remarks)
  }

  private mutating func line(_ node: YAMLNode) -> String? {
    reader.line(node, process.text, into: &job.remarks)
  }

  // MARK: The program

  private mutating func need(_ need: ComposeProcess.Need) -> (key: String, value: ImportedValue)? {
    guard let other = processes[need.process] else { return nil }
    let condition: JobNeed.Condition
    if other.isService {
      condition = .ready
      if need.condition == .started, other.isProbed {
        note(need.place, "'process_started' of a process with a probe waits until the probe has succeeded")
      }
      if need.condition == .started, other.mayEnd {
        note(
          need.place,
          "\(Quoted.text(need.process)) is a service, which fails if it ends while it is needed: for a process that ends "
            + "by itself wait for 'process_completed'")
      }
      if need.condition == .healthy, other.value("readiness_probe") == nil {
        note(need.place, "'process_healthy' of a process without 'readiness_probe' waits for its start")
      }
      if need.condition == .logReady, other.value("ready_log_line") == nil {
        note(need.place, "'process_log_ready' of a process without 'ready_log_line' waits for its start")
      }
    } else {
      condition = need.condition == .completedSuccessfully ? .ok : .finished
      if !need.condition.isOfEnd {
        note(need.place, "\(Quoted.text(need.condition.rawValue)) waits for the end here, as another process does")
      }
    }
    return (other.name, .word(condition.rawValue))
  }

  private mutating func addCommand() {
    if let node = process.value("entrypoint") {
      var words: [ImportedValue] = []
      for item in values.list(node, "entrypoint", takes: "a list of words") ?? [] {
        guard let text = text(item) else { continue }
        if words.isEmpty, ["", "CMD", "CMD-SHELL"].contains(text) {
          faults.add(item.place, "entrypoint names no program: write it as the first word")
        }
        words.append(.written(text))
      }
      if let entry = process.keys["command"], process.value("command") != nil {
        note(entry.place, "'entrypoint' is executed, and 'command' is not")
      }
      if !words.isEmpty { return add("run", .list(words)) }
    }
    guard let node = process.value("command") else {
      faults.add(process.entry.place, "process \(Quoted.text(process.entry.key)) has no command: write 'command: …'")
      return
    }
    guard let text = text(node, isScript: true) else { return }
    guard !text.allSatisfy(\.isWhitespace) else {
      faults.add(node.place, "the command is empty: write one")
      return
    }
    add("run", .written(text))
  }

  private mutating func addEnvironment() {
    var variables =
      process.value("environment").flatMap { reader.environment($0, process.text, into: &job.remarks) } ?? []
    // process-compose gives these to each program; most have no use for them.
    let texts = process.keys.values.map(\.value).flatMap(\.texts)
    func uses(_ name: String) -> Bool {
      texts.contains { $0.contains(name) } && !variables.contains { $0.key == name }
    }
    if uses("PC_PROC_NAME") { variables.append(("PC_PROC_NAME", .text(process.entry.key))) }
    if process.replicas > 1 {
      variables.append(("PC_REPLICA_NUM", .written("${matrix.replica}")))
    } else if uses("PC_REPLICA_NUM") {
      variables.append(("PC_REPLICA_NUM", .text("0")))
    }
    if !variables.isEmpty { add("env", .map(variables)) }
    guard let node = process.value("env_file") else { return }
    for item in values.list(node, "env_file", takes: "a path", isSingleAllowed: true) ?? [] {
      guard let path = line(item), !path.isEmpty else { continue }
      guard !path.holds("${") else {
        note(item.place, "An 'env_file' with variables has no equal in a job file")
        continue
      }
      do throws(ImportError) {
        let isThere = try reader.input.dotenv(path, at: item.place) != nil
        if isThere { dotenv.append(path) }
        note(
          item.place,
          isThere
            ? "The variables of this 'env_file' reach all jobs" : "This 'env_file' does not exist, and is left out"
        )
      } catch {
        faults.add(error.place, error.message)
      }
    }
  }

  // MARK: Start and end

  private mutating func addStart() {
    var isManual = process.value("disabled").flatMap { values.flag($0, "disabled") } == true
    if let node = process.value("schedule") {
      let keys = reader.entries(of: node, "schedule")
      let starts = keys["run_on_start"].flatMap { values.flag($0.value, "run_on_start") } == true
      isManual = isManual || !starts
    }
    if isManual { add("start", .word("manual")) }
  }

  private mutating func addAvailability() {
    guard let node = process.value("availability") else { return }
    let keys = reader.entries(of: node, "availability")
    func whole(_ key: String, in range: ClosedRange<Int>) -> Int? {
      keys[key].flatMap { $0.value.isNull ? nil : values.whole($0.value, "availability.\(key)", in: range) }
    }
    let limit = JobPolicy.Retry.range.upperBound
    let (count, wait) = (whole("max_restarts", in: 0...limit) ?? 0, whole("backoff_seconds", in: 0...86400) ?? 1)
    let restarts = process.restart == .onFailure || process.restart == .always && process.isService
    if restarts {
      let max = count > 0 ? count : limit
      add(
        "retry",
        .map([("max", .whole(max)), ("backoff", .word("constant")), ("initial", .seconds(Swift.max(1, wait)))]))
    }
    if let entry = keys["restart"], process.restart == .always, !process.isService {
      note(entry.place, "'restart: always' has no equal for a process whose end others wait for")
    }
    if let entry = keys["restart"], process.restart == .exitOnFailure {
      reader.input.note(entry.place, "A failure of any job ends the run, as 'exit_on_failure' says", into: &fileRemarks)
    }
    for entry in keys.values.sorted(by: { $0.place < $1.place }) {
      switch entry.key {
      case "restart", "backoff_seconds", "max_restarts": break
      case "exit_on_end":
        guard values.flag(entry.value, "exit_on_end") == true else { break }
        endsRun = true
        reader.input.note(
          entry.place, "Services end when no job needs them any more, which is what 'exit_on_end' is for",
          into: &fileRemarks)
      default: reader.noteWithoutEqual(entry, [:], into: &job.remarks)
      }
    }
  }

  private mutating func addStop() {
    guard let node = process.value("shutdown") else { return }
    var stop: [(key: String, value: ImportedValue)] = []
    for entry in reader.entries(of: node, "shutdown").values.sorted(by: { $0.place < $1.place })
    where !entry.value.isNull {
      switch entry.key {
      case "signal":
        guard let number = values.whole(entry.value, "shutdown.signal", in: Int32(1)...64) else { break }
        if let name = ValueKind<Int32>.signals.first(where: { $0.number == number })?.name {
          stop.append(("signal", .word(name)))
        } else {
          note(entry.value.place, "A job can't be stopped by this signal, and is stopped by TERM")
        }
      case "timeout_seconds":
        guard let seconds = values.whole(entry.value, "shutdown.timeout_seconds", in: 0...86400) else { break }
        if seconds > 0 { stop.append(("grace", .seconds(seconds))) }
      case "command":
        note(entry.place, "'shutdown.command' has no equal in a job file: the program gets its stop signal")
      default: reader.noteWithoutEqual(entry, [:], into: &job.remarks)
      }
    }
    if !stop.isEmpty { add("stop", .map(stop)) }
  }

  // MARK: Services

  private mutating func addService() {
    var service: [(key: String, value: ImportedValue)] = []
    var probes = ComposeProbe(reader: reader, text: process.text)
    if let entry = process.keys["readiness_probe"], let node = process.value("readiness_probe") {
      if process.value("ready_log_line") != nil {
        faults.add(entry.place, "a process has 'readiness_probe' or 'ready_log_line', not both: delete one")
      }
      if let ready = probes.ready(node) { service.append(("ready", .map(ready))) }
    } else if let node = process.value("ready_log_line"), let text = text(node), !text.isEmpty {
      if text.contains("$") {
        note(node.place, "A 'ready_log_line' with '$' has no equal: the service can be used as soon as it is started")
      } else {
        let pattern = NSRegularExpression.escapedPattern(for: text)
        service.append(("ready", .map([("output", .written(pattern)), ("timeout", .word("24h"))])))
      }
    }
    if let node = process.value("liveness_probe"), let alive = probes.alive(node) {
      service.append(("alive", .map(alive)))
    }
    switch process.restart {
    case .always: service.append(("restart", .word("always")))
    case .onFailure: service.append(("restart", .word("on-failure")))
    case .no, .exitOnFailure: break
    }
    job.remarks += probes.remarks.filter { !job.remarks.contains($0) }
    add("service", service.isEmpty ? .yes : .map(service))
  }

  /// Notes the probes of a process that is not a service.
  private mutating func noteProbes() {
    for key in ["readiness_probe", "ready_log_line", "liveness_probe"] {
      guard let entry = process.keys[key], process.value(key) != nil else { continue }
      note(entry.place, "\(Quoted.text(key)) has no equal for a process whose end others wait for")
    }
  }
}
